/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of windows and files; see objects.h. Entries are reused after a while, ids never. */
#include "record/objects.h"

#include <string.h>

#define BUCKETS 256u
#define SLAB    32u
#define RESTING                                                                                    \
    64u /* freed entries that are not used again yet: another thread may just be reading one */

static struct table {
    _Atomic(struct mw_object *) buckets[BUCKETS];
    struct mw_object *free_first, *free_last; /* the longest free first */
    uint32_t free_count, next_id;
    _Atomic uint32_t generation; /* raised when one goes: outdates the threads' caches */
    struct mw_lock lock;
} tables[MW_OBJECT_CLASSES];
struct mw_listed mw_objects_listed[MW_OBJECT_CLASSES];

static _Atomic(struct mw_object *) *bucket_of(struct table *table, mw_handle handle)
{
    return &table->buckets[((uint64_t)handle * 0x9e3779b97f4a7c15u) >> 56]; /* BUCKETS is 2^8 */
}

mw_handle mw_object_handle(enum mw_object_class class, mw_handle handle)
{
    return class == MW_FILES ? handle : mw_abi_handle(mw_recorder.abi, handle);
}

struct mw_object *mw_object_find(enum mw_object_class class, mw_handle handle)
{
    handle = mw_object_handle(class, handle);
    struct mw_object *object =
        atomic_load_explicit(bucket_of(&tables[class], handle), memory_order_acquire);
    while (object && atomic_load_explicit(&object->handle, memory_order_relaxed) != handle)
        object = atomic_load_explicit(&object->next, memory_order_acquire);
    return object;
}

struct mw_object *mw_window_find(struct mw_thread_state *thread, mw_handle window)
{
    uint32_t now = atomic_load_explicit(&tables[MW_WINDOWS].generation, memory_order_acquire);
    window = mw_abi_handle(mw_recorder.abi, window);
    if (thread->last_window == window && thread->last_window_generation == now)
        return thread->last_window_object;
    struct mw_object *object = mw_object_find(MW_WINDOWS, window);
    if (object) {
        thread->last_window = window;
        thread->last_window_object = object;
        thread->last_window_generation = now;
    }
    return object;
}

/* Under the lock, as are the next three. */
static void rest(struct table *table, struct mw_object *object)
{
    object->next_free = NULL;
    if (table->free_last)
        table->free_last->next_free = object;
    else
        table->free_first = object;
    table->free_last = object;
    table->free_count++;
}

static struct mw_object *take(struct table *table)
{
    if (table->free_count <= RESTING) {
        struct mw_object *slab = mw_pages(SLAB * sizeof *slab);
        for (size_t i = 0; slab && i < SLAB; i++)
            rest(table, &slab[i]);
    }
    struct mw_object *object = table->free_first;
    if (!object)
        return NULL;
    table->free_first = object->next_free;
    if (!table->free_first)
        table->free_last = NULL;
    table->free_count--;
    memset(object, 0, sizeof *object);
    return object;
}

/* Takes it out of its bucket; whoever still holds it finds what it was. Returns its communicator.
 */
static struct mw_comm_entry *release(struct table *table, struct mw_object *object)
{
    _Atomic(struct mw_object *) *link = bucket_of(table, atomic_load(&object->handle));
    while (atomic_load(link) && atomic_load(link) != object)
        link = &atomic_load(link)->next;
    if (atomic_load(link))
        atomic_store(link, atomic_load(&object->next));
    atomic_fetch_add(&table->generation, 1);
    atomic_store(&object->handle, 0);
    rest(table, object);
    return object->comm;
}

struct mw_object *mw_object_made(enum mw_object_class class, mw_handle handle,
                                 struct mw_comm_entry *comm)
{
    struct table *table = &tables[class];
    struct mw_comm_entry *outdated = NULL;
    handle = mw_object_handle(class, handle);
    mw_comm_hold(comm);
    mw_lock_take(&table->lock);
    struct mw_object *old = mw_object_find(class, handle);
    if (old) /* freed where we did not see it */
        outdated = release(table, old);
    struct mw_object *object = take(table);
    if (object) {
        _Atomic(struct mw_object *) *bucket = bucket_of(table, handle);
        object->id = table->next_id++;
        object->listed = mw_listed_new(&mw_objects_listed[class], object->id);
        object->comm = comm;
        atomic_store_explicit(&object->handle, handle, memory_order_relaxed);
        atomic_store_explicit(&object->next, atomic_load(bucket), memory_order_relaxed);
        atomic_store_explicit(bucket, object, memory_order_release);
    }
    mw_lock_drop(&table->lock);
    mw_comm_let_go(outdated);
    if (!object) {
        mw_comm_let_go(comm);
        mw_health("objects", "no memory for a window or a file: calls on it name none");
    }
    return object;
}

void mw_object_gone(enum mw_object_class class, mw_handle handle, uint32_t id)
{
    struct table *table = &tables[class];
    struct mw_comm_entry *comm = NULL;
    mw_lock_take(&table->lock);
    struct mw_object *object = mw_object_find(class, handle);
    if (object && object->id == id)
        comm = release(table, object);
    mw_lock_drop(&table->lock);
    mw_comm_let_go(comm);
}

void mw_object_open(struct mw_call *call, const struct mw_object *object, int32_t peer)
{
    mw_open(call, object ? mw_comm_id(object->comm) : 0, peer >= 0 ? peer : MW_PEER_NONE, 0, 0);
    call->peer = peer; /* these two in events only: of an open call they are those of a message */
    call->tag = mw_object_id(object);
}

void mw_object_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags, int rc)
{
    struct mw_raw_event detail = {.comm = call->comm, .peer = call->peer, .tag = call->tag};
    if (rc != 0) {
        detail.bytes = (uint64_t)(int64_t)rc;
        flags |= MW_EVENT_ERROR;
    }
    mw_call_event(call, end, kind, flags, &detail);
}
