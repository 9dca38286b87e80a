/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that do not return: an error handler, an attribute callback or a user operation leaves them by
 * an exception ("throw") or by longjmp ("jump"). Rank 0 does so; rank 1 sends it what it needs. Two ranks.
 */
#define OMPI_SKIP_MPICXX 1 /* the removed C++ bindings */
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <csetjmp>
#include <cstdio>
#include <cstring>

static int rank, throwing, depth;
static jmp_buf back[4]; /* of each depth of callbacks */

struct Left {};

static void leave()
{
    if (throwing)
        throw Left();
    longjmp(back[depth], 1);
}

static void handler(MPI_Comm *, int *, ...)
{
    leave();
}

static void operation(void *, void *, int *, MPI_Datatype *)
{
    leave();
}

/* Runs a call that is left. */
template <class Call> static void run(const char *what, Call call)
{
    if (throwing) {
        try {
            call();
            std::printf("%s returned\n", what);
        } catch (const Left &) {
            std::printf("%s was left\n", what);
        }
    } else if (setjmp(back[depth]) == 0) {
        call();
        std::printf("%s returned\n", what);
    } else {
        std::printf("%s was left\n", what);
    }
}

static void wrong_send()
{
    int value = 1;
    MPI_Send(&value, 1, MPI_INT, 99, 5, MPI_COMM_WORLD);
}

static int copy(MPI_Comm, int, void *, void *in, void *out, int *flag)
{
    depth++;
    run("nested send", wrong_send);
    MPI_Barrier(MPI_COMM_SELF);
    run("nested send", wrong_send); /* and nothing follows it here */
    depth--;
    *static_cast<void **>(out) = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void short_receive()
{
    int value[4];
    MPI_Recv(value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wrong_root()
{
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, 77, MPI_COMM_WORLD);
}

static MPI_Op op;

static void reduce_local()
{
    int in = 1, out = 2;
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
}

static void duplicate()
{
    int key, value = 1;
    MPI_Comm comm, other;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_dup(comm, &other);
    MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static void rank_0()
{
    int value[4] = {0};
    MPI_Errhandler leaving;
    MPI_Comm_create_errhandler(handler, &leaving);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, leaving);
    run("send", wrong_send);
    run("receive", short_receive);
    MPI_Recv(value, 4, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    run("broadcast", wrong_root);
    run("operation", reduce_local);
    duplicate();
    run("last send", wrong_send);
    MPI_Errhandler_free(&leaving);
}

int main(int argc, char **argv)
{
    int value[4] = {1, 2, 3, 4};
    throwing = argc > 1 && std::strcmp(argv[1], "throw") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(operation, 1, &op);
    if (rank == 0)
        rank_0();
    else
        for (int i = 0; i < 2; i++)
            MPI_Send(value, 4, MPI_INT, 0, 6, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
