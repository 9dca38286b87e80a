/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From 64-bit keys to small numbers 0, 1, 2 … in the order in which the keys came: the base of
 * every sparse table (pairs of ranks, call sites, communicators). Whoever uses it keeps arrays
 * beside it. One index, one thread at a time.
 */
#ifndef MW_BASE_INDEX_H
#define MW_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define MW_INDEX_NONE SIZE_MAX

struct mw_index {
    uint64_t *keys;  /* by number */
    uint32_t *slots; /* number + 1; 0 free */
    size_t count, capacity, slot_count;
};

/* The number of the key, which is added where it is new. */
size_t mw_index_put(struct mw_index *index, uint64_t key);
/* MW_INDEX_NONE where it is unknown. */
size_t mw_index_find(const struct mw_index *index, uint64_t key);
void mw_index_free(struct mw_index *index);

/* Stirs all bits of a number into all bits of the result. */
uint64_t mw_mix(uint64_t value);
/* A 64-bit hash of bytes, continued from `seed`. Not for untrusted equality: tables built on it may
 * merge entries of a trace that was made to collide. */
uint64_t mw_hash_bytes(uint64_t seed, const void *data, size_t size);
uint64_t mw_hash_text(uint64_t seed, const char *text);

#endif
