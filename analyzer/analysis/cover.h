/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The length of a union of intervals of time that come nearly in the order of their ends, in
 * constant memory: only the last stretches can still grow, earlier ones are closed. One object, one
 * thread.
 */
#ifndef MW_ANALYSIS_COVER_H
#define MW_ANALYSIS_COVER_H

#include <stdint.h>

#define MW_COVER_SPANS 8

struct mw_cover {
    int64_t start[MW_COVER_SPANS], end[MW_COVER_SPANS]; /* apart, ascending */
    unsigned count;
    int64_t closed;   /* what begins before it begins there */
    uint64_t covered; /* of closed stretches */
};

void mw_cover_add(struct mw_cover *cover, int64_t start, int64_t end);
uint64_t mw_cover_time(const struct mw_cover *cover);

#endif
