/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions, begun and ended several times; in each, some messages between neighbours. Arguments: mode,
 * cycles. "alone": no world. "two": two at once. "world": MPI_Init and MPI_Finalize in the middle of the
 * first. "kill": the last rank dies in the last cycle. Any number of ranks.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 5 };

static MPI_Comm communicator(MPI_Session session, int cycle)
{
    char tag[32];
    MPI_Group group;
    MPI_Comm comm;
    snprintf(tag, sizeof tag, "cycle %d", cycle);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void exchange(MPI_Comm comm, int tag)
{
    int rank, size, from, to;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < MESSAGES; i++) {
        from = rank;
        MPI_Sendrecv(&from, 1, MPI_INT, (rank + 1) % size, tag, &to, 1, MPI_INT,
                     (rank + size - 1) % size, tag, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
}

static void world(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    exchange(MPI_COMM_WORLD, 99);
    MPI_Finalize();
}

static void cycle(int number, const char *mode, int last)
{
    MPI_Session session, other = MPI_SESSION_NULL;
    int rank, size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (strcmp(mode, "two") == 0)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    MPI_Comm comm = communicator(session, number);
    exchange(comm, number);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (strcmp(mode, "kill") == 0 && last && rank == size - 1)
        raise(SIGKILL);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (other != MPI_SESSION_NULL) {
        comm = communicator(other, 100 + number);
        exchange(comm, 100 + number);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&other);
    }
    if (rank == 0)
        printf("cycle %d of %d ranks\n", number, size);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "alone";
    int cycles = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(mode, "world") == 0) {
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Comm comm = communicator(session, 50);
        exchange(comm, 50);
        world(&argc, &argv);
        exchange(comm, 51);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
        return 0;
    }
    for (int i = 0; i < cycles; i++)
        cycle(i, mode, i + 1 == cycles);
    return 0;
}
