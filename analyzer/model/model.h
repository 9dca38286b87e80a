/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job behind a trace: which processes, ranks and nodes there are, and how many events each
 * thread holds. Built once from the metadata, then read-only: any thread may read it.
 */
#ifndef MW_MODEL_MODEL_H
#define MW_MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"
#include "mpiwatch/trace.h"

struct mw_node {
    const char *host;
    size_t process_count;
};

/* One MPI_COMM_WORLD. A trace may have several: programs that spawn or connect to others, and
 * traces that are read together. The ranks of all stand in one row: a rank's *place* is its rank
 * plus the places before its world. With one world, as nearly always, place and rank are the same.
 */
struct mw_world {
    uint64_t key;        /* groups its processes */
    int64_t first, size; /* places: first, first + 1, ...; as many as it is known to have ranks, 0
                            none known */
    size_t processes;
    uint32_t sample; /* number of one of its processes: the first to begin */
    double began;    /* its, seconds since 1970; NaN not known */
};

/* A rank as it is named: world from 1 on, 0 where the trace has one only. rank -1: not known. */
struct mw_rank_id {
    uint32_t world;
    int64_t rank;
};

struct mw_place_entry {
    int64_t place;
    uint32_t process;
};

/* Event chunks of one thread, from their heads. */
struct mw_thread_events {
    uint64_t process, thread; /* key, index */
    uint64_t next;            /* one more than the highest number seen */
    uint64_t chunks, stored;  /* bytes as stored */
};

struct mw_type_total {
    uint64_t chunks, stored;
};

struct mw_model {
    const mw_trace *trace;
    size_t process_count;
    struct mw_world *worlds; /* in the order in which they began */
    size_t world_count;      /* 0 only without processes */
    uint32_t *process_world; /* by number of process */
    int64_t *process_place;  /* by number of process; -1: its rank is not known */
    uint32_t
        *in_order; /* numbers of all processes: world by world, in each as the trace has them */
    int64_t rank_total; /* places; -1 unknown */
    struct mw_node *nodes;
    size_t node_count;
    uint32_t *process_node;      /* by number of process */
    struct mw_place_entry *ranks; /* by place, each place once */
    size_t rank_count;
    size_t duplicate_ranks; /* processes whose rank another one has, too */
    size_t rankless;        /* processes whose rank is not known */
    MW_VECTOR(struct mw_thread_events) threads;
    struct mw_index thread_index;
    struct mw_type_total types[256]; /* by chunk type; higher ones under 0 */
    struct mw_index process_index;   /* key → number of process */
    struct mw_seats *seats;          /* NULL: nobody has asked (seats.h) */
};

struct mw_model *mw_model_create(const mw_trace *trace);
void mw_model_free(struct mw_model *model);

/* The place of a process's rank, as it learned it or as the launcher said; -1 unknown. */
int64_t mw_model_place(const struct mw_model *model, size_t process);
int64_t mw_model_place_of(const struct mw_model *model, const struct mw_process *process);
/* The number of the process at a place; -1 when it was not recorded. */
int64_t mw_model_rank(const struct mw_model *model, int64_t place);
/* The node of a place; -1 when it was not recorded. */
int64_t mw_model_rank_node(const struct mw_model *model, int64_t place);
/* How the rank at a place is called. */
struct mw_rank_id mw_model_rank_id(const struct mw_model *model, int64_t place);
/* The place of a rank of that name; -1 when no world has it. */
int64_t mw_model_find_rank(const struct mw_model *model, struct mw_rank_id id);
/* The place of a peer as a process's events have it: a rank of its world. MW_PEER_* stay what they
 * are. */
int64_t mw_model_peer(const struct mw_model *model, size_t process, int64_t peer);
/* How many events the threads of a process hold, and how many threads have any. */
uint64_t mw_model_events(const struct mw_model *model, const struct mw_process *process);
/* Index of the n-th thread of this process that has events or is described; MW_END after the last.
 */
enum mw_status mw_model_thread(const struct mw_model *model, const struct mw_process *process,
                               size_t n, uint64_t *thread);

#endif
