/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the decoder's table of ordinal keys: a hash table that only grows. Reader side only, one
 * thread a table. Its size is bounded by the caller, who adds at most one key a shape.
 */
#include "trace/keys.h"

#include <stdlib.h>

#include "trace/chunk.h"

static size_t key_hash(const struct mw_key *key)
{
    return (size_t)mw_hash64(key, sizeof *key);
}

static int key_equal(const struct mw_key *a, const struct mw_key *b)
{
    return a->class == b->class && a->comm == b->comm && a->peer == b->peer && a->tag == b->tag;
}

static void buckets_put(uint32_t *buckets, size_t bucket_count, const struct mw_key *key,
                        size_t slot)
{
    size_t at = key_hash(key) & (bucket_count - 1);
    while (buckets[at])
        at = (at + 1) & (bucket_count - 1);
    buckets[at] = (uint32_t)slot + 1;
}

static enum mw_status keys_grow(struct mw_keys *keys)
{
    size_t capacity = keys->capacity ? keys->capacity * 2 : 64, bucket_count = capacity * 2;
    struct mw_key_slot *slots = realloc(keys->slots, capacity * sizeof *slots);
    if (!slots)
        return MW_ERR_MEMORY;
    keys->slots = slots;
    uint32_t *buckets = calloc(bucket_count, sizeof *buckets);
    if (!buckets)
        return MW_ERR_MEMORY;
    for (size_t i = 0; i < keys->count; i++)
        buckets_put(buckets, bucket_count, &slots[i].key, i);
    free(keys->buckets);
    keys->buckets = buckets;
    keys->bucket_count = bucket_count;
    keys->capacity = capacity;
    return MW_OK;
}

enum mw_status mw_keys_intern(struct mw_keys *keys, const struct mw_key *key, size_t *index)
{
    if (keys->bucket_count) {
        size_t at = key_hash(key) & (keys->bucket_count - 1);
        for (; keys->buckets[at]; at = (at + 1) & (keys->bucket_count - 1)) {
            size_t slot = keys->buckets[at] - 1;
            if (key_equal(&keys->slots[slot].key, key)) {
                *index = slot;
                return MW_OK;
            }
        }
    }
    if (keys->count == keys->capacity) {
        enum mw_status status = keys_grow(keys);
        if (status != MW_OK)
            return status;
    }
    keys->slots[keys->count] = (struct mw_key_slot){.key = *key, .next = -1};
    buckets_put(keys->buckets, keys->bucket_count, key, keys->count);
    *index = keys->count++;
    return MW_OK;
}

void mw_keys_free(struct mw_keys *keys)
{
    free(keys->slots);
    free(keys->buckets);
    *keys = (struct mw_keys){0};
}
