/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of communicators; see comms.h. Entries are reused after MPI_Comm_free, ids never. */
#include "record/comms.h"

#include <string.h>
#include <sys/mman.h>

#include "output/output.h"
#include "record/aggregate.h"
#include "record/ask.h"
#include "record/coll.h"
#include "trace/fields.h"

#define BUCKETS 1024u
#define SLAB 64u
#define HASHES 256u
#define RESTING 256u /* freed entries that are not used again yet: another thread may just be reading one */

static _Atomic(struct mw_comm_entry *) buckets[BUCKETS];
static struct mw_comm_entry *free_first, *free_last; /* the longest free first */
static uint32_t free_count;
static _Atomic uint32_t generation; /* raised when an entry is freed: outdates the threads' caches */
static uint32_t next_id;
struct mw_listed mw_comms_listed;
static struct mw_lock lock;

/* How many communicators of a kind with the same members this process has seen. */
static struct {
    uint64_t hash;
    uint32_t how, count;
} same_members[HASHES];

static size_t bucket_of(mw_handle comm)
{
    return ((uint64_t)comm * 0x9e3779b97f4a7c15u) >> 54; /* BUCKETS is 2^10 */
}

static struct mw_comm_entry *search(mw_handle comm)
{
    struct mw_comm_entry *entry =
        atomic_load_explicit(&buckets[bucket_of(comm)], memory_order_acquire);
    while (entry && atomic_load_explicit(&entry->handle, memory_order_relaxed) != comm)
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry;
}

struct mw_comm_entry *mw_comm_find(struct mw_thread_state *thread, mw_handle comm)
{
    comm = mw_abi_handle(mw_recorder.abi, comm);
    uint32_t now = atomic_load_explicit(&generation, memory_order_acquire);
    if (thread->last_comm == comm && thread->last_comm_generation == now)
        return thread->last_comm_entry;
    struct mw_comm_entry *entry = search(comm);
    if (entry) {
        thread->last_comm = comm;
        thread->last_comm_entry = entry;
        thread->last_comm_generation = now;
    }
    return entry;
}

static void entry_rest(struct mw_comm_entry *entry)
{
    entry->next_free = NULL;
    if (free_last)
        free_last->next_free = entry;
    else
        free_first = entry;
    free_last = entry;
    free_count++;
}

static struct mw_comm_entry *new_entry(void)
{
    if (free_count <= RESTING) {
        struct mw_comm_entry *slab = mw_pages(SLAB * sizeof *slab);
        for (size_t i = 0; slab && i < SLAB; i++)
            entry_rest(&slab[i]);
    }
    struct mw_comm_entry *entry = free_first;
    if (!entry)
        return NULL;
    free_first = entry->next_free;
    if (!free_first)
        free_last = NULL;
    free_count--;
    if (entry->pages)
        munmap(entry->peers, entry->pages);
    if (entry->flow)
        munmap(entry->flow, entry->flow_pages);
    memset(entry, 0, sizeof *entry);
    return entry;
}

/* Under the lock. */
static struct mw_comm_entry *insert(mw_handle comm, enum mw_comm_how how)
{
    struct mw_comm_entry *entry = new_entry();
    if (!entry) {
        mw_health("communicators", "no memory for a communicator: its ranks are unknown");
        return NULL;
    }
    entry->id = next_id++;
    entry->listed = mw_listed_new(&mw_comms_listed, entry->id) != 0;
    entry->how = (uint8_t)how;
    size_t bucket = bucket_of(comm);
    atomic_store_explicit(&entry->handle, comm, memory_order_relaxed);
    atomic_store_explicit(&entry->next, atomic_load(&buckets[bucket]), memory_order_relaxed);
    atomic_store_explicit(&buckets[bucket], entry, memory_order_release);
    return entry;
}

static uint32_t number_by_members(const struct mw_comm_entry *entry)
{
    for (size_t i = 0; i < HASHES; i++) {
        size_t slot = (entry->hash + i) % HASHES;
        if (same_members[slot].count &&
            (same_members[slot].hash != entry->hash || same_members[slot].how != entry->how))
            continue;
        same_members[slot].hash = entry->hash;
        same_members[slot].how = entry->how;
        return same_members[slot].count++;
    }
    mw_health("communicator-numbers", "too many different groups: communicators made from groups "
                                      "can be taken for one another across ranks");
    return 0;
}

int mw_comm_counts_on_parent(enum mw_comm_how how)
{
    switch (how) {
    case MW_COMM_DUP:
    case MW_COMM_CREATE:
    case MW_COMM_SPLIT:
    case MW_COMM_SPLIT_TYPE:
    case MW_COMM_CART:
    case MW_COMM_CART_SUB:
    case MW_COMM_GRAPH:
    case MW_COMM_DIST_GRAPH:
    case MW_COMM_MERGE:
        return 1;
    default:
        return 0;
    }
}

/* Asks MPI about a communicator that is in the table, unless it has been done. parent: it was made of this one, which is
 * valid; 0 not known. */
static void learn(struct mw_thread_state *thread, mw_handle comm, mw_handle parent)
{
    struct mw_comm_group group;
    size_t mark = thread->scratch_used;
    if (mw_comm_ask_group(thread, comm, parent, &group)) {
        mw_lock_take(&lock);
        struct mw_comm_entry *entry = search(comm);
        if (entry && !atomic_load_explicit(&entry->learned, memory_order_relaxed) &&
            mw_comm_set_group(entry, &group)) {
            if (!mw_comm_counts_on_parent(entry->how) && entry->how > MW_COMM_SELF)
                entry->number = number_by_members(entry);
            atomic_store_explicit(&entry->learned, 1, memory_order_release);
            if (entry->listed)
                mw_comm_write(thread, entry, &group);
        }
        mw_lock_drop(&lock);
    }
    thread->scratch_used = mark;
}

struct mw_comm_entry *mw_comm_learn(struct mw_thread_state *thread, mw_handle comm)
{
    struct mw_comm_entry *entry = mw_comm_find(thread, comm);
    if (entry && atomic_load_explicit(&entry->learned, memory_order_acquire))
        return entry;
    comm = mw_abi_handle(mw_recorder.abi, comm);
    if (comm == mw_recorder.abi->comm_null) /* see types.c: a call on it may seem to have succeeded */
        return NULL;
    mw_lock_take(&lock);
    entry = search(comm);
    if (!entry)
        entry = insert(comm, MW_COMM_FOUND);
    mw_lock_drop(&lock);
    if (entry)
        learn(thread, comm, 0);
    return entry;
}

#define GONE_IDS 32768u /* in one piece of the bit map */
#define GONE_PIECES 1024u

static _Atomic(_Atomic uint64_t *) gone[GONE_PIECES];
static _Atomic int any_gone;

/* Ids are never used again: once gone, always gone. Without memory for the note it passes for one that lives. Under
 * the lock. */
static void note_gone(uint32_t id)
{
    uint32_t piece = id / GONE_IDS, bit = id % GONE_IDS;
    if (piece >= GONE_PIECES)
        return;
    _Atomic uint64_t *bits = atomic_load_explicit(&gone[piece], memory_order_relaxed);
    if (!bits) {
        bits = mw_pages(GONE_IDS / 8);
        if (!bits)
            return;
        atomic_store_explicit(&gone[piece], bits, memory_order_release);
    }
    atomic_fetch_or_explicit(&bits[bit / 64], UINT64_C(1) << bit % 64, memory_order_relaxed);
    atomic_store_explicit(&any_gone, 1, memory_order_relaxed);
}

int mw_comm_is_gone(uint32_t id)
{
    uint32_t piece = (id - 1) / GONE_IDS, bit = (id - 1) % GONE_IDS;
    if (id == 0 || piece >= GONE_PIECES)
        return 0;
    const _Atomic uint64_t *bits = atomic_load_explicit(&gone[piece], memory_order_acquire);
    return bits && atomic_load_explicit(&bits[bit / 64], memory_order_relaxed) >> bit % 64 & 1;
}

int mw_comms_gone(void)
{
    return atomic_load_explicit(&any_gone, memory_order_relaxed);
}

/* Under the lock. Takes an entry out of the table; whoever still holds it finds what it was. */
static void release(mw_handle comm)
{
    size_t bucket = bucket_of(comm);
    _Atomic(struct mw_comm_entry *) *link = &buckets[bucket];
    struct mw_comm_entry *entry;
    while ((entry = atomic_load(link)) && atomic_load(&entry->handle) != comm)
        link = &entry->next;
    if (!entry)
        return;
    atomic_store(link, atomic_load(&entry->next));
    atomic_fetch_add(&generation, 1);
    atomic_store(&entry->handle, 0);
    note_gone(entry->id);
    entry->freed = 1;
    if (!entry->holds)
        entry_rest(entry);
}

void mw_comm_hold(struct mw_comm_entry *entry)
{
    if (!entry)
        return;
    mw_lock_take(&lock);
    entry->holds++;
    mw_lock_drop(&lock);
}

void mw_comm_let_go(struct mw_comm_entry *entry)
{
    if (!entry)
        return;
    mw_lock_take(&lock);
    if (!--entry->holds && entry->freed)
        entry_rest(entry);
    mw_lock_drop(&lock);
}

void mw_comm_created(struct mw_thread_state *thread, enum mw_comm_how how,
                     const struct mw_comm_entry *parent, uint32_t number, mw_handle comm,
                     int deferred)
{
    comm = mw_abi_handle(mw_recorder.abi, comm);
    if (comm == mw_recorder.abi->comm_null)
        return;
    mw_lock_take(&lock);
    if (search(comm)) {
        if (how == MW_COMM_PARENT) { /* asked for again, not made again */
            mw_lock_drop(&lock);
            return;
        }
        mw_flow_end(search(comm));
        release(comm); /* freed where we did not see it */
    }
    struct mw_comm_entry *entry = insert(comm, how);
    if (entry) {
        entry->parent = mw_comm_id(parent);
        entry->number = number;
    }
    mw_lock_drop(&lock);
    if (entry && !deferred)
        learn(thread, comm, parent && !parent->inter ? atomic_load(&parent->handle) : 0);
}

static void write_freed(uint32_t id, uint64_t time)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_COMM_id, id);
    mw_put_u64(&buffer, MW_F_COMM_freed, time);
    mw_output_chunk(MW_CHUNK_COMM, buffer.data, buffer.size);
}

void mw_comm_freed(mw_handle comm, uint32_t id, uint64_t time)
{
    if (!id)
        return;
    if (mw_is_listed(&mw_comms_listed, id - 1))
        write_freed(id - 1, time);
    mw_lock_take(&lock);
    struct mw_comm_entry *entry = search(comm);
    if (mw_comm_id(entry) == id) {
        mw_flow_end(entry);
        release(comm);
    }
    mw_lock_drop(&lock);
}

/* Whether some of those whom calls on it can name are outside the world. */
static int has_strangers(const struct mw_comm_entry *entry)
{
    for (size_t i = 0; i < entry->peer_runs; i++)
        if (entry->peers[i].start < 0)
            return 1;
    return 0;
}

void mw_comm_reached(struct mw_thread_state *thread, mw_handle comm, uint64_t began, uint64_t made,
                     uint64_t port)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    const struct mw_comm_entry *entry = mw_comm_find(thread, comm);
    if (!entry || !entry->listed || !has_strangers(entry))
        return;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_COMM_id, entry->id);
    mw_put_u64(&buffer, MW_F_COMM_began, began);
    mw_put_u64(&buffer, MW_F_COMM_made, made);
    mw_put_u64(&buffer, MW_F_COMM_port, port);
    mw_output_chunk(MW_CHUNK_COMM, buffer.data, buffer.size);
}

void mw_comm_named(struct mw_thread_state *thread, mw_handle comm, const char *name)
{
    uint8_t memory[256];
    char copy[160];
    struct mw_buffer buffer;
    struct mw_comm_entry *entry = mw_comm_learn(thread, comm);
    if (!entry || !entry->listed || !name || !mw_budget_allows_name())
        return;
    size_t length = strnlen(name, sizeof copy - 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_COMM_id, entry->id);
    mw_put_text(&buffer, MW_F_COMM_name, copy);
    mw_output_chunk(MW_CHUNK_COMM, buffer.data, buffer.size);
}

/* A spawned process says so although it may never ask for its parents. */
static void find_parent(void)
{
    mw_handle parent = 0;
    if (MW_ASK(MW_FN_Comm_get_parent, (mw_handle *), &parent))
        mw_comm_created(mw_self.thread, MW_COMM_PARENT, NULL, 0, parent, 0);
}

void mw_comms_start(void)
{
    mw_groups_start();
    mw_lock_take(&lock);
    insert(mw_recorder.abi->comm_world, MW_COMM_WORLD);
    insert(mw_recorder.abi->comm_self, MW_COMM_SELF);
    mw_lock_drop(&lock);
    learn(mw_self.thread, mw_recorder.abi->comm_world, 0);
    learn(mw_self.thread, mw_recorder.abi->comm_self, 0);
    find_parent();
}

void mw_comms_stop(void)
{
    mw_groups_stop();
}
