/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages between two nodes say of the difference of their clocks: points in time at which it
 * is at least, and at most, so much. Kept as convex hulls by stretches of time, so that memory does
 * not grow with messages; the difference is then a straight line between both hulls, or several
 * where one does not fit (Duda, Harrus, Haddad, Bernard: Estimating global time in distributed
 * systems, 1987). One object, one thread.
 */
#ifndef MW_MODEL_CLOCK_HULL_H
#define MW_MODEL_CLOCK_HULL_H

#include "analyzer/base/memory.h"

#include <stdint.h>

#define MW_CLOCK_DRIFT 2e-4 /* by which two nodes' clocks may run apart, at most */

struct mw_clock_point {
    double time, value;
};

struct mw_clock_hull {
    MW_VECTOR(struct mw_clock_point) points; /* by time, but for the last ones */
    size_t sorted;                           /* of these, how many are the hull */
};

struct mw_clock_stretch {
    struct mw_clock_hull least, most;
};

struct mw_clock_edge {
    int64_t origin; /* ns; times are seconds from there */
    double width;   /* seconds of a stretch */
    MW_VECTOR(struct mw_clock_stretch) stretches;
    uint64_t bounds;
};

/* A straight line that holds for some time. */
struct mw_clock_line {
    double from, to, middle, value, drift; /* seconds; ns at the middle; ns a second */
    struct mw_clock_hull least, most;
};

struct mw_clock_fit {
    MW_VECTOR(struct mw_clock_line) lines; /* by time */
};

/* The difference, ns, is at least (`most`: at most) `value` at `ns`. */
void mw_clock_edge_add(struct mw_clock_edge *edge, int64_t ns, double value, int most);
/* The time that a fit's lines cover, ns. */
void mw_clock_fit_reach(const struct mw_clock_fit *fit, const struct mw_clock_edge *edge,
                        int64_t *from, int64_t *to);
/* Empty where one of both sides has no bound. */
struct mw_clock_fit mw_clock_edge_fit(struct mw_clock_edge *edge);
/* The difference at `ns`, and by how much it may be wrong. */
double mw_clock_fit_value(const struct mw_clock_fit *fit, const struct mw_clock_edge *edge,
                          int64_t ns, double *error);
void mw_clock_fit_free(struct mw_clock_fit *fit);
void mw_clock_edge_free(struct mw_clock_edge *edge);

#endif
