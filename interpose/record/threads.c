/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that call MPI: what each owns is made on its first call, in the crash-safe mapping as far as
 * it has room, and handed on to a later thread when it ends, together with a few events that are not in the file yet:
 * a program may have a new thread for each message. Making one takes a lock.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output/output.h"
#include "record/listed.h"
#include "record/record.h"
#include "trace/fields.h"

/* The first threads have long rings; that many more of them would fill /dev/shm. */
#define RING_EVENTS 8192u
#define RING_EVENTS_SHORT 2048u
#define LONG_RINGS 64u

static struct mw_lock lock;
static _Atomic(struct mw_thread_state *) first;
static uint32_t count;
static pthread_key_t key;
static int key_made;

/* Runs when a thread ends: its place becomes free for another. */
static void thread_ends(void *state)
{
    struct mw_thread_state *thread = state;
    if (atomic_load(&mw_recording.state) == MW_RECORDING) {
        mw_calls_abandon(thread); /* it ended within one: pthread_exit in a callback, or was cancelled */
        mw_events_hand_on(thread);
    }
    mw_self.thread = NULL;
    mw_self.call = NULL;
    atomic_store_explicit(&thread->in_use, 0, memory_order_release);
}

/* later: others had this place before. Of those the trace has as many as its budget allows. */
static void describe(const struct mw_thread_state *thread, int later)
{
    uint8_t memory[128];
    struct mw_buffer buffer;
    char name[32] = "";
    if (later && !mw_budget_allows_name())
        return;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_THREAD_index, thread->index);
    mw_put_u64(&buffer, MW_F_THREAD_tid, thread->area->tid);
    if (pthread_getname_np(pthread_self(), name, sizeof name) == 0)
        mw_put_text(&buffer, MW_F_THREAD_name, name);
    mw_put_u64(&buffer, MW_F_THREAD_main, (uint64_t)(thread->area->tid == (uint32_t)getpid()));
    mw_output_chunk(MW_CHUNK_THREAD, buffer.data, buffer.size);
}

static struct mw_thread_state *create(void)
{
    if (count > MW_ORIGIN_MAX) {
        mw_health("threads", "more than 65536 threads call MPI at once: the others are not recorded");
        return NULL;
    }
    uint32_t events = count < LONG_RINGS ? RING_EVENTS : RING_EVENTS_SHORT;
    static int exhausted; /* what a failed try has taken stays taken: no second one */
    struct mw_thread_state *thread = exhausted ? NULL : mw_pages(sizeof *thread);
    exhausted = 1;
    if (!thread || !mw_events_encoder_create(thread) ||
        !(thread->area = mw_output_thread_area(count, events, &thread->ring))) {
        mw_health("threads", "no memory for a thread: it is not recorded");
        return NULL;
    }
    exhausted = 0;
    thread->index = count;
    thread->ordinals = mw_ordinals_create();
    thread->sites = mw_callsite_cache_create();
    thread->mask = events - 1;
    thread->link = atomic_load_explicit(&first, memory_order_relaxed);
    atomic_store_explicit(&first, thread, memory_order_release);
    count++;
    return thread;
}

/* A place that an ended thread left, else a new one. */
static struct mw_thread_state *obtain(void)
{
    for (struct mw_thread_state *t = atomic_load(&first); t; t = t->link) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&t->in_use, &expected, 1))
            return t;
    }
    struct mw_thread_state *thread = create();
    if (thread)
        atomic_store(&thread->in_use, 1);
    return thread;
}

struct mw_thread_state *mw_thread_register(void)
{
    static __thread int refused;
    if (refused)
        return NULL;
    mw_lock_take(&lock);
    if (!key_made)
        key_made = pthread_key_create(&key, thread_ends) == 0;
    struct mw_thread_state *thread = obtain();
    mw_lock_drop(&lock);
    if (!thread) {
        refused = 1;
        return NULL;
    }
    if (key_made)
        pthread_setspecific(key, thread);
    int later = thread->area->tid != 0;
    __atomic_store_n(&thread->area->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
    thread->scratch_used = thread->waited_count = 0;
    thread->nesting = 0;
    mw_callsite_thread_start(thread->sites);
    mw_self.thread = thread;
    describe(thread, later);
    return thread;
}

struct mw_thread_state *mw_threads_first(void)
{
    return atomic_load_explicit(&first, memory_order_acquire);
}
