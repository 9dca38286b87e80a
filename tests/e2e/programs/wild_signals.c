/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal handlers that do what they must not, in the midst of MPI calls. "segv": a buffer that cannot be read, and a
 * handler on a stack of its own that jumps out of the call, many times. "abort": a timer's handler calls MPI_Abort.
 * "fault": so does a SIGSEGV handler on its own stack. "calls": a timer's handler calls MPI itself. "profile":
 * SIGPROF walks the stack. "queue": another thread queues real-time signals whose handlers interrupt each other. One
 * rank.
 */
#include <execinfo.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { EXCHANGES = 20000, JUMPS = 300, ALTERNATE = 64 << 10 };

static sigjmp_buf back;
static pthread_t first_thread;
static volatile sig_atomic_t interrupts, over;
static volatile double last_time;

static void jump(int number)
{
    siglongjmp(back, number);
}

static void abort_job(int number)
{
    if (pthread_equal(pthread_self(), first_thread) && ++interrupts == 20)
        MPI_Abort(MPI_COMM_WORLD, 40 + (number == SIGSEGV));
    if (number == SIGSEGV)
        MPI_Abort(MPI_COMM_WORLD, 41);
}

static void ask(int number)
{
    int flag, rank;
    (void)number;
    if (!pthread_equal(pthread_self(), first_thread)) /* MPI's own */
        return;
    interrupts++;
    MPI_Initialized(&flag);
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    last_time = MPI_Wtime();
}

static void walk(int number)
{
    void *frames[64];
    (void)number;
    interrupts += backtrace(frames, 64) > 1;
}

static void count(int number)
{
    (void)number;
    if (pthread_equal(pthread_self(), first_thread))
        interrupts++;
}

static void *queue_signals(void *unused)
{
    for (int i = 0; !over; i++) {
        pthread_sigqueue(first_thread, SIGRTMIN + i % 8, (union sigval){i});
        usleep(100);
    }
    return unused;
}

static void catches(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void timer(int which, long microseconds)
{
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    setitimer(which, &every, NULL);
}

static long exchange(long times)
{
    long sum = 0;
    for (long i = 0; i < times; i++) {
        long from = i, to = -1;
        MPI_Sendrecv(&from, 1, MPI_LONG, 0, i % 64, &to, 1, MPI_LONG, 0, i % 64, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        sum += to;
    }
    return sum;
}

/* A send whose buffer cannot be read, left by a jump each time. Its receive is never posted. */
static int unreadable(void)
{
    volatile int jumps = 0;
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (jumps < JUMPS) {
        if (sigsetjmp(back, 1) == 0)
            MPI_Pack(page, 1024, MPI_INT, (char[4096]){0}, 4096, &(int){0}, MPI_COMM_SELF);
        jumps++;
    }
    return jumps;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    stack_t alternate = {.ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE};
    pthread_t other;
    void *frames[2];
    backtrace(frames, 2); /* loads what it needs */
    first_thread = pthread_self();
    sigaltstack(&alternate, NULL);
    MPI_Init(&argc, &argv);
    if (strcmp(mode, "segv") == 0) {
        catches(SIGSEGV, jump, SA_ONSTACK | SA_NODEFER);
        printf("%d jumps\n", unreadable());
    } else if (strcmp(mode, "abort") == 0) {
        catches(SIGALRM, abort_job, 0);
        timer(ITIMER_REAL, 700);
        for (;;)
            exchange(100);
    } else if (strcmp(mode, "fault") == 0) {
        catches(SIGSEGV, abort_job, SA_ONSTACK);
        MPI_Pack((void *)8, 1024, MPI_INT, (char[4096]){0}, 4096, &(int){0}, MPI_COMM_SELF);
    } else if (strcmp(mode, "calls") == 0) {
        catches(SIGALRM, ask, 0);
        timer(ITIMER_REAL, 50);
    } else if (strcmp(mode, "profile") == 0) {
        catches(SIGPROF, walk, SA_RESTART | SA_ONSTACK);
        timer(ITIMER_PROF, 1000);
    } else {
        for (int i = 0; i < 8; i++)
            catches(SIGRTMIN + i, count, SA_NODEFER);
        pthread_create(&other, NULL, queue_signals, NULL);
    }
    long sum = exchange(EXCHANGES);
    timer(ITIMER_REAL, 0);
    timer(ITIMER_PROF, 0);
    printf("%ld\n", sum);
    over = 1;
    if (strcmp(mode, "queue") == 0)
        pthread_join(other, NULL);
    MPI_Finalize();
    printf("done\n");
    return 3;
}
