/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of sums of one thread: found by their key, kept in groups in the crash-safe mapping, written
 * as AGGREGATE chunks now and then and at the end. What is counted in which row is aggregate.c's
 * matter. The thread that calls MPI; nothing is shared with others, no allocation but of segments
 * of the mapping, no I/O but of one group at a time.
 */
#ifndef MW_RECORD_SUMS_H
#define MW_RECORD_SUMS_H

#include "record/record.h"

/* 0: there is no memory. */
int mw_sums_start(struct mw_thread_state *thread);
/* The row of this key, in a group that knows when and why the call used it. */
struct mw_map_row *mw_sums_row(struct mw_call *call, const struct mw_map_key *key);
/* A call has ended at `now`: what is due is written, a group in each call. */
void mw_sums_work(struct mw_thread_state *thread, uint64_t now);
/* Writes all groups of all threads; they stay as they are. */
void mw_sums_flush(void);

#endif
