/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes: every constructor, what MPI says of the made type, its attributes and names, packing; and a message of each
 * type, so that its size in the record is the type's. Each call is written down (expect.h). Rank 0 prints what MPI
 * said. One rank or more.
 */
#include <string.h>

#include "expect.h"

enum { N = 3, ROOM = 8192 };

static int rank, large; /* made by functions for large counts: MPI says no number of integers */
static char from[ROOM], into[ROOM];
static const MPI_Comm world = MPI_COMM_WORLD;

/* What MPI says of a type, as one line. */
static void describe(const char *how, MPI_Datatype type)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Count wide_lower, wide_extent, wide_size;
    int size, integers = 0, addresses = 0, types = 0, combiner;
    char name[MPI_MAX_OBJECT_NAME];
    CALL(MPI_Type_commit)(&type);
    MPI_Type_size(type, &size);
    CALL(MPI_Type_size_x)(type, &wide_size);
    CALL(MPI_Type_get_extent)(type, &lower, &extent);
    CALL(MPI_Type_get_extent_x)(type, &wide_lower, &wide_extent);
    CALL(MPI_Type_get_true_extent)(type, &true_lower, &true_extent);
    CALL(MPI_Type_get_true_extent_x)(type, &wide_lower, &wide_extent);
    if (!large)
        CALL(MPI_Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
    CALL(MPI_Type_set_name)(type, how);
    CALL(MPI_Type_get_name)(type, name, &combiner);
    CHECK(wide_size == size && strcmp(name, how) == 0);
    if (rank == 0)
        printf("%s: size %d, from %ld, extent %ld, true %ld %ld, %d integers %d addresses %d types\n", how, size,
               (long)lower, (long)extent, (long)true_lower, (long)true_extent, integers, addresses, types);
    MPI_Sendrecv(from + 1024, 2, type, rank, 3, into + 1024, 2, type, rank, 3, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=3 bytes=%d comm=world | RECV peer=%d tag=3 in=%d comm=world", rank,
           2 * size, rank, 2 * size);
    CALL(MPI_Type_free)(&type);
}

static void constructors(void)
{
    const int lengths[N] = {1, 2, 3}, places[N] = {0, 4, 8}, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
    const int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[2] = {1, 1},
              all[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const MPI_Aint bytes[N] = {0, 16, 64};
    const MPI_Datatype types[N] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype made;
    CALL(MPI_Type_contiguous)(5, MPI_INT, &made);
    describe("contiguous", made);
    CALL(MPI_Type_vector)(3, 2, 4, MPI_INT, &made);
    describe("vector", made);
    CALL(MPI_Type_create_hvector)(3, 2, 40, MPI_INT, &made);
    describe("hvector", made);
    CALL(MPI_Type_indexed)(N, lengths, places, MPI_INT, &made);
    describe("indexed", made);
    CALL(MPI_Type_create_hindexed)(N, lengths, bytes, MPI_INT, &made);
    describe("hindexed", made);
    CALL(MPI_Type_create_indexed_block)(N, 2, places, MPI_INT, &made);
    describe("indexed_block", made);
    CALL(MPI_Type_create_hindexed_block)(N, 2, bytes, MPI_INT, &made);
    describe("hindexed_block", made);
    CALL(MPI_Type_create_struct)(N, lengths, bytes, types, &made);
    describe("struct", made);
    CALL(MPI_Type_create_subarray)(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
    describe("subarray", made);
    CALL(MPI_Type_create_darray)(1, 0, 2, sizes, how, all, grid, MPI_ORDER_FORTRAN, MPI_INT, &made);
    describe("darray", made);
    CALL(MPI_Type_create_resized)(MPI_INT, -4, 16, &made);
    describe("resized", made);
    CALL(MPI_Type_dup)(MPI_DOUBLE, &made);
    describe("dup", made);
}

#if MPI_VERSION >= 4
static void large_constructors(void)
{
    const MPI_Count lengths[N] = {1, 2, 3}, places[N] = {0, 4, 8}, sizes[2] = {4, 6}, parts[2] = {2, 3},
                    starts[2] = {1, 2}, bytes[N] = {0, 16, 64};
    const int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[2] = {1, 1},
              all[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const MPI_Datatype types[N] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype made, inner[1];
    MPI_Count lower, extent, size, integers, addresses, counts, used;
    int combiner, numbers[3];
    MPI_Aint none[1];
    CALL(MPI_Type_contiguous_c)(5, MPI_INT, &made);
    CALL(MPI_Type_size_c)(made, &size);
    CALL(MPI_Type_get_extent_c)(made, &lower, &extent);
    CALL(MPI_Type_get_true_extent_c)(made, &lower, &extent);
    CALL(MPI_Type_get_envelope_c)(made, &integers, &addresses, &counts, &used, &combiner);
    CHECK(size == 20 && extent == 20 && counts + integers == 1 && used == 1);
    MPI_Count large[1];
    CALL(MPI_Type_get_contents_c)(made, integers, addresses, counts, used, numbers, none, large, inner);
    describe("contiguous_c", made);
    CALL(MPI_Type_vector_c)(3, 2, 4, MPI_INT, &made);
    describe("vector_c", made);
    CALL(MPI_Type_create_hvector_c)(3, 2, 40, MPI_INT, &made);
    describe("hvector_c", made);
    CALL(MPI_Type_indexed_c)(N, lengths, places, MPI_INT, &made);
    describe("indexed_c", made);
    CALL(MPI_Type_create_hindexed_c)(N, lengths, bytes, MPI_INT, &made);
    describe("hindexed_c", made);
    CALL(MPI_Type_create_indexed_block_c)(N, 2, places, MPI_INT, &made);
    describe("indexed_block_c", made);
    CALL(MPI_Type_create_hindexed_block_c)(N, 2, bytes, MPI_INT, &made);
    describe("hindexed_block_c", made);
    CALL(MPI_Type_create_struct_c)(N, lengths, bytes, types, &made);
    describe("struct_c", made);
    CALL(MPI_Type_create_subarray_c)(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
    describe("subarray_c", made);
    CALL(MPI_Type_create_darray_c)(1, 0, 2, sizes, how, all, grid, MPI_ORDER_FORTRAN, MPI_INT, &made);
    describe("darray_c", made);
    CALL(MPI_Type_create_resized_c)(MPI_INT, -4, 16, &made);
    describe("resized_c", made);
}

static void large_packing(void)
{
    int values[N] = {1, 2, 3}, back[N] = {0};
    MPI_Count room, at = 0;
    CALL(MPI_Pack_size_c)(N, MPI_INT, world, &room);
    CALL(MPI_Pack_c)(values, N, MPI_INT, into, ROOM, &at, world);
    at = 0;
    CALL(MPI_Unpack_c)(into, ROOM, &at, back, N, MPI_INT, world);
    CHECK(back[2] == 3 && room >= at);
    CALL(MPI_Pack_external_size_c)("external32", N, MPI_INT, &room);
    at = 0;
    CALL(MPI_Pack_external_c)("external32", values, N, MPI_INT, into, ROOM, &at);
    at = back[2] = 0;
    CALL(MPI_Unpack_external_c)("external32", into, ROOM, &at, back, N, MPI_INT);
    CHECK(back[2] == 3 && at == room);
}
#endif

static void packing(void)
{
    int values[N] = {1, 2, 3}, back[N] = {0}, room, at = 0;
    MPI_Aint far = 0, length;
    CALL(MPI_Pack_size)(N, MPI_INT, world, &room);
    CALL(MPI_Pack)(values, N, MPI_INT, into, ROOM, &at, world);
    MPI_Sendrecv_replace(into, at, MPI_PACKED, rank, 4, rank, 4, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv_replace | SEND peer=%d tag=4 bytes=%d comm=world | RECV peer=%d tag=4 in=%d comm=world", rank,
           at, rank, at);
    at = 0;
    CALL(MPI_Unpack)(into, ROOM, &at, back, N, MPI_INT, world);
    CHECK(back[2] == 3 && room >= at);
    CALL(MPI_Pack_external_size)("external32", N, MPI_INT, &length);
    CALL(MPI_Pack_external)("external32", values, N, MPI_INT, into, ROOM, &far);
    far = back[2] = 0;
    CALL(MPI_Unpack_external)("external32", into, ROOM, &far, back, N, MPI_INT);
    CHECK(back[2] == 3 && far == length);
}

static int copied;

static int copy(MPI_Datatype type, int key, void *extra, void *value, void *out, int *flag)
{
    *(void **)out = value;
    *flag = 1;
    copied++;
    return type == MPI_DATATYPE_NULL || !key || extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Datatype type, other, inner[1];
    int key, flag, value = 5, *found, numbers[1];
    MPI_Aint none[1];
    CALL(MPI_Type_create_keyval)(copy, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Type_contiguous)(2, MPI_INT, &type);
    CALL(MPI_Type_set_attr)(type, key, &value);
    CALL(MPI_Type_dup)(type, &other);
    CALL(MPI_Type_get_attr)(other, key, &found, &flag);
    CHECK(copied == 1 && flag && *found == 5);
    CALL(MPI_Type_delete_attr)(other, key);
    CALL(MPI_Type_get_contents)(type, 1, 0, 1, numbers, none, inner);
    CHECK(numbers[0] == 2 && inner[0] == MPI_INT);
    CALL(MPI_Type_free)(&other);
    CALL(MPI_Type_free)(&type);
    CALL(MPI_Type_free_keyval)(&key);
    CALL(MPI_Type_create_f90_integer)(9, &type);
    CALL(MPI_Type_create_f90_real)(6, 30, &type);
    CALL(MPI_Type_create_f90_complex)(6, 30, &type);
    CALL(MPI_Type_match_size)(MPI_TYPECLASS_INTEGER, 4, &type);
#ifndef MPI_Type_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Type_f2c)(CALL(MPI_Type_c2f)(type)) == type);
#endif
#ifndef MPI_Aint_add /* a macro in Open MPI */
    MPI_Aint here, there;
    MPI_Get_address(from, &here);
    there = CALL(MPI_Aint_add)(here, 8);
    CHECK(CALL(MPI_Aint_diff)(there, here) == 8);
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    expect_open(rank);
    expect("MPI_Init");
    constructors();
    packing();
    attributes();
#if MPI_VERSION >= 4
    large = 1;
    large_constructors();
    large_packing();
#endif
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
