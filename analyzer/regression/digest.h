/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run comes down to when it is compared with others or kept in a history: what it was
 * (program, ranks, size of its work), what it ran on (its stack), which ways its messages took, and
 * how fast it was; plain rows that know nothing of each other. Owns all its texts, so that the
 * trace can be closed. Built on one thread, then read-only.
 */
#ifndef MW_REGRESSION_DIGEST_H
#define MW_REGRESSION_DIGEST_H

#include <stdint.h>

#include "analyzer/base/memory.h"

/* Something about the stack that may differ between runs. X(IDENTIFIER, name in JSON and files) */
#define MW_FACT_LIST(X)                                                                            \
    X(MPI, "mpi")             /* name "version": what MPI_Get_library_version said, one line */    \
    X(LIBRARY, "library")     /* name: base name without version; value: version, build-id */      \
    X(PARAMETER, "parameter") /* name as a variable; value; detail: source with its line */        \
    X(PLACEMENT, "placement") /* name "bound_to", "ranks_a_node", "nic" ...; value */              \
    X(MACHINE, "machine")     /* name "system.kernel", "cpu.governor", "host" ...; value */

enum mw_fact_kind {
#define MW_FACT_ENUM(id, name) MW_FACT_##id,
    MW_FACT_LIST(MW_FACT_ENUM)
#undef MW_FACT_ENUM
        MW_FACT_KINDS
};

struct mw_digest_fact {
    enum mw_fact_kind kind;
    char *name, *value;
    char *detail;  /* path of a library, source of a parameter; "" none */
    int64_t ranks; /* processes that have it; 0: all of the job */
};

/* Which way pairs of one distance and kind of buffer took, for messages of one size class or more.
 */
struct mw_digest_way {
    const char *distance; /* mw_distance_word */
    const char *buffer;   /* "host", "device" ...; "" not known */
    char *transport;      /* "cxi"; "unknown" */
    char *layer, *device; /* "" not known */
    unsigned first_class, last_class;
    uint64_t pairs, messages, bytes;
};

/* One ordered pair's ways, as `mpiwatch transports` says them. */
struct mw_digest_pair {
    int64_t src, dst; /* ranks (mw_rank_label's places) */
    const char *distance;
    char *transport; /* "vader, from 4 KiB on cma"; "unknown" */
    uint64_t messages, bytes;
};

/* X(IDENTIFIER, name, unit, whether more is better). Values are SI: bytes per second, seconds. */
#define MW_METRIC_LIST(X)                                                                          \
    X(BANDWIDTH, "bandwidth", "B/s", 1)   /* in flight, of certain samples */                      \
    X(THROUGHPUT, "throughput", "B/s", 1) /* what the program got */                               \
    X(LATENCY, "latency", "s", 0)         /* the median */                                         \
    X(TIME, "time", "s", 0)               /* in a call, a wait, a collective; of the whole job */

enum mw_figure_metric {
#define MW_METRIC_ENUM(id, name, unit, more) MW_METRIC_##id,
    MW_METRIC_LIST(MW_METRIC_ENUM)
#undef MW_METRIC_ENUM
        MW_METRICS
};

/* What a figure is about. The members of struct mw_figure that name it: */
#define MW_SCOPE_LIST(X)                                                                           \
    X(CLASS, "class")           /* distance, transport, buffer, size_class */                      \
    X(PAIR, "pair")             /* src, dst, size_class; distance and transport go with it */      \
    X(CALL, "call")             /* name: the function */                                           \
    X(SITE, "site")             /* name: function and place in the program */                      \
    X(WAIT, "wait")             /* name: mw_wait_name */                                           \
    X(COLLECTIVE, "collective") /* name: function on communicator; size_class */                   \
    X(JOB, "job")               /* name: "wall", "mpi" */

enum mw_figure_scope {
#define MW_SCOPE_ENUM(id, name) MW_SCOPE_##id,
    MW_SCOPE_LIST(MW_SCOPE_ENUM)
#undef MW_SCOPE_ENUM
        MW_SCOPES
};

struct mw_figure {
    enum mw_figure_scope scope;
    enum mw_figure_metric metric;
    const char *distance; /* "" does not apply */
    char *transport, *name;
    const char *buffer;
    int64_t src, dst;    /* -1 does not apply */
    unsigned size_class; /* mw_size_class; 0 with scopes without sizes */
    double value;
    uint64_t samples; /* messages or calls behind it */
    double *blocks;   /* the same of 8 to 16 parts of the samples, in their order; NULL none */
    size_t block_count;
};

struct mw_digest {
    char *path;    /* as given */
    char *program; /* base name of the executable; of several: the one of most ranks */
    char *arguments;
    char *executable_id; /* build-id in hex, "" not known */
    char *identity;      /* of the job: equal for every form of one trace; "" not known */
    int64_t ranks, recorded_ranks, nodes;
    int64_t began;    /* UTC, seconds since the epoch; 0 not known */
    char *crashed;    /* how a rank ended that should not have; NULL: all ended well */
    char *incomplete; /* why the trace is not whole; NULL: it is */
    char *disturbed;  /* what else ran on its processors; NULL: nothing that is known */
    uint64_t messages, bytes, calls, collective_calls; /* the size of its work */
    MW_VECTOR(char *) rank_names;                      /* by place; none where there is one world */
    MW_VECTOR(struct mw_digest_fact) stack;            /* by kind, name, value */
    MW_VECTOR(struct mw_digest_way) ways;   /* by distance, buffer, first class, transport */
    MW_VECTOR(struct mw_digest_pair) pairs; /* by src, dst */
    MW_VECTOR(struct mw_figure) figures;    /* by mw_figure_compare */
};

/* NULL when the trace cannot be read: *why, newly allocated, says so. Prints nothing. */
struct mw_digest *mw_digest_read(const char *path, char **why);
void mw_digest_free(struct mw_digest *digest);

/* One made piece by piece: texts are copied but the static ones; finish brings it into its order,
 * and the numbers of blocks with it. */
struct mw_digest *mw_digest_create(const char *path);
void mw_digest_put_fact(struct mw_digest *digest, enum mw_fact_kind kind, const char *name,
                        const char *value, const char *detail, int64_t ranks);
void mw_digest_put_way(struct mw_digest *digest, const struct mw_digest_way *way);
void mw_digest_put_pair(struct mw_digest *digest, const struct mw_digest_pair *pair);
void mw_digest_put_figure(struct mw_digest *digest, const struct mw_figure *figure);
void mw_digest_finish(struct mw_digest *digest);

/* Orders figures by what they are about; 0: the same thing in two runs. */
int mw_figure_compare(const struct mw_figure *left, const struct mw_figure *right);
const struct mw_figure *mw_digest_figure(const struct mw_digest *digest,
                                         const struct mw_figure *like); /* NULL none */
/* The facts of one kind and name, by value; NULL and 0 where there is none. */
const struct mw_digest_fact *mw_digest_facts(const struct mw_digest *digest, enum mw_fact_kind kind,
                                             const char *name, size_t *count);
/* A rank by its place, as mw_rank_label says it: "3", "2:3". Newly allocated. */
char *mw_digest_rank(const struct mw_digest *digest, int64_t place);
const char *mw_fact_kind_word(enum mw_fact_kind kind);
const char *mw_metric_word(enum mw_figure_metric metric);
const char *mw_metric_unit(enum mw_figure_metric metric);
int mw_metric_more_is_better(enum mw_figure_metric metric);
const char *mw_scope_word(enum mw_figure_scope scope);

#endif
