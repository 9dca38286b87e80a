/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peers of an endpoint: a counter block for each address that something was sent to, in memory
 * of the kernel's that is touched as far as it is used. Finding one takes no lock; what is in use
 * stays where it is. The address vector is asked for the raw address once, by the first message to
 * it, on the thread that sends: the caller has seen to it that this may be done now.
 */
#include <errno.h>
#include <string.h>

#include "output/output.h"
#include "probe/libfabric.h"
#include "record/record.h"
#include "trace/chunk.h"

#define INDEX_SLOTS (2 * MW_FI_PEERS)
#define KEY_GONE    (UINT64_MAX - 1) /* was an address that the vector has removed */

static struct mw_lock lock; /* of all endpoints: the indexes by address, and far addresses */
static uint8_t *far_memory;
static size_t far_left;

__thread char mw_fi_self __attribute__((tls_model("initial-exec")));

/* The raw address, by the fabric library. */
static size_t ask(struct mw_fi_endpoint *endpoint, uint64_t key, uint8_t *address)
{
    size_t size = MW_FI_ADDRESS;
    int rc = -1, error = errno;
    mw_fi_quiet++;
    if (endpoint->connected) {
        const struct mw_fi_ops_cm *cm = endpoint->fid->cm;
        if (cm && cm->size > offsetof(struct mw_fi_ops_cm, getpeer) && cm->getpeer)
            rc = cm->getpeer(endpoint->fid, address, &size);
    } else if (key != UINT64_MAX) {
        struct mw_fid_av *av = atomic_load_explicit(&endpoint->av, memory_order_acquire);
        if (av && av->ops && av->ops->size > offsetof(struct mw_fi_ops_av, lookup) &&
            av->ops->lookup)
            rc = av->ops->lookup(av, key - 1, address, &size);
    }
    mw_fi_quiet--;
    errno = error;
    return rc == 0 && size <= MW_FI_ADDRESS ? size : 0;
}

/* Under the lock. */
static void keep_address(struct mw_fi_peer *peer, const uint8_t *address, size_t size)
{
    enum { FAR_BLOCK = 1 << 16 };
    uint8_t *target = peer->near;
    if (size > sizeof peer->near) {
        if (far_left < size) {
            far_memory = mw_pages(FAR_BLOCK);
            far_left = far_memory ? FAR_BLOCK : 0;
        }
        if (far_left < size)
            return; /* not known, then */
        target = far_memory;
        peer->far = target;
        far_memory += size;
        far_left -= size;
    }
    memcpy(target, address, size);
    peer->size = (uint16_t)size;
}

static const uint8_t *address_of(const struct mw_fi_peer *peer)
{
    return peer->far ? peer->far : peer->near;
}

/* Under the lock: the first peer of this address, which may be the one that is given. */
static struct mw_fi_peer *first_of_address(struct mw_fi_endpoint *endpoint, struct mw_fi_peer *peer)
{
    const uint8_t *address = address_of(peer);
    uint64_t hash = mw_hash64(address, peer->size);
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (INDEX_SLOTS - 1);
    while (endpoint->by_address[at]) {
        struct mw_fi_peer *known = &endpoint->peers[endpoint->by_address[at] - 1];
        if (known->size == peer->size && !memcmp(address_of(known), address, peer->size))
            return known;
        at = (at + 1) & (INDEX_SLOTS - 1);
    }
    endpoint->by_address[at] = (uint16_t)(peer - endpoint->peers + 1);
    return peer;
}

/* A new peer of this thread's making gets its address. */
static void learn(struct mw_fi_endpoint *endpoint, struct mw_fi_peer *peer, uint64_t key)
{
    uint8_t address[MW_FI_ADDRESS];
    size_t size = ask(endpoint, key, address);
    if (endpoint->connected)
        atomic_store_explicit(&endpoint->own_size,
                              (uint32_t)mw_fi_endpoint_name(endpoint, endpoint->own, MW_FI_OWN),
                              memory_order_release);
    mw_lock_take(&lock);
    keep_address(peer, address, size);
    if (endpoint->peers) {
        struct mw_fi_peer *first = first_of_address(endpoint, peer);
        if (first != peer) {
            atomic_store(&peer->same, atomic_load(&first->same));
            atomic_store(&first->same, peer);
        }
        uint32_t used = atomic_load(&endpoint->used_count);
        endpoint->used[used] = (uint16_t)(peer - endpoint->peers);
        atomic_store_explicit(&peer->state, first == peer ? MW_FI_PEER_FIRST : MW_FI_PEER_SAME,
                              memory_order_release);
        atomic_store_explicit(&endpoint->used_count, used + 1, memory_order_release);
    } else {
        atomic_store_explicit(&peer->state, MW_FI_PEER_FIRST, memory_order_release);
    }
    mw_lock_drop(&lock);
}

/* 1: it has this key now, and *mine says whether this thread gave it. */
static int claim(struct mw_fi_peer *peer, uint64_t key, int *mine)
{
    uint64_t here = atomic_load_explicit(&peer->key, memory_order_relaxed);
    *mine = !here && atomic_compare_exchange_strong(&peer->key, &here, key);
    return *mine || here == key;
}

struct mw_fi_peer *mw_fi_peer_slow(struct mw_fi_endpoint *endpoint, uint64_t key)
{
    uint64_t hash = (key - 1) ^ (key - 1) >> 7 ^ (key - 1) >> 17;
    const void *nobody = NULL;
    int mine;
    atomic_compare_exchange_strong(&endpoint->owner, &nobody, &mw_fi_self);
    if (!endpoint->peers) {
        if (!endpoint->connected || !claim(&endpoint->single, key, &mine))
            return NULL;
        if (mine)
            learn(endpoint, &endpoint->single, key);
        return &endpoint->single;
    }
    for (unsigned step = 0; step < MW_FI_PEER_STEPS; step++) {
        struct mw_fi_peer *peer = &endpoint->peers[(hash + step) & (MW_FI_PEERS - 1)];
        if (!claim(peer, key, &mine))
            continue;
        if (mine)
            learn(endpoint, peer, key);
        return peer;
    }
    return NULL;
}

static void peer_removed(struct mw_fi_endpoint *endpoint, uint64_t key)
{
    uint64_t hash = (key - 1) ^ (key - 1) >> 7 ^ (key - 1) >> 17;
    for (unsigned step = 0; step < MW_FI_PEER_STEPS; step++) {
        struct mw_fi_peer *peer = &endpoint->peers[(hash + step) & (MW_FI_PEERS - 1)];
        if (atomic_load(&peer->key) == key)
            atomic_store(&peer->key, KEY_GONE);
    }
}

void mw_fi_peers_remove(struct mw_fi_endpoint *endpoint, const struct mw_fid_av *av,
                        mw_fi_addr address)
{
    if (endpoint->peers && endpoint->identity && atomic_load(&endpoint->av) == av)
        peer_removed(endpoint, (address & atomic_load(&endpoint->address_mask)) + 1);
}

const uint8_t *mw_fi_peer_address(const struct mw_fi_peer *peer)
{
    return address_of(peer);
}
