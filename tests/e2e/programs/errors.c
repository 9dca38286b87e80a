/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes wrong arguments with MPI_ERRORS_RETURN, with a counting error handler and with one that
 * jumps out, and prints what came of each: the class of the error and how often the handler was
 * called. Rank 0 prints; two ranks.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, handler_calls, handler_code;
static jmp_buf back;
static int jumping;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handler_calls++;
    MPI_Error_class(*code, &handler_code);
    (void)comm;
    if (jumping)
        longjmp(back, 1);
}

static void say(const char *what, int code)
{
    int class = -1;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    else
        class = MPI_SUCCESS;
    if (rank == 0)
        printf("%-28s class %d, handler called %d with class %d\n", what, class, handler_calls,
               handler_code);
    handler_calls = 0;
    handler_code = 0;
}

static void wrong_arguments(MPI_Comm comm)
{
    int value = 1, flag, other[2];
    MPI_Request request = MPI_REQUEST_NULL, requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    MPI_Comm made = MPI_COMM_NULL;
    say("send to rank 99", MPI_Send(&value, 1, MPI_INT, 99, 1, comm));
    say("send with count -1", MPI_Send(&value, -1, MPI_INT, 0, 1, comm));
    say("send of the null type", MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 1, comm));
    say("send with tag -5", MPI_Send(&value, 1, MPI_INT, 0, -5, comm));
    say("isend to rank -7", MPI_Isend(&value, 1, MPI_INT, -7, 1, comm, &request));
    say("irecv from rank 99", MPI_Irecv(&value, 1, MPI_INT, 99, 1, comm, &request));
    say("recv of the null type", MPI_Recv(&value, 1, MPI_DATATYPE_NULL, 0, 1, comm, &status));
    say("recv with count -3",
        MPI_Recv(&value, -3, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    say("probe of rank 99", MPI_Probe(99, 1, comm, &status));
    say("iprobe of rank 99", MPI_Iprobe(99, 1, comm, &flag, &status));
    say("bcast from root 99", MPI_Bcast(&value, 1, MPI_INT, 99, comm));
    say("bcast of the null type", MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm));
#ifndef MPICH_VERSION /* MPICH 4.0 crashes here */
    say("reduce with count -1", MPI_Reduce(&value, other, -1, MPI_INT, MPI_SUM, 0, comm));
#endif
    say("allreduce with no op", MPI_Allreduce(&value, other, 1, MPI_INT, MPI_OP_NULL, comm));
    say("gather to root -9", MPI_Gather(&value, 1, MPI_INT, other, 1, MPI_INT, -9, comm));
    say("waitall of nothing", MPI_Waitall(2, requests, statuses));
    say("wait of nothing", MPI_Wait(&request, &status));
    say("send_init to rank 99", MPI_Send_init(&value, 1, MPI_INT, 99, 1, comm, &request));
    say("free of nothing", MPI_Comm_free(&made));
}

static void null_communicator(void)
{
    int value = 1, size;
    MPI_Comm made;
    say("send on no communicator", MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    say("barrier on none", MPI_Barrier(MPI_COMM_NULL));
    say("size of none", MPI_Comm_size(MPI_COMM_NULL, &size));
    say("dup of none", MPI_Comm_dup(MPI_COMM_NULL, &made));
    say("split of none", MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made));
}

static void truncation(MPI_Comm comm)
{
    int data[10] = {0}, code;
    MPI_Request requests[2];
    MPI_Status statuses[2] = {{0}};
    MPI_Barrier(comm);
    if (rank == 1) {
        static const int tags[] = {1, 2, 4, 3}; /* 4 is there before the 3 that is too long */
        for (int i = 0; i < 4; i++)
            MPI_Send(data, 10, MPI_INT, 0, tags[i], comm);
        return;
    }
    say("recv that is too short", MPI_Recv(data, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE));
    say("any-source recv too short",
        MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE));
    MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[0]);
    MPI_Irecv(data, 10, MPI_INT, 1, 4, comm, &requests[1]);
    code = MPI_Waitall(2, requests, statuses);
    say("waitall with one too short", code);
    for (int i = 0; i < 2 && code != MPI_SUCCESS; i++) {
        int class;
        MPI_Error_class(statuses[i].MPI_ERROR, &class);
        printf("  its status %d: class %d, tag %d\n", i, class, i ? statuses[i].MPI_TAG : -1);
    }
}

/* Jumps out of error handlers, thousands of times: nothing may stay behind, and later calls must be
 * recorded. */
static void jumps(MPI_Comm comm)
{
    volatile int jumped = 0;
    int value = 1, sum;
    jumping = 1;
    for (volatile int i = 0; i < 3000; i++) {
        if (setjmp(back) == 0)
            MPI_Send(&value, 1, MPI_INT, 99, 1, comm);
        else
            jumped++;
    }
    jumping = 0;
    if (rank == 0)
        printf("jumped %d times\n", jumped);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("sum %d\n", sum);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Errhandler counting;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &counting);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    wrong_arguments(comm);
    null_communicator();
    truncation(comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    MPI_Comm_set_errhandler(comm, counting);
    wrong_arguments(comm);
    null_communicator();
    truncation(comm);
    jumps(comm);
    MPI_Errhandler_free(&counting);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
