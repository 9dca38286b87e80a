/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends after a while what rank 1 waits for: "delayed COUNT NOISE" waits COUNT times for DELAY
 * microseconds, which differ from run to run by up to NOISE percent to each side.
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct timespec now, pause = {0};
    int rank, count = atoi(argv[1]);
    double noise = atof(argv[2]) / 100;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_gettime(CLOCK_REALTIME, &now);
    srand48(now.tv_nsec);
    pause.tv_nsec = (long)(1e3 * DELAY * (1 + noise * (2 * drand48() - 1)));
    for (int i = 0; i < count; i++) {
        if (rank == 0) {
            nanosleep(&pause, NULL);
            MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    return MPI_Finalize();
}
