/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE on windows and files: four threads a rank access the other rank's window, each
 * makes and frees one of its own (on its own communicator), and starts a write that the main thread
 * completes. Two ranks. MWTEST_FILE: the file to use.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 500 };

static int rank;
static MPI_Win window;
static MPI_File file;
static MPI_Comm own[THREADS];
static MPI_Request writes[THREADS];
static int values[THREADS][16];

static void *work(void *argument)
{
    long thread = (long)argument;
    int one = 1, got, *memory;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        MPI_Fetch_and_op(&one, &got, MPI_INT, 1 - rank, 0, MPI_SUM, window);
        MPI_Win_flush(1 - rank, window);
        MPI_Rput(&values[thread], 2, MPI_INT, 1 - rank, 4 + 2 * thread, 2, MPI_INT, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 10; i++) {
        MPI_Win mine;
        MPI_Win_allocate(64, 4, MPI_INFO_NULL, own[thread], &memory, &mine);
        MPI_Win_fence(0, mine);
        MPI_Put(&values[thread], 3, MPI_INT, 1 - rank, 0, 3, MPI_INT, mine);
        MPI_Win_fence(0, mine);
        MPI_Win_free(&mine);
    }
    MPI_File_iwrite_at(file, 64 * (4 * rank + thread), values[thread], 16, MPI_INT, &writes[thread]);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, *memory;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            printf("no threads\n");
        MPI_Finalize();
        return 77;
    }
    MPI_Win_allocate(256, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < 64; i++)
        memory[i] = 0;
    MPI_File_open(MPI_COMM_WORLD, getenv("MWTEST_FILE"), MPI_MODE_RDWR | MPI_MODE_CREATE,
                  MPI_INFO_NULL, &file);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
    MPI_Win_lock_all(0, window);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    MPI_Win_unlock_all(window);
    MPI_Waitall(THREADS, writes, MPI_STATUSES_IGNORE);
    MPI_File_close(&file);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&own[t]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (memory[0] != THREADS * ROUNDS)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Win_free(&window);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
