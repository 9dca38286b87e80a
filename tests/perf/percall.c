/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an MPI call costs, in nanoseconds, measured by the program itself: percall one [CALLS] on
 * one rank, percall two [CALLS] on two. Prints "name value" lines; run.py runs it with and without
 * preloads, interleaved, and compares. The value is the median over blocks of calls, so that a
 * block in which the machine did something else does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rounds.h"

enum { BLOCKS = 51 };

static long block_calls = 400;
static int rank;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*body)(long), double calls_each)
{
    double blocks[BLOCKS];
    body(block_calls); /* warm-up */
    for (int i = 0; i < BLOCKS; i++) {
        double start = now();
        body(block_calls);
        blocks[i] = (now() - start) / (block_calls * calls_each);
    }
    qsort(blocks, BLOCKS, sizeof *blocks, ascending);
    if (rank == 0)
        printf("%s %.2f\n", name, blocks[BLOCKS / 2]);
}

static void ping_pong(long calls)
{
    char data[8] = {0};
    for (long i = 0; i < calls; i++) {
        if (rank == 0) {
            MPI_Send(data, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* The longest delays of single calls: 0.1 % quantile from above, and the longest of all. The
 * machine's own hiccups are in it, so it says something only beside the same without a preload. */
static void longest(long calls)
{
    double *spans = malloc(calls * sizeof *spans);
    char data[8] = {0}, in[8];
    MPI_Request request;
    if (!spans)
        return;
    for (long i = 0; i < calls; i++) {
        double start = now();
        if (i % 3 == 0)
            MPI_Irecv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        else if (i % 3 == 1)
            MPI_Send(data, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        else
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        spans[i] = now() - start;
    }
    qsort(spans, calls, sizeof *spans, ascending);
    if (rank == 0) {
        printf("delay_p99.9 %.0f\n", spans[calls - 1 - calls / 1000]);
        printf("delay_p99.99 %.0f\n", spans[calls - 1 - calls / 10000]);
        printf("delay_max %.0f\n", spans[calls - 1]);
    }
    free(spans);
}

int main(int argc, char **argv)
{
    int two = argc > 1 && !strcmp(argv[1], "two");
    if (argc > 2)
        block_calls = atol(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (two) {
        measure("ping_pong", ping_pong, 2);
    } else {
        measure("iprobe", iprobe, 1);
        measure("self_message", messages_to_self, 3);
        measure("allreduce", allreduce, 1);
        longest(block_calls * 750 / 3 * 3);
    }
    MPI_Finalize();
    return 0;
}
