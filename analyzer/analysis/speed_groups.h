/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs that can be compared: of one distance class, one transport and one size class, the fastest
 * first. Built once from the speeds, then read-only.
 */
#ifndef MW_ANALYSIS_SPEED_GROUPS_H
#define MW_ANALYSIS_SPEED_GROUPS_H

#include "analyzer/analysis/speed.h"
#include "analyzer/analysis/transports.h"
#include "analyzer/model/distance.h"

struct mw_speed_group {
    enum mw_distance distance;
    int64_t way; /* number of the transport; -1 not known */
    unsigned class;
    const struct mw_speed *const *members; /* judged ones by in-flight bandwidth, then the others */
    size_t count, judged;                  /* judged: with enough certain samples */
    uint64_t messages, bytes;
    double median;    /* bytes per second, in flight, over the judged pairs; 0 none */
    uint64_t latency; /* ns, the median over pairs of their medians; 0 not known */
};

struct mw_speed_groups {
    MW_VECTOR(struct mw_speed_group) all; /* by distance, transport, class */
    const struct mw_speed **members;
};

/* transports: may be NULL, all ways are unknown then. */
struct mw_speed_groups *mw_speed_groups_create(const struct mw_speeds *speeds,
                                               const struct mw_transports *transports);
void mw_speed_groups_free(struct mw_speed_groups *groups);
/* Bytes per second in flight; 0 where there are too few certain samples to judge. */
double mw_speed_judged(const struct mw_speed *speed);
/* The way that a pair's messages of a class went; -1 not known. */
int64_t mw_speed_way(const struct mw_transports *transports, const struct mw_speed *speed);
/* "vader"; "unknown" for way -1. Static, or of the transports. */
const char *mw_speed_way_name(const struct mw_transports *transports, int64_t way);

#endif
