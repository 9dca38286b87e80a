/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the readings of several clocks at one moment. Both halves; any thread; no allocation, no
 * I/O, a fixed number of tries (about a microsecond in all).
 */
#include "trace/clock.h"

enum { TRIES = 5 };

static struct mw_clock_sample sample_once(uint32_t kind)
{
    struct mw_clock_sample sample;
    uint64_t before = mw_clock_read(kind);
    sample.raw = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    sample.real = mw_clock_ns(CLOCK_REALTIME);
    sample.mono = mw_clock_ns(CLOCK_MONOTONIC);
    sample.width = mw_clock_read(kind) - before;
    sample.time = before + sample.width / 2;
    return sample;
}

struct mw_clock_sample mw_clock_sample_take(uint32_t kind)
{
    struct mw_clock_sample best = sample_once(kind);
    for (int i = 1; i < TRIES; i++) {
        struct mw_clock_sample next = sample_once(kind);
        if (next.width < best.width)
            best = next;
    }
    return best;
}

void mw_clock_sample_put(struct mw_buffer *buffer, const struct mw_clock_sample *sample)
{
    mw_put_u64(buffer, MW_F_CLOCK_time, sample->time);
    mw_put_u64(buffer, MW_F_CLOCK_raw, sample->raw);
    mw_put_u64(buffer, MW_F_CLOCK_real, sample->real);
    mw_put_u64(buffer, MW_F_CLOCK_mono, sample->mono);
    mw_put_u64(buffer, MW_F_CLOCK_width, sample->width);
}
