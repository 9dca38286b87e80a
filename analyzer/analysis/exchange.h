/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks exchanged, seen from both ends: the common clock, how fast messages and collectives
 * were, and who waited for whom. Two passes over all events (one for a job on one node), on one
 * thread; then read-only.
 */
#ifndef MW_ANALYSIS_EXCHANGE_H
#define MW_ANALYSIS_EXCHANGE_H

#include "analyzer/analysis/coll_speed.h"
#include "analyzer/analysis/speed.h"
#include "analyzer/analysis/waits.h"

struct mw_exchange {
    const struct mw_model *model;
    const struct mw_comms *comms;
    struct mw_clock *clock;
    struct mw_matching_counts counts;
    struct mw_speeds *speeds;
    struct mw_speeds *accesses; /* the same of accesses to windows, seen by their origins */
    struct mw_coll_speeds *collectives;
    struct mw_waits *waits;
};

/* placements: NULL where sums by NUMA node and network card are not wanted; `progress` as of
 * mw_tally_create. */
struct mw_exchange *mw_exchange_create(const struct mw_model *model, const struct mw_comms *comms,
                                       const struct mw_placements *placements,
                                       void (*progress)(uint64_t events));
void mw_exchange_free(struct mw_exchange *exchange);

#endif
