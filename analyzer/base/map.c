/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing with linear probing and backward-shift deletion (map.h). */
#include "analyzer/base/map.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"

/* Where the key is, or the free slot where it would be. */
static size_t map_slot(const struct mw_map *map, uint64_t key)
{
    size_t mask = map->size - 1, at = mw_mix(key) & mask;
    while (map->slots[at].value != MW_MAP_NONE && map->slots[at].key != key)
        at = (at + 1) & mask;
    return at;
}

uint32_t mw_map_find(const struct mw_map *map, uint64_t key)
{
    return map->size ? map->slots[map_slot(map, key)].value : MW_MAP_NONE;
}

static void map_resize(struct mw_map *map, size_t size)
{
    struct mw_map old = *map;
    map->slots = mw_alloc(size, sizeof(map->slots[0]));
    map->size = size;
    for (size_t i = 0; i < size; i++)
        map->slots[i].value = MW_MAP_NONE;
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].value != MW_MAP_NONE)
            map->slots[map_slot(map, old.slots[i].key)] = old.slots[i];
    free(old.slots);
}

void mw_map_put(struct mw_map *map, uint64_t key, uint32_t value)
{
    if (map->used + 1 > map->size / 2)
        map_resize(map, map->size ? map->size * 2 : 16);
    struct mw_map_slot *slot = &map->slots[map_slot(map, key)];
    map->used += slot->value == MW_MAP_NONE;
    *slot = (struct mw_map_slot){key, value};
}

/* Whether `home` lies cyclically in (hole, at]: then the entry at `at` must stay. */
static int map_stays(size_t hole, size_t home, size_t at)
{
    return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

void mw_map_remove(struct mw_map *map, uint64_t key)
{
    size_t mask = map->size - 1, hole = map->size ? map_slot(map, key) : 0;
    if (!map->size || map->slots[hole].value == MW_MAP_NONE)
        return;
    for (size_t at = (hole + 1) & mask; map->slots[at].value != MW_MAP_NONE; at = (at + 1) & mask) {
        if (map_stays(hole, mw_mix(map->slots[at].key) & mask, at))
            continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].value = MW_MAP_NONE;
    map->used--;
}

void mw_map_free(struct mw_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof(*map));
}
