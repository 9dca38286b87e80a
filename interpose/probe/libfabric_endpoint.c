/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints and what went through them, on the way into ENDPOINT chunks. Written by the steps of
 * the probe and by fi_close, under a lock that no call of libfabric is made under; counters go on
 * meanwhile.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "output/output.h"
#include "probe/libfabric.h"
#include "record/record.h"
#include "trace/fields.h"

#define PAYLOAD    8192u
#define PEER_BYTES 1024u /* more than one peer takes: 512 of address, 8 numbers */
#define TABLES_MAX 64u   /* endpoints that have room for many peers, at one time */
#define LATE_EVERY 64u

#define PEERS_SIZE (MW_FI_PEERS * sizeof(struct mw_fi_peer))
#define INDEX_SIZE (2 * MW_FI_PEERS * sizeof(uint16_t))
#define USED_SIZE  (MW_FI_PEERS * sizeof(uint16_t))

static struct mw_lock lock;
static struct mw_fi_endpoint *free_endpoints;
static void *free_tables[TABLES_MAX];
static unsigned free_table_count, table_count;
static _Atomic(struct mw_fi_endpoint *) all;
static uint64_t endpoints;

/* Under the lock: zeroed room for peers; NULL when there is no more. */
static uint8_t *table_take(void)
{
    if (free_table_count)
        return free_tables[--free_table_count];
    if (table_count >= TABLES_MAX)
        return NULL;
    uint8_t *memory = mw_pages(PEERS_SIZE + INDEX_SIZE + USED_SIZE);
    table_count += memory != NULL;
    return memory;
}

static void table_give(uint8_t *memory)
{
    if (madvise(memory, PEERS_SIZE + INDEX_SIZE + USED_SIZE, MADV_DONTNEED) != 0)
        memset(memory, 0, PEERS_SIZE + INDEX_SIZE + USED_SIZE);
    free_tables[free_table_count++] = memory;
}

static struct mw_fi_endpoint *endpoint_take(void)
{
    struct mw_fi_endpoint *endpoint = free_endpoints;
    if (endpoint) {
        free_endpoints = endpoint->next_free;
        struct mw_fi_endpoint *link = endpoint->link;
        memset(endpoint, 0, sizeof *endpoint);
        endpoint->link = link;
        return endpoint;
    }
    enum { SLAB = 16 };
    struct mw_fi_endpoint *slab = mw_pages(SLAB * sizeof *slab);
    for (unsigned i = 0; slab && i < SLAB; i++) {
        slab[i].link = atomic_load(&all);
        atomic_store(&all, &slab[i]);
        if (i) {
            slab[i].next_free = free_endpoints;
            free_endpoints = &slab[i];
        }
    }
    return slab;
}

struct mw_fi_endpoint *mw_fi_endpoint_create(struct mw_fid_ep *fid,
                                             const struct mw_fi_identity *identity, int connected)
{
    mw_lock_take(&lock);
    struct mw_fi_endpoint *endpoint = endpoint_take();
    if (endpoint) {
        uint8_t *memory = connected ? NULL : table_take();
        if (memory) {
            endpoint->peers = (void *)memory;
            endpoint->by_address = (void *)(memory + PEERS_SIZE);
            endpoint->used = (void *)(memory + PEERS_SIZE + INDEX_SIZE);
        }
        endpoint->id = MW_FI_FIRST_ID + endpoints++;
        endpoint->fid = fid;
        endpoint->connected = connected;
        atomic_store(&endpoint->address_mask, UINT64_MAX);
        endpoint->identity = identity;
    }
    mw_lock_drop(&lock);
    return endpoint;
}

void mw_fi_endpoint_close(struct mw_fi_endpoint *endpoint)
{
    mw_lock_take(&lock);
    endpoint->identity = NULL;
    if (endpoint->peers)
        table_give((void *)endpoint->peers);
    endpoint->peers = NULL;
    endpoint->next_free = free_endpoints;
    free_endpoints = endpoint;
    mw_lock_drop(&lock);
}

static void begin(struct mw_buffer *buffer, uint8_t *memory, const struct mw_fi_endpoint *endpoint)
{
    mw_buffer_init(buffer, memory, PAYLOAD);
    mw_put_u64(buffer, MW_F_ENDPOINT_id, endpoint->id);
    mw_put_text(buffer, MW_F_ENDPOINT_library, MW_FI_LIBRARY);
}

void mw_fi_endpoint_announce(struct mw_fi_endpoint *endpoint)
{
    uint8_t memory[PAYLOAD];
    struct mw_buffer buffer;
    const struct mw_fi_identity *identity = endpoint->identity;
    begin(&buffer, memory, endpoint);
    mw_put_text(&buffer, MW_F_ENDPOINT_provider, identity->provider);
    mw_put_text(&buffer, MW_F_ENDPOINT_domain, identity->domain);
    mw_put_u64(&buffer, MW_F_ENDPOINT_caller, identity->caller);
    mw_put_u64(&buffer, MW_F_ENDPOINT_format, identity->format);
    mw_put_text(&buffer, MW_F_ENDPOINT_device, identity->device);
    mw_put_u64(&buffer, MW_F_ENDPOINT_speed, identity->speed);
    mw_put_u64(&buffer, MW_F_ENDPOINT_inner, (uint64_t)identity->inner);
    mw_output_chunk(MW_CHUNK_ENDPOINT, buffer.data, buffer.size);
}

size_t mw_fi_endpoint_name(const struct mw_fi_endpoint *endpoint, uint8_t *address, size_t room)
{
    const struct mw_fi_ops_cm *cm = endpoint->fid->cm;
    size_t size = room;
    int error = errno, rc = -1;
    if (cm && cm->size > offsetof(struct mw_fi_ops_cm, getname) && cm->getname) {
        mw_fi_quiet++;
        rc = cm->getname(&endpoint->fid->fid, address, &size);
        mw_fi_quiet--;
    }
    errno = error;
    return rc == 0 && size <= room ? size : 0;
}

void mw_fi_endpoint_enabled(struct mw_fi_endpoint *endpoint)
{
    uint8_t address[MW_FI_ADDRESS], memory[PAYLOAD];
    struct mw_buffer buffer;
    if (endpoint->connected) /* has none yet */
        return;
    size_t size = mw_fi_endpoint_name(endpoint, address, sizeof address);
    if (!size)
        return;
    begin(&buffer, memory, endpoint);
    mw_put_bytes(&buffer, MW_F_ENDPOINT_address, address, size);
    mw_output_chunk(MW_CHUNK_ENDPOINT, buffer.data, buffer.size);
}

/* The counts of a peer and of all others of its address; returns the operations. */
static uint64_t add_up(const struct mw_fi_peer *first, uint64_t *sum)
{
    memset(sum, 0, MW_FI_COUNTERS * sizeof *sum);
    for (const struct mw_fi_peer *peer = first; peer; peer = atomic_load(&peer->same))
        for (unsigned i = 0; i < MW_FI_COUNTERS; i++)
            sum[i] += atomic_load_explicit(&peer->count[i], memory_order_relaxed) +
                      atomic_load_explicit(&peer->shared[i], memory_order_relaxed);
    return sum[MW_FI_SENDS] + sum[MW_FI_PUTS] + sum[MW_FI_GETS];
}

static void put_peer(struct mw_buffer *buffer, const struct mw_fi_peer *peer, const uint64_t *sum)
{
    static const unsigned field[MW_FI_COUNTERS] = {
        [MW_FI_SENDS] = MW_F_PEER_sends,     [MW_FI_SENT] = MW_F_PEER_sent,
        [MW_FI_PUTS] = MW_F_PEER_puts,       [MW_FI_PUT] = MW_F_PEER_put,
        [MW_FI_GETS] = MW_F_PEER_gets,       [MW_FI_GOT] = MW_F_PEER_got,
        [MW_FI_UNSIZED] = MW_F_PEER_unsized,
    };
    size_t mark = mw_put_begin(buffer, MW_F_ENDPOINT_peer);
    if (peer->size)
        mw_put_bytes(buffer, MW_F_PEER_address, mw_fi_peer_address(peer), peer->size);
    for (unsigned i = 0; i < MW_FI_COUNTERS; i++)
        mw_put_u64(buffer, field[i], sum[i]);
    mw_put_end(buffer, mark);
}

/* One endpoint's chunk in the making. */
struct writing {
    struct mw_fi_endpoint *endpoint;
    struct mw_buffer buffer;
    size_t head; /* bytes that say nothing new */
    uint8_t memory[PAYLOAD];
};

static void writing_begin(struct writing *writing)
{
    begin(&writing->buffer, writing->memory, writing->endpoint);
    mw_put_u64(&writing->buffer, MW_F_ENDPOINT_time, mw_now());
    writing->head = writing->buffer.size;
}

static void writing_end(struct writing *writing)
{
    if (writing->buffer.size > writing->head)
        mw_output_chunk(MW_CHUNK_ENDPOINT, writing->buffer.data, writing->buffer.size);
}

static void write_peer(struct writing *writing, struct mw_fi_peer *peer)
{
    uint64_t sum[MW_FI_COUNTERS];
    if (atomic_load_explicit(&peer->state, memory_order_acquire) != MW_FI_PEER_FIRST)
        return;
    uint64_t operations = add_up(peer, sum);
    if (operations == peer->written)
        return;
    peer->written = operations;
    put_peer(&writing->buffer, peer, sum);
    if (writing->buffer.size > PAYLOAD - PEER_BYTES) {
        writing_end(writing);
        writing_begin(writing);
    }
}

static void write_listed(struct writing *writing, int complete)
{
    struct mw_fi_endpoint *endpoint = writing->endpoint;
    uint32_t count = atomic_load_explicit(&endpoint->used_count, memory_order_acquire);
    for (uint32_t done = 0; done < count; done++) {
        if (endpoint->cursor >= count)
            endpoint->cursor = 0;
        if (!complete && done % LATE_EVERY == LATE_EVERY - 1 && mw_probe_late())
            return;
        write_peer(writing, &endpoint->peers[endpoint->used[endpoint->cursor++]]);
    }
}

/* Under the lock. */
static void write_endpoint(struct mw_fi_endpoint *endpoint, int complete)
{
    struct writing writing = {.endpoint = endpoint};
    writing_begin(&writing);
    uint64_t unlisted = atomic_load(&endpoint->unlisted);
    if (unlisted != endpoint->unlisted_written) {
        endpoint->unlisted_written = unlisted;
        mw_put_u64(&writing.buffer, MW_F_ENDPOINT_unlisted, unlisted);
    }
    uint32_t own = atomic_load_explicit(&endpoint->own_size, memory_order_acquire);
    if (own && !endpoint->own_written) {
        endpoint->own_written = 1;
        mw_put_bytes(&writing.buffer, MW_F_ENDPOINT_address, endpoint->own, own);
    }
    if (endpoint->peers)
        write_listed(&writing, complete);
    else
        write_peer(&writing, &endpoint->single);
    writing_end(&writing);
}

void mw_fi_endpoint_write(struct mw_fi_endpoint *endpoint, int complete)
{
    mw_lock_take(&lock);
    if (endpoint->identity)
        write_endpoint(endpoint, complete);
    mw_lock_drop(&lock);
}

void mw_fi_endpoints_write(int complete)
{
    for (struct mw_fi_endpoint *endpoint = atomic_load(&all); endpoint; endpoint = endpoint->link) {
        mw_fi_endpoint_write(endpoint, complete);
        if (!complete && mw_probe_late())
            return;
    }
}

void mw_fi_endpoints_removed(const struct mw_fid_av *av, mw_fi_addr address)
{
    mw_lock_take(&lock);
    for (struct mw_fi_endpoint *endpoint = atomic_load(&all); endpoint; endpoint = endpoint->link)
        mw_fi_peers_remove(endpoint, av, address);
    mw_lock_drop(&lock);
}
