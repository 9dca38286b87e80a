/* SPDX-License-Identifier: BSD-3-Clause */
/* Several MPI_COMM_WORLDs: 2 parents spawn 3 servers, then 1 client, and 1 client more, of this
 * program. All of a world trade messages with the parents; servers and parents merge and use what
 * they get; the first client connects to the servers. Who sends how much to whom is made of numbers
 * that occur once: parent r -> server s: 100 + 10 r + s, once; server s -> parent r: the same
 * doubled in the merged communicator rank 1 -> rank 4: 1000; all to all: 7 client c -> parent 0:
 * 2000 + c server s -> first client: 3000 + s Prints nothing but from parent 0. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SERVERS = 3, MOST = 5000 };
static char buffer[MOST * 8];
static int rank;

static void give(int bytes, int to, MPI_Comm comm)
{
    MPI_Send(buffer, bytes, MPI_BYTE, to, 1, comm);
}

static void get(int from, MPI_Comm comm)
{
    MPI_Recv(buffer, MOST, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
}

static MPI_Comm spawn(char *program, char *role, int count)
{
    char *arguments[] = {role, NULL};
    MPI_Comm made;
    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made,
                   MPI_ERRCODES_IGNORE);
    return made;
}

/* Both sides of a merged communicator: parents are ranks 0 and 1, servers 2 to 4. */
static void merged(MPI_Comm inter, int high)
{
    MPI_Comm all, copy;
    int own;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_rank(all, &own);
    MPI_Comm_dup(all, &copy);
    if (own == 1)
        give(1000, 4, copy);
    if (own == 4)
        get(1, copy);
    MPI_Alltoall(buffer, 7, MPI_BYTE, buffer + MOST, 7, MPI_BYTE, all);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&all);
}

static void parents(char *program)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm servers = spawn(program, "server", SERVERS);
    for (int s = 0; s < SERVERS; s++)
        give(100 + 10 * rank + s, s, servers);
    for (int s = 0; s < SERVERS; s++)
        get(s, servers);
    merged(servers, 0);
    if (rank == 0) /* the name of the port, for the client */
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 2, servers, MPI_STATUS_IGNORE);
    MPI_Comm client = spawn(program, "client", 1), second = spawn(program, "idle", 1);
    if (rank == 0) {
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 2, client);
        get(0, client);
        get(0, second);
        printf("done\n");
    }
    MPI_Comm_disconnect(&servers);
    MPI_Comm_disconnect(&client);
    MPI_Comm_disconnect(&second);
}

static void server(MPI_Comm parent)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm client;
    for (int r = 0; r < 2; r++)
        get(r, parent);
    for (int r = 0; r < 2; r++)
        give(2 * (100 + 10 * r + rank), r, parent);
    merged(parent, 1);
    memset(port, 0, sizeof port);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 2, parent);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
    give(3000 + rank, 0, client);
    MPI_Comm_disconnect(&client);
    if (rank == 0)
        MPI_Close_port(port);
}

static void client(MPI_Comm parent)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm servers;
    MPI_Recv(port, sizeof port, MPI_CHAR, 0, 2, parent, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &servers);
    for (int s = 0; s < SERVERS; s++)
        get(s, servers);
    MPI_Comm_disconnect(&servers);
    give(2000, 0, parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    const char *role = argc > 1 ? argv[1] : "parent";
    if (parent == MPI_COMM_NULL)
        parents(argv[0]);
    else if (strcmp(role, "server") == 0)
        server(parent);
    else if (strcmp(role, "client") == 0)
        client(parent);
    else
        give(2001, 0, parent);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}
