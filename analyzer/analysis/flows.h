/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What moved other than by messages: accesses to windows, files that were read and written, and the
 * data flow of collectives (docs/metrics.md). Each process is counted by one thread into a meter,
 * which the tally adds to the whole. Collectives stay as they were counted, by communicator, until
 * a matrix wants their pairs: an all-to-all has as many as there are pairs.
 */
#ifndef MW_ANALYSIS_FLOWS_H
#define MW_ANALYSIS_FLOWS_H

#include "analyzer/analysis/tally.h"
#include "analyzer/model/operation.h"

/* A number that stands for a file where ranks stand, so that a file can be an end of a pair. */
#define MW_FILE_VERTEX INT64_C(0x80000000)

struct mw_window_total {
    int64_t comm;    /* number of the joined communicator; -1 not known */
    uint64_t number; /* of the windows made on it */
    enum mw_window_flavour flavour;
    const char *name;
    uint64_t holders, freed;                        /* processes */
    uint64_t size;                                  /* bytes exposed by all */
    uint64_t accesses, sent, fetched, epochs, time; /* time: ns in calls on it */
};

struct mw_file_total {
    const char *name;
    uint64_t opens; /* by processes */
    uint64_t reads, read, writes, written;
    uint64_t unknown;    /* reads of which only the room is known; their bytes are in `read` */
    uint64_t collective; /* of the reads and writes */
    uint64_t time;       /* ns in calls on it */
};

struct mw_io_pair { /* what a rank did with a file */
    int64_t rank;
    uint32_t file;
    uint64_t reads, read, writes, written, time_read, time_written;
};

/* Which way the data of a collective goes. */
enum mw_coll_way {
    MW_COLL_NONE,
    MW_COLL_FROM_ROOT, /* to this rank */
    MW_COLL_TO_ROOT,
    MW_COLL_TO_EACH,   /* what this rank contributes, to each other */
    MW_COLL_DEALT,     /* the same, in equal shares */
    MW_COLL_FROM_EACH, /* what this rank gets is combined from each other's */
    MW_COLL_TO_LATER,  /* to each of a higher rank */
    MW_COLL_BY_PEER,   /* amounts by peer are in FLOW */
    MW_COLL_ALONG,     /* the same, and the event has not their sum */
};

struct mw_coll_row {
    size_t process;
    int64_t comm; /* id in the process */
    enum mw_coll_way way;
    int64_t root; /* world rank, where it has one */
    int inter;
    uint64_t calls, bytes; /* calls that moved something */
};

struct mw_object_amounts { /* of a process */
    uint64_t accesses, sent, fetched, reads, read, writes, written;
};

/* Everything of a trace. Tables of windows and files are there from the beginning. */
struct mw_flows {
    MW_VECTOR(struct mw_window_total) windows;
    MW_VECTOR(struct mw_file_total) files; /* by name */
    uint32_t **window_of, **file_of;       /* by process, parallel to its windows and iofiles */
    struct mw_index rma_index, io_index;
    MW_VECTOR(struct mw_pair) rma; /* time: ns */
    MW_VECTOR(struct mw_io_pair) io;
    MW_VECTOR(struct mw_coll_row) colls;
    struct mw_pair rma_elsewhere; /* accesses whose target is not known */
    uint64_t io_elsewhere;        /* reads and writes of files that are not known */
    struct mw_object_amounts *by_process;
    uint64_t peers_lost; /* bytes of collectives by peer that are in no FLOW */
};

struct mw_flows *mw_flows_create(const struct mw_model *model, const struct mw_comms *comms);
void mw_flows_free(struct mw_flows *flows);

/* When all processes are in: an order that does not depend on who came first. */
void mw_flows_finish(struct mw_flows *flows);

struct mw_flow_meter;
struct mw_flow_meter *mw_flow_meter_create(const struct mw_process *process);
void mw_flow_meter_free(struct mw_flow_meter *meter);
/* An operation, in the order of the stream; ticks: of its call where it is the call's only one. */
void mw_flow_operation(struct mw_flow_meter *meter, const struct mw_operation *operation,
                       const struct mw_event *event, uint64_t ticks);
/* A call on a window or a file that is no access; peer: its place. */
void mw_flow_call(struct mw_flow_meter *meter, const struct mw_event *call, int64_t peer,
                  uint64_t ticks);
/* Calls of which only sums are known. */
void mw_flow_row(struct mw_flow_meter *meter, const struct mw_aggregate_row *row);
/* Adds a process to the whole; under the lock of the whole. */
void mw_flows_merge(struct mw_flows *flows, const struct mw_flow_meter *meter, size_t number,
                    const struct mw_comms *comms);

/* Pairs of collectives, one call for each pair and row. 0 where a communicator's members are not
 * known or there would be too many pairs: what is left out is added to *left_out. */
void mw_flows_collectives(const struct mw_flows *flows, const struct mw_comms *comms,
                          void (*pair)(void *context, int64_t src, int64_t dst, uint64_t messages,
                                       uint64_t bytes),
                          void *context, uint64_t *left_out);

enum mw_coll_way mw_coll_way_of(const char *function);

#endif
