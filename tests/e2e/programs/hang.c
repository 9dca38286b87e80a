/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hangs: rank 1 never reaches the third barrier, rank 2 (if any) waits for a message that nobody
 * sends. Says "waiting" on stdout before it does.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void wait_in_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wait_for_message(void)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("waiting\n");
    fflush(stdout);
    if (rank == 1)
        for (;;)
            pause();
    else if (rank == 2)
        wait_for_message();
    else
        wait_in_barrier();
    MPI_Finalize();
    return 0;
}
