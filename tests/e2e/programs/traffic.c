/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends known amounts between all pairs of ranks, itself included, by every way of sending, and
 * writes down (MWTEST_EXPECT) what each rank sent to each: "destination messages bytes".
 * Point-to-point only counts; the barriers and broadcasts between move nothing in that sense.
 */
#include "expect.h"

#include <string.h>

enum { RANKS = 8, WAYS = 9 };

static int rank, size;
static long messages[RANKS], bytes[RANKS];
static char *out, *in;

static void sent(int peer, long amount)
{
    messages[peer]++;
    bytes[peer] += amount;
}

/* One message to `to` and one from `from`, ranks of comm. `amount` is what we send, `room` what we
 * get. */
static void pass(int way, MPI_Comm comm, int to, int from, int amount, int room, int world_to)
{
    MPI_Request requests[2];
    MPI_Datatype pairs;
    if (way != 5)
        MPI_Irecv(in, room, MPI_BYTE, from, way, comm, &requests[0]);
    switch (way) {
    case 0:
        MPI_Send(out, amount, MPI_BYTE, to, way, comm);
        break;
    case 1:
        MPI_Ssend(out, amount, MPI_BYTE, to, way, comm);
        break;
    case 2:
        MPI_Bsend(out, amount, MPI_BYTE, to, way, comm);
        break;
    case 3:
        MPI_Isend(out, amount, MPI_BYTE, to, way, comm, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    case 4:
        MPI_Issend(out, amount, MPI_BYTE, to, way, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    case 5:
        MPI_Sendrecv(out, amount, MPI_BYTE, to, way, in, room, MPI_BYTE, from, way, comm,
                     MPI_STATUS_IGNORE);
        break;
    case 6:
        MPI_Send_init(out, amount, MPI_BYTE, to, way, comm, &requests[1]);
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[1]);
        break;
    case 7: /* every second pair of bytes: half of an extent */
        MPI_Type_vector(amount / 2, 2, 4, MPI_BYTE, &pairs);
        MPI_Type_commit(&pairs);
        MPI_Send(out, 1, pairs, to, way, comm);
        MPI_Type_free(&pairs);
        amount = amount / 2 * 2;
        break;
    case 8:
        MPI_Send(out, 0, MPI_BYTE, to, way, comm);
        amount = 0;
        break;
    }
    if (way != 5 && way != 4)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    sent(world_to, amount);
}

/* What arrives of it; so receives have no more room than they fill. */
static int arrives(int way, int amount)
{
    return way == 7 ? amount / 2 * 2 : way == 8 ? 0 : amount;
}

static int amount_of(int from, int to, int way)
{
    return 1 + from * 1000 + to * 100 + way * 7 + (way == 3 ? 100000 : 0);
}

int main(int argc, char **argv)
{
    MPI_Comm halves;
    void *attached;
    int length, me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect_open(rank);
    CHECK(size <= RANKS && size % 2 == 0);
    out = calloc(1, 300000);
    in = calloc(1, 300000);
    memset(out, rank + 1, 300000);
    length = 300000;
    attached = malloc(length);
    MPI_Buffer_attach(attached, length);

    for (int distance = 0; distance < size; distance++) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        for (int way = 0; way < WAYS; way++) {
            if (distance == 0 && way == 1) /* would wait for itself for ever on some MPIs */
                continue;
#ifdef NO_PERSISTENT
            if (way == 6)
                continue;
#endif
            for (int again = 0; again <= way % 3; again++)
                pass(way, MPI_COMM_WORLD, to, from, amount_of(rank, to, way),
                     arrives(way, amount_of(from, rank, way)), to);
        }
        MPI_Bcast(in, 100, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves); /* highest world rank first */
    MPI_Comm_rank(halves, &me);
    MPI_Comm_size(halves, &n);
    for (int distance = 0; distance < n; distance++) {
        int to = (me + distance) % n, from = (me + n - distance) % n;
        int world_to = 2 * (n - 1 - to) + rank % 2, world_from = 2 * (n - 1 - from) + rank % 2;
        pass(5, halves, to, from, 5000 + rank, 5000 + world_from, world_to);
        pass(3, halves, to, from, 700, 700, world_to);
    }
    MPI_Barrier(halves);
    MPI_Comm_free(&halves);
    MPI_Buffer_detach(&attached, &length);
    for (int peer = 0; peer < size; peer++)
        expect("%d %ld %ld", peer, messages[peer], bytes[peer]);
    MPI_Finalize();
    return 0;
}
