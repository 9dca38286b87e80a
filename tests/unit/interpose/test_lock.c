/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's lock: one at a time, again by the same thread, and in a child of fork, where the
 * thread that held it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/record.h"

__thread struct mw_thread_local mw_self;

enum { ROUNDS = 20000, THREADS = 4 };
static struct mw_lock lock;
static unsigned long guarded;
static _Atomic int held, let_go;

static void *adds(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        mw_lock_take(&lock);
        guarded++;
        mw_lock_drop(&lock);
    }
    return unused;
}

static void one_at_a_time(void **state)
{
    pthread_t thread[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, adds, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(guarded, THREADS * ROUNDS);
}

static void again_by_its_holder(void **state)
{
    (void)state;
    mw_lock_take(&lock);
    mw_lock_take(&lock); /* a signal handler */
    mw_lock_drop(&lock);
}

static void *holds(void *unused)
{
    mw_lock_take(&lock);
    held = 1;
    while (!let_go)
        usleep(1000);
    mw_lock_drop(&lock);
    return unused;
}

static void not_for_ever_after_fork(void **state)
{
    pthread_t thread;
    int status;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, holds, NULL), 0);
    while (!held)
        usleep(1000);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        mw_locks_after_fork();
        mw_lock_take(&lock);
        mw_lock_drop(&lock);
        mw_lock_take(&lock);
        _exit(7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    let_go = 1;
    pthread_join(thread, NULL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(again_by_its_holder),
        cmocka_unit_test(not_for_ever_after_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
