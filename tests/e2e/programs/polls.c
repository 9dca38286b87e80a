/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls a known number of times before anything comes: 1000 Iprobe, 1000 Test, 500 Testall and 300
 * Testany in vain, then the message. Two ranks; prints "polled".
 */
#include "expect.h"

int main(int argc, char **argv)
{
    int rank, flag, index, value = 7, other = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        for (int i = 0; i < 1000; i++) {
            MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        MPI_Irecv(&other, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 1000; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        for (int i = 0; i < 500; i++) {
            MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
            CHECK(!flag);
        }
        for (int i = 0; i < 300; i++) {
            MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(other == 7);
        printf("polled\n");
    } else {
        MPI_Recv(&other, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
