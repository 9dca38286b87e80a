/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks while MPI runs, as programs do that start helpers: a child that leaves by exit(), one by
 * _exit(), one that becomes another program, and system(). None of them is a rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(int way)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (way == 0)
            exit(0);
        if (way == 1)
            _exit(0);
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    int rank, value = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int way = 0; way < 3; way++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        child(way);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (system("true"))
        return 3;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
