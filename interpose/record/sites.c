/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sites.h. A hash table of chains: a site is filled, then hung before the head of its chain by
 * one compare-and-swap; who loses looks again at what was hung before. Nothing is ever taken out.
 */
#include "record/sites.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define BUCKETS    (1u << 14)
#define ARENA_SIZE (12u << 20)
/* Kept for sites of one frame, for when full stacks have filled the table. */
#define RESERVED_IDS   4096u
#define RESERVED_BYTES (256u << 10)

struct table {
    _Atomic uint32_t buckets[BUCKETS];
    _Atomic(struct mw_site *) sites[MW_SITES_MAX];
    _Alignas(16) unsigned char arena[ARENA_SIZE];
};
static _Atomic(struct table *) all;
static _Atomic uint32_t last;
static _Atomic size_t used;
static _Atomic uint64_t lost;
static _Atomic int closed;
static _Atomic(mw_site_new_fn) tell;
static void *_Atomic tell_context;

static struct table *table_get(void)
{
    struct table *table = atomic_load_explicit(&all, memory_order_acquire);
    if (table)
        return table;
    void *memory = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (atomic_compare_exchange_strong(&all, &table, memory))
        return memory;
    munmap(memory, sizeof *table);
    return table;
}

void mw_sites_notify(mw_site_new_fn function, void *context)
{
    atomic_store(&tell_context, context);
    atomic_store(&tell, function);
}

static uint32_t hash_of(const struct mw_site_frame *frames, unsigned count, int truncated)
{
    uint64_t hash = count * 2 + (truncated != 0);
    for (unsigned i = 0; i < count; i++) {
        hash = (hash ^ frames[i].module ^ (frames[i].offset << 16)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash >> 16);
}

static int same(const struct mw_site *site, uint32_t hash, const struct mw_site_frame *frames,
                unsigned count, int truncated)
{
    if (site->hash != hash || site->count != count || site->truncated != (truncated != 0))
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (site->frames[i].module != frames[i].module ||
            site->frames[i].offset != frames[i].offset)
            return 0;
    return 1;
}

/* Room for a site, or NULL. */
static struct mw_site *make(struct table *table, unsigned count)
{
    if (atomic_load_explicit(&closed, memory_order_relaxed) && mw_sites_last() >= MW_SITES_ALWAYS)
        return NULL;
    size_t size = sizeof(struct mw_site) + count * sizeof(struct mw_site_frame);
    size = (size + 15) & ~(size_t)15;
    uint32_t id_limit = MW_SITES_MAX - (count > 1 ? RESERVED_IDS : 0);
    size_t byte_limit = ARENA_SIZE - (count > 1 ? RESERVED_BYTES : 0);
    uint32_t id = atomic_load_explicit(&last, memory_order_relaxed);
    size_t at = atomic_load_explicit(&used, memory_order_relaxed);
    do
        if (at + size > byte_limit)
            return NULL;
    while (!atomic_compare_exchange_weak(&used, &at, at + size));
    do
        if (id + 1 >= id_limit)
            return NULL;
    while (!atomic_compare_exchange_weak(&last, &id, id + 1));
    struct mw_site *site = (struct mw_site *)(table->arena + at);
    site->id = id + 1;
    return site;
}

static uint32_t intern(const struct mw_site_frame *frames, unsigned count, int truncated)
{
    struct table *table = table_get();
    if (!table)
        return 0;
    uint32_t hash = hash_of(frames, count, truncated);
    _Atomic uint32_t *bucket = &table->buckets[hash % BUCKETS];
    uint32_t head = atomic_load_explicit(bucket, memory_order_acquire), looked_until = 0;
    struct mw_site *made = NULL;
    for (;;) {
        for (uint32_t id = head; id != looked_until;) {
            struct mw_site *site = atomic_load_explicit(&table->sites[id], memory_order_acquire);
            if (same(site, hash, frames, count, truncated))
                return id; /* a site made for nothing keeps its number, unused */
            id = site->next;
        }
        looked_until = head;
        if (!made) {
            made = make(table, count);
            if (!made)
                return 0;
            made->hash = hash;
            made->count = (uint16_t)count;
            made->truncated = truncated != 0;
            memcpy(made->frames, frames, count * sizeof *frames);
        }
        made->next = head;
        atomic_store_explicit(&table->sites[made->id], made, memory_order_release);
        if (atomic_compare_exchange_strong_explicit(bucket, &head, made->id, memory_order_acq_rel,
                                                    memory_order_acquire))
            break;
        atomic_store_explicit(&table->sites[made->id], NULL, memory_order_release);
    }
    mw_site_new_fn function = atomic_load(&tell);
    if (function)
        function(made, atomic_load(&tell_context));
    return made->id;
}

uint32_t mw_site_intern(const struct mw_site_frame *frames, unsigned count, int truncated)
{
    if (count == 0)
        return 0;
    uint32_t id = intern(frames, count, truncated);
    if (!id && count > 1)
        id = intern(frames, 1, 1);
    if (!id)
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return id;
}

const struct mw_site *mw_site_at(uint32_t id)
{
    struct table *table = atomic_load_explicit(&all, memory_order_acquire);
    if (!table || id >= MW_SITES_MAX)
        return NULL;
    return atomic_load_explicit(&table->sites[id], memory_order_acquire);
}

uint32_t mw_sites_last(void)
{
    return atomic_load_explicit(&last, memory_order_acquire);
}

void mw_sites_close(void)
{
    atomic_store_explicit(&closed, 1, memory_order_relaxed);
}

uint64_t mw_sites_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}
