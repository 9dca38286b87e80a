/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of libfabric that we know: a side table by fid, and the tables of functions that
 * replace theirs. What stood in an object is kept here and never taken from the object again: other
 * layers may have replaced ours. Any thread; finding takes no lock. What is unloaded leaves nothing
 * that would be called: a copy is used again only where it equals what it would be made of now.
 */
#include <string.h>

#include "probe/libfabric.h"
#include "record/record.h"

#define SLOTS       8192u
#define SLOT_STEPS  64u
#define OBJECTS_MAX 3072u
#define ARENA_SIZE  (512u << 10)
#define TABLE_MAX   1024u /* bytes of a table; the largest known one has 200 */
#define COPY_MAGIC  UINT64_C(0x6d77617463686669)

struct slot {
    _Atomic(const void *) fid;
    struct mw_fi_object *object;
};

/* Stands before every copy. */
struct copy {
    uint64_t magic;
    const void *original;
    size_t size;
    struct copy *older;
};

static struct slot slots[SLOTS];
static const char gone[1]; /* a slot that had somebody */
static struct mw_lock lock;
static struct mw_fi_object *free_objects;
static unsigned object_count;
static _Atomic uint64_t last_serial = 1;
static _Atomic(uint8_t *) arena;
static size_t arena_used;
static struct copy *last_copy;

static unsigned slot_of(const void *fid)
{
    uintptr_t value = (uintptr_t)fid >> 4;
    return (unsigned)(value ^ value >> 9 ^ value >> 21) & (SLOTS - 1);
}

static struct slot *slot_find(const void *fid)
{
    unsigned at = slot_of(fid);
    for (unsigned step = 0; step < SLOT_STEPS; step++, at = (at + 1) & (SLOTS - 1)) {
        const void *here = atomic_load_explicit(&slots[at].fid, memory_order_acquire);
        if (here == fid)
            return &slots[at];
        if (!here)
            return NULL;
    }
    return NULL;
}

/* Under the lock. 0: no room. */
static int slot_put(const void *fid, struct mw_fi_object *object)
{
    unsigned at = slot_of(fid);
    for (unsigned step = 0; step < SLOT_STEPS; step++, at = (at + 1) & (SLOTS - 1)) {
        const void *here = atomic_load_explicit(&slots[at].fid, memory_order_relaxed);
        if (here && here != gone)
            continue;
        slots[at].object = object;
        atomic_store_explicit(&slots[at].fid, fid, memory_order_release);
        return 1;
    }
    return 0;
}

static void slot_drop(const void *fid)
{
    struct slot *slot = slot_find(fid);
    if (slot)
        atomic_store_explicit(&slot->fid, gone, memory_order_release);
}

uint64_t mw_fi_serial(void)
{
    return atomic_fetch_add(&last_serial, 1);
}

struct mw_fi_object *mw_fi_object_find(const void *fid)
{
    struct slot *slot = slot_find(fid);
    return slot ? slot->object : NULL;
}

/* Under the lock. */
static struct mw_fi_object *object_take(void)
{
    struct mw_fi_object *object = free_objects;
    if (object) {
        free_objects = object->next_free;
        return object;
    }
    if (object_count >= OBJECTS_MAX)
        return NULL;
    enum { SLAB = 64 };
    struct mw_fi_object *slab = mw_pages(SLAB * sizeof *slab);
    if (!slab)
        return NULL;
    object_count += SLAB;
    for (unsigned i = 1; i < SLAB; i++) {
        slab[i].next_free = free_objects;
        free_objects = &slab[i];
    }
    return slab;
}

/* What was known under this fid is of an object that has gone without our seeing it. */
static void forget(const void *fid, struct mw_fi_object *object)
{
    if (object->endpoint) {
        mw_fi_endpoint_write(object->endpoint, 1);
        mw_fi_endpoint_close(object->endpoint);
    }
    mw_lock_take(&lock);
    slot_drop(fid);
    mw_lock_drop(&lock);
    mw_fi_object_free(object);
}

struct mw_fi_object *mw_fi_object_add(const void *fid, enum mw_fi_kind kind, uint64_t since)
{
    struct mw_fi_object *known = mw_fi_object_find(fid);
    if (known && known->serial > since && known->kind == kind)
        return known;
    if (known)
        forget(fid, known);
    mw_lock_take(&lock);
    struct mw_fi_object *object = object_take();
    if (object) {
        memset(object, 0, sizeof *object);
        atomic_store_explicit(&object->fid, fid, memory_order_relaxed);
        object->kind = kind;
        object->serial = mw_fi_serial();
        if (!slot_put(fid, object)) {
            object->next_free = free_objects;
            free_objects = object;
            object = NULL;
        }
    }
    mw_lock_drop(&lock);
    if (!object)
        mw_fi_gap(MW_FI_GAP_ROOM);
    return object;
}

void mw_fi_object_alias(const void *fid, struct mw_fi_object *object)
{
    mw_lock_take(&lock);
    slot_drop(fid);
    object->aliases += (unsigned)slot_put(fid, object);
    mw_lock_drop(&lock);
}

void mw_fi_object_unalias(const void *fid)
{
    mw_lock_take(&lock);
    slot_drop(fid);
    mw_lock_drop(&lock);
}

void mw_fi_object_free(struct mw_fi_object *object)
{
    mw_lock_take(&lock);
    for (unsigned i = 0; object->aliases && i < SLOTS; i++)
        if (slots[i].object == object && atomic_load(&slots[i].fid))
            atomic_store(&slots[i].fid, gone);
    object->next_free = free_objects;
    free_objects = object;
    mw_lock_drop(&lock);
}

int mw_fi_is_copy(const void *table)
{
    const uint8_t *start = atomic_load_explicit(&arena, memory_order_acquire);
    uintptr_t offset = (uintptr_t)table - (uintptr_t)start;
    if (!start || offset < sizeof(struct copy) || offset >= ARENA_SIZE || offset % 16)
        return 0;
    return ((const struct copy *)table)[-1].magic == COPY_MAGIC;
}

/* Under the lock: a copy that reads like `wanted`, made of `original`. */
static const void *copy_get(const void *original, const void *wanted, size_t size)
{
    for (struct copy *copy = last_copy; copy; copy = copy->older)
        if (copy->original == original && copy->size == size && !memcmp(copy + 1, wanted, size))
            return copy + 1;
    uint8_t *memory = atomic_load_explicit(&arena, memory_order_relaxed);
    if (!memory) {
        memory = mw_pages(ARENA_SIZE);
        atomic_store_explicit(&arena, memory, memory_order_release);
    }
    size_t need = (sizeof(struct copy) + size + 15) & ~(size_t)15;
    if (!memory || arena_used + need > ARENA_SIZE)
        return NULL;
    struct copy *copy = (void *)(memory + arena_used);
    memcpy(copy + 1, wanted, size);
    *copy = (struct copy){COPY_MAGIC, original, size, last_copy};
    last_copy = copy;
    arena_used += need;
    return copy + 1;
}

/* What the copy of a table shall be. 0: it is not like any we know. */
static int copy_make(uint8_t *memory, const void *original, const struct mw_fi_patches *patches)
{
    size_t size = *(const size_t *)original;
    if (size < patches->least || size > TABLE_MAX)
        return 0;
    memcpy(memory, original, size);
    for (unsigned i = 0; i < patches->count; i++) {
        size_t at = patches->patch[i].offset;
        void (*none)(void) = NULL;
        if (at + sizeof none <= size && memcmp(memory + at, &none, sizeof none) != 0)
            memcpy(memory + at, &patches->patch[i].function, sizeof none);
    }
    return 1;
}

void mw_fi_object_patch(struct mw_fi_object *object, enum mw_fi_which which, const void *place,
                        const struct mw_fi_patches *patches)
{
    _Atomic(const void *) *at = (_Atomic(const void *) *)(uintptr_t)place;
    const void *current = atomic_load_explicit(at, memory_order_acquire);
    if (!current || (object->table[which].place == at && current == object->table[which].copy))
        return;
    object->table[which].place = at;
    if (mw_fi_is_copy(current)) { /* made from an object that had ours already */
        object->table[which].copy = current;
        atomic_store(&object->table[which].original, ((const struct copy *)current)[-1].original);
        return;
    }
    _Alignas(16) uint8_t memory[TABLE_MAX];
    if (!copy_make(memory, current, patches)) {
        mw_fi_gap(MW_FI_GAP_TABLE);
        return;
    }
    mw_lock_take(&lock);
    const void *copy = copy_get(current, memory, *(const size_t *)memory);
    mw_lock_drop(&lock);
    if (!copy) {
        mw_fi_gap(MW_FI_GAP_ROOM);
        return;
    }
    object->table[which].copy = copy;
    atomic_store(&object->table[which].original, current);
    atomic_store_explicit(at, copy, memory_order_release);
}

void mw_fi_object_restore(struct mw_fi_object *object)
{
    for (unsigned i = 0; i < MW_FI_TABLES; i++) {
        const void *original = atomic_load(&object->table[i].original);
        if (original && atomic_load(object->table[i].place) == object->table[i].copy)
            atomic_store(object->table[i].place, original);
    }
    mw_lock_take(&lock);
    slot_drop(atomic_load(&object->fid));
    mw_lock_drop(&lock);
}

void mw_fi_object_return(struct mw_fi_object *object, const void *fid)
{
    mw_lock_take(&lock);
    int kept = slot_put(fid, object);
    mw_lock_drop(&lock);
    if (!kept) {
        mw_fi_gap(MW_FI_GAP_ROOM);
        return;
    }
    for (unsigned i = 0; i < MW_FI_TABLES; i++) {
        const void *original = atomic_load(&object->table[i].original);
        if (original && atomic_load(object->table[i].place) == original)
            atomic_store(object->table[i].place, object->table[i].copy);
    }
}

const void *mw_fi_original(const void *fid, enum mw_fi_which which, const void *current,
                           struct mw_fi_object **object)
{
    struct slot *slot = slot_find(fid);
    if (object)
        *object = slot ? slot->object : NULL;
    if (slot) {
        const void *original =
            atomic_load_explicit(&slot->object->table[which].original, memory_order_relaxed);
        if (original)
            return original;
    }
    return mw_fi_is_copy(current) ? ((const struct copy *)current)[-1].original : NULL;
}
