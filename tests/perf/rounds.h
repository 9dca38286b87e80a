/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of calls on one rank, of which percall.c measures the time and count.c the instructions. */
#ifndef MW_PERF_ROUNDS_H
#define MW_PERF_ROUNDS_H

#include <mpi.h>

static void iprobe(long rounds)
{
    int flag;
    for (long i = 0; i < rounds; i++)
        MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void messages_to_self(long rounds)
{
    char out[8] = {0}, in[8];
    MPI_Request requests[2];
    for (long i = 0; i < rounds; i++) {
        MPI_Irecv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void allreduce(long rounds)
{
    double in = 1, out;
    for (long i = 0; i < rounds; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

#endif
