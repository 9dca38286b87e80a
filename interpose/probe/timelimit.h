/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long looking around may take: so much of this thread's own processor time, and ten times as
 * much by the clock on the wall, as where a node is crowded the processor is taken away from us in
 * the middle. On the thread that it was begun on.
 */
#ifndef MW_PROBE_TIMELIMIT_H
#define MW_PROBE_TIMELIMIT_H

#include "trace/clock.h"

enum { MW_TIME_LIMIT_WALL = 10 }; /* times the limit, by the clock on the wall */

struct mw_time_limit {
    uint64_t early; /* before this nothing is used up, and one clock is enough to ask */
    uint64_t work, wall;
};

static inline struct mw_time_limit mw_time_limit_begin(uint64_t ns)
{
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    return (struct mw_time_limit){
        .early = now + ns,
        .work = mw_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns,
        .wall = now + MW_TIME_LIMIT_WALL * ns,
    };
}

static inline int mw_time_limit_reached(const struct mw_time_limit *limit)
{
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    return now >= limit->wall ||
           (now >= limit->early && mw_clock_ns(CLOCK_THREAD_CPUTIME_ID) >= limit->work);
}

#endif
