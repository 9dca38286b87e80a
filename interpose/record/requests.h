/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests under way, by handle. Several may have the same handle (both MPIs hand out one completed
 * request for small sends): they join first in, first out. Striped by handle, a short lock a stripe:
 * a request may complete in another thread than it started in.
 */
#ifndef MW_RECORD_REQUESTS_H
#define MW_RECORD_REQUESTS_H

#include "record/record.h"

struct mw_flow_prepared;

struct mw_request {
    uint32_t number; /* of the thread `origin` */
    uint32_t flags;  /* enum mw_event_flag of the operation */
    uint16_t origin; /* index of the thread that started it */
    uint8_t kind;    /* enum mw_event_kind */
    uint8_t active;      /* persistent: started and not complete */
    uint8_t cancelled;   /* MPI_Cancel was called */
    uint32_t comm;       /* id + 1 */
    int32_t peer, tag;
    uint16_t function;   /* that started it; persistent: or, before that, prepared it */
    uint8_t reduced;     /* started by a call that made sums while only MPI_Pcontrol had it so */
    uint32_t site;       /* where it was started */
    uint32_t part;       /* partitioned: mw_part_number; 0 it is none */
    uint32_t uses;       /* persistent: how often it was started */
    uint64_t bytes, bytes_in;
    struct mw_flow_prepared *flow; /* of a persistent collective: what each start sends to whom; NULL nothing */
    struct mw_comm_entry *comm_entry; /* for translating the source of a wildcard */
};

/* Remembers a request. Failure (no memory) is a health note; its completion is then unknown. */
void mw_request_add(mw_handle handle, const struct mw_request *request);
/* The oldest request of this handle. take: a persistent one stays and becomes inactive, any other is forgotten. 0: unknown or inactive. */
int mw_request_take(mw_handle handle, uint16_t origin, struct mw_request *request);
int mw_request_peek(mw_handle handle, struct mw_request *request);
/* Persistent: marks it started with this number by this call. Returns what was prepared. */
int mw_request_start(mw_handle handle, const struct mw_call *call, uint32_t number, struct mw_request *request);
/* Notes which call starts a request that is being described. */
static inline void mw_request_started_by(struct mw_request *request, const struct mw_call *call)
{
    request->function = call->function;
    request->site = call->site;
    request->reduced = call->reduced == MW_WHY_PCONTROL;
}
/* Whether a request of this handle is `reduced`. */
int mw_request_is_reduced(mw_handle handle);
/* Forgets it, persistent or not. */
int mw_request_forget(mw_handle handle, struct mw_request *request);
void mw_request_mark_cancelled(mw_handle handle);
/* A call that may have completed it was left by a jump: rather unknown than taken for a later one of this handle. */
void mw_request_abandon(mw_handle handle);

#endif
