/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Little room. "stack N": threads with stacks of N KiB send messages to themselves, enough for writing,
 * and make communicators. "blocked": all signals are blocked throughout, and still are at the end. One rank.
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, MESSAGES = 5000 };

static void exchange(MPI_Comm comm, int tag, int count)
{
    int from = tag, to;
    for (int i = 0; i < count; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&to, 1, MPI_INT, 0, tag, comm, &requests[0]);
        MPI_Isend(&from, 1, MPI_INT, 0, tag, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void *worker(void *argument)
{
    int tag = (int)(long)argument;
    MPI_Comm comm;
    exchange(MPI_COMM_WORLD, tag, MESSAGES);
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
    exchange(comm, tag, 10);
    MPI_Comm_free(&comm);
    return NULL;
}

static void threads(size_t stack)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, stack) != 0)
        MPI_Abort(MPI_COMM_WORLD, 90);
    for (long i = 0; i < THREADS; i++) { /* one at a time: they share MPI_COMM_SELF */
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker, (void *)i) != 0)
            MPI_Abort(MPI_COMM_WORLD, 91);
        pthread_join(thread, NULL);
    }
}

static int all_blocked(void)
{
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    for (int number = 1; number < 32; number++)
        if (number != SIGKILL && number != SIGSTOP && !sigismember(&set, number))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    int provided, blocked = argc > 1 && strcmp(argv[1], "blocked") == 0;
    sigset_t all, pending;
    sigfillset(&all);
    if (blocked)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (blocked)
        exchange(MPI_COMM_WORLD, 1, MESSAGES);
    else
        threads(argc > 2 ? (size_t)atoi(argv[2]) << 10 : PTHREAD_STACK_MIN);
    MPI_Finalize();
    sigpending(&pending);
    if (blocked)
        printf("%s, %d pending\n", all_blocked() ? "blocked" : "not blocked",
               !!sigismember(&pending, SIGPIPE) + !!sigismember(&pending, SIGXFSZ));
    puts("done");
    return 0;
}
