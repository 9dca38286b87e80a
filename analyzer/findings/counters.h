/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel counted where something is slow: TCP segments that were sent again, and errors of
 * ports, as facts beside a finding. Main thread only.
 */
#ifndef MW_FINDINGS_COUNTERS_H
#define MW_FINDINGS_COUNTERS_H

#include "analyzer/findings/finding.h"

/* Pairs of ranks that a finding is about. */
struct mw_slow_pairs {
    unsigned char *senders; /* by process */
    unsigned char *nodes;   /* by node: of either end */
};

void mw_slow_pairs_begin(struct mw_slow_pairs *pairs, const struct mw_model *model);
void mw_slow_pairs_add(struct mw_slow_pairs *pairs, const struct mw_model *model, int64_t src,
                       int64_t dst);
/* Adds what is known to the finding, and ends. */
void mw_slow_pairs_evidence(struct mw_slow_pairs *pairs, const struct mw_model *model,
                            struct mw_finding *finding);

#endif
