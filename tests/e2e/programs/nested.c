/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User code that runs inside MPI calls and calls MPI itself: attribute callbacks, a user operation,
 * an error handler. Each such call is one of the program; the calls that MPI makes inside itself
 * are not.
 */
#include "expect.h"

static int rank;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int value = 1, sum;
    *(void **)out = in;
    *flag = 1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    expect("MPI_Allreduce | COLL root=-1 out=4 in=4 comm=self nested");
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Barrier(MPI_COMM_SELF);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=self nested");
    return MPI_SUCCESS;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    (void)size;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int value = 5, other = 0;
    (void)comm;
    (void)code;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 3, &other, 1, MPI_INT, 0, 3, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=3 bytes=4 comm=self nested | RECV peer=%d tag=3 in=4 "
           "comm=self nested",
           rank, rank);
}

int main(int argc, char **argv)
{
    int key, value = 1, sum;
    MPI_Comm comm, other;
    MPI_Errhandler errhandler;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_open(rank);
    expect("MPI_Init");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup");
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_dup(comm, &other); /* calls copy */
    expect("MPI_Comm_dup");
    MPI_Comm_free(&other); /* calls delete */
    expect("MPI_Comm_free");

    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    expect("MPI_Allreduce | COLL root=-1 out=4 in=4 comm=world");
    MPI_Op_free(&op);

    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    int code = MPI_Send(&value, 1, MPI_INT, 99, 1, comm); /* calls handler */
    expect_handled("MPI_Send", code);
    MPI_Errhandler_free(&errhandler);
    MPI_Barrier(comm);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=dup");
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
    if (rank == 0)
        printf("sum %d\n", sum);
    expect("MPI_Finalize");
    MPI_Finalize();
    return 0;
}
