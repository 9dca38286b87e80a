/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators by handle: identity, translation of ranks to world ranks, instances of collectives.
 * Look-ups are lock-free; creation and release take a lock and may ask MPI local questions (never
 * communication), only about communicators that a successful call has shown to be valid.
 */
#ifndef MW_RECORD_COMMS_H
#define MW_RECORD_COMMS_H

#include "record/listed.h"
#include "record/record.h"

struct mw_comm_run {
    int32_t start, stride;
    uint32_t count, first; /* first: rank of the run's first member */
};

#define MW_COMM_INLINE_RUNS 2u

struct mw_flow_table;

extern struct mw_listed mw_comms_listed;

struct mw_comm_entry {
    _Atomic mw_handle handle; /* 0 when free */
    _Atomic(struct mw_comm_entry *) next; /* in its bucket */
    struct mw_comm_entry *next_free;
    uint32_t id;
    uint8_t how, inter;
    uint8_t listed; /* the trace describes it */
    _Atomic uint8_t learned; /* group and size are known */
    uint32_t parent;         /* id + 1 */
    uint32_t number;
    int size, rank, remote_size;
    uint64_t hash;
    struct mw_comm_run *peers; /* group that ranks in calls refer to: the remote one of an inter-communicator */
    size_t peer_runs;
    struct mw_comm_run inline_runs[MW_COMM_INLINE_RUNS];
    size_t pages; /* bytes behind `peers` when it is not inline_runs */
    _Atomic uint32_t instances;                 /* collectives begun */
    _Atomic uint32_t created[MW_COMM_HOW_END_]; /* children by kind */
    _Atomic uint32_t windows, files;            /* made on it */
    uint32_t holds; /* windows and files that refer to it; under the lock */
    uint8_t freed;  /* while something held it */
    struct mw_flow_table *flow; /* flows.c: what went to whom in collectives; NULL nothing */
    size_t flow_pages;          /* bytes behind it */
};

void mw_comms_start(void);  /* after the real MPI_Init: WORLD and SELF */
void mw_comms_stop(void);   /* before the real MPI_Finalize: gives MPI its objects back */
/* groups.c: the same where there are sessions and no MPI_COMM_WORLD: its ranks are those of the process set mpi://WORLD,
 * asked for in this session. 0: they are unknown. */
int mw_groups_start_session(mw_handle session, int *rank, int *size);
int mw_groups_have_world(void); /* world ranks are known at the moment */

/* The entry of a handle or NULL. Asks nobody: for begin handlers. */
struct mw_comm_entry *mw_comm_find(struct mw_thread_state *thread, mw_handle comm);
/* The same after a successful call: learns what is not known yet. NULL only when there is no memory. */
struct mw_comm_entry *mw_comm_learn(struct mw_thread_state *thread, mw_handle comm);
/* Kinds that are collective over their parent: their number is counted on it. */
int mw_comm_counts_on_parent(enum mw_comm_how how);
/* A communicator that a successful call has created; number: as counted on the parent (else ignored). deferred: usable only
 * after a request completes, so that MPI is asked about it when a call has used it. */
void mw_comm_created(struct mw_thread_state *thread, enum mw_comm_how how,
                     const struct mw_comm_entry *parent, uint32_t number, mw_handle comm,
                     int deferred);
/* id: mw_comm_id when the call began; the handle may have been given to a new communicator since. */
void mw_comm_freed(mw_handle comm, uint32_t id, uint64_t time);
/* Keeps an entry from being used again after MPI_Comm_free, and lets it go. NULL is nothing. */
void mw_comm_hold(struct mw_comm_entry *entry);
void mw_comm_let_go(struct mw_comm_entry *entry);
/* It reaches over worlds: when the call that made it began and ended, and a hash of the port's name (0 none). */
void mw_comm_reached(struct mw_thread_state *thread, mw_handle comm, uint64_t began, uint64_t made,
                     uint64_t port);
void mw_comm_named(struct mw_thread_state *thread, mw_handle comm, const char *name);

/* Whether the communicator of this id (+ 1) has been freed; whether any has. Lock-free. */
int mw_comm_is_gone(uint32_t id);
int mw_comms_gone(void);

/* World rank of a rank as it stands in a call on this communicator (or MW_PEER_*). entry may be NULL. */
int32_t mw_comm_peer(const struct mw_comm_entry *entry, int rank);

/* What MPI tells of a communicator. */
struct mw_comm_group {
    int size, rank, inter, remote_size;
    uint64_t hash;
    struct mw_comm_run *members, *remote; /* in the thread's scratch; remote: of an inter-communicator */
    size_t member_runs, remote_runs;
    struct mw_comm_run *places; /* ranks of the members in the parent: where there are strangers, each world knows them by these */
    size_t place_runs;
    uint64_t place_hash;
};

/* groups.c: asks MPI; 0 when it cannot tell. Leaves the members in scratch. Without a lock: MPI may wait for a thread
 * that is in a callback, and that calls us. parent: the intra-communicator that it has just been made of; 0 none. */
int mw_comm_ask_group(struct mw_thread_state *thread, mw_handle comm, mw_handle parent,
                      struct mw_comm_group *group);
/* groups.c: fills an entry; 0 when there is no memory. Under the lock of comms.c. */
int mw_comm_set_group(struct mw_comm_entry *entry, const struct mw_comm_group *group);
/* groups.c: writes the COMM chunk of a learned entry. */
void mw_comm_write(struct mw_thread_state *thread, const struct mw_comm_entry *entry,
                   const struct mw_comm_group *group);
/* groups.c: world ranks of a group's members in the thread's scratch; NULL when it has none or more than `most`, or MPI cannot
 * tell: *count is then their number, or -1. */
const int32_t *mw_group_world_ranks(struct mw_thread_state *thread, mw_handle group, int most,
                                    int *count);
void mw_groups_start(void); /* takes the group of MPI_COMM_WORLD */
void mw_groups_stop(void);  /* gives it back */

static inline uint32_t mw_comm_id(const struct mw_comm_entry *entry) /* id + 1; 0 none */
{
    return entry ? entry->id + 1 : 0;
}

#endif
