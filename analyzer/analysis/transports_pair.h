/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pair while its routes are found: its evidence summed up, and how routes are added. Shared by
 * transports_pair.c (the rules), _fabrics.c, _kernel.c and _ob1.c (what kinds of evidence give),
 * _routes.c and _unknown.c. Main thread.
 */
#ifndef MW_ANALYSIS_TRANSPORTS_PAIR_H
#define MW_ANALYSIS_TRANSPORTS_PAIR_H

#include "analyzer/analysis/transports_build.h"

/* Size class from which copies by the kernel are believed without an exact sum: 4 KiB. */
#define MW_SPLIT_FROM 13u
/* Who drives a way, and where it leads, of several files' ways. */
#define MW_LAYER_BTL     "Open MPI BTL"
#define MW_DEVICE_MEMORY "memory"

struct mw_pair_work {
    struct mw_building *building;
    struct mw_pair_transport *pair;
    const struct mw_flow *flows;
    size_t flow_count;
    const struct mw_pair_class *classes;
    size_t class_count;
    const struct mw_pair_class *buffers; /* of memory other than the host's, among these */
    size_t buffer_count;
    int64_t src, dst; /* processes; -1 not recorded */
    int inside;       /* one network namespace */
    uint64_t socket_bytes, connections;
    const char *interface;   /* of the connections: "eth0, eth1"; NULL none */
    uint64_t interface_rate; /* bit/s; 0 not known */
    uint64_t cma_bytes, cma_calls, cma_refused;
    uint64_t fabric_bytes, fabric_operations, fabric_unsized; /* unsized: operations */
    const struct mw_flow *fabric; /* MPI's flow with the most bytes; NULL none */
    uint64_t other_bytes; /* of MPI's fabrics that carry no messages: one-sided components */
};

static inline const struct mw_process *mw_work_process(const struct mw_pair_work *work,
                                                       int64_t number)
{
    return number < 0 ? NULL : mw_trace_process(work->building->model->trace, (size_t)number);
}

static inline const struct mw_endpoint_owner *mw_work_owner(const struct mw_pair_work *work,
                                                            int64_t number)
{
    return &work->building->endpoints->owners[number];
}

static inline const char *mw_work_keep(struct mw_pair_work *work, const char *text)
{
    return mw_text_keep(work->building->out->texts, text);
}

/* What headers and control of messages come to at most (docs/metrics.md, "Reconciliation"). */
static inline uint64_t mw_control_most(uint64_t bytes, uint64_t messages)
{
    return bytes / 50 + 128 * messages + 4096;
}

/* transports_fabrics.c */

void mw_pair_sum_fabrics(struct mw_pair_work *work);
/* Whether the fabric's counts are those of the messages. */
int mw_fabric_carries(const struct mw_pair_work *work);
/* Where it does. */
void mw_fabric_routes(struct mw_pair_work *work);
/* What MPI opened beside the part that moves its messages. */
void mw_beside_routes(struct mw_pair_work *work);
const char *mw_libfabric_evidence(struct mw_pair_work *work);

/* transports_kernel.c */

/* `where` is known. */
void mw_pair_sum_kernel(struct mw_pair_work *work);
/* Whether the connections carried what the kernel did not copy. */
int mw_sockets_carry(const struct mw_pair_work *work);
uint32_t mw_tcp_way(struct mw_pair_work *work, const char *layer);
const char *mw_tcp_evidence(struct mw_pair_work *work);
const char *mw_cma_evidence(struct mw_pair_work *work);
/* A way through shared memory, and what the kernel copied at once. `carried`: what was counted on
 * both. */
void mw_memory_routes(struct mw_pair_work *work, const char *name, const char *layer,
                      enum mw_certainty certainty, uint64_t carried, const char *evidence);

/* transports_ob1.c: of a pair whose sender was recorded. */
void mw_ob1_routes(struct mw_pair_work *work);

/* transports_routes.c */

/* Messages of classes number `from` to `end` (not included) took this way: a route for each kind of
 * buffer. */
void mw_route_add(struct mw_pair_work *work, uint32_t way, size_t from, size_t end,
                  enum mw_certainty certainty, uint64_t carried, const char *evidence);
/* This way was used, too; for which messages is not known. */
void mw_route_extra(struct mw_pair_work *work, uint32_t way, enum mw_certainty certainty,
                    uint64_t carried, const char *evidence);
/* All messages, or none where the pair has none. */
void mw_route_all(struct mw_pair_work *work, uint32_t way, enum mw_certainty certainty,
                  uint64_t carried, const char *evidence);
/* From which class on messages make up `bytes`, moved in `calls` calls (0: not known). */
struct mw_route_split {
    size_t at;   /* number of the class; that of all classes: none */
    int exact;   /* they add up within 2 %. Else other things were moved as well (collectives), and
                    as many of the large messages are taken as fit */
    int no_gpus; /* they do without those out of a GPU's memory */
};
struct mw_route_split mw_route_split_find(const struct mw_pair_work *work, uint64_t bytes,
                                          uint64_t calls);
/* Small messages on one way, large ones on another whose bytes were counted, in `calls` calls (0:
 * not known). `rest`: what was counted on the first. */
void mw_route_split(struct mw_pair_work *work, uint32_t small, uint64_t rest,
                    enum mw_certainty small_certainty, const char *small_evidence, uint32_t large,
                    uint64_t bytes, uint64_t calls, const char *large_evidence);

/* transports_unknown.c */

/* Why it is not known which way the messages took. */
const char *mw_pair_why(struct mw_pair_work *work);
/* Why the kernel's copies between the two may not all have been counted; NULL: they were. */
const char *mw_pair_copies_unknown(struct mw_pair_work *work);
/* What was counted between the two in all, and what is over or missing. `fabric_carries`: the
 * fabric's counts are those of the messages. */
void mw_pair_remainder(struct mw_pair_work *work, int fabric_carries);

#endif
