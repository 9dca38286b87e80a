/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: three threads a rank trade messages with their counterparts on the other
 * rank, each with its own tag, and the main thread starts a receive that another thread completes.
 * Two ranks. Prints "sum N".
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 500 };

static int rank;
static long sums[THREADS + 1];
static MPI_Request handed_over;
static int handed_value;

static void *trade(void *argument)
{
    long tag = (long)argument, other = 0;
    for (long i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        MPI_Irecv(&other, 1, MPI_LONG, 1 - rank, (int)tag, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_LONG, 1 - rank, (int)tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sums[tag] += other;
    }
    return NULL;
}

static void *finish(void *argument)
{
    MPI_Wait(&handed_over, MPI_STATUS_IGNORE);
    return argument;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS + 1];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            printf("no threads\n");
        MPI_Finalize();
        return 77;
    }
    for (long t = 1; t <= THREADS; t++)
        pthread_create(&threads[t], NULL, trade, (void *)t);
    for (int t = 1; t <= THREADS; t++)
        pthread_join(threads[t], NULL);
    MPI_Irecv(&handed_value, 1, MPI_INT, 1 - rank, 50, MPI_COMM_WORLD, &handed_over);
    int mine = rank + 10;
    MPI_Send(&mine, 1, MPI_INT, 1 - rank, 50, MPI_COMM_WORLD);
    pthread_create(&threads[0], NULL, finish, NULL);
    pthread_join(threads[0], NULL);
    if (rank == 0)
        printf("sum %ld\n", sums[1] + sums[2] + sums[3] + handed_value);
    MPI_Finalize();
    return 0;
}
