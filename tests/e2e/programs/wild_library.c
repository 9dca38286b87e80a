/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that initialises MPI when it is loaded and finalizes it when it is unloaded, or when the program ends:
 * for wild_ends.c.
 */
#include <mpi.h>
#include <stdio.h>

static int mine;

__attribute__((constructor)) static void loaded(void)
{
    int done = 0;
    MPI_Initialized(&done);
    mine = !done;
    if (mine)
        MPI_Init(NULL, NULL);
}

__attribute__((destructor)) static void unloaded(void)
{
    int value = 1, sum = 0;
    if (!mine)
        return;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Finalize();
    printf("library: finalized, %d\n", sum);
    fflush(stdout);
}
