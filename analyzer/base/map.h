/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From 64-bit keys to 32-bit values, for what comes and goes: messages under way, communication
 * channels. Where keys only come, index.h is smaller. One map, one thread at a time.
 */
#ifndef MW_BASE_MAP_H
#define MW_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MW_MAP_NONE UINT32_MAX

struct mw_map_slot {
    uint64_t key;
    uint32_t value; /* MW_MAP_NONE: free */
};

struct mw_map {
    struct mw_map_slot *slots;
    size_t size, used; /* size: a power of two, or 0 */
};

/* MW_MAP_NONE where it is unknown. */
uint32_t mw_map_find(const struct mw_map *map, uint64_t key);
/* Adds the key, or replaces its value. */
void mw_map_put(struct mw_map *map, uint64_t key, uint32_t value);
void mw_map_remove(struct mw_map *map, uint64_t key);
void mw_map_free(struct mw_map *map);

#endif
