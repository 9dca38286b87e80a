/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of every data flow on communicators whose order is not the world's. Each rank knows
 * the arguments of all, adds up what it is the source of by the standard's data flow, and writes it
 * down: a line "peer messages bytes" for each rank of the world (MWTEST_EXPECT: prefix of the
 * file).
 */
#include <string.h>

#include "expect.h"
#include "toggle.h"

enum { ROOM = 4096 };

static int world, size, me; /* rank in MPI_COMM_WORLD; ranks; rank in the reversed communicator */
static long messages[64], amounts[64];
static int in[ROOM], out[ROOM], counts[64], places[64], theirs[64], their_places[64];
static MPI_Comm comm;

static int world_of(int rank)
{
    return size - 1 - rank;
}

static void moves(int peer, int ints)
{
    toggle_detail();
    if (peer == world || ints == 0)
        return;
    messages[peer]++;
    amounts[peer] += ints * (long)sizeof(int);
}

static void to_root(int root, int ints)
{
    moves(world_of(root), ints);
}

static void to_each(int ints)
{
    for (int j = 0; j < size; j++)
        moves(world_of(j), ints);
}

/* counts: what this rank sends to j; theirs: what it gets from j. */
static void amounts_of(int (*amount)(int from, int to))
{
    for (int j = 0, at = 0, their_at = 0; j < size; j++) {
        counts[j] = amount(me, j);
        theirs[j] = amount(j, me);
        places[j] = at;
        their_places[j] = their_at;
        at += counts[j];
        their_at += theirs[j];
    }
}

static int uneven(int from, int to)
{
    return (from + 2 * to) % 5;
}

static int symmetric(int from, int to)
{
    return (from + to) % 3;
}

static int by_target(int from, int to)
{
    (void)from;
    return to + 1;
}

static int by_source(int from, int to)
{
    (void)to;
    return from + 1;
}

static void rooted(void)
{
    MPI_Bcast(out, 10, MPI_INT, 1, comm);
    if (me == 1)
        to_each(10);
    MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, 0, comm);
    if (me == 0)
        to_each(3);
    amounts_of(by_target);
    MPI_Scatterv(out, counts, places, MPI_INT, in, me + 1, MPI_INT, 0, comm);
    for (int j = 0; me == 0 && j < size; j++)
        moves(world_of(j), j + 1);
    MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, size - 1, comm);
    to_root(size - 1, 2);
    amounts_of(by_source);
    MPI_Gatherv(out, me + 1, MPI_INT, in, theirs, their_places, MPI_INT, 1, comm);
    to_root(1, me + 1);
    MPI_Reduce(out, in, 5, MPI_INT, MPI_SUM, 0, comm);
    to_root(0, 5);
    MPI_Reduce(me == 1 ? MPI_IN_PLACE : out, in, 4, MPI_INT, MPI_SUM, 1, comm);
    to_root(1, 4);
    MPI_Barrier(comm);
}

static void each(void)
{
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    to_each(2);
    amounts_of(by_source);
    MPI_Allgatherv(out, me + 1, MPI_INT, in, theirs, their_places, MPI_INT, comm);
    to_each(me + 1);
    MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, comm);
    to_each(3);
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, comm);
    to_each(1);
    MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    to_each(2);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 1, MPI_INT, comm);
    to_each(1);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, comm);
    to_each(2);
    amounts_of(by_target);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    for (int j = 0; j < size; j++)
        moves(world_of(j), j + 1);
    MPI_Scan(out, in, 3, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(out, in, 2, MPI_INT, MPI_SUM, comm);
    for (int j = me + 1; j < size; j++) {
        moves(world_of(j), 3);
        moves(world_of(j), 2);
    }
}

static void sent(void)
{
    for (int j = 0; j < size; j++)
        moves(world_of(j), counts[j]);
}

static void varying(void)
{
    MPI_Datatype types[64];
    MPI_Request request[2];
    int bytes[64], their_bytes[64];
    for (int turn = 0; turn < 3; turn++) {
        amounts_of(uneven);
        MPI_Alltoallv(out, counts, places, MPI_INT, in, theirs, their_places, MPI_INT, comm);
        sent();
    }
    for (int j = 0; j < size; j++) {
        types[j] = MPI_INT;
        bytes[j] = places[j] * (int)sizeof(int);
        their_bytes[j] = their_places[j] * (int)sizeof(int);
    }
    MPI_Alltoallw(out, counts, bytes, types, in, theirs, their_bytes, types, comm);
    sent();
    amounts_of(symmetric);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, in, theirs, their_places, MPI_INT, comm);
    sent();
    amounts_of(uneven);
    MPI_Ialltoallv(out, counts, places, MPI_INT, in, theirs, their_places, MPI_INT, comm,
                   &request[0]);
    sent();
    MPI_Ibcast(out, 6, MPI_INT, 0, comm, &request[1]);
    if (me == 0)
        to_each(6);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Iallgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request[0]);
    to_each(1);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
}

/* Along a line with and without ends, and along graphs. Ranks are those of the new communicators.
 */
static void grids(int periodic)
{
    MPI_Comm cart;
    int wraps[1] = {periodic}, sizes[1] = {size}, at, left, right;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, wraps, 0, &cart);
    MPI_Comm_rank(cart, &at);
    CHECK(at == world);
    MPI_Cart_shift(cart, 0, 1, &left, &right);
    int before = left != MPI_PROC_NULL, after = right != MPI_PROC_NULL;
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, cart);
    MPI_Neighbor_allgather(out, 5, MPI_INT, in, 5, MPI_INT, cart);
    /* With two ranks in a ring each is the other's left and right: who gets which is up to the MPI.
     */
    int apart = !(size == 2 && periodic), send[2] = {1, 3}, receive[2] = {3, 1}, where[2] = {0, 8};
    if (apart)
        MPI_Neighbor_alltoallv(out, send, where, MPI_INT, in, receive, where, MPI_INT, cart);
    for (int k = 0; k < 2; k++) {
        int amount = k ? 5 : 2;
        if (before)
            moves(left, amount);
        if (after)
            moves(right, amount);
    }
    if (apart && before)
        moves(left, send[0]);
    if (apart && after)
        moves(right, send[1]);
    MPI_Comm_free(&cart);
}

#if MPI_VERSION >= 4
static void use_and_free(MPI_Request *request, int times)
{
    for (int turn = 0; turn < times; turn++) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(request);
}

/* What each start sends to whom is said once, when it is prepared. One is prepared and never
 * started. */
static void persistent_amounts(void)
{
    MPI_Datatype types[64];
    MPI_Request request[3];
    int bytes[64], their_bytes[64];
    amounts_of(uneven);
    for (int j = 0; j < size; j++) {
        types[j] = MPI_INT;
        bytes[j] = places[j] * (int)sizeof(int);
        their_bytes[j] = their_places[j] * (int)sizeof(int);
    }
    MPI_Alltoallv_init(out, counts, places, MPI_INT, in, theirs, their_places, MPI_INT, comm,
                       MPI_INFO_NULL, &request[0]);
    MPI_Alltoallw_init(out, counts, bytes, types, in, theirs, their_bytes, types, comm,
                       MPI_INFO_NULL, &request[1]);
    MPI_Alltoallv_init(out, counts, places, MPI_INT, in, theirs, their_places, MPI_INT, comm,
                       MPI_INFO_NULL, &request[2]);
    use_and_free(&request[0], 3);
    use_and_free(&request[1], 2);
    use_and_free(&request[2], 0);
    for (int turn = 0; turn < 5; turn++)
        sent();
}

/* To the next of a ring, in each of the forms. */
static void persistent_neighbours(MPI_Comm ring, int next)
{
    MPI_Request request;
    MPI_Aint where[1] = {0};
    MPI_Datatype types[1] = {MPI_INT};
    int amount[1] = {7}, place[1] = {0};
    MPI_Neighbor_allgather_init(out, 2, MPI_INT, in, 2, MPI_INT, ring, MPI_INFO_NULL, &request);
    use_and_free(&request, 2);
    MPI_Neighbor_allgatherv_init(out, 7, MPI_INT, in, amount, place, MPI_INT, ring, MPI_INFO_NULL,
                                 &request);
    use_and_free(&request, 1);
    MPI_Neighbor_alltoall_init(out, 3, MPI_INT, in, 3, MPI_INT, ring, MPI_INFO_NULL, &request);
    use_and_free(&request, 2);
    MPI_Neighbor_alltoallv_init(out, amount, place, MPI_INT, in, amount, place, MPI_INT, ring,
                                MPI_INFO_NULL, &request);
    use_and_free(&request, 3);
    MPI_Neighbor_alltoallw_init(out, amount, where, types, in, amount, where, types, ring,
                                MPI_INFO_NULL, &request);
    use_and_free(&request, 1);
    for (int turn = 0; turn < 2; turn++) {
        moves(next, 2);
        moves(next, 3);
    }
    for (int turn = 0; turn < 5; turn++)
        moves(next, 7);
}
#endif

static void graphs(void)
{
    MPI_Comm ring;
    MPI_Request request;
    int next = (world + 1) % size, previous = (world + size - 1) % size, one[1] = {7},
        none[1] = {0};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_allgather(out, 4, MPI_INT, in, 4, MPI_INT, ring);
    moves(next, 4);
    MPI_Neighbor_alltoallv(out, one, none, MPI_INT, in, one, none, MPI_INT, ring);
    moves(next, 7);
    MPI_Ineighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, ring, &request);
    moves(next, 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    persistent_neighbours(ring, next);
#endif
    MPI_Comm_free(&ring);
    int index[64], edges[64]; /* rank r has the one neighbour r ^ 1 */
    for (int r = 0; r < size; r++) {
        index[r] = r + 1;
        edges[r] = r ^ 1;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring);
    MPI_Neighbor_alltoall(out, 6, MPI_INT, in, 6, MPI_INT, ring);
    moves(world ^ 1, 6);
    MPI_Comm_free(&ring);
}

/* Even and odd ranks on two sides. */
static void sides(void)
{
    MPI_Comm half, inter;
    int odd = world % 2, first = 0, mine, others;
    MPI_Comm_split(MPI_COMM_WORLD, odd, world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 5, &inter);
    MPI_Comm_rank(inter, &mine);
    MPI_Comm_remote_size(inter, &others);
    MPI_Bcast(out, 9, MPI_INT, odd ? first : mine == first ? MPI_ROOT : MPI_PROC_NULL, inter);
    for (int j = 0; world == 0 && j < others; j++)
        moves(2 * j + 1, 9);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, inter);
    for (int j = 0; j < others; j++)
        moves(2 * j + !odd, 2);
    MPI_Reduce(out, in, 3, MPI_INT, MPI_SUM,
               odd             ? first
               : mine == first ? MPI_ROOT
                               : MPI_PROC_NULL,
               inter);
    if (odd)
        moves(0, 3);
    for (int j = 0, at = 0, their_at = 0; j < others; j++) {
        counts[j] =
            odd ? mine + 1 : j + 2; /* odd ones send by their own rank, even ones by the target's */
        theirs[j] = odd ? mine + 2 : j + 1;
        places[j] = at, their_places[j] = their_at;
        at += counts[j], their_at += theirs[j];
        moves(2 * j + !odd, counts[j]);
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, in, theirs, their_places, MPI_INT, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void persistent(void)
{
#if MPI_VERSION >= 4
    MPI_Request request[2];
    MPI_Bcast_init(out, 8, MPI_INT, 1, comm, MPI_INFO_NULL, &request[0]);
    MPI_Allreduce_init(out, in, 2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request[1]);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        if (me == 1)
            to_each(8);
        to_each(2);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    persistent_amounts();
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size % 2 == 0 && size <= 64);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &comm);
    MPI_Comm_rank(comm, &me);
    rooted();
    each();
    varying();
    persistent();
    MPI_Comm_free(&comm);
    grids(0);
    grids(1);
    graphs();
    sides();
    expect_open(world);
    for (int j = 0; j < size; j++)
        expect("%d %ld %ld", j, messages[j], amounts[j]);
    MPI_Finalize();
    if (world == 0)
        puts("done");
    return 0;
}
