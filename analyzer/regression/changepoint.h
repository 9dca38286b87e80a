/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the level of a series of measurements changed for good. Knows nothing of MPI, keeps no
 * state and draws no random numbers: the same values give the same answer. Any thread.
 * docs/history.md has the method, its error rates and what it finds.
 */
#ifndef MW_REGRESSION_CHANGEPOINT_H
#define MW_REGRESSION_CHANGEPOINT_H

#include <stddef.h>

#define MW_CHANGEPOINT_LEVEL 0.01 /* share of unchanging series that may get a change point */
#define MW_CHANGEPOINT_LEAST 0.05 /* relative change of the median that is worth one */

struct mw_changepoint {
    size_t at;            /* the first value of the new level */
    double before, after; /* the medians from the change before to it, and from it to the next */
    double p; /* at most: that noise alone looks like this anywhere in what was searched */
};

/* The change points of `count` values, all positive and in their order in time; newly allocated,
 * ascending. *found of them. */
struct mw_changepoint *mw_changepoints(const double *values, size_t count, size_t *found);

#endif
