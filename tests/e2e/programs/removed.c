/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that MPI-3 removed and old programs still call. Their prototypes are in no mpi.h of today. Each call is written
 * down (expect.h). Two ranks.
 */
#include "expect.h"

/* Open MPI has macros of these names that stop the compiler. */
#undef MPI_Address
#undef MPI_Type_hvector
#undef MPI_Type_hindexed
#undef MPI_Type_struct
#undef MPI_Type_extent
#undef MPI_Type_lb
#undef MPI_Type_ub
#undef MPI_Errhandler_create
#undef MPI_Errhandler_set
#undef MPI_Errhandler_get

int MPI_Address(void *place, MPI_Aint *address);
int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *made);
int MPI_Type_hindexed(int count, int lengths[], MPI_Aint places[], MPI_Datatype old, MPI_Datatype *made);
int MPI_Type_struct(int count, int lengths[], MPI_Aint places[], MPI_Datatype types[], MPI_Datatype *made);
int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent);
int MPI_Type_lb(MPI_Datatype type, MPI_Aint *bound);
int MPI_Type_ub(MPI_Datatype type, MPI_Aint *bound);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *made);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler);

static int handled;

static void note(MPI_Comm *comm, int *code, ...)
{
    handled += comm && *code != MPI_SUCCESS;
}

static void types(void)
{
    int lengths[2] = {1, 2}, value;
    MPI_Aint places[2] = {0, 16}, address, lower, upper, extent;
    MPI_Datatype olds[2] = {MPI_INT, MPI_DOUBLE}, made;
    CALL(MPI_Address)(&value, &address);
    CHECK((int *)address == &value);
    CALL(MPI_Type_hvector)(2, 1, 16, MPI_INT, &made);
    CALL(MPI_Type_free)(&made);
    CALL(MPI_Type_hindexed)(2, lengths, places, MPI_INT, &made);
    CALL(MPI_Type_free)(&made);
    CALL(MPI_Type_struct)(2, lengths, places, olds, &made);
    CALL(MPI_Type_extent)(made, &extent);
    CALL(MPI_Type_lb)(made, &lower);
    CALL(MPI_Type_ub)(made, &upper);
    CHECK(extent == 32 && lower == 0 && upper == 32);
    CALL(MPI_Type_free)(&made);
}

static void attributes(void)
{
    MPI_Comm copy;
    int key, flag, value = 4, *found;
    CALL(MPI_Keyval_create)(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Attr_put)(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    expect("MPI_Comm_dup");
    CALL(MPI_Attr_get)(copy, key, &found, &flag);
    CHECK(flag && *found == 4);
    CALL(MPI_Attr_delete)(copy, key);
    CALL(MPI_Attr_delete)(MPI_COMM_WORLD, key);
    CALL(MPI_Keyval_free)(&key);
    MPI_Comm_free(&copy);
    expect("MPI_Comm_free");
}

static void errors(void)
{
    MPI_Errhandler made, before;
    int value = 0;
    CALL(MPI_Errhandler_create)(note, &made);
    CALL(MPI_Errhandler_get)(MPI_COMM_WORLD, &before);
    CALL(MPI_Errhandler_set)(MPI_COMM_WORLD, made);
    int code = MPI_Send(&value, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
    expect_handled("MPI_Send", code);
    CALL(MPI_Errhandler_set)(MPI_COMM_WORLD, before);
    CHECK(handled == 1);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_open(rank);
    expect("MPI_Init");
    types();
    attributes();
    errors();
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
