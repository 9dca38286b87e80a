/* SPDX-License-Identifier: BSD-3-Clause */
/* Two worlds of one process each that meet by MPI_Comm_join, over a socket of their own: the first
 * spawns the second, hands it the number of a port, and sends it 777 bytes over what the socket was
 * joined to. */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[1000];

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int wait_for(MPI_Comm child)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0), port;
    if (bind(server, (struct sockaddr *)&address, size) || listen(server, 1) ||
        getsockname(server, (struct sockaddr *)&address, &size))
        return -1;
    port = ntohs(address.sin_port);
    MPI_Send(&port, 1, MPI_INT, 0, 1, child);
    int joined = accept(server, NULL, NULL);
    close(server);
    return joined;
}

static int reach(MPI_Comm parent)
{
    int port, joined = socket(AF_INET, SOCK_STREAM, 0);
    MPI_Recv(&port, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    struct sockaddr_in address = loopback(port);
    return connect(joined, (struct sockaddr *)&address, sizeof address) ? -1 : joined;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other, met;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other,
                       MPI_ERRCODES_IGNORE);
    else
        other = parent;
    int joined = parent == MPI_COMM_NULL ? wait_for(other) : reach(other);
    MPI_Comm_join(joined, &met);
    if (parent == MPI_COMM_NULL)
        MPI_Send(buffer, 777, MPI_BYTE, 0, 2, met);
    else
        MPI_Recv(buffer, sizeof buffer, MPI_BYTE, 0, 2, met, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&met);
    MPI_Comm_disconnect(&other);
    close(joined);
    MPI_Finalize();
    if (parent == MPI_COMM_NULL)
        puts("joined");
    return 0;
}
