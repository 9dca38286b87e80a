/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the MPI library of a caller while the loader, or MPI itself, waits for a thread that looks for
 * one, too: a constructor that calls MPI while another thread makes its first call. STUBS is the
 * folder of the stub libraries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "abi/libmpi.h"
#include "record/record.h"

struct mw_recorder mw_recorder;
__thread struct mw_thread_local mw_self __attribute__((tls_model("initial-exec")));

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);

static _Atomic int busy;
static int dlopens, stuck;
static struct mw_libmpi *found_meanwhile;

static void *look(void *argument)
{
    return mw_libmpi_of(argument);
}

/* Whatever the loader is asked: another thread looks for its library before the answer comes. */
void *__wrap_dlopen(const char *path, int flags)
{
    pthread_t thread;
    struct timespec limit;
    void *found = NULL;
    if (atomic_exchange(&busy, 1))
        return __real_dlopen(path, flags);
    dlopens++;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 5;
    pthread_create(&thread, NULL, look, (void *)__wrap_dlopen);
    if (pthread_timedjoin_np(thread, &found, &limit) != 0)
        stuck = 1;
    found_meanwhile = found;
    atomic_store(&busy, 0);
    return __real_dlopen(path, flags);
}

static void nothing_is_held_while_others_are_asked(void **state)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libmpi_vendor.so", getenv("STUBS"));
    void *vendor = __real_dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(vendor);
    struct mw_libmpi *lib = mw_libmpi_of((void *)nothing_is_held_while_others_are_asked);
    assert_false(stuck);
    assert_true(dlopens > 0);
    assert_non_null(lib);
    assert_ptr_equal(lib, found_meanwhile);
    assert_ptr_equal(mw_libmpi_single, lib);
    int before = dlopens;
    assert_ptr_equal(mw_libmpi_of((void *)nothing_is_held_while_others_are_asked), lib);
    assert_int_equal(dlopens, before); /* remembered */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_held_while_others_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
