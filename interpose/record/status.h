/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Status of the running ABI: what it says, and lending one where the program passes
 * MPI_STATUS_IGNORE although only a status tells what a wildcard matched.
 */
#ifndef MW_RECORD_STATUS_H
#define MW_RECORD_STATUS_H

#include "record/record.h"

struct mw_status_view {
    int source, tag, error, cancelled;
    uint64_t bytes;
};

/* Reads a status that a completed receive has filled. */
struct mw_status_view mw_status_read(const void *status);

/* Where *status is MPI_STATUS_IGNORE and one is needed, *status becomes memory in the thread's scratch. */
void mw_status_borrow(struct mw_thread_state *thread, void **status, int needed);
/* The same for an array of `count` statuses and MPI_STATUSES_IGNORE. */
void mw_statuses_borrow(struct mw_thread_state *thread, void **statuses, size_t count, int needed);

/* The status, or NULL where it is MPI_STATUS_IGNORE. */
static inline const void *mw_status_usable(const void *status)
{
    return status == mw_recorder.abi->status_ignore ? NULL : status;
}

static inline const void *mw_statuses_at(const void *statuses, size_t index)
{
    if (statuses == mw_recorder.abi->statuses_ignore)
        return NULL;
    return (const char *)statuses + index * mw_recorder.abi->status_size;
}

#endif
