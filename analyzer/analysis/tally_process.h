/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process adds to a tally (tally.h), in clock ticks. Filled by one thread, without locks;
 * the tally takes it over when the process has been read.
 */
#ifndef MW_ANALYSIS_TALLY_PROCESS_H
#define MW_ANALYSIS_TALLY_PROCESS_H

#include "analyzer/analysis/tally.h"
#include "analyzer/model/operation.h"

struct mw_flow_meter;
struct mw_stream;

struct mw_local_function {
    uint64_t function;
    int lifecycle; /* begins or ends MPI */
    int marks;     /* MPI_Pcontrol: says which region is open */
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
    struct mw_memory_amounts memory;
};

struct mw_local_class { /* of the messages with one peer, in one direction */
    uint32_t pair;      /* number of the local pair */
    unsigned class;
    enum mw_memory_kind kind; /* MW_MEMORY_HOST: whatever memory */
    uint64_t messages, bytes;
};

struct mw_local_comm {
    int64_t id;
    struct mw_comm_total total; /* time: ticks */
    uint64_t next;              /* instance */
};

struct mw_local_region {
    uint64_t id, calls, ticks; /* in it, and in no region within */
};

struct mw_process_tally {
    size_t number;
    const struct mw_process *process;
    const struct mw_comms *all_comms;
    struct mw_index function_index, site_index, pair_index, class_index, buffer_index, comm_index;
    MW_VECTOR(struct mw_local_function) functions;
    MW_VECTOR(struct mw_local_site) sites;
    MW_VECTOR(struct mw_local_pair) pairs;
    MW_VECTOR(struct mw_local_class) classes;
    MW_VECTOR(struct mw_local_class) buffers; /* of memory other than the host's */
    MW_VECTOR(struct mw_local_comm) comms;
    struct mw_index region_index;
    MW_VECTOR(struct mw_local_region) regions;
    uint64_t region; /* that is open, by the events so far; 0 none */
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

/* What it has counted, made where it is not there yet (tally_local.c). */
struct mw_local_function *mw_local_function(struct mw_process_tally *tally, uint64_t function);
struct mw_amounts *mw_local_function_amounts(struct mw_process_tally *tally, uint64_t function);
struct mw_amounts *mw_local_site_amounts(struct mw_process_tally *tally, uint64_t function,
                                         uint64_t site);
struct mw_local_comm *mw_local_comm(struct mw_process_tally *tally, int64_t id);
struct mw_local_pair *mw_local_pair(struct mw_process_tally *tally, int64_t peer, int receives);
/* Messages to a pair, to its size class, and to their kind of memory. */
struct mw_local_pair *mw_local_pair_add(struct mw_process_tally *tally, int64_t peer, int receives,
                                        unsigned class, enum mw_memory_kind kind,
                                        uint64_t messages, uint64_t bytes);
/* The kind of a memory space of the process (MW_EVENT_SPACE_SEND). */
enum mw_memory_kind mw_local_memory(const struct mw_process_tally *tally, unsigned space);
/* MPI calls and their time to the region that is open; id 0: none is. */
void mw_local_region_add(struct mw_process_tally *tally, uint64_t id, uint64_t calls,
                         uint64_t ticks);

/* Calls of which only sums are known (tally_sums.c); when the stream has been read. */
void mw_tally_sums(struct mw_process_tally *tally, const struct mw_stream *stream);

/* Adds a process's regions to the tally (tally_regions.c), and calls and time of regions within
 * when all are in. */
void mw_tally_add_regions(struct mw_tally *tally, const struct mw_process_tally *from);
void mw_tally_join_regions(struct mw_tally *tally);

/* Of the tally, when all processes are in (tally_sizes.c). */
void mw_tally_sort_classes(struct mw_tally *tally);

#endif
