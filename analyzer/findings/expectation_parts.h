/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of expectations share (expectation.h); for them only. Main thread. */
#ifndef MW_FINDINGS_EXPECTATION_PARTS_H
#define MW_FINDINGS_EXPECTATION_PARTS_H

#include "analyzer/findings/expectation.h"

/* If `text` begins with `beginning`, what comes behind it; else NULL. */
const char *mw_behind(const char *text, const char *beginning);
/* Is a way one of those that the expectation names? */
int mw_expectation_names(const struct mw_expectation *expectation, const struct mw_way *way);

/* "bandwidth(inter-node, >=1MiB) >= 20GB/s": kind SPEED. 0, or -1 with *error; 1: it is none. */
int mw_expectation_speed_parse(const char *text, struct mw_expectation *expectation, char **error);
struct mw_judgement mw_expectation_speed_judge(const struct mw_expectation *expectation,
                                               const struct mw_finding_input *in);

#endif
