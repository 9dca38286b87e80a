/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts two more processes of itself by MPI_Comm_spawn, or with the argument "multiple" by
 * MPI_Comm_spawn_multiple as two programs, and trades messages with them. Parents print. */
#include <mpi.h>
#include <stdio.h>

static void spawn(char *program, int multiple, MPI_Comm *made)
{
    char *programs[] = {program, program};
    int counts[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    if (multiple)
        MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, made,
                                MPI_ERRCODES_IGNORE);
    else
        MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, made,
                       MPI_ERRCODES_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int rank, value, other = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        spawn(argv[0], argc > 1, &inter);
        value = 100 + rank;
    } else {
        inter = parent;
        value = 200 + rank;
    }
    MPI_Sendrecv(&value, 1, MPI_INT, rank, 1, &other, 1, MPI_INT, rank, 1, inter,
                 MPI_STATUS_IGNORE);
    if (parent == MPI_COMM_NULL)
        printf("parent %d got %d\n", rank, other);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
