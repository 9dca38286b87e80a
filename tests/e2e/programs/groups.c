/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups, topologies, attributes and names of communicators, operations: what MPI answers, on two ranks. Each call is
 * written down (expect.h). Rank 0 prints the answers.
 */
#include <string.h>

#include "expect.h"

static int rank;
static const MPI_Comm world = MPI_COMM_WORLD;

static void groups(void)
{
    MPI_Group all, one, two, made;
    int members[2] = {0, 1}, translated[2], size, place, result, ranges[1][3] = {{0, 0, 1}};
    CALL(MPI_Comm_group)(world, &all);
    CALL(MPI_Group_incl)(all, 1, members, &one);
    CALL(MPI_Group_excl)(all, 1, members, &two);
    CALL(MPI_Group_union)(one, two, &made);
    CALL(MPI_Group_compare)(made, all, &result);
    CALL(MPI_Group_translate_ranks)(made, 2, members, all, translated);
    CHECK(result == MPI_IDENT && translated[1] == 1);
    CALL(MPI_Group_free)(&made);
    CALL(MPI_Group_intersection)(one, all, &made);
    CALL(MPI_Group_size)(made, &size);
    CALL(MPI_Group_rank)(made, &place);
    CHECK(size == 1 && place == (rank == 0 ? 0 : MPI_UNDEFINED));
    CALL(MPI_Group_free)(&made);
    CALL(MPI_Group_difference)(all, one, &made);
    CALL(MPI_Group_compare)(made, two, &result);
    CHECK(result == MPI_IDENT);
    CALL(MPI_Group_free)(&made);
    CALL(MPI_Group_range_incl)(all, 1, ranges, &made);
    CALL(MPI_Group_free)(&made);
    CALL(MPI_Group_range_excl)(all, 1, ranges, &made);
#ifndef MPI_Group_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Group_f2c)(CALL(MPI_Group_c2f)(made)) == made);
#endif
    CALL(MPI_Group_free)(&made);
    CALL(MPI_Group_free)(&one);
    CALL(MPI_Group_free)(&two);
    CALL(MPI_Group_free)(&all);
}

static void communicators(void)
{
    MPI_Comm copy, half, across;
    MPI_Group remote;
    int result, inter, size, flag, key, value = 9, *found, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_dup(world, &copy);
    expect("MPI_Comm_dup");
    CALL(MPI_Comm_compare)(world, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    CALL(MPI_Comm_set_name)(copy, "copy");
    CALL(MPI_Comm_get_name)(copy, name, &length);
    CHECK(strcmp(name, "copy") == 0);
    CALL(MPI_Comm_create_keyval)(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Comm_set_attr)(copy, key, &value);
    CALL(MPI_Comm_get_attr)(copy, key, &found, &flag);
    CHECK(flag && *found == 9);
    CALL(MPI_Comm_delete_attr)(copy, key);
    CALL(MPI_Comm_free_keyval)(&key);
    CALL(MPI_Comm_get_attr)(world, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *found >= 32767);
    MPI_Comm_split(world, rank, 0, &half);
    expect("MPI_Comm_split");
    MPI_Intercomm_create(half, 0, world, 1 - rank, 5, &across);
    expect("MPI_Intercomm_create");
    CALL(MPI_Comm_test_inter)(across, &inter);
    CALL(MPI_Comm_remote_size)(across, &size);
    CALL(MPI_Comm_remote_group)(across, &remote);
    CALL(MPI_Group_free)(&remote);
    CHECK(inter && size == 1);
#ifndef MPI_Comm_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Comm_f2c)(CALL(MPI_Comm_c2f)(copy)) == copy);
#endif
    MPI_Comm_free(&across);
    expect("MPI_Comm_free");
    MPI_Comm_free(&half);
    expect("MPI_Comm_free");
    MPI_Comm_free(&copy);
    expect("MPI_Comm_free");
}

static void cartesian(void)
{
    MPI_Comm cart;
    int sizes[2] = {0, 1}, periods[2] = {1, 0}, got[2], turns[2], at[2], place, kind, dimensions, source, to;
    CALL(MPI_Dims_create)(2, 2, sizes);
    MPI_Cart_create(world, 2, sizes, periods, 0, &cart);
    expect("MPI_Cart_create");
    CALL(MPI_Topo_test)(cart, &kind);
    CALL(MPI_Cartdim_get)(cart, &dimensions);
    CALL(MPI_Cart_get)(cart, 2, got, turns, at);
    CALL(MPI_Cart_rank)(cart, at, &place);
    CALL(MPI_Cart_coords)(cart, place, 2, at);
    CALL(MPI_Cart_shift)(cart, 0, 1, &source, &to);
    CALL(MPI_Cart_map)(world, 2, sizes, periods, &place);
    CHECK(kind == MPI_CART && dimensions == 2 && got[0] == 2 && turns[0] && to == 1 - rank);
    MPI_Comm_free(&cart);
    expect("MPI_Comm_free");
}

static void graph(void)
{
    MPI_Comm comm;
    int index[2] = {1, 2}, edges[2] = {1, 0}, nodes, edge_count, count, neighbours[2], place, all[2], ends[2];
    MPI_Graph_create(world, 2, index, edges, 0, &comm);
    expect("MPI_Graph_create");
    CALL(MPI_Graphdims_get)(comm, &nodes, &edge_count);
    CALL(MPI_Graph_get)(comm, 2, 2, all, ends);
    CALL(MPI_Graph_neighbors_count)(comm, rank, &count);
    CALL(MPI_Graph_neighbors)(comm, rank, 2, neighbours);
    CALL(MPI_Graph_map)(world, 2, index, edges, &place);
    CHECK(nodes == 2 && edge_count == 2 && count == 1 && neighbours[0] == 1 - rank);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
}

static void take(void *in, void *out, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] = 10 * ((int *)out)[i] + ((int *)in)[i];
    (void)type;
}

#if MPI_VERSION >= 4
static void take_many(void *in, void *out, MPI_Count *count, MPI_Datatype *type)
{
    int few = (int)*count;
    take(in, out, &few, type);
}
#endif

static void operations(void)
{
    MPI_Op op;
    int commutes, a[2] = {1, 2}, b[2] = {3, 4};
    CALL(MPI_Op_create)(take, 0, &op);
    CALL(MPI_Op_commutative)(op, &commutes);
    CALL(MPI_Reduce_local)(a, b, 2, MPI_INT, op);
    CHECK(!commutes && b[0] == 31 && b[1] == 42);
#ifndef MPI_Op_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Op_f2c)(CALL(MPI_Op_c2f)(op)) == op);
#endif
    CALL(MPI_Op_free)(&op);
#if MPI_VERSION >= 4
    CALL(MPI_Op_create_c)(take_many, 1, &op);
    CALL(MPI_Reduce_local_c)(a, b, 2, MPI_INT, op);
    CHECK(b[0] == 311);
    CALL(MPI_Op_free)(&op);
#endif
}

static void windows(void)
{
    MPI_Win window;
    int key, flag, value = 3, *found, memory[2] = {0};
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, world, &window);
    expect("MPI_Win_create | COLL root=-1 out=0 in=0 comm=world");
    CALL(MPI_Win_create_keyval)(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Win_set_attr)(window, key, &value);
    CALL(MPI_Win_get_attr)(window, key, &found, &flag);
    CHECK(flag && *found == 3);
    CALL(MPI_Win_delete_attr)(window, key);
    CALL(MPI_Win_free_keyval)(&key);
    MPI_Win_free(&window);
    expect("MPI_Win_free | EPOCH collective peer=-1 window=0 comm=world");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    expect_open(rank);
    expect("MPI_Init");
    groups();
    communicators();
    cartesian();
    graph();
    operations();
    windows();
    CHECK(CALL(MPI_Wtick)() > 0);
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
