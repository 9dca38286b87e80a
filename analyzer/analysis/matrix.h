/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse matrices: one figure for each ordered pair of ranks or nodes that has one. What can be
 * asked for stands in two tables, metrics and kinds; docs/metrics.md defines them.
 */
#ifndef MW_ANALYSIS_MATRIX_H
#define MW_ANALYSIS_MATRIX_H

#include "analyzer/analysis/tally.h"

struct mw_metric {
    const char *name, *unit, *title;
    uint64_t (*value)(const struct mw_pair *pair); /* seconds are ns here */
};
struct mw_kind {
    const char *name, *title;
};

enum mw_matrix_by { MW_BY_RANK, MW_BY_NODE };

extern const struct mw_metric mw_metrics[]; /* ends with a NULL name */
extern const struct mw_kind mw_kinds[];

struct mw_matrix_cell {
    int64_t src, dst; /* ranks, or numbers of nodes: -1 a node that is not known */
    uint64_t value;
};

struct mw_matrix {
    const struct mw_metric *metric;
    const struct mw_kind *kind;
    enum mw_matrix_by by;
    const struct mw_model *model;
    const struct mw_tally *tally;
    MW_VECTOR(struct mw_matrix_cell) cells; /* by src, then dst; none is zero */
    uint64_t total;
    int64_t size; /* ranks of the world or nodes */
};

struct mw_matrix *mw_matrix_create(const struct mw_tally *tally, const struct mw_metric *metric,
                                   const struct mw_kind *kind, enum mw_matrix_by by);
void mw_matrix_free(struct mw_matrix *matrix);

#endif
