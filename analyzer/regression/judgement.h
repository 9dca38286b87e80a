/* SPDX-License-Identifier: BSD-3-Clause */
/* A comparison as one expectation among others, "no regression against ...". Main thread only. */
#ifndef MW_REGRESSION_JUDGEMENT_H
#define MW_REGRESSION_JUDGEMENT_H

#include "analyzer/findings/expectation.h"
#include "analyzer/regression/compare.h"

struct mw_judgement mw_comparison_judge(const struct mw_comparison *comparison);

#endif
