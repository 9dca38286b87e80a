/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what a library could have changed in a process: signal dispositions, threads, children,
 * environment, masks, limits, and what MPI says of itself, before MPI_Init, in the middle and after
 * MPI_Finalize. Rank 0 prints.
 */
#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int printing;
extern char **environ;

static int entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

static void show(const char *when)
{
    char line[512];
    int initialized, finalized;
    struct rlimit limit;
    if (!printing)
        return;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "Sig", 3) || !strncmp(line, "ShdPnd", 6) ||
            !strncmp(line, "Threads", 7) || !strncmp(line, "Cpus_allowed_list", 17) ||
            !strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "CoreDumping", 11))
            if (strncmp(line, "SigQ", 4))
                printf("%s: %s", when, line);
    if (status)
        fclose(status);
    printf("%s: tasks %d\n", when, entries("/proc/self/task"));
    mode_t mask = umask(022);
    umask(mask);
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("%s: umask %o, files %llu, locale %s, rounding %d, exceptions %d\n", when,
           (unsigned)mask, (unsigned long long)limit.rlim_cur, setlocale(LC_ALL, NULL),
           fegetround(), fetestexcept(FE_ALL_EXCEPT));
    getrlimit(RLIMIT_CORE, &limit);
    printf("%s: core %llu, cwd %s\n", when, (unsigned long long)limit.rlim_cur,
           getcwd(line, sizeof line));
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    printf("%s: initialized %d, finalized %d\n", when, initialized, finalized);
}

int main(int argc, char **argv)
{
    int rank = 0, size, provided, asked = argc > 1 ? atoi(argv[1]) : -1, level, is_main;
    const char *hint =
        getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    printing = !hint || !strcmp(hint, "0");
    show("before");
    if (asked >= 0)
        MPI_Init_thread(&argc, &argv, asked, &provided);
    else
        MPI_Init(&argc, &argv);
    if (asked < 0)
        MPI_Query_thread(&provided);
    show("after MPI_Init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = rank, total;
    for (int i = 0; i < 20000; i++) { /* enough to fill buffers */
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&sum, 1, MPI_LONG, rank, 1, &total, 1, MPI_LONG, rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    if (printing)
        printf("provided %d %d, main %d, total %ld\n", provided, level, is_main, total);
    show("in the middle");
    MPI_Finalize();
    show("after MPI_Finalize");
    if (printing) {
        int seen = 0;
        for (char **entry = environ; *entry; entry++)
            if (strncmp(*entry, "MPIWATCH_", 9) && strncmp(*entry, "LD_PRELOAD=", 11))
                seen++;
        printf("variables %d\n", seen);
    }
    return 0;
}
