/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's own view of itself: state of the process, state of each thread, and the steps that
 * every handler shares. Runs on the application's threads inside MPI calls.
 */
#ifndef MW_RECORD_RECORD_H
#define MW_RECORD_RECORD_H

#include <stdatomic.h>

#include "abi/libmpi.h"
#include "config.h"
#include "record/callsite.h"
#include "record/handlers.h"
#include "trace/clock.h"
#include "trace/mapping.h"

enum mw_recorder_state {
    MW_IDLE = 0,  /* MPI not initialised: nothing has been done */
    MW_RECORDING, /* between the start of MPI_Init and the end of MPI_Finalize */
    MW_OVER,      /* finalized, switched off, or a child of fork */
};

/* Alone in its page, which the kernel empties in each child that gets a copy of the memory (MADV_WIPEONFORK): no handler
 * of pthread_atfork hears of those that clone() or _Fork() made, and they share our mapping with their parent. */
#define MW_RECORDING_PAGE 4096
struct mw_recording {
    _Alignas(MW_RECORDING_PAGE) _Atomic int state; /* enum mw_recorder_state */
};
extern struct mw_recording mw_recording;

struct mw_recorder {
    enum mw_clock_kind clock;
    struct mw_config config;
    struct mw_libmpi *lib;
    const struct mw_abi *abi; /* &lib->abi */
    int rank, size;           /* in MPI_COMM_WORLD; -1 before they are known */
    uint64_t tick;            /* nanoseconds of the clock's tick, times 2^32, by its first and latest sample */
    uint64_t init_ns;         /* own time in the initialising call */
    _Atomic uint32_t type_generation; /* raised when a datatype is freed */
    /* Receives for any source or tag, reads of files, and cancelled requests, that are under way: only a status tells what
     * they did. */
    _Atomic uint32_t status_needs;
    /* Why calls make sums instead of events (record/aggregate.h), and how many requests under way were started
     * so while MPI_Pcontrol had it: what completes them makes sums as well. */
    _Atomic uint32_t reduced, reduced_requests;
};
extern struct mw_recorder mw_recorder;

static inline uint64_t mw_now(void)
{
    return mw_clock_read(mw_recorder.clock);
}

/* Spans of the recording clock. Integers, as everywhere in this library: the program may have made a trap of whatever
 * floating-point arithmetic raises, and may look at its flags. */
#define MW_TICK_SHIFT 32
static inline uint64_t mw_ticks_to_ns(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * mw_recorder.tick >> MW_TICK_SHIFT);
}
static inline uint64_t mw_ns_to_ticks(uint64_t ns)
{
    return (uint64_t)(((unsigned __int128)ns << MW_TICK_SHIFT) / mw_recorder.tick);
}

#define MW_NESTING 16u /* callbacks within callbacks that are followed exactly */

/* A call from which MPI has called back, and how many slots of open calls there were then. */
struct mw_outer_call {
    const struct mw_call *call;
    uint32_t open;
};

#define MW_TYPE_CACHE 64u
#define MW_SCRATCH_BLOCKS 12u

struct mw_type_size {
    mw_handle type;
    uint32_t generation;
    int64_t size;
};

struct mw_ordinals;
struct mw_comm_entry;
struct mw_object;
struct mw_sums;
struct mw_request;
struct mw_gpu_answers;

/* What one thread owns. Only that thread touches it, but for `area`, which readers watch. */
struct mw_thread_state {
    struct mw_map_thread *area; /* in the crash-safe mapping, or private memory */
    struct mw_raw_event *ring;
    uint64_t mask;
    uint64_t next;    /* number of the next event */
    uint64_t encoded; /* all below are in the encoder's open chunk or in the file */
    uint64_t flushed; /* all below are in the file */
    struct mw_encoder *encoder;
    int chunk_open;
    int encoding; /* stays set where a signal handler jumped out of it */
    void *encoder_memory;
    int poll_open; /* the event before `next` is a poll that may still grow */
    uint32_t index;
    uint32_t requests; /* number of the next request of this thread */
    struct mw_callsite_cache *sites;
    struct mw_ordinals *ordinals;
    struct mw_sums *sums; /* NULL before the first call that makes some */
    int sums_refused;           /* there is no memory for them */
    uint8_t *scratch[MW_SCRATCH_BLOCKS]; /* a stack of bytes for copies of request arrays */
    size_t scratch_used;
    const mw_handle *waited; /* in scratch: what the innermost Wait or Test in progress was given */
    size_t waited_count;
    uint32_t waited_open; /* its slot of open calls */
    uint32_t nesting;     /* of callbacks */
    struct mw_outer_call outers[MW_NESTING]; /* not in their frames, which a jump may have left behind */
    mw_handle last_comm;
    struct mw_comm_entry *last_comm_entry;
    uint32_t last_comm_generation;
    mw_handle last_window;
    struct mw_object *last_window_object;
    uint32_t last_window_generation;
    struct mw_gpu_answers *gpu_answers; /* what its buffers are; NULL while there is no GPU runtime */
    uint64_t encode_ticks, write_ticks, longest_ticks, chunks;
    struct mw_thread_state *link; /* all threads */
    _Atomic int in_use;
    struct mw_type_size types[MW_TYPE_CACHE];
};

/* lifecycle.c: whether a call that arrives while nothing is recorded starts the recording. */
int mw_lifecycle_starts(enum mw_function function, const void *caller);

/* threads.c */
struct mw_thread_state *mw_thread_register(void); /* NULL: this thread is not recorded */
struct mw_thread_state *mw_threads_first(void);
/* The cheap part of "who am I", set by call.c. */
struct mw_thread_local {
    const struct mw_call *call; /* innermost recorded MPI call in progress; NULL none */
    struct mw_thread_state *thread;
};
extern __thread struct mw_thread_local mw_self __attribute__((tls_model("initial-exec")));

/* events.c: appending to the ring, encoding and writing. */
int mw_events_encoder_create(struct mw_thread_state *thread); /* 0: no memory */
struct mw_raw_event *mw_event_new(struct mw_thread_state *thread);
void mw_event_commit(struct mw_thread_state *thread);
void mw_events_flush(struct mw_thread_state *thread); /* everything of this thread into the file */
/* The thread ends: many events go into the file, a few stay for whoever has its place next, or for the end. */
void mw_events_hand_on(struct mw_thread_state *thread);
/* At the end: what is in the rings of other threads. done: those in the mapping have been taken care of. */
void mw_events_flush_others(const struct mw_thread_state *self, int done);
void mw_events_work(struct mw_thread_state *thread);  /* a bounded step of encoding when it is due */

/* call.c: the shared steps of the handlers. */
/* Opens the call: remembers what is known in the open-call slot and takes the start time. Last step of a begin handler. */
void mw_open(struct mw_call *call, uint32_t comm, int32_t peer, int32_t tag, uint32_t instance);
/* First step of an end handler: the end time. */
static inline uint64_t mw_close(struct mw_call *call)
{
    return call->end = mw_now();
}
/* Appends the call's own event. `event` is filled by the caller but for times, function, site and NESTED. */
void mw_call_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags,
                   const struct mw_raw_event *detail);
/* Appends a part (PART is added). */
void mw_call_part(struct mw_call *call, int kind, uint32_t flags, const struct mw_raw_event *detail);
/* The completion of a request, as the call's own event or a part of it. */
void mw_call_done(struct mw_call *call, uint64_t end, const struct mw_request *request,
                  uint32_t flags, const struct mw_raw_event *detail);
void mw_call_done_part(struct mw_call *call, const struct mw_request *request, uint32_t flags,
                       const struct mw_raw_event *detail);
/* A call that failed: CALL with ERROR and the code. */
void mw_call_failed(struct mw_call *call, uint64_t end, int rc);
/* One more unsuccessful poll. */
void mw_call_poll(struct mw_call *call, uint64_t end);
/* The calls in progress on this thread, if any, have been left by a jump or an exception: each is recorded as such. */
void mw_calls_abandon(struct mw_thread_state *thread);
/* Last step of an end handler: closes the slot, lowers the depth, does work that is due. */
void mw_leave(struct mw_call *call);

/* What the code of a failed call says: the message was too long for the buffer, and is gone all the same (both MPIs, in
 * every kind of receive); or an argument was refused before anything was done. */
static inline int mw_is_truncated(int rc)
{
    return mw_recorder.abi->error_class(rc) == mw_recorder.abi->err_truncate;
}
static inline int mw_is_refused(int rc)
{
    int class = mw_recorder.abi->error_class(rc);
    return class > 0 && class <= mw_recorder.abi->err_arg;
}

/* A tag as the trace has it: the constant for any tag differs by ABI, -1 stands for it. */
static inline int32_t mw_tag(int tag)
{
    return tag == mw_recorder.abi->any_tag ? MW_TAG_ANY : tag;
}

/* scratch.c: memory until thread->scratch_used is set back to what it was. NULL when there is none: the caller goes without. */
void *mw_scratch_push(struct mw_thread_state *thread, size_t size);

/* complete.c: the innermost Wait or Test of this thread was left by a jump: what became of its requests is unknown. */
void mw_waits_abandon(struct mw_thread_state *thread);

/* types.c: bytes of `count` elements. Only after the call succeeded: MPI is asked about the type. */
uint64_t mw_bytes(struct mw_thread_state *thread, int64_t count, mw_handle type);

/* ordinals.c: the running number of this (SEND or RECV, comm, peer, tag) in this thread, or UINT32_MAX when there is no room to count. */
#define MW_NO_ORDINAL UINT32_MAX
#define MW_ORDINAL_PARTITIONED (1u << 29) /* added to comm: initialisations of partitioned messages, numbers of their own */
uint32_t mw_ordinal_next(struct mw_thread_state *thread, int kind, uint32_t comm, int32_t peer,
                         int32_t tag);
struct mw_ordinals *mw_ordinals_create(void);

/* memory.c: pages from the kernel, zeroed; NULL on failure. Never given back. */
void *mw_pages(size_t size);
uint64_t mw_pages_total(void);

/* A lock for rare paths: held for some instructions or one write, never across a call of MPI. A thread that
 * already holds it gets it again: a signal handler that calls exit() or jumps away has interrupted it, and
 * the code that held it does not go on. */
struct mw_lock {
    _Atomic(const void *) owner; /* &mw_self of a thread; NULL free */
};
void mw_lock_slow(struct mw_lock *lock);
void mw_locks_after_fork(void); /* in the child: locks that nobody drops are not waited for */
static inline void mw_lock_take(struct mw_lock *lock)
{
    const void *expected = NULL;
    if (!atomic_compare_exchange_strong_explicit(&lock->owner, &expected, &mw_self,
                                                 memory_order_acquire, memory_order_relaxed))
        mw_lock_slow(lock);
}
static inline void mw_lock_drop(struct mw_lock *lock)
{
    atomic_store_explicit(&lock->owner, NULL, memory_order_release);
}

/* health.c: something of us does not work; counted, the first of a code is written at once. */
void mw_health(const char *code, const char *message);
void mw_health_flush(void);

#endif
