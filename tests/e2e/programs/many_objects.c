/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and frees far more communicators, datatypes and windows than a small trace can describe, gives some a name, and
 * uses each communicator: a barrier, a message to itself, and an all-to-all with amounts of its own.
 * many_objects COMMUNICATORS TYPES WINDOWS. Prints nothing but from rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void use(MPI_Comm comm)
{
    static int counts[64], places[64];
    static char out[64], in[64];
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Request request;
    MPI_Irecv(in, 3, MPI_BYTE, rank, 1, comm, &request);
    MPI_Send(out, 3, MPI_BYTE, rank, 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < atoi(argv[1]); i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "one of many");
        use(comm);
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        MPI_Datatype type;
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }
    for (int i = 0; i < atoi(argv[3]); i++) {
        char memory[8];
        MPI_Win window;
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_set_name(window, "one of many");
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
