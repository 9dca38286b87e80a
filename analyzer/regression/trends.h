/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the speeds of one benchmark went from run to run: a series for each kind of message, and
 * where it changed. Built on one thread from digests, which must outlive it; then read-only.
 */
#ifndef MW_REGRESSION_TRENDS_H
#define MW_REGRESSION_TRENDS_H

#include "analyzer/regression/changepoint.h"
#include "analyzer/regression/compare.h"

struct mw_trend_point {
    size_t run; /* of those that the trends were made of */
    double value;
};

/* One metric of messages of one distance, transport, buffer and size. */
struct mw_trend {
    const struct mw_figure *about; /* of the first run that has it */
    MW_VECTOR(struct mw_trend_point) points;
    struct mw_changepoint *changes; /* `at`: of the points */
    size_t change_count;
};

struct mw_trends {
    MW_VECTOR(struct mw_trend) all; /* by mw_figure_compare */
};

/* Whether a run's speeds can stand for its stack: not where it crashed or not all was recorded. */
int mw_trends_take(const struct mw_digest *run);
/* `runs` in the order of time. */
struct mw_trends *mw_trends_create(struct mw_runs runs);
void mw_trends_free(struct mw_trends *trends);

/* A level that falls is a change for the worse of a figure of which more is better. */
int mw_trend_worse(const struct mw_trend *trend, const struct mw_changepoint *change);

#endif
