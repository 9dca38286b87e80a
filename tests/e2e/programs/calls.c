/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every recorded kind of call once or more, on four ranks, with its expected record beside it.
 * calls.F90 makes the same calls in the same order through each Fortran binding: change both
 * together. What is received always fills its buffer, except where the comment says "short".
 */
#include "expect.h"

#include <string.h>

enum { N = 10, BYTES = 4 * N };

static int rank, size, right, left;
static int a[4 * N], b[4 * N], c[4 * N];
static const MPI_Comm world = MPI_COMM_WORLD;

static void fill(int *values, int count, int seed)
{
    for (int i = 0; i < count; i++)
        values[i] = seed * 1000 + i;
}

static void add(const int *values, int count)
{
    for (int i = 0; i < count; i++)
        expect_sum += values[i];
}

static void blocking_sends(void)
{
    static char buffer[4 * BYTES + 4 * MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    MPI_Status status;
    fill(a, N, rank);

    MPI_Buffer_attach(buffer, sizeof buffer);
    if (rank % 2 == 0) {
        MPI_Send(a, N, MPI_INT, right, 1, world);
        expect("MPI_Send | SEND peer=%d tag=1 bytes=%d comm=world", right, BYTES);
        MPI_Bsend(a, N, MPI_INT, right, 2, world);
        expect("MPI_Bsend | SEND peer=%d tag=2 bytes=%d comm=world mode=BUFFERED", right, BYTES);
        MPI_Ssend(a, N - 1, MPI_INT, right, 3, world); /* short */
        expect("MPI_Ssend | SEND peer=%d tag=3 bytes=%d comm=world mode=SYNC", right, BYTES - 4);
        MPI_Recv(b, 1, MPI_INT, right, 9, world, MPI_STATUS_IGNORE);
        expect("MPI_Recv | RECV peer=%d tag=9 in=4 comm=world", right);
        MPI_Rsend(a, N, MPI_INT, right, 4,
                  world); /* its receive was posted before the 9 was sent */
        expect("MPI_Rsend | SEND peer=%d tag=4 bytes=%d comm=world mode=READY", right, BYTES);
    } else {
        MPI_Request request;
        MPI_Recv(b, N, MPI_INT, left, 1, world, MPI_STATUS_IGNORE);
        expect("MPI_Recv | RECV peer=%d tag=1 in=%d comm=world", left, BYTES);
        MPI_Recv(b, N, MPI_INT, left, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
        expect("MPI_Recv | RECV peer=%d tag=2 in!=%d comm=world any=TAG", left, BYTES);
        MPI_Recv(b, N, MPI_INT, left, 3, world, &status); /* short, with a status */
        expect("MPI_Recv | RECV peer=%d tag=3 in!=%d comm=world", left, BYTES - 4);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 3);
        MPI_Irecv(b, N, MPI_INT, left, 4, world, &request);
        expect("MPI_Irecv | RECV peer=%d tag=4 in=%d comm=world request", left, BYTES);
        MPI_Send(a, 1, MPI_INT, left, 9, world);
        expect("MPI_Send | SEND peer=%d tag=9 bytes=4 comm=world", left);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect("MPI_Wait | DONE of=MPI_Irecv peer=%d tag=4 in=%d", left, BYTES);
    }
    add(b, N);
    MPI_Buffer_detach(&detached, &bytes);
}

static void start_pair(MPI_Request *request, int tag)
{
    MPI_Irecv(b + tag % 4 * N, N, MPI_INT, left, tag, world, &request[0]);
    expect("MPI_Irecv | RECV peer=%d tag=%d in=%d comm=world request", left, tag, BYTES);
    MPI_Isend(a, N, MPI_INT, right, tag, world, &request[1]);
    expect("MPI_Isend | SEND peer=%d tag=%d bytes=%d comm=world request", right, tag, BYTES);
}

static void nonblocking(void)
{
    MPI_Request request[4];
    MPI_Status status, statuses[4];
    int index, flag, done, count, indices[4];

    start_pair(request, 20);
    MPI_Wait(&request[0], &status);
    expect("MPI_Wait | DONE of=MPI_Irecv peer=%d tag=20 in!=%d", left, BYTES);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 20);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Isend peer=%d tag=20", right);

    start_pair(request, 21);
    start_pair(request + 2, 22);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=21 in=%d | DONE of=MPI_Isend peer=%d tag=21"
           " | DONE of=MPI_Irecv peer=%d tag=22 in=%d | DONE of=MPI_Isend peer=%d tag=22",
           left, BYTES, right, left, BYTES, right);

    start_pair(request, 23);
    MPI_Waitall(2, request, statuses);
    expect(
        "MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=23 in!=%d | DONE of=MPI_Isend peer=%d tag=23",
        left, BYTES, right);
    CHECK(statuses[0].MPI_SOURCE == left);

    start_pair(request, 24);
    start_pair(request + 2, 25);
    for (int i = 0; i < 4; i++)
        MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
    expect(
        "MPI_Waitany *4 | DONE of=MPI_Irecv peer=%d tag=24 in=%d | DONE of=MPI_Isend peer=%d tag=24"
        " | DONE of=MPI_Irecv peer=%d tag=25 in=%d | DONE of=MPI_Isend peer=%d tag=25",
        left, BYTES, right, left, BYTES, right);
    MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE); /* only null requests */
    expect("MPI_Waitany");
    CHECK(index == MPI_UNDEFINED);

    start_pair(request, 26);
    for (done = 0; done < 2; done += count)
        MPI_Waitsome(2, request, &count, indices, MPI_STATUSES_IGNORE);
    expect("MPI_Waitsome *? | DONE of=MPI_Irecv peer=%d tag=26 in=%d | DONE of=MPI_Isend peer=%d "
           "tag=26",
           left, BYTES, right);

    start_pair(request, 27);
    for (int i = 0; i < 2; i++)
        for (flag = 0; !flag;)
            MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE);
    expect("MPI_Test | DONE of=MPI_Irecv peer=%d tag=27 in=%d", left, BYTES);
    expect("MPI_Test | DONE of=MPI_Isend peer=%d tag=27", right);

    start_pair(request, 28);
    for (done = 0; done < 2; done += flag)
        MPI_Testany(2, request, &index, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Testany *2 | DONE of=MPI_Irecv peer=%d tag=28 in=%d | DONE of=MPI_Isend peer=%d "
           "tag=28",
           left, BYTES, right);

    start_pair(request, 29);
    for (done = 0; done < 2; done += count)
        MPI_Testsome(2, request, &count, indices, MPI_STATUSES_IGNORE);
    expect("MPI_Testsome *? | DONE of=MPI_Irecv peer=%d tag=29 in=%d | DONE of=MPI_Isend peer=%d "
           "tag=29",
           left, BYTES, right);

    start_pair(request, 30);
    for (flag = 0; !flag;)
        MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
    expect(
        "MPI_Testall | DONE of=MPI_Irecv peer=%d tag=30 in=%d | DONE of=MPI_Isend peer=%d tag=30",
        left, BYTES, right);

    MPI_Irecv(b, N, MPI_INT, left, 31, world, &request[0]);
    expect("MPI_Irecv | RECV peer=%d tag=31 in=%d comm=world request", left, BYTES);
    MPI_Ibsend(a, 0, MPI_INT, MPI_PROC_NULL, 31, world, &request[1]);
    expect("MPI_Ibsend");
    MPI_Issend(a, N, MPI_INT, right, 31, world, &request[2]);
    expect("MPI_Issend | SEND peer=%d tag=31 bytes=%d comm=world mode=SYNC request", right, BYTES);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    expect(
        "MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=31 in=%d | DONE of=MPI_Issend peer=%d tag=31",
        left, BYTES, right);

    MPI_Isend(a, N, MPI_INT, right, 32, world, &request[0]);
    expect("MPI_Isend | SEND peer=%d tag=32 bytes=%d comm=world request", right, BYTES);
    MPI_Request_free(&request[0]);
    expect("MPI_Request_free | DONE of=MPI_Isend peer=%d tag=32 freed", right);
    MPI_Recv(b, N, MPI_INT, left, 32, world, MPI_STATUS_IGNORE);
    expect("MPI_Recv | RECV peer=%d tag=32 in=%d comm=world", left, BYTES);

    MPI_Irecv(c, N, MPI_INT, left, 999, world, &request[0]); /* nobody sends this */
    expect("MPI_Irecv | RECV peer=%d tag=999 in=%d comm=world request", left, BYTES);
    MPI_Cancel(&request[0]);
    expect("MPI_Cancel");
    MPI_Wait(&request[0], &status);
    expect("MPI_Wait | DONE of=MPI_Irecv peer=%d tag=999 cancelled", left);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    add(b, 4 * N);
}

static void wildcards(void)
{
    MPI_Request request[2];
    MPI_Status status;
    int flag;

    MPI_Isend(a, N, MPI_INT, right, 40, world, &request[1]);
    expect("MPI_Isend | SEND peer=%d tag=40 bytes=%d comm=world request", right, BYTES);
    MPI_Recv(b, 4 * N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world,
             MPI_STATUS_IGNORE); /* short, no status */
    expect("MPI_Recv | RECV peer=%d tag=40 in!=%d comm=world any=SOURCE any=TAG", left, BYTES);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Isend peer=%d tag=40", right);
    MPI_Barrier(world);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");

    MPI_Irecv(b, 4 * N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request[0]);
    expect("MPI_Irecv | RECV peer=-1 tag=-1 in=%d comm=world any=SOURCE any=TAG request",
           4 * BYTES);
    MPI_Isend(a, N, MPI_INT, right, 41, world, &request[1]);
    expect("MPI_Isend | SEND peer=%d tag=41 bytes=%d comm=world request", right, BYTES);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=41 in!=%d matched | DONE of=MPI_Isend "
           "peer=%d tag=41",
           left, BYTES, right);
    MPI_Barrier(world);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");

    MPI_Isend(a, N, MPI_INT, right, 42, world, &request[1]);
    expect("MPI_Isend | SEND peer=%d tag=42 bytes=%d comm=world request", right, BYTES);
    MPI_Probe(MPI_ANY_SOURCE, 42, world, &status);
    expect("MPI_Probe");
    CHECK(status.MPI_SOURCE == left);
    for (flag = 0; !flag;)
        MPI_Iprobe(left, MPI_ANY_TAG, world, &flag, &status);
    expect("MPI_Iprobe");
    MPI_Recv(b, N, MPI_INT, left, 42, world, &status);
    expect("MPI_Recv | RECV peer=%d tag=42 in!=%d comm=world", left, BYTES);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Isend peer=%d tag=42", right);
    add(b, N);
}

static void matched_probes(void)
{
    MPI_Request request[2];
    MPI_Message message;
    int flag;

    for (int tag = 43; tag < 45; tag++) {
        MPI_Isend(a, N, MPI_INT, right, tag, world, &request[1]);
        expect("MPI_Isend | SEND peer=%d tag=%d bytes=%d comm=world request", right, tag, BYTES);
        if (tag == 43) {
            MPI_Mprobe(MPI_ANY_SOURCE, tag, world, &message, MPI_STATUS_IGNORE);
            expect("MPI_Mprobe");
            MPI_Mrecv(b, N, MPI_INT, &message, MPI_STATUS_IGNORE);
            expect("MPI_Mrecv | RECV peer=%d tag=43 in=%d comm=world", left, BYTES);
        } else {
            for (flag = 0; !flag;)
                MPI_Improbe(left, MPI_ANY_TAG, world, &flag, &message, MPI_STATUS_IGNORE);
            expect("MPI_Improbe");
            MPI_Imrecv(b, N, MPI_INT, &message, &request[0]);
            expect("MPI_Imrecv | RECV peer=%d tag=44 in=%d comm=world request", left, BYTES);
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
            expect("MPI_Wait | DONE of=MPI_Imrecv peer=%d tag=44 in=%d", left, BYTES);
        }
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        expect("MPI_Wait | DONE of=MPI_Isend peer=%d tag=%d", right, tag);
        add(b, N);
    }
}

static void exchanges(void)
{
    MPI_Datatype column;
    MPI_Status status;

    MPI_Sendrecv(a, N, MPI_INT, right, 50, b, N, MPI_INT, left, 50, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=50 bytes=%d comm=world | RECV peer=%d tag=50 in=%d "
           "comm=world",
           right, BYTES, left, BYTES);
    MPI_Sendrecv(a, N - 2, MPI_INT, right, 51, b, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world,
                 &status); /* short */
    expect("MPI_Sendrecv | SEND peer=%d tag=51 bytes=%d comm=world"
           " | RECV peer=%d tag=51 in!=%d comm=world any=SOURCE any=TAG",
           right, BYTES - 8, left, BYTES - 8);
    CHECK(status.MPI_SOURCE == left);
    MPI_Barrier(world);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    MPI_Sendrecv_replace(b, N, MPI_INT, left, 52, right, 52, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv_replace | SEND peer=%d tag=52 bytes=%d comm=world | RECV peer=%d tag=52 "
           "in=%d comm=world",
           left, BYTES, right, BYTES);
    add(b, N);

    MPI_Type_vector(5, 1, 2, MPI_INT, &column); /* 20 bytes of 36 */
    MPI_Type_commit(&column);
    MPI_Sendrecv(a, 2, column, right, 53, b, N, MPI_INT, left, 53, world, &status);
    expect("MPI_Sendrecv | SEND peer=%d tag=53 bytes=40 comm=world | RECV peer=%d tag=53 in!=40 "
           "comm=world",
           right, left);
    MPI_Type_free(&column);
    add(b, N);

    MPI_Send(a, N, MPI_INT, MPI_PROC_NULL, 54, world);
    expect("MPI_Send");
    MPI_Recv(b, N, MPI_INT, MPI_PROC_NULL, 54, world, MPI_STATUS_IGNORE);
    expect("MPI_Recv");
}

static void persistent(void)
{
    MPI_Request request[2];

    MPI_Recv_init(b, N, MPI_INT, left, 60, world, &request[0]);
    expect("MPI_Recv_init");
    MPI_Send_init(a, N, MPI_INT, right, 60, world, &request[1]);
    expect("MPI_Send_init");
    for (int i = 0; i < 3; i++) {
        if (i < 2) {
            MPI_Startall(2, request);
            expect("MPI_Startall | RECV peer=%d tag=60 in=%d comm=world persistent request"
                   " | SEND peer=%d tag=60 bytes=%d comm=world persistent request",
                   left, BYTES, right, BYTES);
        } else {
            MPI_Start(&request[0]);
            expect("MPI_Start | RECV peer=%d tag=60 in=%d comm=world persistent request", left,
                   BYTES);
            MPI_Start(&request[1]);
            expect("MPI_Start | SEND peer=%d tag=60 bytes=%d comm=world persistent request", right,
                   BYTES);
        }
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        expect("MPI_Waitall | DONE of=MPI_%s peer=%d tag=60 in=%d persistent | DONE of=MPI_%s "
               "peer=%d tag=60 persistent",
               i < 2 ? "Startall" : "Start", left, BYTES, i < 2 ? "Startall" : "Start", right);
        add(b, N);
    }
    MPI_Request_free(&request[0]);
    expect("MPI_Request_free");
    MPI_Request_free(&request[1]);
    expect("MPI_Request_free");
}

/* "out" is what this rank gives, "in" what it gets; the root's part that stays with it counts too.
 */
static void collectives(MPI_Comm comm, const char *how)
{
    int me, n, counts[4], displs[4], root = 1;
    int world_root;
    MPI_Group group, all;
    MPI_Datatype types[4];
    MPI_Request request;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(world, &all);
    MPI_Group_translate_ranks(group, 1, &root, all, &world_root);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        displs[i] = i * (i + 1) / 2;
        types[i] = MPI_INT;
    }
    int total = n * (n + 1) / 2 * 4, own = (me + 1) * 4;

    MPI_Barrier(comm);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=%s", how);
    MPI_Bcast(b, N, MPI_INT, root, comm);
    expect("MPI_Bcast | COLL root=%d out=%d in=%d comm=%s", world_root, me == root ? BYTES : 0,
           me == root ? 0 : BYTES, how);
    MPI_Reduce(a, b, N, MPI_INT, MPI_SUM, root, comm);
    expect("MPI_Reduce | COLL root=%d out=%d in=%d comm=%s", world_root, BYTES,
           me == root ? BYTES : 0, how);
    MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, comm);
    expect("MPI_Allreduce | COLL root=-1 out=%d in=%d comm=%s", BYTES, BYTES, how);
    add(b, N);
    MPI_Allreduce(MPI_IN_PLACE, b, N, MPI_INT, MPI_MAX, comm);
    expect("MPI_Allreduce | COLL root=-1 out=%d in=%d comm=%s", BYTES, BYTES, how);
    MPI_Scan(a, b, N, MPI_INT, MPI_SUM, comm);
    expect("MPI_Scan | COLL root=-1 out=%d in=%d comm=%s", BYTES, BYTES, how);
    MPI_Exscan(a, b, N, MPI_INT, MPI_SUM, comm);
    expect("MPI_Exscan | COLL root=-1 out=%d in=%d comm=%s", BYTES, BYTES, how);
    MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, root, comm);
    expect("MPI_Gather | COLL root=%d out=8 in=%d comm=%s", world_root, me == root ? 8 * n : 0,
           how);
    MPI_Gatherv(a, me + 1, MPI_INT, b, counts, displs, MPI_INT, root, comm);
    expect("MPI_Gatherv | COLL root=%d out=%d in=%d comm=%s", world_root, own,
           me == root ? total : 0, how);
    MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, root, comm);
    expect("MPI_Scatter | COLL root=%d out=%d in=8 comm=%s", world_root, me == root ? 8 * n : 0,
           how);
    MPI_Scatterv(a, counts, displs, MPI_INT, b, me + 1, MPI_INT, root, comm);
    expect("MPI_Scatterv | COLL root=%d out=%d in=%d comm=%s", world_root, me == root ? total : 0,
           own, how);
    MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, comm);
    expect("MPI_Allgather | COLL root=-1 out=8 in=%d comm=%s", 8 * n, how);
    MPI_Allgatherv(a, me + 1, MPI_INT, b, counts, displs, MPI_INT, comm);
    expect("MPI_Allgatherv | COLL root=-1 out=%d in=%d comm=%s", own, total, how);
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, comm);
    expect("MPI_Alltoall | COLL root=-1 out=%d in=%d comm=%s", 8 * n, 8 * n, how);
    add(b, 2 * n);
    int receive[4], where[4]; /* of rank i: me + 1 elements */
    for (int i = 0; i < n; i++) {
        receive[i] = me + 1;
        where[i] = i * (me + 1);
    }
    MPI_Alltoallv(a, counts, displs, MPI_INT, b, receive, where, MPI_INT, comm);
    expect("MPI_Alltoallv | COLL root=-1 out=%d in=%d comm=%s", total, own * n, how);
    for (int i = 0; i < n; i++) {
        displs[i] *= 4;
        where[i] *= 4;
    }
    MPI_Alltoallw(a, counts, displs, types, b, receive, where, types, comm);
    expect("MPI_Alltoallw | COLL root=-1 out=%d in=%d comm=%s", total, own * n, how);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, comm);
    expect("MPI_Reduce_scatter_block | COLL root=-1 out=%d in=8 comm=%s", 8 * n, how);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
    expect("MPI_Reduce_scatter | COLL root=-1 out=%d in=%d comm=%s", total, own, how);
    add(b, me + 1);

    MPI_Ibarrier(comm, &request);
    expect("MPI_Ibarrier | COLL root=-1 out=0 in=0 comm=%s request", how);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Ibarrier");
    MPI_Ibcast(b, N, MPI_INT, root, comm, &request);
    expect("MPI_Ibcast | COLL root=%d out=%d in=%d comm=%s request", world_root,
           me == root ? BYTES : 0, me == root ? 0 : BYTES, how);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Ibcast");
    MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, comm, &request);
    expect("MPI_Iallreduce | COLL root=-1 out=%d in=%d comm=%s request", BYTES, BYTES, how);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Iallreduce");
    add(b, N);
    MPI_Ialltoall(a, 2, MPI_INT, b, 2, MPI_INT, comm, &request);
    expect("MPI_Ialltoall | COLL root=-1 out=%d in=%d comm=%s request", 8 * n, 8 * n, how);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Ialltoall");
}

/* A message around a communicator shows how its ranks were translated. */
static void around(MPI_Comm comm, const char *how, int tag)
{
    int me, n, ranks[2], peers[2];
    MPI_Group group, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    ranks[0] = (me + 1) % n;
    ranks[1] = (me + n - 1) % n;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(world, &all);
    MPI_Group_translate_ranks(group, 2, ranks, all, peers);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Sendrecv(a, N, MPI_INT, ranks[0], tag, b, N, MPI_INT, ranks[1], tag, comm,
                 MPI_STATUS_IGNORE);
    expect(
        "MPI_Sendrecv | SEND peer=%d tag=%d bytes=%d comm=%s | RECV peer=%d tag=%d in=%d comm=%s",
        peers[0], tag, BYTES, how, peers[1], tag, BYTES, how);
    add(b, N);
}

static void release(MPI_Comm *comm)
{
    MPI_Comm_free(comm);
    expect("MPI_Comm_free");
}

static void communicators(void)
{
    MPI_Comm dup, split, sub, cart, row, graph, dist, half, inter, merged, other, shared;
    MPI_Group all, pair;
    MPI_Request request;
    int dims[2] = {2, 2}, periods[2] = {1, 1}, remain[2] = {0, 1};
    int members[2] = {0, 2};

    MPI_Comm_dup(world, &dup);
    expect("MPI_Comm_dup");
    around(dup, "dup", 70);
    MPI_Comm_idup(world, &other, &request);
    expect("MPI_Comm_idup");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Comm_idup");
    around(other, "dup", 71);
    release(&other);

    MPI_Comm_split(dup, rank % 2, -rank, &split); /* reversed order */
    expect("MPI_Comm_split");
    around(split, "split", 72);
    collectives(split, "split");
    release(&split);
    MPI_Comm_split(world, rank == 3 ? MPI_UNDEFINED : 1, 0, &split);
    expect("MPI_Comm_split");
    if (rank == 3) {
        CHECK(split == MPI_COMM_NULL);
    } else {
        around(split, "split", 73);
        release(&split);
    }
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    expect("MPI_Comm_split_type");
    around(shared, "split_type", 74);
    release(&shared);

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, members, &pair);
    MPI_Comm_create(world, pair, &sub);
    expect("MPI_Comm_create");
    if (rank % 2 == 0) {
        around(sub, "create", 75);
        release(&sub);
        MPI_Comm_create_group(world, pair, 5, &sub);
        expect("MPI_Comm_create_group");
        around(sub, "create_group", 76);
        release(&sub);
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&all);

    MPI_Cart_create(world, 2, dims, periods, 0, &cart);
    expect("MPI_Cart_create");
    around(cart, "cart", 77);
    MPI_Cart_sub(cart, remain, &row);
    expect("MPI_Cart_sub");
    around(row, "cart_sub", 78);
    MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, cart);
    expect("MPI_Neighbor_allgather | COLL root=-1 out=8 in=32 comm=cart");
    MPI_Neighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, cart);
    expect("MPI_Neighbor_alltoall | COLL root=-1 out=32 in=32 comm=cart");
    release(&row);
    release(&cart);

    int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2}; /* 0-1 and 2-3 */
    MPI_Graph_create(world, 4, index, edges, 0, &graph);
    expect("MPI_Graph_create");
    around(graph, "graph", 79);
    release(&graph);
    MPI_Dist_graph_create_adjacent(world, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &dist);
    expect("MPI_Dist_graph_create_adjacent");
    MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, dist);
    expect("MPI_Neighbor_allgather | COLL root=-1 out=8 in=8 comm=dist_graph");
    add(b, 2);
    release(&dist);

    MPI_Comm_split(world, rank / 2, rank, &half);
    expect("MPI_Comm_split");
    MPI_Intercomm_create(half, 0, world, rank / 2 ? 0 : 2, 80, &inter);
    expect("MPI_Intercomm_create");
    int remote = (rank + 2) % 4; /* same place in the other half */
    MPI_Sendrecv(a, N, MPI_INT, rank % 2, 81, b, N, MPI_INT, rank % 2, 81, inter,
                 MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=81 bytes=%d comm=intercomm | RECV peer=%d tag=81 in=%d "
           "comm=intercomm",
           remote, BYTES, remote, BYTES);
    add(b, N);
    MPI_Intercomm_merge(inter, rank / 2, &merged);
    expect("MPI_Intercomm_merge");
    around(merged, "merge", 82);
    release(&merged);
    release(&inter);
    release(&half);

    MPI_Sendrecv(a, N, MPI_INT, 0, 83, b, N, MPI_INT, 0, 83, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=83 bytes=%d comm=self | RECV peer=%d tag=83 in=%d "
           "comm=self",
           rank, BYTES, rank, BYTES);
    release(&dup);
}

int main(int argc, char **argv)
{
    long total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    expect_open(rank);
    CHECK(size == 4);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    fill(a, 4 * N, rank);
    expect("MPI_Init");

    blocking_sends();
    nonblocking();
    wildcards();
    matched_probes();
    exchanges();
    persistent();
    collectives(world, "world");
    communicators();

    MPI_Reduce(&expect_sum, &total, 1, MPI_LONG, MPI_SUM, 0, world);
    expect("MPI_Reduce | COLL root=0 out=8 in=%d comm=world", rank ? 0 : 8);
    if (rank == 0)
        printf("checksum %ld\n", total);
    expect("MPI_Finalize");
    MPI_Finalize();
    return 0;
}
