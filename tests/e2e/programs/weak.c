/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks, as portable programs do, whether functions of MPI-4 are there: by weak symbols. Runs with
 * or without them. */
#include <mpi.h>
#include <stdio.h>

#pragma weak MPI_Send_c
#pragma weak MPI_Isendrecv
#pragma weak MPI_Session_init
#pragma weak MPI_Allreduce_init

#if MPI_VERSION < 4
int MPI_Send_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int MPI_Isendrecv(void);
int MPI_Session_init(void);
int MPI_Allreduce_init(void);
#endif

int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("MPI_Send_c %d, MPI_Isendrecv %d, MPI_Session_init %d, MPI_Allreduce_init %d\n",
               MPI_Send_c != NULL, MPI_Isendrecv != NULL, MPI_Session_init != NULL,
               MPI_Allreduce_init != NULL);
    if (argc > 1) { /* only asked */
        MPI_Finalize();
        return 0;
    }
    if (rank == 0) {
        if (MPI_Send_c)
            MPI_Send_c(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
