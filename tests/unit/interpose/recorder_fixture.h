/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's state and its lock, for tests of what runs inside a recorded process. Any thread
 * takes the lock; nobody dies with it. A test includes it once.
 */
#ifndef MW_TEST_RECORDER_FIXTURE_H
#define MW_TEST_RECORDER_FIXTURE_H

#include "record/record.h"

struct mw_recording mw_recording = {MW_RECORDING};
struct mw_recorder mw_recorder = {.clock = MW_CLOCK_MONOTONIC};
__thread struct mw_thread_local mw_self;

void mw_lock_slow(struct mw_lock *lock)
{
    const void *expected;
    do {
        expected = NULL;
    } while (!atomic_compare_exchange_weak(&lock->owner, &expected, &mw_self) &&
             expected != &mw_self);
}

#endif
