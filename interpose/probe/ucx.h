/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the UCX probe share; private to probe/ucx*.c. The wrapped functions
 * (ucx_wrap.c, ucx_setup.c) run on any thread at any time; the rest says for itself.
 */
#ifndef MW_PROBE_UCX_H
#define MW_PROBE_UCX_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/probe.h"
#include "probe/ucx_abi.h"

/* Versions whose sources were looked at: the layout of log handlers, the texts that are printed. */
#define MW_UCX_OLDEST 1008u /* 1.8 */
#define MW_UCX_NEWEST 1022u /* 1.22 */

/* Functions that we wrap. */
/* clang-format off */
#define MW_UCX_WRAPPED(X)                                                                     \
    X(init_version) X(worker_create) X(worker_destroy) X(ep_create) X(ep_close_nb)            \
    X(ep_close_nbx) X(ep_destroy) X(disconnect_nb) X(tag_send_nbx) X(tag_send_nb)             \
    X(tag_send_nbr) X(tag_send_sync_nb) X(tag_send_sync_nbx) X(am_send_nb) X(am_send_nbx)     \
    X(stream_send_nb) X(stream_send_nbx) X(put) X(put_nb) X(put_nbi) X(put_nbx) X(get)        \
    X(get_nb) X(get_nbi) X(get_nbx) X(atomic_post) X(atomic_fetch_nb) X(atomic_op_nbx)        \
    X(atomic_add32) X(atomic_add64) X(atomic_fadd32) X(atomic_fadd64) X(atomic_swap32)        \
    X(atomic_swap64) X(atomic_cswap32) X(atomic_cswap64)
/* clang-format on */

enum mw_ucx_function {
#define X(name) MW_UCX_##name,
    MW_UCX_WRAPPED(X)
#undef X
        MW_UCX_FUNCTIONS
};

/* The UCX that is used. Changes only when the one before has been unloaded. */
struct mw_ucx {
    _Atomic(void *) real[MW_UCX_FUNCTIONS]; /* NULL not looked up */
    _Atomic int several;                    /* more than one UCX is in use: look up every time */
    uintptr_t ours, ours_size;              /* our own code */
    uintptr_t ucp, ucp_size;                /* libucp's */
    unsigned version;                       /* 1013 for 1.13; 0 not known */
    const char *path;                       /* of libucp; NULL never seen */
    /* Functions that we call; NULL the library has none. */
    const char *(*status_string)(mw_ucs_status status);
    void (*context_print)(mw_ucp_object context, void *stream);
    void (*ep_print)(mw_ucp_object ep, void *stream);
    mw_ucs_status (*ep_query)(mw_ucp_object ep, struct mw_ucp_ep_attr *attr);
    mw_ucs_status (*get_address)(mw_ucp_object worker, void **address, size_t *length);
    void (*release_address)(mw_ucp_object worker, void *address);
    mw_ucs_status (*address_query)(void *address, struct mw_ucp_worker_address_attr *attr);
};
extern struct mw_ucx mw_ucx;

/* ucx_real.c */
/* ucp_init_version as the caller would have it; learns all about its library the first time. Takes
 * the loader's lock. */
void *mw_ucx_enter(const void *caller);
void *mw_ucx_find(enum mw_ucx_function function, const void *caller);
/* NULL: nobody has it. */
static inline void *mw_ucx_real(enum mw_ucx_function function, const void *caller)
{
    void *real = atomic_load_explicit(&mw_ucx.real[function], memory_order_acquire);
    if (__builtin_expect(!real || atomic_load_explicit(&mw_ucx.several, memory_order_relaxed), 0))
        return mw_ucx_find(function, caller);
    return real;
}
/* UCX's own call, on behalf of one that we have seen already: it calls its functions through the
 * same table as everybody. */
static inline int mw_ucx_inner(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    return at - mw_ucx.ucp < mw_ucx.ucp_size || at - mw_ucx.ours < mw_ucx.ours_size;
}

/* ucx_peers.c: endpoints and what went through them. */

struct mw_ucx_peer;
struct mw_ucx_worker {
    mw_ucp_object handle; /* NULL destroyed */
    uint32_t id;          /* of the ENDPOINT */
    uint32_t caller;      /* module */
    int thread_mode;
    int has_uid;
    uint64_t uid;
    struct mw_ucx_peer *rest; /* all that found no room; NULL none */
};

/* All endpoints of one worker to one remote worker. Where the worker's thread mode says that one
 * thread at a time uses it, adding needs no locked instruction. */
struct mw_ucx_peer {
    _Atomic uint64_t sends, sent, puts, put, gets, got, unsized;
    int multi;      /* several threads may add at once */
    int has_uid;    /* `uid` is known */
    uint32_t lanes; /* ucx_lanes.c: 0 not known */
    struct mw_ucx_worker *worker;
    uint64_t uid;
    _Atomic(mw_ucp_object) ep; /* the latest; NULL closed */
    uint64_t written;          /* operations that the trace has */
    uint32_t written_lanes;
} __attribute__((aligned(128)));

struct mw_ucx_slot {
    _Atomic uintptr_t ep;
    _Atomic(struct mw_ucx_peer *) peer;
};
struct mw_ucx_slots {
    uintptr_t mask;
    size_t used;
    struct mw_ucx_slot slot[];
};
extern _Atomic(struct mw_ucx_slots *) mw_ucx_slots;
extern _Atomic uint64_t mw_ucx_strays; /* operations on endpoints that we never saw made */

static inline uintptr_t mw_ucx_hash(uintptr_t ep)
{
    return (ep >> 4) ^ (ep >> 16);
}

static inline struct mw_ucx_peer *mw_ucx_peer_of(mw_ucp_object ep)
{
    struct mw_ucx_slots *slots = atomic_load_explicit(&mw_ucx_slots, memory_order_acquire);
    if (!slots)
        return NULL;
    for (uintptr_t at = mw_ucx_hash((uintptr_t)ep);; at++) {
        struct mw_ucx_slot *slot = &slots->slot[at & slots->mask];
        uintptr_t found = atomic_load_explicit(&slot->ep, memory_order_acquire);
        if (found == (uintptr_t)ep)
            return atomic_load_explicit(&slot->peer, memory_order_relaxed);
        if (!found)
            return NULL;
    }
}

/* NULL: no room. */
struct mw_ucx_worker *mw_ucx_worker_add(mw_ucp_object handle, int thread_mode, unsigned caller);
struct mw_ucx_worker *mw_ucx_worker_of(mw_ucp_object handle);
struct mw_ucx_worker *mw_ucx_worker_at(unsigned index); /* NULL past the last */
void mw_ucx_ep_add(struct mw_ucx_worker *worker, mw_ucp_object ep, int has_uid, uint64_t uid);
unsigned mw_ucx_peer_count(void);
struct mw_ucx_peer *mw_ucx_peer_at(unsigned index);
/* ENDPOINT chunks of one worker. all: of peers without news, too. Gives the bytes written. */
size_t mw_ucx_worker_write(struct mw_ucx_worker *worker, int all);

/* ucx_lanes.c */
/* Reads the lanes of a peer's endpoint. Calls UCX: only where the caller of MPI could. */
void mw_ucx_lanes_read(struct mw_ucx_peer *peer);
struct mw_buffer;
void mw_ucx_lanes_put(uint32_t lanes, struct mw_buffer *buffer); /* into a peer record */
/* A stream into memory that gives up where it is full; what stands in it ends with a zero. */
struct mw_ucx_print {
    void *stream;
    char *text;
    size_t size;
};
#define MW_UCX_PRINT_SIZE (256u << 10)
int mw_ucx_print_begin(struct mw_ucx_print *print);  /* 0: none is to be had */
size_t mw_ucx_print_end(struct mw_ucx_print *print); /* length of the text, valid until release */
void mw_ucx_print_release(struct mw_ucx_print *print);

/* ucx_attempt.c */
struct mw_ucx_attempt {
    uint32_t id; /* 0: none, or too many */
    int now;
    const char *call;
    uint32_t caller;
    uint64_t start;
    char asked[96];
};
/* Before the call. now: in the file when this returns, so that a call that never returns is told.
 */
void mw_ucx_attempt_begin(struct mw_ucx_attempt *attempt, const char *call, const void *caller,
                          int now);
/* context: what of to list the resources; NULL none. endpoint: the ENDPOINT that came of it, 0
 * none. */
void mw_ucx_attempt_end(struct mw_ucx_attempt *attempt, mw_ucs_status result, uint32_t endpoint,
                        mw_ucp_object context);

/* ucx_text.c: what UCX prints. Pure functions over memory. */
struct mw_ucx_word {
    const char *text;
    size_t size;
};
struct mw_ucx_lane {
    struct mw_ucx_word use, transport, device;
};
/* A walk through the lanes of an endpoint's print-out. The caller sets `at`, to a text that ends
 * with a zero, and `version`; the rest starts as zeros. */
struct mw_ucx_lane_walk {
    const char *at;   /* next line */
    unsigned version; /* 1013 for 1.13 */
    const char *uses; /* what is left of the present line; NULL none */
    struct mw_ucx_word transport, device;
    unsigned number;
    int any, rma; /* the present lane has given a use, or that of remote memory */
};
/* The next (lane, use); 0 at the end. */
int mw_ucx_lane_next(struct mw_ucx_lane_walk *walk, struct mw_ucx_lane *lane);
/* The next resource of a context's print-out; *at is the text at first. */
int mw_ucx_resource_next(const char **at, struct mw_ucx_word *transport,
                         struct mw_ucx_word *device);
/* "tag rma am" */
void mw_ucx_features_text(uint64_t features, char *out, size_t size);

/* ucx_log.c */
/* From now on the lines that UCX logs are kept. `init`: the real ucp_init_version. */
void mw_ucx_log_start(const void *init);
/* Between these two, lines that UCX keeps back by default ("DIAG": a device that could not be
 * opened) are kept as well; nothing more is printed than without us. They nest. */
void mw_ucx_log_deepen(void);
void mw_ucx_log_restore(void);

/* ucx.c: whether endpoints may still be asked about: MPI_Finalize has not begun. */
int mw_ucx_open(void);

#endif
