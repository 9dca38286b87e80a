/* SPDX-License-Identifier: BSD-3-Clause */
/* Series of values as blocks (trail.h). Pure computation. */
#include "analyzer/analysis/trail.h"

#include <math.h>

/* Two neighbours become one, so that half of the room is free. */
static void halve(struct mw_trail *trail)
{
    for (size_t i = 0; i < MW_TRAIL_BLOCKS / 2; i++)
        trail->logs[i] = trail->logs[2 * i] + trail->logs[2 * i + 1];
    trail->count = MW_TRAIL_BLOCKS / 2;
    trail->each *= 2;
    trail->last = trail->each;
}

void mw_trail_add(struct mw_trail *trail, double value)
{
    if (!trail->each)
        trail->each = 1;
    if (trail->count == MW_TRAIL_BLOCKS && trail->last == trail->each)
        halve(trail);
    if (!trail->count || trail->last == trail->each) {
        trail->logs[trail->count++] = 0;
        trail->last = 0;
    }
    trail->logs[trail->count - 1] += log(value);
    trail->last++;
}

size_t mw_trail_means(const struct mw_trail *trail, double means[MW_TRAIL_BLOCKS])
{
    size_t count = trail->count;
    if (count > 1 && 2 * trail->last < trail->each)
        count--;
    for (size_t i = 0; i < count; i++) {
        uint64_t values = i + 1 == trail->count ? trail->last : trail->each;
        means[i] = exp(trail->logs[i] / (double)values);
    }
    return count;
}
