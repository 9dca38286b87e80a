/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads send small messages to themselves, whose requests all have one handle, and are
 * still there when MPI is finalized. Argument: messages of each thread. One rank.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4 };

static pthread_barrier_t ready;
static int messages;

static void *worker(void *argument)
{
    int tag = (int)(long)argument, from = tag, to;
    for (int i = 0; i < messages; i++) {
        MPI_Request request;
        MPI_Isend(&from, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
        MPI_Recv(&to, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    messages = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 77);
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0)
            MPI_Abort(MPI_COMM_WORLD, 78);
    pthread_barrier_wait(&ready);
    MPI_Finalize();
    printf("done\n");
    return 0;
}
