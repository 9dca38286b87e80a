/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages between two ranks, rank 0 sends: USES times 4 partitions of 100 ints, made
 * ready one by one, by range and by list, received as 2 partitions of 200; one of 3 partitions of 8
 * doubles with the same tag, prepared later and started first; and an ordinary message with that
 * tag. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { USES = 3, INTS = 400, DOUBLES = 24, TAG = 7 };
static int ints[INTS];
static double doubles[DOUBLES];

static void ready(int use, MPI_Request request)
{
    int list[] = {3, 0, 2, 1};
    if (use == 0)
        for (int i = 0; i < 4; i++)
            MPI_Pready(i, request);
    else if (use == 1)
        MPI_Pready_range(0, 3, request);
    else
        MPI_Pready_list(4, list, request);
}

static void sends(void)
{
    MPI_Request first, second;
    MPI_Psend_init(ints, 4, 100, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &first);
    MPI_Psend_init(doubles, 3, 8, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &second);
    MPI_Start(&second);
    MPI_Pready_range(0, 2, second);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    for (int use = 0; use < USES; use++) {
        for (int i = 0; i < INTS; i++)
            ints[i] = use * INTS + i;
        MPI_Start(&first);
        ready(use, first);
        MPI_Wait(&first, MPI_STATUS_IGNORE);
    }
    MPI_Send(ints, 5, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    MPI_Request_free(&first);
    MPI_Request_free(&second);
}

static int receives(void)
{
    MPI_Request first, second;
    int wrong = 0;
    MPI_Precv_init(ints, 2, 200, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &first);
    MPI_Precv_init(doubles, 1, 24, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &second);
    MPI_Start(&second);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    for (int use = 0; use < USES; use++) {
        int arrived = 0;
        MPI_Start(&first);
        while (!arrived)
            MPI_Parrived(first, 1, &arrived);
        MPI_Wait(&first, MPI_STATUS_IGNORE);
        for (int i = 0; i < INTS; i++)
            wrong += ints[i] != use * INTS + i;
    }
    MPI_Recv(ints, 5, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request_free(&first);
    MPI_Request_free(&second);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        sends();
    else if (rank == 1)
        wrong = receives();
    MPI_Finalize();
    if (rank == 1)
        printf("wrong: %d\n", wrong);
    return wrong != 0;
}
