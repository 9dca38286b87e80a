/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking messages between all pairs of ranks, sizes and counts as given: "pairs 8x100 1048576x20"
 * sends a hundred messages of 8 bytes and twenty of 1 MiB in each direction of each pair. Even turns
 * answer odd ones, so that small messages go forth and back. Nothing but point-to-point in between:
 * what the fabric carries must add up to it. With "near" or "far" before the sizes only ranks of
 * one host, or of different ones, talk.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char hosts[64][MPI_MAX_PROCESSOR_NAME];
static char *buffer;

/* Both directions, in turn; the lower rank begins. */
static void talk(int peer, int bytes, int count)
{
    for (int i = 0; i < 2 * count; i++) {
        if ((rank < peer) == (i % 2 == 0))
            MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static int wanted(const char *who, int a, int b)
{
    int near = strcmp(hosts[a], hosts[b]) == 0;
    return !who || (strcmp(who, "near") == 0 ? near : !near);
}

/* MPICH 4.0 over UCX's tcp hangs in MPI_Finalize now and then, more often where a higher rank comes to it
 * after a lower one. */
static void leave_last_first(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep((useconds_t)(size - 1 - rank) * 10000);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef ASK /* opens_fabric.c */
    ASK();
#endif
    int length, first = 1;
    const char *who = NULL;
    if (argc > 1 && (strcmp(argv[1], "near") == 0 || strcmp(argv[1], "far") == 0)) {
        who = argv[first++];
        MPI_Get_processor_name(hosts[rank], &length);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, hosts, MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                      MPI_COMM_WORLD);
    }
    buffer = calloc(1, 1 << 24);
    for (int i = first; i < argc; i++) {
        int bytes = 0, count = 1;
        if (sscanf(argv[i], "%dx%d", &bytes, &count) < 1 || bytes < 0 || bytes > 1 << 24)
            MPI_Abort(MPI_COMM_WORLD, 2);
        for (int a = 0; a < size; a++)
            for (int b = a + 1; b < size; b++)
                if ((rank == a || rank == b) && wanted(who, a, b))
                    talk(rank == a ? b : a, bytes, count);
    }
    leave_last_first();
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    free(buffer);
    return 0;
}
