/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse matrices: one figure for each ordered pair of ranks or nodes that has one, or the
 * transports that it used. What can be asked for stands in two tables, metrics and kinds;
 * docs/metrics.md defines them.
 */
#ifndef MW_ANALYSIS_MATRIX_H
#define MW_ANALYSIS_MATRIX_H

#include "analyzer/analysis/tally.h"
#include "analyzer/analysis/transports.h"

struct mw_metric {
    const char *name, *unit, *title;
    uint64_t (*value)(const struct mw_pair *pair); /* seconds are ns here; NULL: transports */
};
struct mw_kind {
    const char *name, *title;
    unsigned bit;
};
enum { MW_KIND_P2P = 1, MW_KIND_RMA = 2, MW_KIND_COLL = 4, MW_KIND_IO = 8 };

enum mw_matrix_by { MW_BY_RANK, MW_BY_NODE };

extern const struct mw_metric mw_metrics[]; /* ends with a NULL name */
extern const struct mw_kind mw_kinds[];

/* What went one way, of the messages of a cell. */
struct mw_matrix_part {
    int64_t src, dst;
    uint32_t way;                     /* of the transports */
    unsigned first_class, last_class; /* of its messages, where there are any */
    uint64_t messages, bytes, carried;
    enum mw_certainty certainty; /* the least */
};

struct mw_matrix_cell {
    /* Ranks, or numbers of nodes: -1 a node that is not known; MW_FILE_VERTEX + number: a file. */
    int64_t src, dst;
    uint64_t value; /* of transports: bytes */
    /* Of transports: */
    uint64_t messages;
    size_t part, part_count; /* from small messages to large ones; by node the most bytes first */
    const char *unknown;     /* why some of it is not known; NULL */
    uint64_t unknown_pairs;  /* for which that is so */
};

struct mw_matrix {
    const struct mw_metric *metric;
    unsigned kinds; /* bits */
    enum mw_matrix_by by;
    const struct mw_model *model;
    const struct mw_tally *tally;
    const struct mw_transports *transports; /* NULL: the cells are figures */
    MW_VECTOR(struct mw_matrix_cell) cells; /* by src, then dst; a figure is not zero */
    MW_VECTOR(struct mw_matrix_part) parts; /* by src, then dst */
    uint64_t total;
    int64_t size;      /* ranks of the world or nodes */
    uint64_t left_out; /* bytes of collectives whose pairs are not known or too many */
};

/* transports: only needed for a metric without a value. */
struct mw_matrix *mw_matrix_create(const struct mw_tally *tally,
                                   const struct mw_transports *transports,
                                   const struct mw_metric *metric, unsigned kinds,
                                   enum mw_matrix_by by);
void mw_matrix_free(struct mw_matrix *matrix);

#endif
