/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process adds to a tally (tally.h), in clock ticks. Filled by one thread, without locks;
 * the tally takes it over when the process has been read.
 */
#ifndef MW_ANALYSIS_TALLY_PROCESS_H
#define MW_ANALYSIS_TALLY_PROCESS_H

#include "analyzer/analysis/tally_speed.h"

struct mw_flow_meter;

struct mw_local_function {
    uint64_t function;
    int lifecycle; /* begins or ends MPI */
    struct mw_amounts amounts;
};

struct mw_local_site {
    uint64_t function, site;
    struct mw_amounts amounts;
};

struct mw_local_pair { /* with one peer, in one direction */
    int64_t peer;
    int receives; /* this process is the receiver */
    uint64_t messages, bytes, ticks, upper;
};

struct mw_local_class { /* of the messages with one peer, in one direction */
    uint32_t pair;      /* number of the local pair */
    unsigned class;
    uint64_t messages, bytes;
};

struct mw_local_comm {
    int64_t id;
    struct mw_comm_total total; /* time: ticks */
    uint64_t next;              /* instance */
};

struct mw_process_tally {
    size_t number;
    const struct mw_process *process;
    const struct mw_comms *all_comms;
    struct mw_index function_index, site_index, pair_index, class_index, comm_index;
    MW_VECTOR(struct mw_local_function) functions;
    MW_VECTOR(struct mw_local_site) sites;
    MW_VECTOR(struct mw_local_pair) pairs;
    MW_VECTOR(struct mw_local_class) classes;
    MW_VECTOR(struct mw_local_comm) comms;
    struct mw_speed_meter *speed;
    struct mw_flow_meter *flow;
    MW_VECTOR(struct mw_event_damage) damage; /* texts go to the tally */
    struct mw_size_total sizes[MW_SIZE_CLASSES];
    struct mw_process_total total; /* times in ticks */
    struct mw_pair outside, unknown;
    uint64_t p2p_ticks, pair_ticks, cancelled, events;
};

struct mw_process_tally *mw_process_tally_create(const struct mw_comms *comms, size_t number,
                                                 void (*progress)(uint64_t events));
void mw_process_tally_free(struct mw_process_tally *tally);

/* Of the tally, when all processes are in (tally_sizes.c). */
void mw_tally_sort_classes(struct mw_tally *tally);

#endif
