/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of a job, corrected by its own messages and collectives. Jobs on one node need no pass
 * over the events for it. Main thread only.
 */
#ifndef MW_MODEL_CLOCK_BUILD_H
#define MW_MODEL_CLOCK_BUILD_H

#include "analyzer/model/clock.h"
#include "analyzer/model/comms.h"

struct mw_clock *mw_clock_build(const struct mw_model *model, const struct mw_comms *comms,
                                void (*progress)(uint64_t events));
/* Whether the events are read for it. */
int mw_clock_needs_events(const struct mw_clock *clock);

#endif
