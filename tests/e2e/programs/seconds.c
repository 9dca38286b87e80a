/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small messages for a while without keeping the machine busy: "seconds N": two ranks
 * exchange 30 windows of 64 messages of 8 bytes each way, then pause for 50 ms, until N seconds
 * have passed. Prints "passed".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW 64

static void exchange(int peer)
{
    static double in[WINDOW], out[WINDOW];
    MPI_Request requests[2 * WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        MPI_Irecv(&in[i], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&out[i], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[WINDOW + i]);
    }
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    double start, seconds = argc > 1 ? atof(argv[1]) : 1;
    int rank, go_on = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = MPI_Wtime();
    while (go_on) {
        for (int i = 0; i < 30; i++)
            exchange(!rank);
        usleep(50000);
        go_on = MPI_Wtime() - start < seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (rank == 0)
        puts("passed");
    return 0;
}
