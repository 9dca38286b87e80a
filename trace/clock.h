/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the clock that times are taken from, and tying it to the kernel's clocks (docs/format.md,
 * CLOCK). The reading is inline: it happens twice a call. Any thread; no allocation, no I/O.
 */
#ifndef MW_TRACE_CLOCK_H
#define MW_TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "mpiwatch/format.h"
#include "trace/fields.h"

static inline uint64_t mw_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether this machine can read a clock of that kind at all. Not whether it is invariant. */
static inline int mw_clock_readable(uint32_t kind)
{
#if defined(__x86_64__)
    if (kind == MW_CLOCK_TSC)
        return 1;
#elif defined(__aarch64__)
    if (kind == MW_CLOCK_CNTVCT)
        return 1;
#endif
    return kind == MW_CLOCK_MONOTONIC;
}

/* Not serialised: waiting for the instructions before it would cost more than it could tell. */
static inline uint64_t mw_clock_read(uint32_t kind)
{
#if defined(__x86_64__)
    if (__builtin_expect(kind == MW_CLOCK_TSC, 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(kind == MW_CLOCK_CNTVCT, 1)) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return mw_clock_ns(CLOCK_MONOTONIC);
}

struct mw_clock_sample {
    uint64_t time, raw, real, mono, width; /* the fields of a CLOCK chunk */
};

/* Reads all clocks at once, as nearly as it goes: the best of a few tries. kind must be readable
 * here. */
struct mw_clock_sample mw_clock_sample_take(uint32_t kind);
/* The payload of a CLOCK chunk. */
void mw_clock_sample_put(struct mw_buffer *buffer, const struct mw_clock_sample *sample);

#endif
