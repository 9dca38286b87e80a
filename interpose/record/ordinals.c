/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running numbers of messages by (SEND or RECV, communicator, peer, tag), per thread, so that nothing is
 * shared on the hot path. A small table first, then a large one that takes its keys over, then one more
 * behind that: keys never move while a call waits for it, but for the first few. The place of a key
 * whose communicator has been freed is taken by a new one. Beyond all that (programs that use a new
 * tag for each message) new keys are not counted, which the trace says.
 */
#include "record/comms.h"
#include "record/record.h"

#define SMALL 512u
#define LARGE 65536u
#define HUGE (1u << 20)

struct key {
    uint32_t comm; /* id + 1, with the direction in the top bit; 0 free */
    int32_t peer, tag;
    uint32_t next;
};
#define USED (1u << 30)
#define SENDS (1u << 31)

struct table {
    struct key *keys;
    uint32_t mask, used, limit;
};

struct mw_ordinals {
    struct table first, second; /* the second is where the first has no room left; mask 0: not there */
    int reused;                 /* places of freed communicators' keys have been taken */
    struct key small[SMALL];
};

static struct table table_of(struct key *keys, uint32_t size)
{
    return (struct table){keys, size - 1, 0, size / 4 * 3};
}

struct mw_ordinals *mw_ordinals_create(void)
{
    struct mw_ordinals *ordinals = mw_pages(sizeof *ordinals);
    if (ordinals)
        ordinals->first = table_of(ordinals->small, SMALL);
    return ordinals;
}

static uint32_t hash_of(uint32_t comm, int32_t peer, int32_t tag)
{
    uint64_t hash = ((uint64_t)comm << 32 | (uint32_t)peer) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint32_t)tag) * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(hash >> 40);
}

/* The key, or the free place where it would be. */
static struct key *find(const struct table *table, uint32_t comm, int32_t peer, int32_t tag)
{
    for (uint32_t i = hash_of(comm, peer, tag);; i++) {
        struct key *key = &table->keys[i & table->mask];
        if (key->comm == 0 || (key->comm == comm && key->peer == peer && key->tag == tag))
            return key;
    }
}

/* On the way to that place: one whose communicator is gone; NULL none. The chain stays whole when it is taken. */
static struct key *find_gone(const struct table *table, uint32_t comm, int32_t peer, int32_t tag)
{
    for (uint32_t i = hash_of(comm, peer, tag);; i++) {
        struct key *key = &table->keys[i & table->mask];
        if (key->comm == 0)
            return NULL;
        if (mw_comm_is_gone(key->comm & ~(USED | SENDS)))
            return key;
    }
}

/* From the small table to the large one. */
static int grow(struct mw_ordinals *ordinals)
{
    struct key *keys = mw_pages(LARGE * sizeof *keys);
    if (!keys)
        return 0;
    ordinals->first = table_of(keys, LARGE);
    for (uint32_t i = 0; i < SMALL; i++) {
        const struct key *old = &ordinals->small[i];
        if (!old->comm)
            continue;
        *find(&ordinals->first, old->comm, old->peer, old->tag) = *old;
        ordinals->first.used++;
    }
    return 1;
}

/* A free place in this table; NULL: it is full. */
static struct key *place_in(struct table *table, uint32_t comm, int32_t peer, int32_t tag)
{
    if (table->used == table->limit)
        return NULL;
    table->used++;
    return find(table, comm, peer, tag);
}

static struct key *place(struct mw_ordinals *ordinals, uint32_t comm, int32_t peer, int32_t tag)
{
    struct table *first = &ordinals->first, *second = &ordinals->second;
    struct key *gone = mw_comms_gone() ? find_gone(first, comm, peer, tag) : NULL;
    if (gone) {
        ordinals->reused = 1;
        return gone;
    }
    struct key *key = place_in(first, comm, peer, tag);
    if (!key && first->mask == SMALL - 1 && grow(ordinals))
        key = place_in(first, comm, peer, tag);
    if (key || first->mask == SMALL - 1)
        return key;
    if (!second->keys) {
        struct key *keys = mw_pages(HUGE * sizeof *keys);
        if (!keys)
            return NULL;
        *second = table_of(keys, HUGE);
    }
    gone = mw_comms_gone() ? find_gone(second, comm, peer, tag) : NULL;
    if (gone)
        ordinals->reused = 1;
    return gone ? gone : place_in(second, comm, peer, tag);
}

/* A key that is not in the first table. */
static __attribute__((noinline)) struct key *find_or_place(struct mw_ordinals *ordinals,
                                                           uint32_t comm, int32_t peer, int32_t tag)
{
    struct key *key = ordinals->second.keys ? find(&ordinals->second, comm, peer, tag) : NULL;
    if (key && key->comm)
        return key;
    /* What completes after its communicator was freed has lost its number if others took its place. */
    if (ordinals->reused && mw_comm_is_gone(comm & ~(USED | SENDS)))
        return NULL;
    key = place(ordinals, comm, peer, tag);
    if (key)
        *key = (struct key){.comm = comm, .peer = peer, .tag = tag};
    else
        mw_health("ordinals", "more than 830000 different (communicator, peer, tag) in one thread, or no memory for "
                              "them: later ones carry no running number");
    return key;
}

uint32_t mw_ordinal_next(struct mw_thread_state *thread, int kind, uint32_t comm, int32_t peer,
                         int32_t tag)
{
    struct mw_ordinals *ordinals = thread->ordinals;
    if (!ordinals)
        return MW_NO_ORDINAL;
    uint32_t directed = comm | (kind == MW_EVENT_SEND ? SENDS : 0) | USED;
    struct key *key = find(&ordinals->first, directed, peer, tag);
    if (__builtin_expect(key->comm == 0, 0)) {
        key = find_or_place(ordinals, directed, peer, tag);
        if (!key)
            return MW_NO_ORDINAL;
    }
    return key->next++;
}
