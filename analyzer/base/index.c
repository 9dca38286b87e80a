/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open addressing with linear probing over a dense array of keys (index.h). Keys are never removed.
 */
#include "analyzer/base/index.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

uint64_t mw_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9u;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

uint64_t mw_hash_bytes(uint64_t seed, const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint64_t hash = mw_mix(seed ^ (0x9e3779b97f4a7c15u + size));
    for (; size >= 8; size -= 8, byte += 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        hash = mw_mix(hash ^ word);
    }
    uint64_t rest = 0;
    if (size)
        memcpy(&rest, byte, size);
    return mw_mix(hash ^ rest);
}

uint64_t mw_hash_text(uint64_t seed, const char *text)
{
    return mw_hash_bytes(seed, text, strlen(text));
}

static size_t index_slot(const struct mw_index *index, uint64_t key)
{
    size_t mask = index->slot_count - 1, slot = mw_mix(key) & mask;
    while (index->slots[slot] && index->keys[index->slots[slot] - 1] != key)
        slot = (slot + 1) & mask;
    return slot;
}

static void index_rehash(struct mw_index *index, size_t slot_count)
{
    free(index->slots);
    index->slots = mw_alloc(slot_count, sizeof(index->slots[0]));
    index->slot_count = slot_count;
    for (size_t i = 0; i < index->count; i++)
        index->slots[index_slot(index, index->keys[i])] = (uint32_t)(i + 1);
}

size_t mw_index_put(struct mw_index *index, uint64_t key)
{
    if (index->count + 1 > index->slot_count / 4 * 3)
        index_rehash(index, index->slot_count ? index->slot_count * 2 : 16);
    size_t slot = index_slot(index, key);
    if (!index->slots[slot]) {
        index->keys = mw_grow(index->keys, &index->capacity, index->count + 1, sizeof(key));
        index->keys[index->count++] = key;
        index->slots[slot] = (uint32_t)index->count;
    }
    return index->slots[slot] - 1;
}

size_t mw_index_find(const struct mw_index *index, uint64_t key)
{
    if (!index->count)
        return MW_INDEX_NONE;
    uint32_t found = index->slots[index_slot(index, key)];
    return found ? found - 1 : MW_INDEX_NONE;
}

void mw_index_free(struct mw_index *index)
{
    free(index->keys);
    free(index->slots);
    memset(index, 0, sizeof(*index));
}
