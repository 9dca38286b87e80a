/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that the stub of the standard ABI knows, on two ranks, with the expected record beside
 * each. Compiled with the stub's mpi.h, so every constant, handle and status has the values and
 * layout of MPI-5.
 */
#include "expect.h"

int main(int argc, char **argv)
{
    int rank, size, other, flag, index, provided, a[8], b[8] = {0}, sum[8];
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm dup, split;
    MPI_Request requests[3];
    MPI_Status status, statuses[3];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CHECK(provided == MPI_THREAD_SERIALIZED);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    CHECK(size == 2);
    expect_open(rank);
    expect("MPI_Init_thread");
    other = 1 - rank;
    for (int i = 0; i < 8; i++)
        a[i] = 10 * rank + i;

    if (rank == 0) {
        MPI_Send(a, 8, MPI_INT, 1, 5, world);
        expect("MPI_Send | SEND peer=1 tag=5 bytes=32 comm=world");
        MPI_Ssend(a, 8, MPI_INT, 1, 6, world);
        expect("MPI_Ssend | SEND peer=1 tag=6 bytes=32 comm=world mode=SYNC");
        MPI_Send_c(a, 3, MPI_INT, 1, 7, world);
        expect("MPI_Send_c | SEND peer=1 tag=7 bytes=12 comm=world");
    } else {
        MPI_Recv(b, 8, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
        expect("MPI_Recv | RECV peer=0 tag=5 in=32 comm=world");
        MPI_Recv(b, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
        expect("MPI_Recv | RECV peer=0 tag=6 in!=32 comm=world any=SOURCE any=TAG");
        MPI_Recv(b, 8, MPI_INT, 0, 7, world, &status);
        expect("MPI_Recv | RECV peer=0 tag=7 in!=12 comm=world");
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 7);
        CHECK(b[7] == 7);
    }

    MPI_Irecv(b, 8, MPI_INT, other, 10, world, &requests[0]);
    expect("MPI_Irecv | RECV peer=%d tag=10 in=32 comm=world request", other);
    MPI_Isend(a, 8, MPI_INT, other, 10, world, &requests[1]); /* both sends have the same handle */
    expect("MPI_Isend | SEND peer=%d tag=10 bytes=32 comm=world request", other);
    MPI_Isend(a, 2, MPI_INT, other, 11, world, &requests[2]);
    expect("MPI_Isend | SEND peer=%d tag=11 bytes=8 comm=world request", other);
    CHECK(requests[1] == requests[2]);
    MPI_Waitall(3, requests, statuses);
    expect(
        "MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=10 in!=32 | DONE of=MPI_Isend peer=%d tag=10"
        " | DONE of=MPI_Isend peer=%d tag=11",
        other, other, other);
    CHECK(statuses[0].MPI_SOURCE == other);
    MPI_Irecv(b, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &requests[0]);
    expect("MPI_Irecv | RECV peer=-1 tag=-1 in=32 comm=world any=SOURCE any=TAG request");
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    expect("MPI_Waitany | DONE of=MPI_Irecv peer=%d tag=11 in!=8 matched", other);

    MPI_Sendrecv(a, 8, MPI_INT, other, 12, b, 8, MPI_INT, other, 12, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=12 bytes=32 comm=world | RECV peer=%d tag=12 in=32 "
           "comm=world",
           other, other);
    MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, 13, world);
    expect("MPI_Send");
    MPI_Irecv(b, 1, MPI_INT, other, 999, world, &requests[0]);
    expect("MPI_Irecv | RECV peer=%d tag=999 in=4 comm=world request", other);
    MPI_Cancel(&requests[0]);
    expect("MPI_Cancel");
    MPI_Wait(&requests[0], &status);
    expect("MPI_Wait | DONE of=MPI_Irecv peer=%d tag=999 cancelled", other);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Isend(a, 1, MPI_INT, other, 14, world, &requests[0]);
    expect("MPI_Isend | SEND peer=%d tag=14 bytes=4 comm=world request", other);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    expect("MPI_Probe");
    CHECK(status.MPI_TAG == 14);
    MPI_Recv(b, 1, MPI_INT, other, 14, world, MPI_STATUS_IGNORE);
    expect("MPI_Recv | RECV peer=%d tag=14 in=4 comm=world", other);
    for (flag = 0; !flag;)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    expect("MPI_Test | DONE of=MPI_Isend peer=%d tag=14", other);

    MPI_Barrier(world);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    MPI_Bcast(b, 8, MPI_INT, 1, world);
    expect("MPI_Bcast | COLL root=1 out=%d in=%d comm=world", rank == 1 ? 32 : 0,
           rank == 1 ? 0 : 32);
    MPI_Allreduce(a, sum, 8, MPI_INT, MPI_SUM, world);
    expect("MPI_Allreduce | COLL root=-1 out=32 in=32 comm=world");
    CHECK(sum[3] == 16);
    MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, world);
    expect("MPI_Allgather | COLL root=-1 out=4 in=8 comm=world");
    MPI_Comm_dup(world, &dup);
    expect("MPI_Comm_dup");
    MPI_Comm_split(dup, 0, -rank, &split); /* reversed */
    expect("MPI_Comm_split");
    MPI_Sendrecv(a, 8, MPI_INT, rank, 15, b, 8, MPI_INT, rank, 15, split, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=15 bytes=32 comm=split | RECV peer=%d tag=15 in=32 "
           "comm=split",
           other, other);
    MPI_Reduce(a, sum, 8, MPI_INT, MPI_MAX, 0, split);
    expect("MPI_Reduce | COLL root=1 out=32 in=%d comm=split", rank == 1 ? 32 : 0);
    MPI_Comm_free(&split);
    expect("MPI_Comm_free");
    MPI_Comm_free(&dup);
    expect("MPI_Comm_free");

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(a, 1, MPI_INT, 77, 1, world) == MPI_ERR_RANK);
    expect("MPI_Send error");
    if (rank == 0)
        printf("sum %d\n", sum[0] + b[0]);
    expect("MPI_Finalize");
    MPI_Finalize();
    return 0;
}
