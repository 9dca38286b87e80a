/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast devices that some processes could have used and did not, for the rules that ask why. Main
 * thread only.
 */
#ifndef MW_FINDINGS_IDLE_H
#define MW_FINDINGS_IDLE_H

#include "analyzer/findings/used.h"

struct mw_fast {
    MW_VECTOR(const struct mw_idle *) devices; /* native, up, never tried; each device once */
};

void mw_fast_begin(struct mw_fast *fast, const struct mw_finding_input *in,
                   const struct mw_crowd *crowd);
void mw_fast_end(struct mw_fast *fast);
/* An RDMA device as UCX drives it (InfiniBand, RoCE), not one that only libfabric knows. */
int mw_idle_is_rdma(const struct mw_idle *idle);
/* "cxi0 (libfabric provider cxi, 25.0 GB/s, up)". */
char *mw_idle_words(const struct mw_idle *idle);
/* "cxi0", else the provider. */
const char *mw_idle_name(const struct mw_idle *idle);

/* Everybody whose pairs used ways for which a test holds. */
void mw_crowd_of_ways(struct mw_crowd *crowd, const struct mw_finding_input *in, unsigned wheres,
                      int (*test)(const struct mw_way *way));

#endif
