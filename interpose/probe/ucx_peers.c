/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers, their endpoints and what went through them. Adding to a counter happens in the wrapped
 * functions, on any thread, without a lock; workers and endpoints are entered under a short one.
 * Pages of our own, which are never given back: an endpoint that has been closed keeps its entry,
 * and the next one that gets its address takes it over.
 */
#include <string.h>

#include "output/output.h"
#include "probe/ucx.h"
#include "record/record.h"
#include "trace/fields.h"

#define WORKERS       256u
#define BLOCK_PEERS   512u /* 64 KiB */
#define BLOCKS        128u
#define SLOTS_FIRST   1024u
#define SLOTS_MOST    (1u << 18)
#define KEYS          (1u << 17) /* twice as many as peers */
#define CHUNK         (24u << 10)
#define PEER_SIZE_MAX 2048u

_Atomic(struct mw_ucx_slots *) mw_ucx_slots;
_Atomic uint64_t mw_ucx_strays;

static struct mw_lock lock; /* of entering */
static struct mw_ucx_worker workers[WORKERS];
static _Atomic unsigned worker_count;
static struct mw_ucx_peer *blocks[BLOCKS];
static _Atomic unsigned peer_count;
static uint32_t *keys; /* peer + 1 by (worker, uid) */

struct mw_ucx_worker *mw_ucx_worker_at(unsigned index)
{
    return index < atomic_load_explicit(&worker_count, memory_order_acquire) ? &workers[index]
                                                                             : NULL;
}

unsigned mw_ucx_peer_count(void)
{
    return atomic_load_explicit(&peer_count, memory_order_acquire);
}

struct mw_ucx_peer *mw_ucx_peer_at(unsigned index)
{
    return &blocks[index / BLOCK_PEERS][index % BLOCK_PEERS];
}

struct mw_ucx_worker *mw_ucx_worker_add(mw_ucp_object handle, int thread_mode, unsigned caller)
{
    struct mw_ucx_worker *worker = NULL;
    mw_lock_take(&lock);
    unsigned count = atomic_load_explicit(&worker_count, memory_order_relaxed);
    if (count < WORKERS) {
        worker = &workers[count];
        worker->handle = handle;
        worker->id = count + 1;
        worker->caller = caller;
        worker->thread_mode = thread_mode;
        atomic_store_explicit(&worker_count, count + 1, memory_order_release);
    }
    mw_lock_drop(&lock);
    if (!worker)
        mw_health("ucx-workers",
                  "more UCX workers than there is room for: the others' traffic is not counted");
    return worker;
}

struct mw_ucx_worker *mw_ucx_worker_of(mw_ucp_object handle)
{
    for (unsigned i = atomic_load_explicit(&worker_count, memory_order_acquire); i-- > 0;)
        if (workers[i].handle == handle)
            return &workers[i];
    return NULL;
}

/* A new peer of a worker; NULL no room. Under the lock. */
static struct mw_ucx_peer *peer_new(struct mw_ucx_worker *worker, int has_uid, uint64_t uid)
{
    unsigned count = atomic_load_explicit(&peer_count, memory_order_relaxed);
    if (count == BLOCKS * BLOCK_PEERS)
        return NULL;
    struct mw_ucx_peer **block = &blocks[count / BLOCK_PEERS];
    if (!*block && !(*block = mw_pages(BLOCK_PEERS * sizeof **block)))
        return NULL;
    struct mw_ucx_peer *peer = &(*block)[count % BLOCK_PEERS];
    peer->worker = worker;
    peer->has_uid = has_uid;
    peer->uid = uid;
    peer->multi = worker->thread_mode != MW_UCS_THREAD_MODE_SINGLE &&
                  worker->thread_mode != MW_UCS_THREAD_MODE_SERIALIZED;
    atomic_store_explicit(&peer_count, count + 1, memory_order_release);
    return peer;
}

static uint32_t *key_of(const struct mw_ucx_worker *worker, int has_uid, uint64_t uid)
{
    uint64_t hash =
        (uid ^ (uint64_t)worker->id << 1 ^ (uint64_t)has_uid) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = hash >> 47;; at++) {
        uint32_t *key = &keys[at & (KEYS - 1)];
        if (!*key)
            return key;
        const struct mw_ucx_peer *peer = mw_ucx_peer_at(*key - 1);
        if (peer->worker == worker && peer->has_uid == has_uid && peer->uid == uid)
            return key;
    }
}

/* The peer of (worker, uid), made where there is none. The last few are kept for what stands for
 * all the peers that find no room. Under the lock. */
static struct mw_ucx_peer *peer_find(struct mw_ucx_worker *worker, int has_uid, uint64_t uid)
{
    if (!keys && !(keys = mw_pages(KEYS * sizeof *keys)))
        return NULL;
    if (mw_ucx_peer_count() >= BLOCKS * BLOCK_PEERS - WORKERS) {
        has_uid = 2; /* no peer has that: the worker's rest */
        uid = 0;
    }
    uint32_t *key = key_of(worker, has_uid, uid);
    if (*key)
        return mw_ucx_peer_at(*key - 1);
    struct mw_ucx_peer *peer = peer_new(worker, has_uid, uid);
    if (peer) {
        if (has_uid == 2)
            worker->rest = peer;
        *key = mw_ucx_peer_count();
    }
    return peer;
}

static void slot_put(struct mw_ucx_slots *slots, uintptr_t ep, struct mw_ucx_peer *peer)
{
    for (uintptr_t at = mw_ucx_hash(ep);; at++) {
        struct mw_ucx_slot *slot = &slots->slot[at & slots->mask];
        uintptr_t found = atomic_load_explicit(&slot->ep, memory_order_relaxed);
        if (found && found != ep)
            continue;
        atomic_store_explicit(&slot->peer, peer, memory_order_release);
        atomic_store_explicit(&slot->ep, ep, memory_order_release);
        slots->used += !found;
        return;
    }
}

/* A table with room for one more; readers go on in the old one meanwhile, which stays. Under the
 * lock. */
static struct mw_ucx_slots *slots_with_room(void)
{
    struct mw_ucx_slots *old = atomic_load_explicit(&mw_ucx_slots, memory_order_relaxed);
    size_t size = old ? old->mask + 1 : 0;
    if (old && old->used < size / 2)
        return old;
    size_t wanted = size ? size * 2 : SLOTS_FIRST;
    if (wanted > SLOTS_MOST)
        return old && old->used < size - size / 8 ? old : NULL;
    struct mw_ucx_slots *slots = mw_pages(sizeof *slots + wanted * sizeof *slots->slot);
    if (!slots)
        return old && old->used < size - size / 8 ? old : NULL;
    slots->mask = wanted - 1;
    for (size_t i = 0; i < size; i++)
        if (old->slot[i].ep)
            slot_put(slots, old->slot[i].ep, old->slot[i].peer);
    atomic_store_explicit(&mw_ucx_slots, slots, memory_order_release);
    return slots;
}

static int has_slot(const struct mw_ucx_slots *slots, uintptr_t ep)
{
    for (uintptr_t at = mw_ucx_hash(ep);; at++) {
        uintptr_t found =
            atomic_load_explicit(&slots->slot[at & slots->mask].ep, memory_order_relaxed);
        if (!found || found == ep)
            return found != 0;
    }
}

void mw_ucx_ep_add(struct mw_ucx_worker *worker, mw_ucp_object ep, int has_uid, uint64_t uid)
{
    mw_lock_take(&lock);
    struct mw_ucx_slots *slots = slots_with_room();
    struct mw_ucx_slots *full = atomic_load_explicit(&mw_ucx_slots, memory_order_relaxed);
    int again = full && has_slot(full, (uintptr_t)ep);
    if (!slots && again)
        slots = full;
    struct mw_ucx_peer *peer = slots ? peer_find(worker, has_uid, uid) : NULL;
    if (peer || again) /* not the peer that had this address before */
        slot_put(slots, (uintptr_t)ep, peer);
    if (peer)
        atomic_store_explicit(&peer->ep, ep, memory_order_relaxed);
    mw_lock_drop(&lock);
    if (!peer)
        mw_health("ucx-endpoints",
                  "more UCX endpoints than there is room for: the others' traffic is not counted");
}

/* ---- Writing */

static uint64_t operations(const struct mw_ucx_peer *peer)
{
    return atomic_load_explicit(&peer->sends, memory_order_relaxed) +
           atomic_load_explicit(&peer->puts, memory_order_relaxed) +
           atomic_load_explicit(&peer->gets, memory_order_relaxed);
}

static void put_peer(struct mw_buffer *buffer, const struct mw_ucx_peer *peer)
{
    size_t mark = mw_put_begin(buffer, MW_F_ENDPOINT_peer);
    if (peer->has_uid == 1) {
        uint8_t uid[8];
        for (unsigned i = 0; i < sizeof uid; i++)
            uid[i] = (uint8_t)(peer->uid >> 8 * i);
        mw_put_bytes(buffer, MW_F_PEER_address, uid, sizeof uid);
    }
#define PUT(field)                                                                                 \
    mw_put_u64(buffer, MW_F_PEER_##field, atomic_load_explicit(&peer->field, memory_order_relaxed))
    PUT(sends);
    PUT(sent);
    PUT(puts);
    PUT(put);
    PUT(gets);
    PUT(got);
    PUT(unsized);
#undef PUT
    mw_ucx_lanes_put(peer->lanes, buffer);
    mw_put_end(buffer, mark);
}

static void put_worker(struct mw_buffer *buffer, struct mw_ucx_worker *worker)
{
    uint8_t uid[8];
    for (unsigned i = 0; i < sizeof uid; i++)
        uid[i] = (uint8_t)(worker->uid >> 8 * i);
    mw_put_u64(buffer, MW_F_ENDPOINT_id, worker->id);
    mw_put_text(buffer, MW_F_ENDPOINT_library, "ucx");
    mw_put_u64(buffer, MW_F_ENDPOINT_caller, worker->caller);
    if (worker->has_uid)
        mw_put_bytes(buffer, MW_F_ENDPOINT_address, uid, sizeof uid);
    mw_put_u64(buffer, MW_F_ENDPOINT_time, mw_now());
    mw_put_u64(buffer, MW_F_ENDPOINT_unlisted, worker->rest ? operations(worker->rest) : 0);
}

static size_t write_chunk(struct mw_buffer *buffer)
{
    mw_output_chunk(MW_CHUNK_ENDPOINT, buffer->data, buffer->size);
    return buffer->size;
}

/* 1 when the peer has news, or anything to tell where `all` is asked for; it counts as written. */
static int take_news(struct mw_ucx_peer *peer, int all)
{
    uint64_t now = operations(peer);
    if (now == peer->written && peer->lanes == peer->written_lanes &&
        !(all && (now || peer->lanes)))
        return 0;
    peer->written = now;
    peer->written_lanes = peer->lanes;
    return peer != peer->worker->rest;
}

static struct mw_lock write_lock;
static uint8_t *memory; /* of the chunk in the making */

static size_t worker_write(struct mw_ucx_worker *worker, int all)
{
    struct mw_buffer buffer;
    size_t wrote = 0, head;
    unsigned listed = 0;
    if (!memory && !(memory = mw_pages(CHUNK)))
        return 0;
    mw_buffer_init(&buffer, memory, CHUNK);
    put_worker(&buffer, worker);
    head = buffer.size;
    for (unsigned i = 0, count = mw_ucx_peer_count(); i < count; i++) {
        struct mw_ucx_peer *peer = mw_ucx_peer_at(i);
        if (peer->worker != worker || !take_news(peer, all))
            continue;
        if (buffer.size > CHUNK - PEER_SIZE_MAX) {
            wrote += write_chunk(&buffer);
            buffer.size = head;
            listed = 0;
        }
        put_peer(&buffer, peer);
        listed++;
    }
    if (listed || (all && !wrote))
        wrote += write_chunk(&buffer);
    return wrote;
}

size_t mw_ucx_worker_write(struct mw_ucx_worker *worker, int all)
{
    mw_lock_take(&write_lock);
    size_t wrote = worker_write(worker, all);
    mw_lock_drop(&write_lock);
    return wrote;
}
