/* SPDX-License-Identifier: BSD-3-Clause */
/* Six times MPI_Alltoallv: 8 bytes to oneself, 40 to the other; then both ranks die by SIGKILL. */
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv)
{
    int rank, in[64], out[64] = {0}, counts[2], places[2] = {0, 32};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    counts[rank] = 2;
    counts[1 - rank] = 10;
    for (int i = 0; i < 6; i++)
        MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGKILL);
    return 0;
}
