/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error handler jumps out of a send and out of a wait, again and again from other depths of the
 * stack, and calls from still deeper frames follow. Large frames that nobody fills leave what the
 * abandoned call had written there. One rank.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

enum { ROUNDS = 200 };

static jmp_buf back;
static long handler_calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handler_calls++;
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

static int wrong_send(int depth)
{
    volatile char frame[100];
    int value = 1;
    frame[0] = 0;
    if (depth)
        return wrong_send(depth - 1) + frame[0];
    return MPI_Send(&value, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
}

static int reduce(int depth)
{
    volatile char frame[200];
    int one = 1, all = 0;
    frame[0] = 0;
    if (depth)
        return reduce(depth - 1) + frame[0];
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    return all;
}

/* A receive that is too short fails in the wait; the next, likely of the same handle, does not. */
static void short_receive(int length)
{
    static int from[4] = {1, 2, 3, 4}, to[4];
    static MPI_Request request;
    MPI_Irecv(to, length, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
    MPI_Send(from, 4, MPI_INT, 0, 4, MPI_COMM_WORLD);
    if (setjmp(back) == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Errhandler jumping;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(handler, &jumping);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumping);
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (setjmp(back) == 0)
            wrong_send(i % 20);
        reduce(i % 40);
    }
    printf("sends: the handler was called %ld times\n", handler_calls);
    for (volatile int i = 0; i < ROUNDS; i++) {
        short_receive(1);
        short_receive(4);
    }
    printf("all: the handler was called %ld times\n", handler_calls);
    MPI_Errhandler_free(&jumping);
    MPI_Finalize();
    return 0;
}
