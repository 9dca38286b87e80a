/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From readings of a process's clock to nanoseconds: a straight line through its first and last
 * clock readings (sorted by time when the trace was opened). Pure, any thread.
 */
#include "mpiwatch/trace.h"

#include <math.h>

/* Nanoseconds a tick; 0 where it is not known. */
static double tick_length(const struct mw_process *process, int kind)
{
    if (process->clock_count > 1) {
        const struct mw_clock_reading *first = &process->clocks[0];
        const struct mw_clock_reading *last = &process->clocks[process->clock_count - 1];
        uint64_t from = kind == MW_TIME_REAL ? first->real_ns : first->raw_ns;
        uint64_t to = kind == MW_TIME_REAL ? last->real_ns : last->raw_ns;
        if (last->time > first->time && to > from)
            return (double)(to - from) / (double)(last->time - first->time);
    }
    return process->clock == MW_CLOCK_MONOTONIC ? 1.0 : 0.0;
}

int mw_process_time_exact(const struct mw_process *process, uint64_t time, int kind, int64_t *ns)
{
    double tick = tick_length(process, kind);
    if (tick == 0.0 || process->clock_count == 0)
        return 0;
    const struct mw_clock_reading *first = &process->clocks[0];
    /* A double has too few digits for nanoseconds since 1970, but enough for those since the
     * reading. */
    int back = time < first->time;
    double since = tick * (double)(back ? first->time - time : time - first->time);
    uint64_t base = kind == MW_TIME_REAL ? first->real_ns : first->raw_ns;
    if (base > INT64_MAX || since >= 0x1p62)
        return 0;
    int64_t shift = (int64_t)(since + 0.5);
    if (!back && shift > INT64_MAX - (int64_t)base)
        return 0;
    *ns = back ? (int64_t)base - shift : (int64_t)base + shift;
    return 1;
}

double mw_process_time_ns(const struct mw_process *process, uint64_t time, int kind)
{
    int64_t ns;
    return mw_process_time_exact(process, time, kind, &ns) ? (double)ns : (double)NAN;
}

double mw_process_span_ns(const struct mw_process *process, uint64_t ticks)
{
    double tick = tick_length(process, MW_TIME_RAW);
    if (process->clock == MW_CLOCK_MONOTONIC)
        tick = 1.0;
    return tick == 0.0 ? (double)NAN : tick * (double)ticks;
}
