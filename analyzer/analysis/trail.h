/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series of positive values as at most MW_TRAIL_BLOCKS blocks of equally many, in their order:
 * where there would be more, two become one. A block is known by its geometric mean, which one
 * value out of many does not spoil. Two runs of one thing are set against each other by these.
 * Constant memory; one trail, one thread.
 */
#ifndef MW_ANALYSIS_TRAIL_H
#define MW_ANALYSIS_TRAIL_H

#include <stddef.h>
#include <stdint.h>

#define MW_TRAIL_BLOCKS 16

struct mw_trail {
    double logs[MW_TRAIL_BLOCKS]; /* sums of logarithms */
    uint64_t each;                /* values in a block; 0: the trail is empty */
    uint64_t last;                /* values in the last one */
    size_t count;                 /* blocks */
};

void mw_trail_add(struct mw_trail *trail, double value);
/* The geometric means of the blocks, but for a last one that is less than half full; their number.
 */
size_t mw_trail_means(const struct mw_trail *trail, double means[MW_TRAIL_BLOCKS]);

#endif
