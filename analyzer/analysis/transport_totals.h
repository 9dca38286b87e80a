/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transports of a job added up for people: by way, and pairs of ranks with equal ways as one
 * group, so that a job of a hundred thousand ranks still fits a screen. Built once from the
 * transports, then read-only; texts are theirs. Main thread only.
 */
#ifndef MW_ANALYSIS_TRANSPORT_TOTALS_H
#define MW_ANALYSIS_TRANSPORT_TOTALS_H

#include "analyzer/analysis/speed.h"
#include "analyzer/analysis/transports.h"

#define MW_WHERES (MW_WHERE_NETWORK + 1) /* values of enum mw_where */

struct mw_route_sizes { /* classes of the messages; none where there were no messages */
    unsigned first_class, last_class;
    int any;
};

/* One way, over all pairs. */
struct mw_way_total {
    uint32_t way;
    uint64_t pairs, messages, bytes, carried;
    uint64_t bytes_of[MW_MEMORY_UNKNOWN + 1]; /* by kind of buffer */
    uint64_t bytes_where[MW_WHERES];
    uint64_t seen, concluded; /* bytes by certainty */
    struct mw_route_sizes sizes;
    double best_rate; /* bytes/s of large messages in flight, of the fastest pair; 0 not measured */
    int best_bound;   /* that is a lower bound */
    int64_t best_src, best_dst;
    uint64_t rate_pairs;
    uint64_t latency; /* ns of small messages, median of the pairs' medians; 0 not measured */
};

struct mw_route_total {
    uint32_t way;
    enum mw_memory_kind buffer;
    struct mw_route_sizes sizes;
    uint64_t messages, bytes, carried;
    enum mw_certainty certainty;
    const char *evidence; /* of the first pair */
    int evidence_differs; /* between pairs */
};

/* Pairs with the same ways, equally certain, in the same order. */
struct mw_pair_group {
    enum mw_where where;
    const char *unknown, *remainder_is;
    uint64_t messages, bytes, carried;
    int64_t remainder;
    MW_VECTOR(struct mw_route_total) routes;
    MW_VECTOR(uint32_t) pairs; /* numbers in mw_transports.pairs */
};

struct mw_transport_totals {
    const struct mw_transports *transports;
    const struct mw_speeds *speeds;
    MW_VECTOR(struct mw_way_total) ways;    /* most bytes first; none that carried nothing */
    MW_VECTOR(struct mw_pair_group) groups; /* most bytes first */
    uint64_t messages, bytes;               /* of all pairs */
    uint64_t unknown_pairs, unknown_messages, unknown_bytes; /* no route, and why */
    uint64_t partly_pairs;                                   /* known for some sizes only */
};

struct mw_transport_totals *mw_transport_totals_create(const struct mw_transports *transports,
                                                       const struct mw_speeds *speeds);
void mw_transport_totals_free(struct mw_transport_totals *totals);

/* How the pairs of a group lie to each other. */
enum mw_shape {
    MW_SHAPE_SOME,
    MW_SHAPE_SELF,         /* each rank to itself */
    MW_SHAPE_EACH_OTHER,   /* every rank to every other */
    MW_SHAPE_ALL_TO_ALL,   /* every source to every destination: different ranks, or some of both */
    MW_SHAPE_WITHIN_NODES, /* every rank to every other on its node */
    MW_SHAPE_ACROSS_NODES, /* every rank to every one on other nodes */
};

/* Who is in a group. Sorted, each once. */
struct mw_group_members {
    MW_VECTOR(int64_t) sources, destinations;
    enum mw_shape shape;
};
void mw_pair_group_members(const struct mw_transport_totals *totals,
                           const struct mw_pair_group *group, struct mw_group_members *members);
void mw_group_members_free(struct mw_group_members *members);

/* Whether an earlier route of the pair went the same way: of other sizes or buffers. */
int mw_route_repeats(const struct mw_pair_transport *pair, size_t index);
/* The route of a pair that messages of a size class took: the main one; NULL not known. */
const struct mw_route *mw_pair_route(const struct mw_pair_transport *pair, unsigned size_class);

#endif
