/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corners of the standard, on four ranks, with the expected records: arguments that are not
 * significant and hold rubbish, MPI_IN_PLACE, collectives on inter-communicators, null and inactive
 * requests, zero sizes, many requests at once, many communicators, cancelled and probed messages,
 * MPI_Pcontrol.
 */
#include "expect.h"

#include <string.h>

enum { N = 10, BYTES = 4 * N, MANY = 3000 };

static int rank, size, right, left;
static int a[4 * N], b[4 * N];
static const MPI_Comm world = MPI_COMM_WORLD;
static const int *const rubbish = (const int *)16; /* nobody may look there */

static void insignificant_arguments(void)
{
    int counts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6}, root = 2, at_root = rank == root,
        own = 4 * (rank + 1);
    MPI_Gather(a, 2, MPI_INT, at_root ? b : NULL, at_root ? 2 : -7,
               at_root ? MPI_INT : MPI_DATATYPE_NULL, root, world);
    expect("MPI_Gather | COLL root=2 out=8 in=%d comm=world", at_root ? 32 : 0);
    MPI_Gatherv(a, rank + 1, MPI_INT, at_root ? b : NULL, at_root ? counts : rubbish,
                at_root ? displs : rubbish, at_root ? MPI_INT : MPI_DATATYPE_NULL, root, world);
    expect("MPI_Gatherv | COLL root=2 out=%d in=%d comm=world", own, at_root ? 40 : 0);
    MPI_Scatter(at_root ? a : NULL, at_root ? 2 : -7, at_root ? MPI_INT : MPI_DATATYPE_NULL, b, 2,
                MPI_INT, root, world);
    expect("MPI_Scatter | COLL root=2 out=%d in=8 comm=world", at_root ? 32 : 0);
    MPI_Scatterv(at_root ? a : NULL, at_root ? counts : rubbish, at_root ? displs : rubbish,
                 at_root ? MPI_INT : MPI_DATATYPE_NULL, b, rank + 1, MPI_INT, root, world);
    expect("MPI_Scatterv | COLL root=2 out=%d in=%d comm=world", at_root ? 40 : 0, own);
    MPI_Reduce(a, at_root ? b : NULL, N, MPI_INT, MPI_SUM, root, world);
    expect("MPI_Reduce | COLL root=2 out=%d in=%d comm=world", BYTES, at_root ? BYTES : 0);
}

static void in_place(void)
{
    int counts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6}, two[4] = {2, 2, 2, 2}, root = 1,
        at_root = rank == root;
    int pairs[4] = {0, 2, 4, 6}, bytes[4] = {0, 8, 16, 24}, own = 4 * (rank + 1);
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, b, 2, MPI_INT, world);
    expect("MPI_Allgather | COLL root=-1 out=8 in=32 comm=world");
    MPI_Allgatherv(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, world);
    expect("MPI_Allgatherv | COLL root=-1 out=%d in=40 comm=world", own);
    MPI_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, b, 2, MPI_INT, world);
    expect("MPI_Alltoall | COLL root=-1 out=32 in=32 comm=world");
    MPI_Alltoallv(MPI_IN_PLACE, rubbish, rubbish, MPI_DATATYPE_NULL, b, two, pairs, MPI_INT, world);
    expect("MPI_Alltoallv | COLL root=-1 out=32 in=32 comm=world");
    MPI_Alltoallw(MPI_IN_PLACE, rubbish, rubbish, (const MPI_Datatype *)rubbish, b, two, bytes,
                  types, world);
    expect("MPI_Alltoallw | COLL root=-1 out=32 in=32 comm=world");
    if (at_root)
        MPI_Gather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, b, 2, MPI_INT, root, world);
    else
        MPI_Gather(a, 2, MPI_INT, NULL, 0, MPI_INT, root, world);
    expect("MPI_Gather | COLL root=1 out=8 in=%d comm=world", at_root ? 32 : 0);
    if (at_root)
        MPI_Scatter(a, 2, MPI_INT, MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, root, world);
    else
        MPI_Scatter(NULL, 0, MPI_INT, b, 2, MPI_INT, root, world);
    expect("MPI_Scatter | COLL root=1 out=%d in=8 comm=world", at_root ? 32 : 0);
    MPI_Reduce(at_root ? MPI_IN_PLACE : a, b, N, MPI_INT, MPI_MAX, root, world);
    expect("MPI_Reduce | COLL root=1 out=%d in=%d comm=world", BYTES, at_root ? BYTES : 0);
    MPI_Reduce_scatter(MPI_IN_PLACE, b, counts, MPI_INT, MPI_MAX, world);
    expect("MPI_Reduce_scatter | COLL root=-1 out=40 in=%d comm=world", own);
    MPI_Scan(MPI_IN_PLACE, b, N, MPI_INT, MPI_MAX, world);
    expect("MPI_Scan | COLL root=-1 out=%d in=%d comm=world", BYTES, BYTES);
}

/* Halves {0, 1} and {2, 3}; the root is rank 1, the first half's second. */
static void across(void)
{
    MPI_Comm half, inter;
    int upper = rank >= 2, role = upper ? 1 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm_split(world, upper, rank, &half);
    expect("MPI_Comm_split");
    MPI_Intercomm_create(half, 0, world, upper ? 0 : 2, 7, &inter);
    expect("MPI_Intercomm_create");
    MPI_Barrier(inter);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=intercomm");
    MPI_Bcast(b, N, MPI_INT, role, inter);
    if (upper)
        expect("MPI_Bcast | COLL root=1 out=0 in=%d comm=intercomm", BYTES);
    else if (rank == 1)
        expect("MPI_Bcast | COLL root=1 out=%d in=0 comm=intercomm", BYTES);
    else
        expect("MPI_Bcast | COLL out=0 in=0 comm=intercomm");
    MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, inter);
    expect("MPI_Allreduce | COLL root=-1 out=%d in=%d comm=intercomm", BYTES, BYTES);
    MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, inter);
    expect("MPI_Allgather | COLL root=-1 out=8 in=16 comm=intercomm");
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, inter);
    expect("MPI_Alltoall | COLL root=-1 out=16 in=16 comm=intercomm");
    MPI_Request request;
    MPI_Irecv(b, N, MPI_INT, MPI_ANY_SOURCE, 8, inter, &request);
    expect("MPI_Irecv | RECV peer=-1 tag=8 in=%d comm=intercomm any=SOURCE request", BYTES);
    MPI_Send(a, N, MPI_INT, 1 - rank % 2, 8, inter); /* crosswise */
    expect("MPI_Send | SEND peer=%d tag=8 bytes=%d comm=intercomm",
           upper ? 1 - rank % 2 : 3 - rank % 2, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Irecv peer=%d tag=8 in!=%d matched",
           upper ? 1 - rank % 2 : 3 - rank % 2, BYTES);
    MPI_Comm_free(&inter);
    expect("MPI_Comm_free");
    MPI_Comm_free(&half);
    expect("MPI_Comm_free");
}

static void odd_requests(void)
{
    MPI_Request one;
    MPI_Request requests[3], inactive;
    int index, flag, count, indices[3];
    MPI_Recv_init(b, N, MPI_INT, left, 10, world, &inactive);
    expect("MPI_Recv_init");
    requests[0] = requests[2] = MPI_REQUEST_NULL;
    requests[1] = inactive;
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall");
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall");
    MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    expect("MPI_Testall");
    MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
    expect("MPI_Waitsome");
    MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
    expect("MPI_Waitany");
    MPI_Request_free(&inactive);
    expect("MPI_Request_free");

    /* what only a status tells, though the program wants none */
    MPI_Irecv(b, N, MPI_INT, left, 998, world, &one);
    expect("MPI_Irecv | RECV peer=%d tag=998 in=%d comm=world request", left, BYTES);
    MPI_Cancel(&one);
    expect("MPI_Cancel");
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Irecv peer=%d tag=998 cancelled", left);

    /* A request that lies between null ones, and a zero-byte message to oneself. */
    requests[0] = requests[2] = MPI_REQUEST_NULL;
    MPI_Irecv(NULL, 0, MPI_INT, rank, 11, world, &requests[1]);
    expect("MPI_Irecv | RECV peer=%d tag=11 in=0 comm=world request", rank);
    MPI_Send(NULL, 0, MPI_INT, rank, 11, world);
    expect("MPI_Send | SEND peer=%d tag=11 bytes=0 comm=world", rank);
    MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == 1);
    expect("MPI_Waitany | DONE of=MPI_Irecv peer=%d tag=11 in=0", rank);

    /* A receive from MPI_PROC_NULL among others, and MPI_Request_get_status before the wait. */
    MPI_Irecv(b, N, MPI_INT, MPI_PROC_NULL, 12, world, &requests[0]);
    expect("MPI_Irecv");
    MPI_Irecv(b, N, MPI_INT, left, 12, world, &requests[1]);
    expect("MPI_Irecv | RECV peer=%d tag=12 in=%d comm=world request", left, BYTES);
    MPI_Isend(a, N, MPI_INT, right, 12, world, &requests[2]);
    expect("MPI_Isend | SEND peer=%d tag=12 bytes=%d comm=world request", right, BYTES);
    do
        MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect(
        "MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=12 in=%d | DONE of=MPI_Isend peer=%d tag=12",
        left, BYTES, right);
}

/* Thousands of requests under way: the recorder's tables grow, and each completion finds its start.
 */
static void many_requests(void)
{
    static MPI_Request requests[2 * MANY];
    static int values[MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&values[i], 1, MPI_INT, left, 100 + i % 1000, world, &requests[i]);
        expect("MPI_Irecv | RECV peer=%d tag=%d in=4 comm=world request", left, 100 + i % 1000);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Isend(a, 1, MPI_INT, right, 100 + i % 1000, world, &requests[MANY + i]);
        expect("MPI_Isend | SEND peer=%d tag=%d bytes=4 comm=world request", right, 100 + i % 1000);
    }
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    /* One call with 6000 effects: those are checked by their number, see t_calls.py. */
    expect("MPI_Waitall any-effects");
}

/* Handles are used again by MPI: each new communicator is another one all the same. */
static void many_communicators(void)
{
    for (int i = 0; i < 300; i++) {
        MPI_Comm comm;
        MPI_Comm_split(world, rank % 2, i % 2 ? rank : -rank, &comm);
        expect("MPI_Comm_split");
        MPI_Sendrecv(a, 1, MPI_INT, 0, 20, b, 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        expect("MPI_Sendrecv | SEND peer=%d tag=20 bytes=4 comm=self | RECV peer=%d tag=20 in!=4 "
               "comm=self any=SOURCE",
               rank, rank);
        int me, other;
        MPI_Comm_rank(comm, &me);
        other = (rank + 2) % 4;
        MPI_Sendrecv(a, i % N, MPI_INT, 1 - me, 21, b, N, MPI_INT, 1 - me, 21, comm,
                     MPI_STATUS_IGNORE);
        expect("MPI_Sendrecv | SEND peer=%d tag=21 bytes=%d comm=split | RECV peer=%d tag=21 in=%d "
               "comm=split",
               other, i % N * 4, other, BYTES);
        MPI_Comm_free(&comm);
        expect("MPI_Comm_free");
    }
}

int main(int argc, char **argv)
{
    int sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    expect_open(rank);
    CHECK(size == 4);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int i = 0; i < 4 * N; i++)
        a[i] = rank + i;
    expect("MPI_Init");
    MPI_Pcontrol(1);
    MPI_Pcontrol(2, "text", 3.5, a);
    insignificant_arguments();
    in_place();
    across();
    odd_requests();
    many_requests();
    many_communicators();
    MPI_Allreduce(&b[0], &sum, 1, MPI_INT, MPI_SUM, world);
    expect("MPI_Allreduce | COLL root=-1 out=4 in=4 comm=world");
    if (rank == 0)
        printf("sum %d\n", sum);
    expect("MPI_Finalize");
    MPI_Finalize();
    return 0;
}
