/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a trace: growing arrays, and a pool for what lives as long as the trace, with one
 * copy of each text (ten thousand ranks name the same libraries and the same addresses). All of it
 * is charged to the trace's account. Used while a trace is opened, on one thread.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct mw_pool_block {
    struct mw_pool_block *next;
    size_t used, size;
    _Alignas(16) uint8_t data[];
};

uint64_t mw_hash_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)(uintptr_t)&seed ^ (uint64_t)time(NULL) << 32;
    return seed;
}

uint64_t mw_hash_seeded(uint64_t seed, const void *data, size_t size)
{
    return XXH64(data, size, seed);
}

enum mw_status mw_account_charge(struct mw_account *account, uint64_t bytes)
{
    if (bytes > account->limit - account->used)
        return MW_ERR_LIMIT;
    account->used += bytes;
    return MW_OK;
}

void *mw_vector_add(struct mw_account *account, struct mw_vector *vector, size_t item,
                    enum mw_status *status)
{
    if (vector->count == vector->capacity) {
        size_t capacity = vector->capacity ? vector->capacity * 2 : 4;
        if (account && mw_account_charge(account, (capacity - vector->capacity) * item) != MW_OK) {
            *status = MW_ERR_LIMIT;
            return NULL;
        }
        void *items = realloc(vector->items, capacity * item);
        if (!items) {
            *status = MW_ERR_MEMORY;
            return NULL;
        }
        vector->items = items;
        vector->capacity = capacity;
    }
    void *added = (uint8_t *)vector->items + vector->count++ * item;
    memset(added, 0, item);
    return added;
}

void mw_vector_free(struct mw_vector *vector)
{
    free(vector->items);
    memset(vector, 0, sizeof *vector);
}

/* Merge sort: qsort is not stable, and "the later one counts" needs that. */
static void merge_sort(uint8_t *items, uint8_t *scratch, size_t count, size_t item,
                       int (*order)(const void *, const void *))
{
    if (count < 2)
        return;
    size_t half = count / 2;
    uint8_t *left = items, *middle = items + half * item, *right = middle;
    uint8_t *end = items + count * item;
    merge_sort(items, scratch, half, item, order);
    merge_sort(middle, scratch, count - half, item, order);
    if (order(middle - item, middle) <= 0)
        return;
    uint8_t *to = scratch;
    while (left < middle && right < end) {
        uint8_t **from = order(left, right) <= 0 ? &left : &right;
        memcpy(to, *from, item);
        *from += item;
        to += item;
    }
    memcpy(to, left, (size_t)(middle - left));
    to += middle - left;
    memcpy(items, scratch, (size_t)(to - scratch));
}

enum mw_status mw_vector_settle(struct mw_vector *vector, size_t item,
                                int (*order)(const void *, const void *),
                                void (*merge)(void *earlier, void *later))
{
    if (vector->count < 2)
        return MW_OK;
    uint8_t *items = vector->items;
    uint8_t *scratch = malloc(vector->count * item);
    if (!scratch)
        return MW_ERR_MEMORY;
    merge_sort(items, scratch, vector->count, item, order);
    free(scratch);

    size_t kept = 0;
    for (size_t i = 0; i < vector->count; i++) {
        uint8_t *this = items + i * item;
        if (i + 1 < vector->count && order(this, this + item) == 0) {
            if (merge)
                merge(this, this + item);
            continue;
        }
        if (kept != i)
            memcpy(items + kept * item, this, item);
        kept++;
    }
    vector->count = kept;
    return MW_OK;
}

/* A block with room for `size` bytes. A large one of its own goes behind the current block, whose
 * room is still good for small things. */
static struct mw_pool_block *pool_block(struct mw_pool *pool, size_t size)
{
    struct mw_pool_block *current = pool->blocks;
    if (current && size <= current->size - current->used)
        return current;
    size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    struct mw_pool_block *block = malloc(sizeof *block + room);
    if (!block)
        return NULL;
    block->used = 0;
    block->size = room;
    if (current && size > BLOCK_SIZE) {
        block->next = current->next;
        current->next = block;
    } else {
        block->next = current;
        pool->blocks = block;
    }
    return block;
}

enum mw_status mw_pool_take(struct mw_pool *pool, size_t size, void **memory)
{
    size = (size + 15) & ~(size_t)15;
    enum mw_status status = mw_account_charge(pool->account, size);
    if (status != MW_OK)
        return status;
    struct mw_pool_block *block = pool_block(pool, size);
    if (!block)
        return MW_ERR_MEMORY;
    *memory = block->data + block->used;
    block->used += size;
    memset(*memory, 0, size);
    return MW_OK;
}

static size_t kept_slot(const struct mw_pool *pool, const void *data, size_t size)
{
    return mw_hash_seeded(pool->seed, data, size) & (pool->kept_capacity - 1);
}

static int kept_grow(struct mw_pool *pool)
{
    struct mw_pool old = *pool;
    size_t capacity = old.kept_capacity ? old.kept_capacity * 2 : 1024;
    pool->kept = calloc(capacity, sizeof *pool->kept);
    if (!pool->kept) {
        pool->kept = old.kept;
        return 0;
    }
    pool->kept_capacity = capacity;
    for (size_t i = 0; i < old.kept_capacity; i++) {
        if (!old.kept[i].data)
            continue;
        size_t slot = kept_slot(pool, old.kept[i].data, old.kept[i].size);
        while (pool->kept[slot].data)
            slot = (slot + 1) & (capacity - 1);
        pool->kept[slot] = old.kept[i];
    }
    free(old.kept);
    return 1;
}

enum mw_status mw_pool_bytes(struct mw_pool *pool, const void *data, size_t size, const void **kept)
{
    if (size == 0) {
        *kept = "";
        return MW_OK;
    }
    if (pool->kept_count * 2 >= pool->kept_capacity && !kept_grow(pool))
        return MW_ERR_MEMORY;
    size_t slot = kept_slot(pool, data, size);
    for (; pool->kept[slot].data; slot = (slot + 1) & (pool->kept_capacity - 1)) {
        if (pool->kept[slot].size == size && memcmp(pool->kept[slot].data, data, size) == 0) {
            *kept = pool->kept[slot].data;
            return MW_OK;
        }
    }
    void *memory;
    enum mw_status status = mw_pool_take(pool, size + 1, &memory);
    if (status != MW_OK)
        return status;
    memcpy(memory, data, size);
    pool->kept[slot] = (struct mw_pool_kept){memory, size};
    pool->kept_count++;
    *kept = memory;
    return MW_OK;
}

enum mw_status mw_pool_text(struct mw_pool *pool, const void *data, size_t size, const char **text)
{
    const void *kept;
    enum mw_status status = mw_pool_bytes(pool, data, strnlen(data, size), &kept);
    if (status == MW_OK)
        *text = kept;
    return status;
}

void mw_pool_free(struct mw_pool *pool)
{
    while (pool->blocks) {
        struct mw_pool_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
    free(pool->kept);
    memset(pool, 0, sizeof *pool);
}
