/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms of times (histogram.h). Pure computation. */
#include "analyzer/analysis/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

#define SUB_BITS 4

static unsigned bucket_of(uint64_t value)
{
    if (value >> SUB_BITS == 0)
        return (unsigned)value;
    unsigned shift = 63 - SUB_BITS - (unsigned)__builtin_clzll(value);
    return ((shift + 1) << SUB_BITS) + (unsigned)(value >> shift & ((1u << SUB_BITS) - 1));
}

/* The middle of a bucket. */
static uint64_t bucket_value(unsigned bucket)
{
    if (bucket >> SUB_BITS == 0)
        return bucket;
    unsigned shift = (bucket >> SUB_BITS) - 1;
    uint64_t low = (uint64_t)((1u << SUB_BITS) + (bucket & ((1u << SUB_BITS) - 1))) << shift;
    return low + ((uint64_t)1 << shift) / 2;
}

/* Makes room for a bucket, an octave at a time. */
static void histogram_reach(struct mw_histogram *histogram, unsigned bucket)
{
    unsigned from = bucket & ~15u, to = from + 16;
    if (histogram->size) {
        unsigned end = histogram->first + histogram->size;
        from = from < histogram->first ? from : histogram->first;
        to = to > end ? to : end;
        if (to - from == histogram->size)
            return;
    }
    uint32_t *wider = mw_alloc(to - from, sizeof(*wider));
    if (histogram->size)
        memcpy(wider + (histogram->first - from), histogram->buckets,
               histogram->size * sizeof(*wider));
    free(histogram->buckets);
    histogram->buckets = wider;
    histogram->first = from;
    histogram->size = to - from;
}

void mw_histogram_add(struct mw_histogram *histogram, uint64_t value)
{
    unsigned bucket = bucket_of(value);
    if (!histogram->count++ || value < histogram->least)
        histogram->least = value;
    histogram_reach(histogram, bucket);
    histogram->buckets[bucket - histogram->first]++;
}

uint64_t mw_histogram_quantile(const struct mw_histogram *histogram, double part)
{
    double wanted = part * (double)histogram->count;
    uint64_t seen = 0;
    for (unsigned i = 0; i < histogram->size; i++) {
        seen += histogram->buckets[i];
        if (seen && (double)seen >= wanted) {
            uint64_t value = bucket_value(histogram->first + i);
            return value > histogram->least ? value : histogram->least;
        }
    }
    return 0;
}

void mw_histogram_free(struct mw_histogram *histogram)
{
    free(histogram->buckets);
    memset(histogram, 0, sizeof(*histogram));
}
