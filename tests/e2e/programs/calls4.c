/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that came with MPI-4, on two ranks, with the expected record beside each: large counts,
 * Isendrecv, persistent collectives, communicators from groups of a session, and partitioned
 * messages, which so far are only passed on.
 */
#include "expect.h"

enum { N = 10, BYTES = 4 * N };

static int rank, other;
static int a[N], b[N], sum[N];
static const MPI_Comm world = MPI_COMM_WORLD;

static void large_counts(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv_c(b, N, MPI_INT, other, 1, world, &requests[0]);
    expect("MPI_Irecv_c | RECV peer=%d tag=1 in=%d comm=world request", other, BYTES);
    MPI_Isend_c(a, N, MPI_INT, other, 1, world, &requests[1]);
    expect("MPI_Isend_c | SEND peer=%d tag=1 bytes=%d comm=world request", other, BYTES);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(
        "MPI_Waitall | DONE of=MPI_Irecv_c peer=%d tag=1 in=%d | DONE of=MPI_Isend_c peer=%d tag=1",
        other, BYTES, other);
    if (rank == 0) {
        MPI_Send_c(a, N, MPI_INT, 1, 2, world);
        expect("MPI_Send_c | SEND peer=1 tag=2 bytes=%d comm=world", BYTES);
    } else {
        MPI_Recv_c(b, N, MPI_INT, MPI_ANY_SOURCE, 2, world, &status);
        expect("MPI_Recv_c | RECV peer=0 tag=2 in!=%d comm=world any=SOURCE", BYTES);
    }
    MPI_Allreduce_c(a, sum, N, MPI_INT, MPI_SUM, world);
    expect("MPI_Allreduce_c | COLL root=-1 out=%d in=%d comm=world", BYTES, BYTES);
    CHECK(sum[1] == 2);
    const MPI_Count counts[2] = {1, 2};
    const MPI_Aint displs[2] = {0, 1};
    MPI_Gatherv_c(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, 0, world);
    expect("MPI_Gatherv_c | COLL root=0 out=%d in=%d comm=world", 4 * (rank + 1), rank ? 0 : 12);
}

/* Large counts where a call sends and receives, or takes a matched message. */
static void large_exchanges(void)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    void *detached;
    MPI_Count room;
    static char buffer[4096];
    MPI_Sendrecv_c(a, N, MPI_INT, other, 6, b, N, MPI_INT, other, 6, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv_c | SEND peer=%d tag=6 bytes=%d comm=world | RECV peer=%d tag=6 in=%d comm=world", other,
           BYTES, other, BYTES);
    MPI_Sendrecv_replace_c(b, N, MPI_INT, other, 6, other, 6, world, &status);
    expect("MPI_Sendrecv_replace_c | SEND peer=%d tag=6 bytes=%d comm=world | RECV peer=%d tag=6 in!=%d comm=world",
           other, BYTES, other, BYTES);
    MPI_Recv_init_c(b, N, MPI_INT, other, 7, world, &request);
    expect("MPI_Recv_init_c");
    MPI_Start(&request);
    expect("MPI_Start | RECV peer=%d tag=7 in=%d comm=world persistent request", other, BYTES);
    MPI_Ssend_c(a, N, MPI_INT, other, 7, world);
    expect("MPI_Ssend_c | SEND peer=%d tag=7 bytes=%d comm=world mode=SYNC", other, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Start peer=%d tag=7 in=%d persistent", other, BYTES);
    MPI_Request_free(&request);
    expect("MPI_Request_free");
    MPI_Buffer_attach_c(buffer, sizeof buffer);
    for (int i = 0; i < 2; i++) {
        MPI_Bsend_c(a, N, MPI_INT, other, 8, world);
        expect("MPI_Bsend_c | SEND peer=%d tag=8 bytes=%d comm=world mode=BUFFERED", other, BYTES);
    }
    MPI_Mprobe(other, 8, world, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mprobe");
    MPI_Mrecv_c(b, N, MPI_INT, &message, &status);
    expect("MPI_Mrecv_c | RECV peer=%d tag=8 in!=%d comm=world", other, BYTES);
    MPI_Mprobe(other, 8, world, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mprobe");
    MPI_Imrecv_c(b, N, MPI_INT, &message, &request);
    expect("MPI_Imrecv_c | RECV peer=%d tag=8 in=%d comm=world request", other, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Imrecv_c peer=%d tag=8 in=%d", other, BYTES);
    MPI_Buffer_detach_c(&detached, &room);
    expect("MPI_Buffer_detach_c");
    CHECK(detached == buffer && room == sizeof buffer && b[1] == 1);
}

/* MPI_Isendrecv_replace, in both widths: `start` is one. */
#define REPLACED(start, name)                                                                      \
    start(b, N, MPI_INT, other, 9, other, 9, world, &request);                                     \
    expect(name " | SEND peer=%d tag=9 bytes=%d comm=world | RECV peer=%d tag=9 in=%d "            \
           "comm=world request", other, BYTES, other, BYTES);                                      \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                                         \
    expect("MPI_Wait | DONE of=" name " peer=%d tag=9 in=%d", other, BYTES)

static void replaced_at_once(void)
{
    MPI_Request request;
    REPLACED(MPI_Isendrecv_replace, "MPI_Isendrecv_replace");
    REPLACED(MPI_Isendrecv_replace_c, "MPI_Isendrecv_replace_c");
    MPI_Isendrecv_c(a, N, MPI_INT, other, 9, b, N, MPI_INT, other, 9, world, &request);
    expect("MPI_Isendrecv_c | SEND peer=%d tag=9 bytes=%d comm=world | RECV peer=%d tag=9 in=%d comm=world request",
           other, BYTES, other, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Isendrecv_c peer=%d tag=9 in=%d", other, BYTES);
    CHECK(b[1] == 1);
}

static void both_ways_at_once(void)
{
    MPI_Request request;
    MPI_Isendrecv(a, N, MPI_INT, other, 3, b, N, MPI_INT, other, 3, world, &request);
    expect("MPI_Isendrecv | SEND peer=%d tag=3 bytes=%d comm=world | RECV peer=%d tag=3 in=%d "
           "comm=world request",
           other, BYTES, other, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Isendrecv peer=%d tag=3 in=%d", other, BYTES);
    CHECK(b[1] == 1);
}

static void persistent_collectives(void)
{
    MPI_Request requests[2];
    MPI_Allreduce_init(a, sum, N, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[0]);
    expect("MPI_Allreduce_init");
    MPI_Barrier_init(world, MPI_INFO_NULL, &requests[1]);
    expect("MPI_Barrier_init");
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[0]);
        expect("MPI_Start | COLL root=-1 out=%d in=%d comm=world persistent request", BYTES, BYTES);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect("MPI_Wait | DONE of=MPI_Start");
        MPI_Start(&requests[1]);
        expect("MPI_Start | COLL root=-1 out=0 in=0 comm=world persistent request");
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        expect("MPI_Wait | DONE of=MPI_Start");
    }
    CHECK(sum[1] == 2);
    MPI_Request_free(&requests[0]);
    expect("MPI_Request_free");
    MPI_Request_free(&requests[1]);
    expect("MPI_Request_free");
}

static void session(void)
{
    MPI_Session handle;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &handle);
    MPI_Group_from_session_pset(handle, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "mwtest", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    expect("MPI_Comm_create_from_group");
    MPI_Sendrecv(a, N, MPI_INT, other, 4, b, N, MPI_INT, other, 4, comm, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=4 bytes=%d comm=from_group | RECV peer=%d tag=4 in=%d "
           "comm=from_group",
           other, BYTES, other, BYTES);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
    MPI_Group_free(&group);
    MPI_Session_finalize(&handle);
}

static void partitioned(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(a, 2, N / 2, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        expect("MPI_Start | SEND peer=1 tag=5 bytes=%d comm=world persistent request", BYTES);
        MPI_Pready(0, request);
        expect("MPI_Pready");
        MPI_Pready(1, request);
        expect("MPI_Pready");
    } else {
        MPI_Precv_init(b, 2, N / 2, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        expect("MPI_Start | RECV peer=0 tag=5 in=%d comm=world persistent request", BYTES);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        expect("MPI_Wait | DONE of=MPI_Start peer=1 tag=5 persistent");
    else
        expect("MPI_Wait | DONE of=MPI_Start peer=0 tag=5 in=%d persistent", BYTES);
    MPI_Request_free(&request);
    expect("MPI_Request_free");
    CHECK(rank == 0 || b[1] == 1);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    CHECK(size == 2);
    other = 1 - rank;
    expect_open(rank);
    expect("MPI_Init");
    for (int i = 0; i < N; i++)
        a[i] = i;
    large_counts();
    large_exchanges();
    both_ways_at_once();
    replaced_at_once();
    persistent_collectives();
    session();
    partitioned();
    MPI_Barrier(world);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    if (rank == 0)
        printf("sum %d\n", sum[1]);
    expect("MPI_Finalize");
    MPI_Finalize();
    return 0;
}
