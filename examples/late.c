/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank has more to do than the others, which then wait for it: provokes the finding
 * "late-rank". Usage: late [RANK [MILLISECONDS [TIMES]]]: that rank (1) computes for so long (20)
 * before each of so many barriers (30). Prints the seconds that it computed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(double seconds)
{
    volatile double sink = 0;
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        sink = sink + 1;
}

int main(int argc, char **argv)
{
    int rank, all = 1, late = argc > 1 ? atoi(argv[1]) : 1, times = argc > 3 ? atoi(argv[3]) : 30;
    double seconds = (argc > 2 ? atof(argv[2]) : 20) * 1e-3, computed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int n = 0; n < times; n++, all = 1) {
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* a common start */
        double start = MPI_Wtime();
        if (rank == late)
            compute(seconds);
        computed += MPI_Wtime() - start;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == late)
        printf("%.6f\n", computed);
    MPI_Finalize();
    return 0;
}
