/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ground is taken away. Before MPI_Init: "clearenv", "environ" (NULL), "cwd PATH" (a working directory that has
 * been removed), "name" (the process's name and arguments are overwritten), "dumpable" (/proc/self is closed), "locked"
 * (all memory, now and later, is locked). After it: "chroot PATH", "user" (another one), "network" (a name space of its
 * own), "shm" (what is ours there is replaced by pipes), "trap" (every floating-point exception is a signal), "limits"
 * (all that can be lowered), "nothing" (no memory, no descriptors). Then messages, enough for writing, communicators,
 * and MPI_Finalize. One rank.
 */
#include <fenv.h>
#include <glob.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESSAGES = 20000, FAILED = 77 };

extern char **environ;

static void need(int condition, const char *what)
{
    if (condition)
        return;
    perror(what);
    _exit(FAILED);
}

static void rename_process(char **argv)
{
    static const char nasty[] = "a\nb) R 1 \x1b[2J\xff";
    prctl(PR_SET_NAME, nasty);
    memset(argv[0], '\xfe', strlen(argv[0]));
}

static void before(const char *mode, const char *path, char **argv)
{
    if (strcmp(mode, "clearenv") == 0)
        clearenv();
    else if (strcmp(mode, "environ") == 0)
        environ = NULL;
    else if (strcmp(mode, "cwd") == 0)
        need(mkdir(path, 0700) == 0 && chdir(path) == 0 && rmdir(path) == 0, path);
    else if (strcmp(mode, "name") == 0)
        rename_process(argv);
    else if (strcmp(mode, "dumpable") == 0)
        need(prctl(PR_SET_DUMPABLE, 0) == 0, "dumpable");
    else if (strcmp(mode, "locked") == 0)
        need(mlockall(MCL_CURRENT | MCL_FUTURE) == 0, "mlockall");
}

/* Or, when `pipes` is 0, what is there is taken away: the pipes. */
static void replace_in_shm(int pipes)
{
    glob_t found;
    char pattern[64];
    snprintf(pattern, sizeof pattern, "/dev/shm/mpiwatch-%d-%d-*", (int)geteuid(), (int)getpid());
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        need(unlink(found.gl_pathv[i]) == 0, "unlink");
        need(!pipes || mkfifo(found.gl_pathv[i], 0600) == 0, "pipe");
    }
}

static void lower_limits(int all)
{
    struct rlimit none = {0, 0}, few = {256 << 10, 256 << 10};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_NPROC, &none);
    setrlimit(RLIMIT_MEMLOCK, &none);
    setrlimit(RLIMIT_MSGQUEUE, &none);
    setrlimit(RLIMIT_SIGPENDING, &none);
    setrlimit(RLIMIT_FSIZE, &few);
    if (!all)
        return;
    setrlimit(RLIMIT_DATA, &few); /* no more memory, as little as there is */
    setrlimit(RLIMIT_AS, &few);
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_STACK, &few);
}

static void after(const char *mode, const char *path)
{
    if (strcmp(mode, "chroot") == 0)
        need(chroot(path) == 0 && chdir("/") == 0, path);
    else if (strcmp(mode, "user") == 0)
        need(setgid(65534) == 0 && setuid(65534) == 0, "setuid");
    else if (strcmp(mode, "network") == 0)
        need(unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS) == 0, "unshare");
    else if (strcmp(mode, "shm") == 0)
        replace_in_shm(1);
    else if (strcmp(mode, "trap") == 0)
        feenableexcept(FE_ALL_EXCEPT);
    else if (strcmp(mode, "limits") == 0 || strcmp(mode, "nothing") == 0)
        lower_limits(mode[0] == 'n');
}

static long exchange(void)
{
    long sum = 0;
    MPI_Comm comm;
    for (long i = 0; i < MESSAGES; i++) {
        long from = i, to = -1;
        MPI_Sendrecv(&from, 1, MPI_LONG, 0, i % 64, &to, 1, MPI_LONG, 0, i % 64, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        sum += to;
    }
    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
    before(mode, path, argv);
    MPI_Init(NULL, NULL);
    after(mode, path);
    printf("%ld\n", exchange());
    fflush(stdout);
    fedisableexcept(FE_ALL_EXCEPT); /* UCX divides when it ends */
    MPI_Finalize();
    if (strcmp(mode, "shm") == 0)
        replace_in_shm(0);
    printf("done\n");
    fflush(stdout);
    _exit(5);
}
