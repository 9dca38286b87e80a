/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast collectives were, by communicator, function and size class (docs/metrics.md,
 * "Collectives' bandwidth"): from the last rank's coming to the last one's leaving, so that waiting
 * for a late rank is not in it. Built on one thread, then read-only.
 */
#ifndef MW_ANALYSIS_COLL_SPEED_H
#define MW_ANALYSIS_COLL_SPEED_H

#include "analyzer/analysis/histogram.h"
#include "analyzer/analysis/speed.h"

struct mw_coll_speed {
    uint32_t comm; /* number in mw_comms */
    uint64_t function;
    const char *name;
    unsigned class;
    uint64_t instances, ranks;
    struct mw_rate algorithm; /* bytes as docs/metrics.md says, over all instances */
    double bus;               /* × algorithm bandwidth */
    uint64_t least, usual;    /* ns, the shortest one and the median */
};

struct mw_coll_speeds {
    struct mw_index index;
    MW_VECTOR(struct mw_coll_speed) all; /* by communicator, name, class */
    MW_VECTOR(struct mw_histogram) times; /* of each, until all are in */
};

struct mw_coll_speeds *mw_coll_speeds_create(void);
void mw_coll_speeds_add(struct mw_coll_speeds *speeds, const struct mw_instance *instance);
/* When all are in: sorts. */
void mw_coll_speeds_finish(struct mw_coll_speeds *speeds);
void mw_coll_speeds_free(struct mw_coll_speeds *speeds);

#endif
