/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps that all collectives share: the instance on the communicator is counted when the call begins
 * (a rank that hangs in it is known to have reached it), bytes when it has succeeded.
 */
#ifndef MW_RECORD_COLL_H
#define MW_RECORD_COLL_H

#include "record/comms.h"
#include "record/record.h"

/* This rank's part in a collective on a communicator. */
struct mw_coll_role {
    struct mw_comm_entry *comm; /* NULL: not known */
    int prepares;               /* a persistent one: amounts by rank are kept for its starts */
    struct mw_flow_prepared *prepared; /* those; NULL none */
    int peers;                  /* ranks on the other side: the group, or the remote group */
    int is_root;                /* collects or distributes */
    int idle;                   /* MPI_PROC_NULL as root on an inter-communicator: takes no part */
};

#define MW_NO_ROOT INT32_MIN

void mw_coll_open(struct mw_call *call, mw_handle comm, int root);
/* After the call: 1 and the role when it succeeded; else the failure has been recorded and the call left. */
int mw_coll_succeeded(struct mw_call *call, uint64_t end, int rc, mw_handle comm, int root,
                      struct mw_coll_role *role);
/* Records a failure. Where MPI refused an argument the call was never entered: its number is given back, to what the other
 * ranks count next. 1: so it was. */
int mw_coll_failed(struct mw_call *call, uint64_t end, int rc, mw_handle comm);
/* Records the collective and leaves the call. */
void mw_coll_close(struct mw_call *call, uint64_t end, const struct mw_coll_role *role,
                   uint64_t bytes, uint64_t bytes_in);

/* neighbours.c: what goes to neighbours (sending) is also counted by rank. How many neighbours this rank receives from and sends to on a communicator with a topology, and the bytes of
 * one count (or of an array of counts) over those that exist: MPI_PROC_NULL at the edge of a grid does not. */
uint64_t mw_neighbours_bytes(struct mw_thread_state *thread, struct mw_coll_role *role,
                             int sending, int64_t count, mw_handle type);
uint64_t mw_neighbours_bytes_v(struct mw_thread_state *thread, struct mw_coll_role *role,
                               int sending, struct mw_counts counts, mw_handle type);
uint64_t mw_neighbours_bytes_w(struct mw_thread_state *thread, struct mw_coll_role *role,
                               int sending, struct mw_counts counts, const void *types);

/* flows.c: `bytes` go to a rank as it stands in calls on this communicator: now, or at each start of what is prepared. */
void mw_flow_add(struct mw_coll_role *role, int rank, uint64_t bytes);
/* A persistent collective is started: what was prepared goes to its ranks. And it is freed. NULL is nothing. */
void mw_flow_start(struct mw_comm_entry *comm, const struct mw_flow_prepared *prepared);
void mw_flow_forget(struct mw_flow_prepared *prepared);
/* The communicator is freed: the last of its amounts. Its array is given back when the entry is used again. */
void mw_flow_end(struct mw_comm_entry *comm);
/* A bounded step of writing, when it is due; and all that there is, at the end. */
void mw_flows_flush(void);
void mw_flows_finish(void);

static inline int64_t mw_count_at(struct mw_counts counts, size_t index)
{
    return counts.width == 4 ? ((const int32_t *)counts.p)[index]
                             : ((const int64_t *)counts.p)[index];
}

#endif
