/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Children of a rank whose other threads are in MPI calls, N of them. "fork": they leave by exit(), _exit(), exec, a
 * signal, or the end of their thread. "clone": made past the C library, so that no handler of fork runs; they ask MPI
 * for the time and leave by exit(). "_Fork": as "clone", and their only thread ends. "vfork", "spawn", "shell": by vfork,
 * posix_spawn, popen. "vm": a clone that shares the memory. "daemon": a child that closes all descriptors and goes on
 * to call MPI. One rank.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, STACK = 64 << 10 };

extern char **environ;
static volatile int over;
static int multiple;

static void *talk(void *tag)
{
    long sent = 0;
    for (int value; !over; sent++) {
        MPI_Sendrecv(&(int){1}, 1, MPI_INT, 0, *(int *)tag, &value, 1, MPI_INT, 0, *(int *)tag,
                     MPI_COMM_SELF, MPI_STATUS_IGNORE);
        usleep(50);
    }
    return (void *)sent;
}

static void ask_mpi(void)
{
    int flag = 0;
    MPI_Initialized(&flag);
    if (!flag || MPI_Wtime() < 0)
        _exit(90);
}

static void leave(int way)
{
    char *const argv[] = {"true", NULL};
    if (way == 0)
        exit(0);
    if (way == 1)
        _exit(0);
    if (way == 2)
        execvp(argv[0], argv);
    if (way == 3)
        raise(SIGKILL);
    ask_mpi();
    pthread_exit(NULL);
}

static pid_t vforked(void)
{
    char *const argv[] = {"true", NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(91);
    }
    return pid;
}

static int in_shared_memory(void *unused)
{
    (void)unused;
    return 0;
}

static pid_t clone_vm(void)
{
    static char stack[STACK];
    return clone(in_shared_memory, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}

static void daemon_work(void)
{
    closefrom(3);
    setsid();
    ask_mpi();
    for (int fd = 3; fd < 40; fd++)
        if (open("/dev/null", O_RDWR) < 0)
            _exit(92);
    exit(0);
}

static pid_t child(const char *mode, int number)
{
    char *const argv[] = {"true", NULL};
    pid_t pid = -1;
    if (strcmp(mode, "vfork") == 0)
        return vforked();
    if (strcmp(mode, "vm") == 0)
        return clone_vm();
    if (strcmp(mode, "spawn") == 0)
        return posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) ? -1 : pid;
    if (strcmp(mode, "clone") == 0)
        pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    else if (strcmp(mode, "_Fork") == 0)
        pid = _Fork();
    else
        pid = fork();
    if (pid == 0) {
        if (strcmp(mode, "clone") == 0) {
            ask_mpi();
            exit(0);
        }
        if (strcmp(mode, "daemon") == 0)
            daemon_work();
        leave(strcmp(mode, "_Fork") == 0 ? 4 : number % 5);
    }
    return pid;
}

static int shell(void)
{
    char line[64] = "";
    FILE *pipe = popen("echo from a shell", "r");
    if (!pipe || !fgets(line, sizeof line, pipe))
        return -1;
    return pclose(pipe) || strcmp(line, "from a shell\n") != 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "fork";
    int count = argc > 2 ? atoi(argv[2]) : 20, failed = 0, killed = 0, threads = 0;
    pthread_t thread[THREADS];
    int tags[THREADS] = {1, 2};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &multiple);
    while (multiple == MPI_THREAD_MULTIPLE && threads < THREADS) {
        pthread_create(&thread[threads], NULL, talk, &tags[threads]);
        threads++;
    }
    for (int i = 0; i < count; i++) {
        int status = 0;
        if (strcmp(mode, "shell") == 0) {
            failed += shell() != 0;
            continue;
        }
        pid_t pid = child(mode, i);
        if (pid < 0 || waitpid(pid, &status, 0) != pid) {
            failed++;
            continue;
        }
        killed += WIFSIGNALED(status);
        failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    }
    over = 1;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    MPI_Finalize();
    printf("%d children, %d failed, %d killed, %s left\n", count, failed, killed,
           waitpid(-1, NULL, WNOHANG) < 0 ? "none" : "some");
    return 4;
}
