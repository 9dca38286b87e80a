/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the libfabric probe, seen by each other: entry points → objects (whose tables of
 * functions are replaced by copies of ours) → attempts, endpoints and their peers, log lines →
 * chunks. All of it runs inside the caller's calls of libfabric, on any thread, but for the steps
 * of the probe. No lock is held over a call of libfabric.
 */
#ifndef MW_PROBE_LIBFABRIC_H
#define MW_PROBE_LIBFABRIC_H

#include <stdatomic.h>

#include "probe/libfabric_abi.h"
#include "probe/probe.h"

#define MW_FI_LIBRARY "libfabric"
/* Attempts and endpoints of all libraries share their numbers: UCX's are below. */
#define MW_FI_FIRST_ID 1001u

/* The tables of an object that are replaced. */
enum mw_fi_which {
    MW_FI_FID,  /* struct fi_ops, of every object */
    MW_FI_MAIN, /* of a fabric, domain, address vector; of an endpoint: fi_ops_ep */
    MW_FI_MSG,
    MW_FI_RMA,
    MW_FI_TAGGED,
    MW_FI_ATOMIC,
    MW_FI_TABLES
};
enum mw_fi_kind { MW_FI_FABRIC = 1, MW_FI_DOMAIN, MW_FI_AV, MW_FI_ENDPOINT };

/* What an object is a part of: from the fi_info it was opened with. */
struct mw_fi_identity {
    char provider[64], domain[128], fabric[96], device[64], driver[64];
    uint64_t speed; /* bit/s */
    uint32_t format;
    unsigned caller; /* module id */
    int inner;       /* opened by the fabric library itself */
};

struct mw_fi_endpoint;
struct mw_fi_object {
    _Atomic(const void *) fid;
    enum mw_fi_kind kind;
    uint64_t serial;
    struct {
        _Atomic(const void *) *place;   /* the pointer in the object */
        _Atomic(const void *) original; /* what stood there; NULL: not replaced */
        const void *copy;
    } table[MW_FI_TABLES];
    struct mw_fi_identity identity;
    struct mw_fi_endpoint *endpoint; /* of an ENDPOINT */
    unsigned rx_ctx_bits;            /* of an AV */
    unsigned data_tables;            /* of an ENDPOINT: how many it has for sure */
    unsigned aliases;
    struct mw_fi_object *next_free;
};

/* One function of a table that is replaced. */
struct mw_fi_patch {
    size_t offset;
    void (*function)(void);
};
struct mw_fi_patches {
    size_t least; /* bytes that such a table has in every version */
    const struct mw_fi_patch *patch;
    unsigned count;
};
/* A function that does not fit its place does not compile. */
#define MW_FI_PATCH(type, member, function)                                                        \
    {                                                                                              \
        offsetof(struct type, member) +                                                            \
            0 * sizeof(struct {                                                                    \
                _Static_assert(__builtin_types_compatible_p(                                       \
                                   __typeof__(((struct type *)0)->member), __typeof__(&function)), \
                               "not the function of this place");                                  \
                int unused;                                                                        \
            }),                                                                                    \
            (void (*)(void))(function)                                                             \
    }
#define MW_FI_PATCHES(list, minimum)                                                               \
    {                                                                                              \
        .least = minimum, .patch = list, .count = sizeof list / sizeof *list                       \
    }

/* libfabric_object.c: the objects that we know, by their fid. */
/* A running number: objects that were added later have a higher serial. */
uint64_t mw_fi_serial(void);
/* Remembers an object. NULL: no room. One that is known already: as it is when its serial is above
 * `since` (layers that share an object), else what was known of it is forgotten. */
struct mw_fi_object *mw_fi_object_add(const void *fid, enum mw_fi_kind kind, uint64_t since);
struct mw_fi_object *mw_fi_object_find(const void *fid);
/* Another fid of the same object (FI_ALIAS), until it is closed. */
void mw_fi_object_alias(const void *fid, struct mw_fi_object *object);
void mw_fi_object_unalias(const void *fid);
/* Replaces one table by a copy with our functions in it. */
void mw_fi_object_patch(struct mw_fi_object *object, enum mw_fi_which which, const void *place,
                        const struct mw_fi_patches *patches);
/* Puts the originals back and forgets the fid. */
void mw_fi_object_restore(struct mw_fi_object *object);
/* After restore: known again, as the object lives on; or gone for good. */
void mw_fi_object_return(struct mw_fi_object *object, const void *fid);
void mw_fi_object_free(struct mw_fi_object *object);
/* The table that stood in the place of `current` (ours) in this object; NULL when nobody knows.
 * *object: NULL when the fid is unknown. */
const void *mw_fi_original(const void *fid, enum mw_fi_which which, const void *current,
                           struct mw_fi_object **object);
/* 1 when `table` is a copy of ours. */
int mw_fi_is_copy(const void *table);

/* libfabric_open.c: the tables of objects. */
void mw_fi_opened_fabric(struct mw_fid_fabric *fabric, const struct mw_fi_identity *identity,
                         uint64_t since);

/* libfabric_data.c: the tables of an endpoint that move data. */
extern const struct mw_fi_patches mw_fi_patches_msg, mw_fi_patches_rma, mw_fi_patches_tagged,
    mw_fi_patches_atomic;

/* libfabric_identity.c: reading what fi_getinfo gave. */
/* From now on infos of this module have a NIC where they may. */
void mw_fi_module_has_nic(unsigned module);
/* Fills in what the info says; the caller by its address. `real`: a function of the libfabric that
 * is called. */
void mw_fi_identify(struct mw_fi_identity *identity, const struct mw_fi_info *info,
                    const void *caller);
void mw_fi_identify_caller(struct mw_fi_identity *identity, const void *caller);
void mw_fi_copy_text(char *target, size_t size, const char *text);

/* libfabric_attempt.c: ATTEMPT chunks. */
struct mw_fi_attempt {
    uint64_t id; /* 0: not recorded */
    const char *call;
    uint64_t start;
    const struct mw_fi_identity *identity;
    const char *asked;
    uint64_t endpoint;
};
/* Before the call: `call`, `identity` and `asked` are set and outlive it. Written with its end
 * open, and on disk when this returns. */
void mw_fi_attempt_begin(struct mw_fi_attempt *attempt);
/* After it. `infos`: what was offered, in the layout of the caller; NULL none. errno stays. */
void mw_fi_attempt_end(struct mw_fi_attempt *attempt, int64_t result,
                       const struct mw_fi_info *infos, int has_nic);
/* A call of which only failures are worth a word; nothing where the result is none. */
void mw_fi_attempt_failed(const char *call, const struct mw_fi_identity *identity, int64_t result);
void mw_fi_attempts_finish(void);
/* A function of the libfabric in use, for fi_strerror. */
void mw_fi_attempts_library(const void *real);

/* libfabric_peer.c and libfabric_endpoint.c: counters and ENDPOINT chunks. */
enum mw_fi_counter {
    MW_FI_SENDS,
    MW_FI_SENT,
    MW_FI_PUTS,
    MW_FI_PUT,
    MW_FI_GETS,
    MW_FI_GOT,
    MW_FI_UNSIZED,
    MW_FI_COUNTERS
};
struct mw_fi_peer {
    _Atomic uint64_t key;                    /* fi_addr + 1; 0 free */
    _Atomic uint64_t count[MW_FI_COUNTERS];  /* by the endpoint's owner alone */
    _Atomic uint64_t shared[MW_FI_COUNTERS]; /* by all other threads */
    uint64_t written;                        /* operations when it was written last */
    _Atomic(struct mw_fi_peer *) same;       /* another one of the same address */
    const uint8_t *far;                      /* the address where it is longer than `near` */
    _Atomic uint32_t state;                  /* enum mw_fi_peer_state */
    uint16_t size;                           /* of the address */
    uint8_t near[192 - 8 * 18 - 4 - 2];
};
_Static_assert(offsetof(struct mw_fi_peer, shared) == 64, "what one thread uses is one cache line");
_Static_assert(sizeof(struct mw_fi_peer) == 192, "three cache lines");
enum mw_fi_peer_state {
    MW_FI_PEER_NEW = 0, /* its address is being asked for */
    MW_FI_PEER_FIRST,   /* the first one of its address: is written, with the counts of all */
    MW_FI_PEER_SAME,    /* in the chain of the first one */
};

#define MW_FI_PEERS      16384u /* of an endpoint; virtual memory until they are used */
#define MW_FI_PEER_STEPS 8u
#define MW_FI_ADDRESS    512u /* bytes of an address that are kept */
#define MW_FI_OWN        64u

struct mw_fi_endpoint {
    uint64_t id;
    int connected;               /* FI_EP_MSG: one peer, whatever the address */
    _Atomic(const void *) owner; /* &mw_fi_self of the first thread that sent something */
    struct mw_fid_ep *fid;
    _Atomic(struct mw_fid_av *) av;
    _Atomic uint64_t address_mask; /* without the bits of a receive context */
    _Atomic uint64_t unlisted;
    uint64_t unlisted_written;
    struct mw_fi_peer single;
    struct mw_fi_peer *peers; /* MW_FI_PEERS, NULL: connected, or no memory */
    uint16_t *by_address;     /* 2 × MW_FI_PEERS: index + 1 */
    uint16_t *used;           /* indexes, in order of use */
    _Atomic uint32_t used_count;
    uint32_t cursor;        /* of used, where the last flush stopped */
    uint8_t own[MW_FI_OWN]; /* address of a connected one, from its first message on */
    _Atomic uint32_t own_size;
    int own_written;
    struct mw_fi_endpoint *next_free;
    struct mw_fi_endpoint *link;           /* all there ever were */
    const struct mw_fi_identity *identity; /* NULL: closed */
};

/* Makes the counters of a new endpoint. NULL: no memory. */
struct mw_fi_endpoint *mw_fi_endpoint_create(struct mw_fid_ep *fid,
                                             const struct mw_fi_identity *identity, int connected);
void mw_fi_endpoint_close(struct mw_fi_endpoint *endpoint); /* its counts have been written */
void mw_fi_endpoint_announce(struct mw_fi_endpoint *endpoint);
void mw_fi_endpoint_enabled(struct mw_fi_endpoint *endpoint); /* asks for its own address */
/* By the fabric library. 0: not known. */
size_t mw_fi_endpoint_name(const struct mw_fi_endpoint *endpoint, uint8_t *address, size_t room);
/* Writes what has changed. `complete`: however long it takes. */
void mw_fi_endpoint_write(struct mw_fi_endpoint *endpoint, int complete);
void mw_fi_endpoints_write(int complete);
/* The address vector has forgotten this address, and may use it for another peer. */
void mw_fi_endpoints_removed(const struct mw_fid_av *av, mw_fi_addr address);

/* libfabric_peer.c */
void mw_fi_peers_remove(struct mw_fi_endpoint *endpoint, const struct mw_fid_av *av,
                        mw_fi_addr address);
const uint8_t *mw_fi_peer_address(const struct mw_fi_peer *peer);
struct mw_fi_peer *mw_fi_peer_slow(struct mw_fi_endpoint *endpoint, uint64_t key);
extern __thread char mw_fi_self
    __attribute__((tls_model("initial-exec"))); /* its address is a thread */
/* The peer of an address; NULL when there is no room. */
static inline struct mw_fi_peer *mw_fi_peer(struct mw_fi_endpoint *endpoint, mw_fi_addr address)
{
    uint64_t key = address + 1;
    if (endpoint->connected || !key)
        key = UINT64_MAX;
    else
        key = (address & atomic_load_explicit(&endpoint->address_mask, memory_order_relaxed)) + 1;
    if (__builtin_expect(endpoint->peers != NULL, 1)) {
        uint64_t hash = (key - 1) ^ (key - 1) >> 7 ^ (key - 1) >> 17;
        struct mw_fi_peer *peer = &endpoint->peers[hash & (MW_FI_PEERS - 1)];
        if (__builtin_expect(atomic_load_explicit(&peer->key, memory_order_relaxed) == key, 1))
            return peer;
    } else if (atomic_load_explicit(&endpoint->single.key, memory_order_relaxed) == key) {
        return &endpoint->single;
    }
    return mw_fi_peer_slow(endpoint, key);
}

/* libfabric_log.c: what libfabric logs. */
/* Before the first call of fi_getinfo in this libfabric. `real`: its fi_getinfo. */
void mw_fi_log_attach(const void *real);
/* Gives it back. `real`: any function of that libfabric. */
void mw_fi_log_yield(const void *real);
/* Calls of ours: what libfabric says about them is nobody's business. */
extern __thread int mw_fi_quiet __attribute__((tls_model("initial-exec")));

/* libfabric.c: reasons why not all was seen, for the CHOICE of the probe. */
enum mw_fi_gap {
    MW_FI_GAP_TABLE = 1 << 0, /* a table of functions that is smaller than any known one */
    MW_FI_GAP_ROOM = 1 << 1,  /* more objects than there is room for */
};
void mw_fi_gap(enum mw_fi_gap gap);
/* What the object that has this function defines itself; NULL when it has no such symbol. */
void *mw_fi_library_symbol(const void *real, const char *name, const char *version);
void mw_fi_version(const void *real); /* once a libfabric: its version goes to the trace */

#endif
