/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which clock times are taken from: the processor's counter where it ticks at one rate on all of its cores,
 * as the processor says and the kernel has not found otherwise; else CLOCK_MONOTONIC. Runs once.
 */
#include <string.h>

#include "output/job.h"
#include "record/facts.h"

#if defined(__x86_64__)
#include <cpuid.h>

static int tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & 1u << 8))
        return 0;
    /* The kernel takes "tsc" off this list when it has seen it drift. */
    char sources[256];
    if (mw_read_file("/sys/devices/system/clocksource/clocksource0/available_clocksource", sources,
                     sizeof sources) < 0)
        return 1;
    return strstr(sources, "tsc") != NULL;
}
#endif

enum mw_clock_kind mw_clock_choose(int wanted)
{
    if (wanted == MW_CLOCK_MONOTONIC)
        return MW_CLOCK_MONOTONIC;
#if defined(__x86_64__)
    if (tsc_is_invariant() || wanted == MW_CLOCK_TSC)
        return MW_CLOCK_TSC;
#elif defined(__aarch64__)
    return MW_CLOCK_CNTVCT; /* constant by the architecture */
#endif
    return MW_CLOCK_MONOTONIC;
}
