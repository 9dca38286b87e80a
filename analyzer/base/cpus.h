/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of processors (or of memory nodes) by the numbers that the kernel gives them. Whatever comes
 * from a trace is cut at MW_CPUS_MAX, so that a made-up number costs no memory. Any thread, one set
 * one thread at a time.
 */
#ifndef MW_BASE_CPUS_H
#define MW_BASE_CPUS_H

#include <stddef.h>
#include <stdint.h>

#define MW_CPUS_MAX 65536u

struct mw_cpus { /* zeroed: empty */
    uint64_t *words;
    size_t count; /* words */
};

void mw_cpus_free(struct mw_cpus *set);
/* `count` from `first` on; what lies beyond MW_CPUS_MAX is left out. */
void mw_cpus_add(struct mw_cpus *set, uint64_t first, uint64_t count);
void mw_cpus_join(struct mw_cpus *set, const struct mw_cpus *other);
struct mw_cpus mw_cpus_copy(const struct mw_cpus *set);
/* Adds a mask as hwloc writes them, "0x00000001,0xff000000", most significant word first. -1, and
 * what was added so far, where it is none: an endless set ("0xf...f"), too long, other text. */
int mw_cpus_add_mask(struct mw_cpus *set, const char *text);

int mw_cpus_has(const struct mw_cpus *set, size_t cpu);
size_t mw_cpus_count(const struct mw_cpus *set);
/* The first one from `from` on; SIZE_MAX where there is none. */
size_t mw_cpus_next(const struct mw_cpus *set, size_t from);
int mw_cpus_equal(const struct mw_cpus *a, const struct mw_cpus *b);
int mw_cpus_meet(const struct mw_cpus *a, const struct mw_cpus *b);
/* Is every one of `a` in `b`? Not so of an empty set: it is one that is not known. */
int mw_cpus_within(const struct mw_cpus *a, const struct mw_cpus *b);
/* "0-7,64-71"; "" of an empty one. Newly allocated. */
char *mw_cpus_text(const struct mw_cpus *set);

#endif
