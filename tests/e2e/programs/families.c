/* SPDX-License-Identifier: BSD-3-Clause */
/* Worlds that met, and what is made of them. Each of 2 parents spawns a child of its own, both at
 * the same time and by the same command; then both together spawn 2 more and merge with them. The
 * merged communicator (parents 0 and 1, guests 2 and 3) is split by parity, the halves are
 * duplicated, and groups are made of it, twice of the same members. Parents and guests make an inter-communicator
 * of their worlds over it. All four then spawn one more.
 * Bytes that go from one to another occur once. Parent 0 alone prints. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char buffer[8000];

static void give(int bytes, int to, MPI_Comm comm)
{
    MPI_Send(buffer, bytes, MPI_BYTE, to, 1, comm);
}

static void get(int from, MPI_Comm comm)
{
    MPI_Recv(buffer, sizeof buffer, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
}

static MPI_Comm spawn(char *program, char *role, int count, MPI_Comm by)
{
    char *arguments[] = {role, NULL};
    MPI_Comm made;
    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, by, &made, MPI_ERRCODES_IGNORE);
    return made;
}

/* Of the merged one's even and odd ranks: parent r and guest r. */
static void halves(MPI_Comm all, int rank)
{
    MPI_Comm half, copy;
    MPI_Comm_split(all, rank % 2, -rank, &half); /* the guest is rank 0 in it */
    MPI_Comm_dup(half, &copy);
    if (rank < 2)
        give(100 + rank, 0, copy);
    else
        get(1, copy);
    if (rank >= 2)
        give(200 + rank, 1, half);
    else
        get(0, half);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

/* Of parent 1 and guest 3 a group, two times, and of parent 1 and guest 2. */
static void groups(MPI_Comm all, int rank)
{
    static const int members[3][2] = {{3, 1}, {3, 1}, {1, 2}};
    MPI_Group whole, some;
    MPI_Comm_group(all, &whole);
    for (int i = 0; i < 3; i++) {
        MPI_Comm made;
        if (rank != members[i][0] && rank != members[i][1])
            continue;
        MPI_Group_incl(whole, 2, members[i], &some);
        MPI_Comm_create_group(all, some, 7, &made);
        if (rank == members[i][0])
            give(300 + i, 1, made);
        else
            get(0, made);
        MPI_Group_free(&some);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&whole);
}

/* Parents and guests as the two groups of one more; each one gives something to the one beside its like. */
static void bridge(MPI_Comm all, int rank)
{
    MPI_Comm inter;
    MPI_Intercomm_create(MPI_COMM_WORLD, 0, all, rank < 2 ? 2 : 0, 9, &inter);
    if (rank % 2)
        give(600 + rank, 0, inter);
    else
        get(1, inter);
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
}

/* All four have one child together; the guest of rank 3 gives it something. */
static void together(MPI_Comm all, int rank, char *program)
{
    MPI_Comm child = spawn(program, "child", 1, all);
    if (rank == 3)
        give(500, 0, child);
    MPI_Comm_disconnect(&child);
}

static void meet(MPI_Comm inter, int guest, char *program)
{
    MPI_Comm all;
    int rank;
    MPI_Intercomm_merge(inter, guest, &all);
    MPI_Comm_rank(all, &rank);
    halves(all, rank);
    groups(all, rank);
    bridge(all, rank);
    together(all, rank, program);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    const char *role = argc > 1 ? argv[1] : "parent";
    MPI_Comm parent, own;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (strcmp(role, "parent") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        own = spawn(argv[0], "own", 1, MPI_COMM_SELF);
        give(10 + rank, 0, own);
        MPI_Comm_disconnect(&own);
        meet(spawn(argv[0], "guest", 2, MPI_COMM_WORLD), 0, argv[0]);
        if (rank == 0)
            printf("done\n");
    } else if (strcmp(role, "guest") == 0) {
        meet(parent, 1, argv[0]);
    } else {
        get(strcmp(role, "child") == 0 ? 3 : 0, parent);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
