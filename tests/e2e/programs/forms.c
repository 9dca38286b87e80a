/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every form of every collective and of every send, on two ranks, with the same arguments each: blocking,
 * nonblocking, persistent, and each of them for large counts where MPI has it (version 4). The test
 * compares the records of a form with those of the others. The names stand here in full, as
 * docs/coverage.md is made from them.
 */
#include "expect.h"

enum { N = 6, SIZE = 2 };

static int rank, other;
static int a[64], b[64];
static MPI_Comm comm; /* periodic in one dimension: each rank is both neighbours of the other */
static MPI_Request request;

/* What the v and w forms take, in both widths. */
static const int counts[SIZE] = {1, 3}, places[SIZE] = {0, 1}, bytes[SIZE] = {0, 4};
static MPI_Datatype types[SIZE];

static void wait(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

MAYBE_UNUSED static void use(void)
{
    MPI_Start(&request);
    wait();
    MPI_Request_free(&request);
}

#define NOW(blocking, ...) blocking(__VA_ARGS__, comm)
#define LATER(starting, ...) starting(__VA_ARGS__, comm, &request), wait()
#define AGAIN(preparing, ...) preparing(__VA_ARGS__, comm, MPI_INFO_NULL, &request), use()

static void two_forms(void)
{
    const int mine[SIZE] = {counts[rank], counts[rank]};
    MPI_Barrier(comm);
    MPI_Ibarrier(comm, &request);
    wait();
    NOW(MPI_Bcast, a, N, MPI_INT, 0);
    LATER(MPI_Ibcast, a, N, MPI_INT, 0);
    NOW(MPI_Gather, a, N, MPI_INT, b, N, MPI_INT, 1);
    LATER(MPI_Igather, a, N, MPI_INT, b, N, MPI_INT, 1);
    NOW(MPI_Gatherv, a, counts[rank], MPI_INT, b, counts, places, MPI_INT, 1);
    LATER(MPI_Igatherv, a, counts[rank], MPI_INT, b, counts, places, MPI_INT, 1);
    NOW(MPI_Scatter, a, N, MPI_INT, b, N, MPI_INT, 0);
    LATER(MPI_Iscatter, a, N, MPI_INT, b, N, MPI_INT, 0);
    NOW(MPI_Scatterv, a, counts, places, MPI_INT, b, counts[rank], MPI_INT, 0);
    LATER(MPI_Iscatterv, a, counts, places, MPI_INT, b, counts[rank], MPI_INT, 0);
    NOW(MPI_Allgather, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Iallgather, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Allgatherv, a, counts[rank], MPI_INT, b, counts, places, MPI_INT);
    LATER(MPI_Iallgatherv, a, counts[rank], MPI_INT, b, counts, places, MPI_INT);
    NOW(MPI_Alltoall, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Ialltoall, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Alltoallv, a, counts, places, MPI_INT, b, mine, places, MPI_INT);
    LATER(MPI_Ialltoallv, a, counts, places, MPI_INT, b, mine, places, MPI_INT);
    NOW(MPI_Alltoallw, a, counts, bytes, types, b, mine, bytes, types);
    LATER(MPI_Ialltoallw, a, counts, bytes, types, b, mine, bytes, types);
    NOW(MPI_Reduce, a, b, N, MPI_INT, MPI_SUM, 0);
    LATER(MPI_Ireduce, a, b, N, MPI_INT, MPI_SUM, 0);
    NOW(MPI_Allreduce, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Iallreduce, a, b, N, MPI_INT, MPI_SUM);
    NOW(MPI_Reduce_scatter, a, b, counts, MPI_INT, MPI_SUM);
    LATER(MPI_Ireduce_scatter, a, b, counts, MPI_INT, MPI_SUM);
    NOW(MPI_Reduce_scatter_block, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Ireduce_scatter_block, a, b, N, MPI_INT, MPI_SUM);
    NOW(MPI_Scan, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Iscan, a, b, N, MPI_INT, MPI_SUM);
    NOW(MPI_Exscan, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Iexscan, a, b, N, MPI_INT, MPI_SUM);
}

static void neighbours(void)
{
    const int same[SIZE] = {2, 2};
    const MPI_Aint where[SIZE] = {0, 8};
    NOW(MPI_Neighbor_allgather, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Ineighbor_allgather, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Neighbor_allgatherv, a, 2, MPI_INT, b, same, places, MPI_INT);
    LATER(MPI_Ineighbor_allgatherv, a, 2, MPI_INT, b, same, places, MPI_INT);
    NOW(MPI_Neighbor_alltoall, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Ineighbor_alltoall, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Neighbor_alltoallv, a, same, places, MPI_INT, b, same, places, MPI_INT);
    LATER(MPI_Ineighbor_alltoallv, a, same, places, MPI_INT, b, same, places, MPI_INT);
    NOW(MPI_Neighbor_alltoallw, a, same, where, types, b, same, where, types);
    LATER(MPI_Ineighbor_alltoallw, a, same, where, types, b, same, where, types);
#if MPI_VERSION >= 4
    AGAIN(MPI_Neighbor_allgather_init, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Neighbor_allgatherv_init, a, 2, MPI_INT, b, same, places, MPI_INT);
    AGAIN(MPI_Neighbor_alltoall_init, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Neighbor_alltoallv_init, a, same, places, MPI_INT, b, same, places, MPI_INT);
    AGAIN(MPI_Neighbor_alltoallw_init, a, same, where, types, b, same, where, types);
#endif
}

#define SENT(call) call, MPI_Recv(b, N, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE)
#define KEPT(prepare)                                                                              \
    prepare(a, N, MPI_INT, other, 5, comm, &request), MPI_Start(&request),                         \
        MPI_Recv(b, N, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE), wait(),                        \
        MPI_Request_free(&request)
#define STARTED(start)                                                                             \
    start(a, N, MPI_INT, other, 5, comm, &request),                                                \
        MPI_Recv(b, N, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE), wait()

static void sends(void)
{
    static char buffer[4096 + 64 * MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    SENT(MPI_Send(a, N, MPI_INT, other, 5, comm));
    SENT(MPI_Bsend(a, N, MPI_INT, other, 5, comm));
    STARTED(MPI_Isend);
    STARTED(MPI_Ibsend);
    STARTED(MPI_Issend);
    KEPT(MPI_Send_init);
    KEPT(MPI_Bsend_init);
    KEPT(MPI_Ssend_init);
#if MPI_VERSION >= 4
    SENT(MPI_Send_c(a, N, MPI_INT, other, 5, comm));
    SENT(MPI_Bsend_c(a, N, MPI_INT, other, 5, comm));
    STARTED(MPI_Isend_c);
    STARTED(MPI_Ibsend_c);
    STARTED(MPI_Issend_c);
    KEPT(MPI_Send_init_c);
    KEPT(MPI_Bsend_init_c);
    KEPT(MPI_Ssend_init_c);
#endif
    MPI_Buffer_detach(&detached, &size);
}

/* In ready mode the receive must have been posted: rank 0 says so. */
static void ready(int form)
{
    MPI_Request mine;
    MPI_Irecv(b, N, MPI_INT, other, 5, comm, &mine);
    MPI_Barrier(comm);
    if (form == 0)
        MPI_Rsend(a, N, MPI_INT, other, 5, comm);
    else if (form == 1)
        MPI_Irsend(a, N, MPI_INT, other, 5, comm, &request), wait();
    else if (form == 2)
        MPI_Rsend_init(a, N, MPI_INT, other, 5, comm, &request), use();
#if MPI_VERSION >= 4
    else if (form == 3)
        MPI_Rsend_c(a, N, MPI_INT, other, 5, comm);
    else if (form == 4)
        MPI_Irsend_c(a, N, MPI_INT, other, 5, comm, &request), wait();
    else
        MPI_Rsend_init_c(a, N, MPI_INT, other, 5, comm, &request), use();
#endif
    MPI_Wait(&mine, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static void persistent(void)
{
    const int mine[SIZE] = {counts[rank], counts[rank]};
    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    use();
    AGAIN(MPI_Bcast_init, a, N, MPI_INT, 0);
    AGAIN(MPI_Gather_init, a, N, MPI_INT, b, N, MPI_INT, 1);
    AGAIN(MPI_Gatherv_init, a, counts[rank], MPI_INT, b, counts, places, MPI_INT, 1);
    AGAIN(MPI_Scatter_init, a, N, MPI_INT, b, N, MPI_INT, 0);
    AGAIN(MPI_Scatterv_init, a, counts, places, MPI_INT, b, counts[rank], MPI_INT, 0);
    AGAIN(MPI_Allgather_init, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Allgatherv_init, a, counts[rank], MPI_INT, b, counts, places, MPI_INT);
    AGAIN(MPI_Alltoall_init, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Alltoallv_init, a, counts, places, MPI_INT, b, mine, places, MPI_INT);
    AGAIN(MPI_Alltoallw_init, a, counts, bytes, types, b, mine, bytes, types);
    AGAIN(MPI_Reduce_init, a, b, N, MPI_INT, MPI_SUM, 0);
    AGAIN(MPI_Allreduce_init, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Reduce_scatter_init, a, b, counts, MPI_INT, MPI_SUM);
    AGAIN(MPI_Reduce_scatter_block_init, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Scan_init, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Exscan_init, a, b, N, MPI_INT, MPI_SUM);
}

static void large(void)
{
    const MPI_Count much[SIZE] = {1, 3}, mine[SIZE] = {much[rank], much[rank]};
    const MPI_Aint far[SIZE] = {0, 1}, by[SIZE] = {0, 4};
    NOW(MPI_Bcast_c, a, N, MPI_INT, 0);
    NOW(MPI_Gather_c, a, N, MPI_INT, b, N, MPI_INT, 1);
    NOW(MPI_Gatherv_c, a, much[rank], MPI_INT, b, much, far, MPI_INT, 1);
    NOW(MPI_Scatter_c, a, N, MPI_INT, b, N, MPI_INT, 0);
    NOW(MPI_Scatterv_c, a, much, far, MPI_INT, b, much[rank], MPI_INT, 0);
    NOW(MPI_Allgather_c, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Allgatherv_c, a, much[rank], MPI_INT, b, much, far, MPI_INT);
    NOW(MPI_Alltoall_c, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Alltoallv_c, a, much, far, MPI_INT, b, mine, far, MPI_INT);
    NOW(MPI_Alltoallw_c, a, much, by, types, b, mine, by, types);
    NOW(MPI_Reduce_c, a, b, N, MPI_INT, MPI_SUM, 0);
    NOW(MPI_Allreduce_c, a, b, N, MPI_INT, MPI_SUM);
    NOW(MPI_Reduce_scatter_c, a, b, much, MPI_INT, MPI_SUM);
    NOW(MPI_Reduce_scatter_block_c, a, b, N, MPI_INT, MPI_SUM);
    NOW(MPI_Scan_c, a, b, N, MPI_INT, MPI_SUM);
    NOW(MPI_Exscan_c, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Ibcast_c, a, N, MPI_INT, 0);
    LATER(MPI_Igather_c, a, N, MPI_INT, b, N, MPI_INT, 1);
    LATER(MPI_Igatherv_c, a, much[rank], MPI_INT, b, much, far, MPI_INT, 1);
    LATER(MPI_Iscatter_c, a, N, MPI_INT, b, N, MPI_INT, 0);
    LATER(MPI_Iscatterv_c, a, much, far, MPI_INT, b, much[rank], MPI_INT, 0);
    LATER(MPI_Iallgather_c, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Iallgatherv_c, a, much[rank], MPI_INT, b, much, far, MPI_INT);
    LATER(MPI_Ialltoall_c, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Ialltoallv_c, a, much, far, MPI_INT, b, mine, far, MPI_INT);
    LATER(MPI_Ialltoallw_c, a, much, by, types, b, mine, by, types);
    LATER(MPI_Ireduce_c, a, b, N, MPI_INT, MPI_SUM, 0);
    LATER(MPI_Iallreduce_c, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Ireduce_scatter_c, a, b, much, MPI_INT, MPI_SUM);
    LATER(MPI_Ireduce_scatter_block_c, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Iscan_c, a, b, N, MPI_INT, MPI_SUM);
    LATER(MPI_Iexscan_c, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Bcast_init_c, a, N, MPI_INT, 0);
    AGAIN(MPI_Gather_init_c, a, N, MPI_INT, b, N, MPI_INT, 1);
    AGAIN(MPI_Gatherv_init_c, a, much[rank], MPI_INT, b, much, far, MPI_INT, 1);
    AGAIN(MPI_Scatter_init_c, a, N, MPI_INT, b, N, MPI_INT, 0);
    AGAIN(MPI_Scatterv_init_c, a, much, far, MPI_INT, b, much[rank], MPI_INT, 0);
    AGAIN(MPI_Allgather_init_c, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Allgatherv_init_c, a, much[rank], MPI_INT, b, much, far, MPI_INT);
    AGAIN(MPI_Alltoall_init_c, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Alltoallv_init_c, a, much, far, MPI_INT, b, mine, far, MPI_INT);
    AGAIN(MPI_Alltoallw_init_c, a, much, by, types, b, mine, by, types);
    AGAIN(MPI_Reduce_init_c, a, b, N, MPI_INT, MPI_SUM, 0);
    AGAIN(MPI_Allreduce_init_c, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Reduce_scatter_init_c, a, b, much, MPI_INT, MPI_SUM);
    AGAIN(MPI_Reduce_scatter_block_init_c, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Scan_init_c, a, b, N, MPI_INT, MPI_SUM);
    AGAIN(MPI_Exscan_init_c, a, b, N, MPI_INT, MPI_SUM);
}

static void large_neighbours(void)
{
    const MPI_Count same[SIZE] = {2, 2};
    const MPI_Aint far[SIZE] = {0, 1}, where[SIZE] = {0, 8};
    NOW(MPI_Neighbor_allgather_c, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Neighbor_allgatherv_c, a, 2, MPI_INT, b, same, far, MPI_INT);
    NOW(MPI_Neighbor_alltoall_c, a, N, MPI_INT, b, N, MPI_INT);
    NOW(MPI_Neighbor_alltoallv_c, a, same, far, MPI_INT, b, same, far, MPI_INT);
    NOW(MPI_Neighbor_alltoallw_c, a, same, where, types, b, same, where, types);
    LATER(MPI_Ineighbor_allgather_c, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Ineighbor_allgatherv_c, a, 2, MPI_INT, b, same, far, MPI_INT);
    LATER(MPI_Ineighbor_alltoall_c, a, N, MPI_INT, b, N, MPI_INT);
    LATER(MPI_Ineighbor_alltoallv_c, a, same, far, MPI_INT, b, same, far, MPI_INT);
    LATER(MPI_Ineighbor_alltoallw_c, a, same, where, types, b, same, where, types);
    AGAIN(MPI_Neighbor_allgather_init_c, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Neighbor_allgatherv_init_c, a, 2, MPI_INT, b, same, far, MPI_INT);
    AGAIN(MPI_Neighbor_alltoall_init_c, a, N, MPI_INT, b, N, MPI_INT);
    AGAIN(MPI_Neighbor_alltoallv_init_c, a, same, far, MPI_INT, b, same, far, MPI_INT);
    AGAIN(MPI_Neighbor_alltoallw_init_c, a, same, where, types, b, same, where, types);
}
#endif

int main(int argc, char **argv)
{
    const int size[1] = {SIZE}, periodic[1] = {1};
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    other = 1 - rank;
    types[0] = types[1] = MPI_INT;
    two_forms();
    neighbours();
    sends();
    for (int form = 0; form < (MPI_VERSION >= 4 ? 6 : 3); form++)
        ready(form);
#if MPI_VERSION >= 4
    persistent();
    large();
    large_neighbours();
#endif
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
