/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half a round trip by message size, between ranks 0 and 1. With a limit in the wrong place it
 * provokes the finding "size-cliff": OMPI_MCA_btl_vader_eager_limit=512 mpirun -n 2 ./sizes. Usage:
 * sizes [TRIPS [BYTES]]: so many round trips (400) of each power of two up to BYTES (65536). Prints
 * bytes and microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Seconds of half a round trip. */
static double ping_pong(int rank, char *buffer, int bytes, int trips)
{
    double start = MPI_Wtime();
    for (int n = 0; n < trips; n++) {
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_CHAR, 1, bytes, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_CHAR, !rank, bytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, bytes, MPI_CHAR, 0, bytes, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / trips / 2;
}

int main(int argc, char **argv)
{
    int rank, size, trips = argc > 1 ? atoi(argv[1]) : 400, most = argc > 2 ? atoi(argv[2]) : 65536;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *buffer = most > 0 ? calloc(1, (size_t)most) : NULL;
    if (size < 2 || trips < 1 || !buffer) {
        fprintf(stderr, "usage: sizes [TRIPS [BYTES]], with two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int bytes = 1; rank < 2 && bytes <= most; bytes *= 2) {
        double seconds = ping_pong(rank, buffer, bytes, trips);
        if (rank == 0)
            printf("%d %.3f\n", bytes, seconds * 1e6);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
