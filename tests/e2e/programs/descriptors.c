/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks with odd descriptors: "descriptors PIPES CONNECTIONS LOW": so many pipes and TCP
 * connections with itself are open from before MPI_Init until after MPI_Finalize; LOW "closed"
 * closes stdin and stdout before. At the end each is checked: still open, still empty, in the
 * same mode. Exit code 0 when all is as it was.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 4096
static int ends[MOST][2];
static int count;

static void fail(int code)
{
    static const char text[] = "descriptors: not as they were\n";
    if (write(2, text, sizeof text - 1) < 0)
        code = 9;
    _exit(code);
}

static void connection(int pair[2])
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&name, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&name, &size))
        fail(10);
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(pair[0], (struct sockaddr *)&name, size))
        fail(11);
    pair[1] = accept(listener, NULL, NULL);
    close(listener);
}

static void check(const int pair[2])
{
    char sent = 'x', got = 0;
    if (fcntl(pair[0], F_GETFL) < 0 || (fcntl(pair[0], F_GETFL) & O_NONBLOCK))
        fail(12);
    if (write(pair[1], &sent, 1) != 1 || read(pair[0], &got, 1) != 1 || got != 'x')
        fail(13);
}

int main(int argc, char **argv)
{
    int rank, value = 0, pipes = argc > 1 ? atoi(argv[1]) : 0;
    int connections = argc > 2 ? atoi(argv[2]) : 0;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (argc > 3 && strcmp(argv[3], "closed") == 0) {
        close(0);
        close(1);
    }
    for (; count < pipes + connections && count < MOST; count++)
        if (count >= pipes)
            connection(ends[count]);
        else if (pipe(ends[count]))
            fail(14);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    for (int i = 0; i < count; i++)
        check(ends[i]);
    return 0;
}
