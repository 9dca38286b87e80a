/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For suites with more ranks than free cores: preloaded on both sides of a comparison, it lets a
 * rank that finds nothing to do sleep for a moment where MPICH (over UCX) and Open MPI (with
 * mpi_yield_when_idle) spin, and asks the scheduler for short slices. It changes when a rank runs,
 * nothing else. Compile it by `gcc -O2 -shared -fPIC -o nap.so tests/suite/nap.c -ldl`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_PROGRESS = 30, /* calls of ucp_worker_progress in a row that moved nothing */
    IDLE_YIELDS = 20,   /* calls of sched_yield in a row with less than IDLE_GAP between them */
    IDLE_GAP = 3000,    /* ns */
    NAP = 30000,        /* ns */
    SLICE = 100000,     /* ns; the least that Linux grants */
};

/* struct sched_attr of Linux, which the C library does not have everywhere. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

__attribute__((constructor)) static void ask_for_short_slices(void)
{
    struct attributes own = {0};
    if (syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0))
        return;
    own.size = sizeof(own);
    own.runtime = SLICE;
    syscall(SYS_sched_setattr, 0, &own, 0); /* refused by older kernels: as before */
}

static void nap(void)
{
    static __thread int is_exact;
    struct timespec time = {0, NAP};
    if (!is_exact)
        prctl(PR_SET_TIMERSLACK, 1000);
    is_exact = 1;
    nanosleep(&time, NULL);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int sched_yield(void)
{
    static __thread int64_t last;
    static __thread int idle;
    idle = now() - last < IDLE_GAP ? idle + 1 : 0;
    if (idle > IDLE_YIELDS)
        nap();
    else
        syscall(SYS_sched_yield);
    last = now();
    return 0;
}

typedef unsigned progress_function(void *worker);

static progress_function *real_progress(void)
{
    void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!found) { /* came with a libmpi that Python opened for itself */
        void *ucp = dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY);
        found = ucp ? dlsym(ucp, "ucp_worker_progress") : NULL;
    }
    return (progress_function *)found;
}

unsigned ucp_worker_progress(void *worker)
{
    static progress_function *real;
    static __thread int idle;
    if (!real)
        real = real_progress();
    unsigned moved = real(worker);
    idle = moved ? 0 : idle + 1;
    if (idle > IDLE_PROGRESS)
        nap();
    return moved;
}
