/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N receives and N sends under way at once, completed by one MPI_Waitall in the reverse order of
 * their start; prints how long that took to stderr. Then receives that fail in MPI_Waitsome. One
 * rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void many(int count)
{
    MPI_Request *requests = malloc(2 * (size_t)count * sizeof *requests);
    int *values = malloc(2 * (size_t)count * sizeof *values);
    if (!requests || !values)
        MPI_Abort(MPI_COMM_WORLD, 92);
    for (int i = 0; i < count; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 0, i % 1000, MPI_COMM_SELF, &requests[2 * count - 1 - i]);
    for (int i = 0; i < count; i++)
        MPI_Isend(&values[count + i], 1, MPI_INT, 0, i % 1000, MPI_COMM_SELF,
                  &requests[count - 1 - i]);
    double start = MPI_Wtime();
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    fprintf(stderr, "%.6f\n", MPI_Wtime() - start);
    free(values);
    free(requests);
}

/* One too short, one not: which failed must be told. */
static void some_fail(void)
{
    static int from[4], to[4];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count = 0, done = 0, indices[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(&to[0], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&to[1], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(from, 4, MPI_INT, 0, 4, MPI_COMM_WORLD);
    MPI_Send(from, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    while (done < 2) {
        int code = MPI_Waitsome(2, requests, &count, indices, statuses);
        printf("waitsome %s\n", code == MPI_SUCCESS ? "succeeded" : "failed");
        done += count;
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    many(count);
    some_fail();
    MPI_Finalize();
    return 0;
}
