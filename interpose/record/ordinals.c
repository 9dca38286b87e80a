/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running numbers of messages by (SEND or RECV, communicator, peer, tag), per thread, so that nothing is
 * shared on the hot path. A small table first, one large one when it fills up; beyond its capacity new
 * keys (programs that use a new tag for each message) are not counted, which the trace says.
 */
#include "record/record.h"

#define SMALL 512u
#define LARGE 65536u

struct key {
    uint32_t comm; /* id + 1, with the direction in the top bit; 0 free */
    int32_t peer, tag;
    uint32_t next;
};

struct mw_ordinals {
    struct key *table;
    uint32_t mask, used, limit;
    struct key small[SMALL];
};

struct mw_ordinals *mw_ordinals_create(void)
{
    struct mw_ordinals *ordinals = mw_pages(sizeof *ordinals);
    if (ordinals) {
        ordinals->table = ordinals->small;
        ordinals->mask = SMALL - 1;
        ordinals->limit = SMALL * 3 / 4;
    }
    return ordinals;
}

static struct key *find(struct mw_ordinals *ordinals, uint32_t comm, int32_t peer, int32_t tag)
{
    uint64_t hash = ((uint64_t)comm << 32 | (uint32_t)peer) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint32_t)tag) * 0xc2b2ae3d27d4eb4fu;
    for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
        struct key *key = &ordinals->table[i & ordinals->mask];
        if (key->comm == 0 || (key->comm == comm && key->peer == peer && key->tag == tag))
            return key;
    }
}

static int grow(struct mw_ordinals *ordinals)
{
    if (ordinals->mask == LARGE - 1)
        return 0;
    struct key *table = mw_pages(LARGE * sizeof *table);
    if (!table)
        return 0;
    ordinals->table = table;
    ordinals->mask = LARGE - 1;
    ordinals->limit = LARGE * 3 / 4;
    for (uint32_t i = 0; i < SMALL; i++) {
        const struct key *old = &ordinals->small[i];
        if (old->comm)
            *find(ordinals, old->comm, old->peer, old->tag) = *old;
    }
    return 1;
}

uint32_t mw_ordinal_next(struct mw_thread_state *thread, int kind, uint32_t comm, int32_t peer,
                         int32_t tag)
{
    struct mw_ordinals *ordinals = thread->ordinals;
    if (!ordinals)
        return MW_NO_ORDINAL;
    uint32_t directed = comm | (kind == MW_EVENT_SEND ? 1u << 31 : 0) | 1u << 30;
    struct key *key = find(ordinals, directed, peer, tag);
    if (key->comm == 0) {
        if (ordinals->used == ordinals->limit) {
            if (!grow(ordinals)) {
                mw_health("ordinals", "more than 49152 different (communicator, peer, tag) in one "
                                      "thread: later ones carry no running number");
                return MW_NO_ORDINAL;
            }
            key = find(ordinals, directed, peer, tag);
        }
        ordinals->used++;
        *key = (struct key){.comm = directed, .peer = peer, .tag = tag};
    }
    return key->next++;
}
