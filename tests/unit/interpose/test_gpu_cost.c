/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What looking for the kind of a buffer's memory costs a call, in instructions: counted one by one
 * in a child, so that the figure is the same on every machine. The whole probe over the stub of
 * CUDA.
 */
#include "probe_fixture.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/gpu.h"
#include "record/spaces.h"

__thread struct mw_thread_local mw_self;
static struct mw_thread_state thread;
static const struct mw_abi abi = {.in_place = (void *)-1};
static char host[2][64];

enum { CALLS = 200 };

static void nothing(void)
{
    for (volatile int i = 0; i < CALLS; i++)
        ;
}

/* As mw_call_event does it: a message of host memory, from one buffer and another. */
static void messages(void)
{
    struct mw_call call = {.thread = &thread, .start = 1}; /* no look is due */
    struct mw_raw_event detail = {.bytes = 8};
    for (volatile int i = 0; i < CALLS; i++) {
        call.sends = host[i & 1];
        if (mw_spaces_of(&call, MW_EVENT_SEND, 0, &detail))
            _exit(1);
    }
}

/* Instructions of a call, those of the loop not counted. */
static long steps_of(void (*body)(void))
{
    int status = 0;
    long steps = 0;
    pid_t child = fork();
    if (child == 0) {
        body(); /* whatever happens once has happened */
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(2);
        raise(SIGSTOP);
        body();
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) /* not permitted here */
        return -1;
    do {
        steps++;
        ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
        waitpid(child, &status, 0);
    } while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return steps;
}

static long cost(void)
{
    long empty = steps_of(nothing), full = steps_of(messages);
    if (empty < 0 || full < 0)
        return -1;
    return (full - empty) / CALLS;
}

/* The best of some rounds, for the processor may be taken away in any. */
static double nanoseconds_of(void (*body)(void))
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < 2000; round++) {
        uint64_t start = mw_clock_ns(CLOCK_MONOTONIC);
        body();
        uint64_t took = mw_clock_ns(CLOCK_MONOTONIC) - start;
        best = took < best ? took : best;
    }
    return (double)best / CALLS;
}

static void at_most(const char *what, long most)
{
    long found = cost();
    if (found < 0)
        skip();
    printf("%s: %ld instructions a buffer, %.1f ns here with the loop\n", what, found,
           nanoseconds_of(messages));
#ifdef __OPTIMIZE__
    assert_in_range(found, 1, most);
#endif
}

static void switched_off(void **state)
{
    at_most("switched off", 12);
}

static void without_a_runtime(void **state)
{
    mw_probe_gpu.start();
    mw_probe_gpu.ready();
    assert_int_not_equal(mw_spaces_due, 0);
    mw_spaces_due_at(UINT64_MAX / 2); /* however slowly the child is stepped */
    at_most("no runtime loaded", 12);
}

static void with_a_runtime(void **state)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("STUBS"));
    void *cuda = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(cuda);
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(cuda, "cuInit");
    assert_int_equal(init(0), 0);
    mw_probe_gpu.again();
    mw_probe_gpu.finish(MW_END_FINALIZE); /* looks at once */
    mw_probe_gpu.again();
    atomic_store(&mw_gpu_keep, UINT64_MAX / 2);
    /* 10 ns on a slow processor */
    at_most("host memory, a runtime loaded", 80);
    struct walk walk = {.type = MW_CHUNK_DEVICE, .id = MW_F_DEVICE_device};
    struct mw_reader record;
    unsigned devices = 0;
    while (record_next(&walk, &record))
        devices++;
    assert_int_equal(devices, 8);
}

int main(void)
{
    mw_recorder.abi = &abi;
    mw_recorder.tick = (uint64_t)1 << MW_TICK_SHIFT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switched_off),
        cmocka_unit_test(without_a_runtime),
        cmocka_unit_test(with_a_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
