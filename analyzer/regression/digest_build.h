/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the analyses of a trace to its digest, part by part. For digest.c only. What is about the
 * whole job comes first: the other parts do not need each other. One thread.
 */
#ifndef MW_REGRESSION_DIGEST_BUILD_H
#define MW_REGRESSION_DIGEST_BUILD_H

#include "analyzer/findings/study.h"
#include "analyzer/regression/digest.h"

void mw_digest_add_work(struct mw_digest *digest, const struct mw_analysis *analysis);
void mw_digest_add_stack(struct mw_digest *digest, const struct mw_analysis *analysis);
void mw_digest_add_ways(struct mw_digest *digest, const struct mw_analysis *analysis);
void mw_digest_add_speeds(struct mw_digest *digest, const struct mw_analysis *analysis);
void mw_digest_add_times(struct mw_digest *digest, const struct mw_analysis *analysis);

#endif
