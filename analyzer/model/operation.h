/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an event did, with the start of a request joined to its completion: which message, which
 * peer, how many bytes. Feed it the calls of a process in the order of mw_stream_next. One table a
 * process, one thread.
 */
#ifndef MW_MODEL_OPERATION_H
#define MW_MODEL_OPERATION_H

#include "mpiwatch/trace.h"

enum mw_operation_kind {
    MW_OPERATION_NONE, /* no communication that is known */
    MW_OPERATION_SEND,
    MW_OPERATION_RECV,
    MW_OPERATION_COLL,
    MW_OPERATION_RMA,   /* an access to a window */
    MW_OPERATION_READ,  /* of a file */
    MW_OPERATION_WRITE,
};

struct mw_operation {
    enum mw_operation_kind kind;
    int starts, ends; /* this event starts or completes it; a blocking one does both */
    int failed;       /* the call returned an error */
    int cancelled;    /* completed by cancellation: no message */
    int collective;   /* READ, WRITE: over the processes of the file */
    int freed;        /* by MPI_Request_free: when it completed is not known */
    int64_t peer;     /* world rank or MW_PEER_*; of a collective: the root or -1 */
    int64_t comm;
    uint64_t bytes;    /* SEND: sent; RECV: received, or room in the buffer where not known; COLL:
                          contributed; RMA: to the target; READ, WRITE: of the file */
    int known;         /* bytes is what was moved, not an upper bound */
    unsigned space;    /* SEND, RECV: that of the memory (MW_EVENT_SPACE_SEND); 0 host memory */
    uint64_t received; /* COLL: received; RMA: fetched */
    int64_t object;    /* id of the window or file; -1 not known */
    uint64_t function, site; /* of the call that started it; 0 where that was not seen */
    uint64_t start;          /* time of that call; 0 where that was not seen */
    uint64_t note;           /* of an end: what mw_requests_note said; else 0 */
};

/* 1 + the number of the initialisation that this is a use of, where the message is partitioned; 0
 * it is not. */
uint64_t mw_event_part(const struct mw_event *event);

struct mw_requests; /* started, not yet completed */

struct mw_requests *mw_requests_create(void);
void mw_requests_free(struct mw_requests *requests);
/* Explains an event of `thread`, the call's own or one of its parts; `site` is the call's. */
void mw_operation_resolve(struct mw_requests *requests, uint64_t thread, uint64_t site,
                          const struct mw_event *event, struct mw_operation *operation);

/* Keeps a number of the caller's with a request that was started, until its completion. */
void mw_requests_note(struct mw_requests *requests, uint64_t thread, uint64_t number,
                      uint64_t note);

#endif
