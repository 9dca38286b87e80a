/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleaning up after the dead; see leftovers.h. */
#include "output/leftovers.h"

#include <time.h>

#include "output/shared.h"
#include "trace/clock.h"
#include "trace/residue.h"

#define COLLECTED_MAX 4
#define TIME_MAX_NS 20000000u /* 20 ms */

struct round {
    int collected;
    uint64_t deadline;
};

static enum mw_status collect(void *context, const char *path)
{
    struct round *round = context;
    uint64_t bytes;
    if (mw_residue_collect(path, &bytes) == MW_OK) /* the living are left alone */
        round->collected++;
    if (round->collected == COLLECTED_MAX || mw_clock_ns(CLOCK_MONOTONIC) > round->deadline)
        return MW_END;
    return MW_OK;
}

void mw_leftovers_collect(const struct mw_config *config)
{
    struct round round = {.deadline = mw_clock_ns(CLOCK_MONOTONIC) + TIME_MAX_NS};
    mw_residue_each(config->shm, collect, &round);
}
