/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast messages were, by ordered pair of ranks and size class, out of both their ends on the
 * common clock (docs/metrics.md, "Speeds"). Fed message by message; memory grows with pairs and
 * size classes, not with messages. Built on one thread, then read-only.
 */
#ifndef MW_ANALYSIS_SPEED_H
#define MW_ANALYSIS_SPEED_H

#include "analyzer/analysis/place_speed.h"
#include "analyzer/analysis/trail.h"
#include "analyzer/model/matching.h"

#define MW_SPEED_WARM_UP     4            /* first messages of a pair and size class, kept apart */
#define MW_SPEED_WINDOW      16           /* messages of a window, of which the best is kept */
#define MW_SPEED_SLICES      16           /* of the job's time */
#define MW_SPEED_SMALL       127u         /* bytes up to which messages tell of latency */
#define MW_SPEED_LARGE       (256u << 10) /* and from which they tell of bandwidth */
#define MW_SPEED_MIN_CERTAIN 10           /* samples from which a figure may be judged */
#define MW_SPEED_LITTLE      50           /* one part in so many does not matter */
#define MW_SPEED_SHARP       10 /* a certain sample takes so many times the error of the clocks */
#define MW_SPEED_PACE        1048576.0          /* bytes of which a pace is the time */
#define MW_SPEED_PAUSE       INT64_C(100000000) /* ns outside MPI that end a burst */

/* Bytes and the time in which they moved, ns. */
struct mw_rate {
    uint64_t bytes, time;
};

struct mw_speed {
    int64_t src, dst;
    unsigned class;           /* mw_size_class */
    uint64_t messages, bytes; /* but for those of the warm-up */
    uint64_t warm_messages;
    struct mw_rate warm;       /* time: of the union of these */
    uint64_t certain, bounded; /* of messages */
    uint64_t samples;          /* certain ones: what one call completed is one */
    struct mw_rate in_flight;  /* of certain samples */
    struct mw_rate at_least;   /* of all messages: a lower bound */
    struct mw_rate throughput; /* with those of the warm-up: what the program got */
    uint64_t bursts;
    struct mw_rate largest; /* the burst that moved most; of several the last */
    struct mw_rate best;    /* the fastest window; 0 where there was none */
    double brisk;           /* bytes per second in flight of the fastest tenth of certain samples */
    double usual;           /* the same of the median sample */
    uint64_t latencies, latency_min, latency_median, latency_p99;
    double error;            /* the largest error bound of the clocks at a certain sample, ns */
    struct mw_rate *slices;  /* certain samples by time; NULL: none */
    struct mw_trail *paces;  /* of certain samples: ns a MiB; NULL: none */
    struct mw_trail *delays; /* latencies, ns; NULL: none */
};

/* All that moved from the ranks of one node to those of another, or of the same. */
struct mw_node_speed {
    uint32_t src, dst; /* numbers of nodes */
    struct mw_joint joint;
};

struct mw_speeds {
    const struct mw_model *model;
    MW_VECTOR(struct mw_speed) all;        /* by src, dst, class */
    MW_VECTOR(struct mw_node_speed) nodes; /* by src, dst */
    struct mw_place_speeds *places;        /* of messages only */
    uint64_t messages, violations;         /* violations: received before they were sent */
    uint64_t unsynchronised; /* between nodes whose clocks nothing ties together: left out */
    uint64_t unusable;       /* failed, or nobody saw the end */
    int64_t from, to;        /* of the slices, ns */
};

struct mw_transfer_meter;

/* placements: NULL where sums by NUMA node and network card are not wanted. */
struct mw_transfer_meter *mw_transfer_meter_create(const struct mw_model *model,
                                                   const struct mw_clock *clock,
                                                   const struct mw_placements *placements);
void mw_transfer_meter_message(struct mw_transfer_meter *meter, const struct mw_message *message);
/* The data of an access to a window (struct mw_matching_sink). */
void mw_transfer_meter_access(struct mw_transfer_meter *meter, const struct mw_message *access);
/* Ends the meter and gives what it measured. */
struct mw_speeds *mw_transfer_meter_finish(struct mw_transfer_meter *meter);
void mw_speeds_free(struct mw_speeds *speeds);

/* The size classes of a pair, ascending; NULL and 0 where nothing was measured. */
const struct mw_speed *mw_speeds_pair(const struct mw_speeds *speeds, int64_t src, int64_t dst,
                                      size_t *count);
/* What stands for a pair: of its large messages the size class in which most bytes moved, of its
 * small ones that with most latencies. NULL where there is no figure. */
const struct mw_speed *mw_speeds_large(const struct mw_speeds *speeds, int64_t src, int64_t dst);
const struct mw_speed *mw_speeds_small(const struct mw_speeds *speeds, int64_t src, int64_t dst);
/* NULL where nothing was measured between these nodes. */
const struct mw_node_speed *mw_speeds_nodes(const struct mw_speeds *speeds, int64_t src,
                                            int64_t dst);
/* Bytes per second; 0 where the time is. */
double mw_rate_value(const struct mw_rate *rate);
/* What moved in flight: of certain samples, or what all messages reached at least, where that is
 * more. *bound: it is such a bound, and no certain sample says nearly so. */
const struct mw_rate *mw_speed_moved(const struct mw_speed *speed, int *bound);
/* The same in bytes per second; 0 nothing is known. */
double mw_speed_in_flight(const struct mw_speed *speed, int *bound);

#endif
