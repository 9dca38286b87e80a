/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that is linked with libmpi; plugin_host.c, which is not, loads it with RTLD_LOCAL. */
#include <mpi.h>

int plugin_run(int *argc, char ***argv);

int plugin_run(int *argc, char ***argv)
{
    int rank, size, value, sum;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    value = rank + 1;
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &sum, 1, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum;
}
