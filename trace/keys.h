/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ordinal that each key reached while an EVENTS chunk is decoded. Reader side only: it
 * allocates. The writer's counterpart with fixed tables is in shapes.h.
 */
#ifndef MW_TRACE_KEYS_H
#define MW_TRACE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/status.h"

struct mw_key {
    uint64_t class; /* kind of the event that is counted */
    int64_t comm, peer, tag;
};

struct mw_key_slot {
    struct mw_key key;
    int64_t next; /* ordinal; -1: none seen */
};

struct mw_keys {
    struct mw_key_slot *slots;
    size_t count, capacity;
    uint32_t *buckets;   /* slot + 1, open addressing */
    size_t bucket_count; /* a power of two, or 0 */
};

/* Zeroed memory is an empty table. */
enum mw_status mw_keys_intern(struct mw_keys *keys, const struct mw_key *key, size_t *index);
void mw_keys_free(struct mw_keys *keys);

static inline int64_t *mw_keys_next(struct mw_keys *keys, size_t index)
{
    return &keys->slots[index].next;
}

#endif
