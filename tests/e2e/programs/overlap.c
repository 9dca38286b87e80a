/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo exchange in a ring that computes between posting and waiting, one rank three times as long
 * as the others, so that its messages are looked at late: overlap STEPS BYTES MICROSECONDS.
 */
#include <mpi.h>
#include <stdlib.h>

enum { SLOW_RANK = 1, SLOWER = 3 };

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

int main(int argc, char **argv)
{
    int rank, size, steps = atoi(argv[argc - 3]), bytes = atoi(argv[argc - 2]);
    double seconds = atof(argv[argc - 1]) * 1e-6;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *memory = calloc(4, (size_t)bytes);
    int side[2] = {(rank + size - 1) % size, (rank + 1) % size};
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[4];
        for (int i = 0; i < 2; i++)
            MPI_Irecv(memory + (size_t)i * bytes, bytes, MPI_CHAR, side[i], 1 - i, MPI_COMM_WORLD,
                      &requests[i]);
        for (int i = 0; i < 2; i++)
            MPI_Isend(memory + (size_t)(2 + i) * bytes, bytes, MPI_CHAR, side[i], i, MPI_COMM_WORLD,
                      &requests[2 + i]);
        compute(rank == SLOW_RANK ? SLOWER * seconds : seconds);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    free(memory);
    MPI_Finalize();
    return 0;
}
