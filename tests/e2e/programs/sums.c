/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way in which a message or a collective can count, many times, with nothing left to chance:
 * sums MODE ROUNDS [CALLS]. MODE plain and toggle make the same calls of MPI_Pcontrol, which in
 * toggle reduce and restore detail while requests are under way; kill dies outside MPI after all
 * rounds, many sends CALLS messages to itself instead, and parts does so three times, the second
 * time without detail, and dies in the third: with detail in "parts 0", without in "parts 1".
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 7, MOST = 40000 };
static const int sizes[SIZES] = {0, 1, 8, 100, 1000, 5000, MOST};
static char out[4][MOST], in[4][MOST];
static int rank, size, left, right, toggle, level = 1;

/* The same number of calls in all modes. */
static void control(int next)
{
    level = toggle ? next : 1;
    MPI_Pcontrol(level);
}

static void nonblocking(int round)
{
    MPI_Request requests[4];
    MPI_Status statuses[4], status;
    int bytes = sizes[round % SIZES], index, done;
    MPI_Irecv(in[0], MOST, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
    control(round % 3 == 0);
    MPI_Irecv(in[1], MOST, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out[0], bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
    control(round % 3 != 0);
    MPI_Isend(out[1], bytes / 2, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitany(4, requests, &index, &status);
    control(round % 2);
    MPI_Waitall(4, requests, round % 5 ? MPI_STATUSES_IGNORE : statuses);
    MPI_Irecv(in[2], MOST, MPI_BYTE, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(out[2], bytes, MPI_BYTE, right, 3, MPI_COMM_WORLD);
    control(round % 4 == 1);
    MPI_Wait(&requests[0], &status);
    MPI_Iallreduce(out[0], in[3], 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    control(round % 4 == 2);
    MPI_Wait(&requests[0], &status);
    MPI_Irecv(in[0], 10, MPI_BYTE, left, 99, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    control(round % 4 == 3);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &done);
    MPI_Isend(out[0], 4, MPI_BYTE, right, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv(in[0], 4, MPI_BYTE, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(int round)
{
    MPI_Request requests[2];
    MPI_Send_init(out[0], sizes[round % SIZES], MPI_BYTE, right, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in[0], MOST, MPI_BYTE, left, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        control(i == 1);
        MPI_Start(&requests[1]);
        MPI_Startall(1, &requests[0]);
        control((round + i) % 2);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void blocking(int round, MPI_Comm comm)
{
    int bytes = sizes[(round + 2) % SIZES];
    MPI_Status status;
    MPI_Sendrecv(out[0], bytes, MPI_BYTE, right, 6, in[0], MOST, MPI_BYTE, left, 6, MPI_COMM_WORLD,
                 &status);
    control(round % 2);
    /* small: nobody receives it yet */
    MPI_Sendrecv(out[0], bytes % 100, MPI_BYTE, right, 6, in[0], MOST, MPI_BYTE, MPI_PROC_NULL, 6,
                 MPI_COMM_WORLD, &status);
    MPI_Recv(in[0], MOST, MPI_BYTE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
    MPI_Bcast(out[0], bytes, MPI_BYTE, round % size, comm);
    MPI_Allgather(out[0], 16, MPI_BYTE, in[0], 16, MPI_BYTE, comm);
    control(round % 3 == 1);
    MPI_Send(out[0], 1, MPI_BYTE, size + 5, 0, MPI_COMM_WORLD); /* fails */
    MPI_Barrier(comm);
}

static void many(long calls)
{
    MPI_Request request;
    for (long i = 0; i < calls; i += 4) {
        MPI_Irecv(in[0], 100, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &request);
        MPI_Send(out[0], (int)(i % 64), MPI_BYTE, rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_SELF);
    }
}

static void parts(int reduced, long calls)
{
    many(calls);
    MPI_Pcontrol(0);
    many(calls);
    MPI_Pcontrol(1);
    many(calls);
    if (reduced)
        MPI_Pcontrol(0);
    many(calls);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    toggle = !strcmp(mode, "toggle");
    if (!strcmp(mode, "many"))
        many(atol(argv[3]));
    if (!strcmp(mode, "parts"))
        parts(atoi(argv[2]), atol(argv[3]));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Pcontrol(2, "all rounds");
    for (int round = 0; round < atoi(argv[2]); round++) {
        MPI_Pcontrol(3, round % 2 ? "odd" : "even \xc3\xa4");
        nonblocking(round);
        persistent(round);
        MPI_Pcontrol(-3, (void *)1);
        blocking(round, comm);
    }
    MPI_Pcontrol(2, (void *)8);  /* no text: no region */
    MPI_Pcontrol(2, "\x01\x02"); /* nor this */
    if (!strcmp(mode, "kill"))
        raise(SIGKILL);
    MPI_Pcontrol(-1);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
