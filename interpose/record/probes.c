/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes and calls without a meaning of their own: what is recorded of them is when, where and on which
 * communicator. An unsuccessful probe is a poll.
 */
#include "record/probes.h"

#include "record/comms.h"

void mw_probe_open(struct mw_call *call, mw_handle comm, int rank, int tag)
{
    const struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    mw_open(call, mw_comm_id(entry), mw_comm_peer(entry, rank), mw_tag(tag), 0);
}

/* Ends a call of kind CALL, with what was opened. */
void mw_probe_close(struct mw_call *call, uint64_t end, int rc)
{
    struct mw_raw_event detail = {.comm = call->comm, .peer = call->peer, .tag = call->tag};
    if (rc != 0)
        mw_call_failed(call, end, rc);
    else
        mw_call_event(call, end, MW_EVENT_CALL, 0, &detail);
    mw_leave(call);
}

void mw_probe_close_poll(struct mw_call *call, uint64_t end, int rc, const int *flag)
{
    if (rc != 0 || *flag) {
        mw_probe_close(call, end, rc);
        return;
    }
    mw_call_poll(call, end);
    mw_leave(call);
}

/* `comm` is 0 where the call has none. */
void mw_call_begin(struct mw_call *call, mw_handle comm)
{
    const struct mw_comm_entry *entry = comm ? mw_comm_find(call->thread, comm) : NULL;
    mw_open(call, mw_comm_id(entry), MW_PEER_NONE, 0, 0);
}

void mw_call_end(struct mw_call *call, int rc, mw_handle comm)
{
    mw_probe_close(call, mw_close(call), rc);
}

void mw_probe_begin(struct mw_call *call, int source, int tag, mw_handle comm)
{
    mw_probe_open(call, comm, source, tag);
}

void mw_probe_end(struct mw_call *call, int rc, int source, int tag, mw_handle comm)
{
    mw_probe_close(call, mw_close(call), rc);
}

void mw_poll_begin(struct mw_call *call, int *flag, mw_handle comm)
{
    mw_call_begin(call, comm);
}

void mw_poll_end(struct mw_call *call, int rc, int *flag, mw_handle comm)
{
    mw_probe_close_poll(call, mw_close(call), rc, flag);
}
