/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse matrices: one figure for each ordered pair of ranks or nodes that has one, or the
 * transports that it used. What can be asked for stands in two tables, metrics and kinds;
 * docs/metrics.md defines them.
 */
#ifndef MW_ANALYSIS_MATRIX_H
#define MW_ANALYSIS_MATRIX_H

#include "analyzer/analysis/exchange.h"
#include "analyzer/analysis/tally.h"
#include "analyzer/analysis/transports.h"
#include "analyzer/analysis/vertices.h"

/* What a cell holds: one of the functions is there, or none: transports. Seconds are ns. */
struct mw_metric {
    const char *name, *unit, *title;
    uint64_t (*value)(const struct mw_pair *pair);
    /* Of a pair's messages of one size class; 0: not measured. *weight: of several classes that
     * with the largest counts; *bound: the value is one, on the bad side. */
    uint64_t (*measured)(const struct mw_speed *speed, uint64_t *weight, int *bound);
    uint64_t (*waited)(const struct mw_pair_waits *waits);
    uint64_t (*of_nodes)(const struct mw_node_speed *speed); /* by node; NULL: there is no such */
    int of_accesses;                                         /* to windows, too */
};
struct mw_kind {
    const char *name, *title;
    unsigned bit;
};
enum { MW_KIND_P2P = 1, MW_KIND_RMA = 2, MW_KIND_COLL = 4, MW_KIND_IO = 8 };

/* Which memory messages came from. */
enum mw_matrix_buffer { MW_BUFFER_ANY, MW_BUFFER_DEVICE, MW_BUFFER_HOST };

extern const struct mw_metric mw_metrics[]; /* ends with a NULL name */
extern const struct mw_kind mw_kinds[];

/* What went one way, of the messages of a cell. */
struct mw_matrix_part {
    int64_t src, dst;
    uint32_t way;                     /* of the transports */
    enum mw_memory_kind buffer;       /* of its messages */
    unsigned first_class, last_class; /* of its messages, where there are any */
    uint64_t messages, bytes, carried;
    enum mw_certainty certainty; /* the least */
};

struct mw_matrix_cell {
    /* Ranks, or numbers of nodes or vertices: -1 one that is not known; MW_FILE_VERTEX + number: a
     * file. */
    int64_t src, dst;
    struct mw_between between; /* of vertices */
    uint64_t value;            /* of transports: bytes */
    /* Of transports: */
    uint64_t messages;
    size_t part, part_count; /* from small messages to large ones; by node the most bytes first */
    const char *unknown;     /* why some of it is not known; NULL */
    uint64_t unknown_pairs;  /* for which that is so */
    /* Of what is measured: */
    const struct mw_speed *speed; /* NULL by node */
    int bound;
};

/* What is asked for. */
struct mw_matrix_question {
    const struct mw_metric *metric;
    unsigned kinds; /* bits */
    enum mw_matrix_by by;
    enum mw_matrix_buffer buffer;
    unsigned first_class, last_class; /* sizes that a measured metric looks at */
};

/* What is in no cell, and what was missing, of all jobs. */
struct mw_matrix_rest {
    struct mw_pair outside, unknown; /* of struct mw_tally, as all of these */
    uint64_t cancelled, receiver_side, upper, p2p_time, pair_time, events_missing;
    struct mw_pair rma_elsewhere;
    uint64_t io_elsewhere;
};

struct mw_matrix {
    const struct mw_metric *metric;
    unsigned kinds; /* bits */
    enum mw_matrix_by by;
    enum mw_matrix_buffer buffer;
    struct mw_vertices *vertices;           /* NULL: rows are ranks, or nodes of one trace */
    size_t jobs;                            /* traces that were added up */
    struct mw_index index;                  /* of cells, while they are added up */
    const struct mw_placements *placements; /* of the trace that is added; NULL without vertices */
    const struct mw_model *model;           /* of the trace that was added last, as the two below */
    const struct mw_tally *tally;
    const struct mw_transports *transports; /* NULL: the cells are figures */
    const struct mw_exchange *exchange;     /* NULL: nothing measured */
    unsigned first_class, last_class;
    MW_VECTOR(struct mw_matrix_cell) cells; /* by src, then dst; a figure is not zero */
    MW_VECTOR(struct mw_matrix_part) parts; /* by src, then dst */
    struct mw_matrix_rest rest;
    uint64_t total;
    int64_t size;      /* ranks of the world or nodes */
    uint64_t left_out; /* bytes of collectives whose pairs are not known or too many */
};

/* Whether the cells hold transports, or something that needs both ends of messages. */
int mw_metric_is_transport(const struct mw_metric *metric);
int mw_metric_needs_exchange(const struct mw_metric *metric);

/* What one job, or several one after the other, adds up to; the cells are there after the end.
 * Without vertices (by rank, or by node of one trace) there can be but one job. */
struct mw_matrix *mw_matrix_begin(const struct mw_matrix_question *question, int vertices);
/* transports, exchange: only needed for metrics that say so; placements: only for vertices. */
void mw_matrix_add(struct mw_matrix *matrix, const struct mw_tally *tally,
                   const struct mw_transports *transports, const struct mw_exchange *exchange,
                   const struct mw_placements *placements);
void mw_matrix_finish(struct mw_matrix *matrix);
void mw_matrix_free(struct mw_matrix *matrix);

#endif
