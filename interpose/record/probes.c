/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes, matched receives and calls without a meaning of their own: what is recorded of them is when,
 * where and on which communicator. An unsuccessful probe is a poll.
 */
#include "record/comms.h"
#include "record/record.h"
#include "record/requests.h"
#include "record/status.h"

static void open_on(struct mw_call *call, mw_handle comm, int rank, int tag)
{
    const struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    mw_open(call, mw_comm_id(entry), rank == mw_recorder.abi->any_source ? MW_PEER_ANY
                                                                         : mw_comm_peer(entry, rank),
            tag, 0);
}

/* Ends a call of kind CALL, with what was opened. */
static void end_call(struct mw_call *call, int rc)
{
    uint64_t end = mw_close(call);
    struct mw_raw_event detail = {.comm = call->comm, .peer = call->peer, .tag = call->tag};
    if (rc != 0)
        mw_call_failed(call, end, rc);
    else
        mw_call_event(call, end, MW_EVENT_CALL, 0, &detail);
    mw_leave(call);
}

static void end_poll(struct mw_call *call, int rc, const int *flag)
{
    if (rc != 0 || *flag) {
        end_call(call, rc);
        return;
    }
    mw_call_poll(call, mw_close(call));
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
    end_call(call, rc);
}

void mw_probe_begin(struct mw_call *call, int source, int tag, mw_handle comm)
{
    open_on(call, comm, source, tag);
}

void mw_probe_end(struct mw_call *call, int rc, int source, int tag, mw_handle comm)
{
    end_call(call, rc);
}

void mw_poll_begin(struct mw_call *call, int *flag, mw_handle comm)
{
    mw_call_begin(call, comm);
}

void mw_poll_end(struct mw_call *call, int rc, int *flag, mw_handle comm)
{
    end_poll(call, rc, flag);
}

void mw_mprobe_begin(struct mw_call *call, int source, int tag, mw_handle comm, void *message)
{
    open_on(call, comm, source, tag);
}

void mw_mprobe_end(struct mw_call *call, int rc, int source, int tag, mw_handle comm, void *message)
{
    end_call(call, rc);
}

void mw_improbe_begin(struct mw_call *call, int source, int tag, mw_handle comm, int *flag,
                      void *message)
{
    open_on(call, comm, source, tag);
}

void mw_improbe_end(struct mw_call *call, int rc, int source, int tag, mw_handle comm, int *flag,
                    void *message)
{
    end_poll(call, rc, flag);
}

void mw_mrecv_begin(struct mw_call *call, int64_t count, mw_handle datatype, void *message,
                    void **status)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_mrecv_end(struct mw_call *call, int rc, int64_t count, mw_handle datatype, void *message,
                  void **status)
{
    end_call(call, rc);
}

void mw_mrecv_start_begin(struct mw_call *call, int64_t count, mw_handle datatype, void *message)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_mrecv_start_end(struct mw_call *call, int rc, int64_t count, mw_handle datatype,
                        void *message)
{
    end_call(call, rc);
}
