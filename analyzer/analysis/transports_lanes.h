/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the lanes of a UCX endpoint say: the transport of its active messages (small ones) and that
 * of its bulk transfers (large ones). Main thread.
 */
#ifndef MW_ANALYSIS_TRANSPORTS_LANES_H
#define MW_ANALYSIS_TRANSPORTS_LANES_H

#include "analyzer/analysis/transports_build.h"

enum mw_lane_part { MW_LANES_SMALL, MW_LANES_LARGE, MW_LANES_ALL };

struct mw_lane_sets {
    const struct mw_peer *peer;
    const char *small, *large; /* transports; equal where there is one */
    int sure; /* 0: the lanes were recorded without their uses, and several transports are among
                 them */
};

/* 0 when the endpoint has no lanes that carry data. */
int mw_lane_sets(const struct mw_peer *peer, struct mw_lane_sets *sets);
/* The way of one part: its transport on all devices that have lanes of it; see
 * mw_way_libfabric for `inside`. */
uint32_t mw_lane_way(struct mw_building *building, const struct mw_lane_sets *sets,
                     enum mw_lane_part part, uint32_t process, int inside);

#endif
