/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and locks of the recorder. Pages come straight from the kernel: the application's allocator,
 * which it may have replaced, is left alone. Any thread.
 */
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "record/record.h"

enum { FEW = 64, MANY = 1000, ORPHANED = 2000 }; /* tries at a lock */

static _Atomic uint64_t total;
static _Atomic int forked; /* this is the child of a process that records */

void *mw_pages(size_t size)
{
    size = (size + 4095) & ~(size_t)4095;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    atomic_fetch_add_explicit(&total, size, memory_order_relaxed);
    return memory;
}

uint64_t mw_pages_total(void)
{
    return atomic_load_explicit(&total, memory_order_relaxed);
}

void mw_locks_after_fork(void)
{
    atomic_store(&forked, 1);
}

/* In a child of fork the holder may be a thread that the child does not have. Nothing is recorded
 * there, so that nobody holds a lock for long. */
void mw_lock_slow(struct mw_lock *lock)
{
    for (unsigned tries = 0;; tries++) {
        const void *expected = NULL;
        if (atomic_compare_exchange_weak_explicit(&lock->owner, &expected, &mw_self,
                                                  memory_order_acquire, memory_order_relaxed) ||
            expected == &mw_self)
            return;
        if (tries > ORPHANED && atomic_load(&forked) &&
            atomic_compare_exchange_strong(&lock->owner, &expected, &mw_self))
            return;
        if (tries > MANY) /* the holder may be a thread that this one's priority keeps from running */
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        else if (tries > FEW) /* the holder may be descheduled on this CPU */
            sched_yield();
    }
}
