/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time lost to waiting for others, by kind, rank and call site (docs/metrics.md, "Waits"), and who
 * was waited for in collectives. Fed message by message and collective by collective; memory grows
 * with ranks and call sites. Built on one thread, then read-only.
 */
#ifndef MW_ANALYSIS_WAITS_H
#define MW_ANALYSIS_WAITS_H

#include "analyzer/model/matching.h"
#include "analyzer/model/sites.h"

/* X(IDENTIFIER, name in JSON, words) */
#define MW_WAIT_LIST(X)                                                                            \
    X(LATE_SENDER, "late_sender", "Late Sender")                                                   \
    X(LATE_RECEIVER, "late_receiver", "Late Receiver")                                             \
    X(LATE_BROADCAST, "late_broadcast", "Late Broadcast")                                          \
    X(EARLY_REDUCE, "early_reduce", "Early Reduce")                                                \
    X(BARRIER, "wait_at_barrier", "Wait at Barrier")                                               \
    X(NXN, "wait_at_nxn", "Wait at NxN")

enum mw_wait_kind {
#define MW_WAIT_ENUM(id, name, words) MW_WAIT_##id,
    MW_WAIT_LIST(MW_WAIT_ENUM)
#undef MW_WAIT_ENUM
        MW_WAIT_KINDS
};

struct mw_wait_amount {
    uint64_t count, time; /* ns */
};

/* Of one process. */
struct mw_rank_waits {
    struct mw_wait_amount by[MW_WAIT_KINDS];
    uint64_t caused; /* ns that others waited for it, the last one, in collectives */
    uint64_t last;   /* collectives in which it was the last */
};

struct mw_site_waits {
    uint64_t key; /* mw_site_key; 0 not recorded */
    uint64_t function;
    const char *name;
    size_t process; /* one that has it */
    uint64_t site;
    struct mw_wait_amount by[MW_WAIT_KINDS];
    uint64_t time, most; /* ns; of one process */
    size_t most_process;
};

/* Between two ranks: what a receiver waited for a sender, or a sender for a receiver. */
struct mw_pair_waits {
    int64_t src, dst;                    /* of the messages */
    uint64_t late_sender, late_receiver; /* ns */
};

struct mw_waits {
    const struct mw_model *model;
    struct mw_rank_waits *processes;       /* by number */
    MW_VECTOR(struct mw_site_waits) sites; /* most time first */
    MW_VECTOR(struct mw_pair_waits) pairs; /* by src, dst */
    struct mw_wait_amount total[MW_WAIT_KINDS];
    uint64_t instances; /* collectives that could be judged */
    uint64_t too_short; /* waits that are within the error of the clocks: not counted */
};

struct mw_wait_meter;

struct mw_wait_meter *mw_wait_meter_create(const struct mw_model *model,
                                           const struct mw_clock *clock);
void mw_wait_meter_message(struct mw_wait_meter *meter, const struct mw_message *message);
void mw_wait_meter_collective(struct mw_wait_meter *meter, const struct mw_instance *instance);
struct mw_waits *mw_wait_meter_finish(struct mw_wait_meter *meter);
void mw_waits_free(struct mw_waits *waits);

const char *mw_wait_name(enum mw_wait_kind kind);  /* "late_sender" */
const char *mw_wait_words(enum mw_wait_kind kind); /* "Late Sender" */
/* ns of all kinds. */
uint64_t mw_wait_sum(const struct mw_wait_amount by[MW_WAIT_KINDS]);

#endif
