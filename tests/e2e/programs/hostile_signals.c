/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer interrupts a loop of MPI calls a thousand times a second. Argument: "count" (the handler
 * returns, and system calls are not restarted), "jump" (it jumps out of whatever it interrupted; MPI_Finalize would now
 * and then wait for a lock of Open MPI's progress engine that was held then), "exit" (it ends the program). One rank.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { JUMPS = 1500 };

static sigjmp_buf back;
static pthread_t first_thread;
static volatile sig_atomic_t jumping, exiting, interrupts;

static void handler(int number)
{
    (void)number;
    if (!pthread_equal(pthread_self(), first_thread)) /* MPI's own */
        return;
    interrupts++;
    if (exiting && interrupts > 200) {
        struct itimerval none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &none, NULL);
        exit(7);
    }
    if (jumping) {
        jumping = 0;
        siglongjmp(back, 1);
    }
}

static void timer(long microseconds)
{
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, NULL);
}

/* From two places, so that each is an event of its own. */
static void probe(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void exchange(int count)
{
    int from = 1, to;
    for (int i = 0; i < count; i++)
        MPI_Sendrecv(&from, 1, MPI_INT, 0, i % 64, &to, 1, MPI_INT, 0, i % 64, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "count";
    struct sigaction action = {.sa_handler = handler};
    first_thread = pthread_self();
    sigaction(SIGALRM, &action, NULL);
    timer(1000);
    MPI_Init(&argc, &argv);
    exchange(2000);
    if (strcmp(mode, "jump") == 0) {
        volatile int jumps = 0;
        while (jumps < JUMPS)
            if (sigsetjmp(back, 1) == 0) {
                jumping = 1;
                for (;;)
                    probe();
            } else {
                jumps++;
            }
        timer(0);
        printf("%d jumps\n", JUMPS);
        exit(7);
    } else if (strcmp(mode, "exit") == 0) {
        interrupts = 0;
        exiting = 1;
        for (;;)
            probe();
    }
    MPI_Finalize();
    timer(0);
    printf("done\n");
    return 0;
}
