/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends in the way that is asked for: ending MODE ITERATIONS. Before that each rank makes known
 * calls and logs each one that has returned (MWTEST_LOG: prefix of one file a rank, written by
 * write(2), so that SIGKILL loses nothing). In the modes where one rank dies it is rank 1 (or the
 * only one), and the others wait for it in MPI_Barrier or MPI_Recv.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int log_file = -1;

static void done(const char *function)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s\n", function);
    if (log_file >= 0 && write(log_file, line, length) != length)
        _exit(92);
}

static void log_open(int rank)
{
    const char *prefix = getenv("MWTEST_LOG");
    char path[4096];
    if (!prefix)
        return;
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    log_file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log_file < 0)
        _exit(93);
}

static long work(int rank, int size, int iterations)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long sum = 0, total = 0, out[4] = {rank, 1, 2, 3}, in[4];
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[2];
        MPI_Sendrecv(out, 4, MPI_LONG, right, 1, in, 4, MPI_LONG, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        done("MPI_Sendrecv");
        sum += in[0] + i;
        MPI_Irecv(in, 4, MPI_LONG, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
        done("MPI_Irecv");
        MPI_Isend(out, 4, MPI_LONG, right, 2, MPI_COMM_WORLD, &requests[1]);
        done("MPI_Isend");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        done("MPI_Waitall");
        if (i % 8 == 0) {
            MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            done("MPI_Allreduce");
        }
    }
    return total;
}

static void die(const char *mode)
{
    if (!strcmp(mode, "mpi_abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    else if (!strcmp(mode, "abort"))
        abort();
    else if (!strcmp(mode, "segv"))
        raise(SIGSEGV);
    else if (!strcmp(mode, "kill"))
        raise(SIGKILL);
    else if (!strcmp(mode, "term"))
        raise(SIGTERM);
    else if (!strcmp(mode, "exit_one"))
        exit(4);
    _exit(94);
}

static int all_end(const char *mode)
{
    if (!strcmp(mode, "exit0") || !strcmp(mode, "exit3")) {
        MPI_Finalize();
        done("MPI_Finalize");
        return mode[4] - '0';
    }
    if (!strcmp(mode, "exit_without"))
        exit(0);
    if (!strcmp(mode, "exit5_without"))
        exit(5);
    if (!strcmp(mode, "quick_exit"))
        _exit(6);
    if (!strcmp(mode, "wait")) /* for a signal from outside */
        for (;;)
            pause();
    return -1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "exit0";
    int rank, size, iterations = argc > 2 ? atoi(argv[2]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    log_open(rank);
    done("MPI_Init");
    long total = work(rank, size, iterations);
    MPI_Barrier(MPI_COMM_WORLD);
    done("MPI_Barrier");
    if (rank == 0) {
        printf("total %ld\n", total);
        fflush(stdout);
        fprintf(stderr, "a line on stderr\n");
    }
    if (!strcmp(mode, "endless")) /* until somebody kills us in the midst of it */
        for (;;)
            work(rank, size, 1000);
    usleep(300000); /* nobody is taken down before it has logged the barrier */
    int code = all_end(mode);
    if (code >= 0)
        return code;
    if (rank == 1 || size == 1) {
        usleep(500000); /* the others are in their last calls by then */
        die(mode);
    } else if (rank == 0) {
        long nothing;
        MPI_Recv(&nothing, 1, MPI_LONG, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        done("MPI_Recv");
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        done("MPI_Barrier");
    }
    return 95;
}
