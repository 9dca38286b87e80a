/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided traffic of known size: each rank puts 200 times 4,000 bytes into its right neighbour's
 * window and gets as much from there, 100 times; then a window of its own goes and comes again, so
 * that endpoints are closed and made anew in between. The values that arrive are checked.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4000, PUTS = 200, GETS = 100 };

static int rank, size;

static void round_of(int turn)
{
    char *memory = calloc(1, BYTES), out[BYTES], in[BYTES];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win window;
    memset(out, 1 + rank + turn, sizeof out);
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < PUTS; i++)
        MPI_Put(out, BYTES, MPI_BYTE, right, 0, BYTES, MPI_BYTE, window);
    MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < GETS; i++)
        MPI_Get(in, BYTES, MPI_BYTE, right, 0, BYTES, MPI_BYTE, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (memory[BYTES - 1] != 1 + left + turn || in[BYTES - 1] != out[0])
        MPI_Abort(MPI_COMM_WORLD, 3);
    free(memory);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    round_of(0);
    round_of(10);
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    return 0;
}
