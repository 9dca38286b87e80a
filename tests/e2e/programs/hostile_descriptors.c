/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What descriptors the program gets from MPI_Init on. Arguments: "closed" (no stdin, stdout and
 * stderr), "few" (at most N), "low" (prints the lowest free number), "gone FOLDER" (removes the
 * trace, opens a file as stderr, closes all high descriptors); then the file to print to. One
 * rank.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void exchange(int count)
{
    int from = 1, to;
    for (int i = 0; i < count; i++)
        MPI_Sendrecv(&from, 1, MPI_INT, 0, i % 64, &to, 1, MPI_INT, 0, i % 64, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

static void remove_trace(const char *folder)
{
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        MPI_Abort(MPI_COMM_WORLD, 93);
}

int main(int argc, char **argv)
{
    const char *mode = argv[1], *report = argv[2];
    struct stat info;
    if (argc < 3)
        return 2;
    if (strcmp(mode, "closed") == 0)
        for (int i = 0; i < 3; i++)
            close(i);
    if (strcmp(mode, "few") == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = (rlim_t)atoi(argv[3]);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    MPI_Init(&argc, &argv);
    exchange(6000);
    if (strcmp(mode, "gone") == 0) {
        remove_trace(argv[3]);
        close(2);
        int own = open(argv[4], O_RDWR | O_CREAT | O_TRUNC, 0600);
        for (int i = 150; i < 2000; i++)
            close(i);
        exchange(20000);
        if (own != 2 || fstat(2, &info) != 0 || info.st_size != 0)
            MPI_Abort(MPI_COMM_WORLD, 94);
    }
    FILE *out = fopen(report, "w");
    if (!out)
        MPI_Abort(MPI_COMM_WORLD, 95);
    if (strcmp(mode, "low") == 0)
        fprintf(out, "lowest free %d\n", fileno(out));
    for (int i = 0; strcmp(mode, "closed") == 0 && i < 3; i++)
        if (fstat(i, &info) == 0 && i != fileno(out) && S_ISREG(info.st_mode))
            fprintf(out, "descriptor %d is a file\n", i);
    fprintf(out, "done\n");
    fclose(out);
    MPI_Finalize();
    return 0;
}
