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

struct mw_rank_entry {
    int64_t rank;
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
    int64_t world_size; /* -1 unknown */
    struct mw_node *nodes;
    size_t node_count;
    uint32_t *process_node;      /* by number of process */
    struct mw_rank_entry *ranks; /* by rank, each rank once */
    size_t rank_count;
    size_t duplicate_ranks; /* processes whose rank another one has, too */
    size_t rankless;        /* processes whose rank is not known */
    MW_VECTOR(struct mw_thread_events) threads;
    struct mw_index thread_index;
    struct mw_type_total types[256]; /* by chunk type; higher ones under 0 */
    struct mw_index process_index;   /* key → number of process */
};

struct mw_model *mw_model_create(const mw_trace *trace);
void mw_model_free(struct mw_model *model);

/* The rank in MPI_COMM_WORLD, as learned or as the launcher said; -1 unknown. */
int64_t mw_process_rank(const struct mw_process *process);
/* The number of the process with that rank; -1 when it was not recorded. */
int64_t mw_model_rank(const struct mw_model *model, int64_t rank);
/* The node of a rank; -1 when it was not recorded. */
int64_t mw_model_rank_node(const struct mw_model *model, int64_t rank);
/* How many events the threads of a process hold, and how many threads have any. */
uint64_t mw_model_events(const struct mw_model *model, const struct mw_process *process);
/* Index of the n-th thread of this process that has events or is described; MW_END after the last.
 */
enum mw_status mw_model_thread(const struct mw_model *model, const struct mw_process *process,
                               size_t n, uint64_t *thread);

#endif
