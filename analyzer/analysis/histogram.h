/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of times with 16 buckets an octave, so that a quantile is within 1/32 of its value.
 * Memory grows with the range that is used. One object, one thread.
 */
#ifndef MW_ANALYSIS_HISTOGRAM_H
#define MW_ANALYSIS_HISTOGRAM_H

#include <stdint.h>

struct mw_histogram {
    uint64_t count, least;
    uint32_t *buckets; /* from bucket `first` on */
    unsigned first, size;
};

void mw_histogram_add(struct mw_histogram *histogram, uint64_t value);
/* 0.5 for the median; 0 where it is empty. Never below the least value. */
uint64_t mw_histogram_quantile(const struct mw_histogram *histogram, double part);
void mw_histogram_free(struct mw_histogram *histogram);

#endif
