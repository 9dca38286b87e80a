/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a reading of MPI_Wtime takes: prints microseconds, the least of several rounds. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 50, READINGS = 10000 };

int main(int argc, char **argv)
{
    int rank;
    double least = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        double start = MPI_Wtime(), end = start;
        for (int i = 0; i < READINGS; i++)
            end = MPI_Wtime();
        least = (end - start) / READINGS < least ? (end - start) / READINGS : least;
    }
    if (rank == 0)
        printf("%.5f\n", least * 1e6);
    MPI_Finalize();
    return 0;
}
