/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads that send messages to themselves. Arguments: mode, threads, messages of
 * each. "run": all at once. "come": they come and go, eight at a time; "killed": so, and then the program is killed.
 * "hold": all are there at once, each leaves a receive under way that the main thread completes. One rank.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16384, HELD = 1024, TOGETHER = 8 };

static pthread_barrier_t all_there;
static pthread_t threads[MOST];
static MPI_Request left[HELD];
static int values[HELD], messages;

static void exchange(int tag)
{
    int from = tag, to;
    for (int i = 0; i < messages; i++)
        MPI_Sendrecv(&from, 1, MPI_INT, 0, tag, &to, 1, MPI_INT, 0, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void *worker(void *argument)
{
    exchange((int)(long)argument);
    return NULL;
}

static void *holder(void *argument)
{
    int tag = (int)(long)argument;
    exchange(tag);
    MPI_Irecv(&values[tag], 1, MPI_INT, 0, HELD + tag, MPI_COMM_WORLD, &left[tag]);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    return NULL;
}

static void create(int number, void *(*body)(void *))
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    if (pthread_create(&threads[number], &attributes, body, (void *)(long)number) != 0)
        MPI_Abort(MPI_COMM_WORLD, 78);
    pthread_attr_destroy(&attributes);
}

static void hold(int count)
{
    pthread_barrier_init(&all_there, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++)
        create(i, holder);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < count; i++)
        MPI_Send(&i, 1, MPI_INT, 0, HELD + i, MPI_COMM_WORLD);
    MPI_Waitall(count, left, MPI_STATUSES_IGNORE);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void run(int count, int together)
{
    for (int from = 0; from < count; from += together) {
        for (int i = from; i < from + together && i < count; i++)
            create(i, worker);
        for (int i = from; i < from + together && i < count; i++)
            pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    int provided, count = argc > 2 ? atoi(argv[2]) : 8;
    const char *mode = argc > 1 ? argv[1] : "run";
    int held = strcmp(mode, "hold") == 0, killed = strcmp(mode, "killed") == 0;
    long sum = 0;
    messages = argc > 3 ? atoi(argv[3]) : 10;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE || count > (held ? HELD : MOST))
        MPI_Abort(MPI_COMM_WORLD, 77);
    if (held)
        hold(count);
    else
        run(count, killed || strcmp(mode, "come") == 0 ? TOGETHER : count);
    if (killed)
        raise(SIGKILL);
    MPI_Finalize();
    for (int i = 0; held && i < count; i++)
        sum += values[i];
    printf("sum %ld\n", sum);
    return 0;
}
