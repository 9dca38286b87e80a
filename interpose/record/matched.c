/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched probes and receives. The probe takes the message: what it matched, and its running number, are
 * kept under the message's handle until the receive, which knows no peer or tag of its own.
 */
#include "record/comms.h"
#include "record/probes.h"
#include "record/requests.h"
#include "record/spaces.h"
#include "record/status.h"

/* The status is always needed: it alone says which message it is. */
static void begin(struct mw_call *call, int source, int tag, mw_handle comm, void **status)
{
    call->keep.word[0] = call->thread->scratch_used;
    mw_status_borrow(call->thread, status, 1);
    mw_probe_open(call, comm, source, tag);
}

/* Remembers the message. From MPI_PROC_NULL comes none (MPI_MESSAGE_NO_PROC), which the source tells. */
static void remember(struct mw_call *call, mw_handle comm, const void *message, const void *status)
{
    if (!status)
        return;
    struct mw_status_view view = mw_status_read(status);
    if (view.source == mw_recorder.abi->proc_null)
        return;
    struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
    struct mw_request matched = {
        .kind = MW_EVENT_RECV,
        .flags = entry && entry->inter ? MW_EVENT_INTER : 0,
        .comm = mw_comm_id(entry),
        .peer = mw_comm_peer(entry, view.source),
        .tag = view.tag,
        .bytes_in = view.bytes,
        .comm_entry = entry,
    };
    matched.number =
        mw_ordinal_next(call->thread, MW_EVENT_RECV, matched.comm, matched.peer, matched.tag);
    mw_request_add(mw_abi_load(mw_recorder.abi, message, 0), &matched);
}

void mw_mprobe_begin(struct mw_call *call, int source, int tag, mw_handle comm, void *message,
                     void **status)
{
    begin(call, source, tag, comm, status);
}

void mw_mprobe_end(struct mw_call *call, int rc, int source, int tag, mw_handle comm, void *message,
                   void **status)
{
    uint64_t end = mw_close(call);
    if (rc == 0)
        remember(call, comm, message, mw_status_usable(*status));
    call->thread->scratch_used = call->keep.word[0];
    mw_probe_close(call, end, rc);
}

void mw_improbe_begin(struct mw_call *call, int source, int tag, mw_handle comm, int *flag,
                      void *message, void **status)
{
    begin(call, source, tag, comm, status);
}

void mw_improbe_end(struct mw_call *call, int rc, int source, int tag, mw_handle comm, int *flag,
                    void *message, void **status)
{
    uint64_t end = mw_close(call);
    if (rc == 0 && *flag)
        remember(call, comm, message, mw_status_usable(*status));
    call->thread->scratch_used = call->keep.word[0];
    mw_probe_close_poll(call, end, rc, flag);
}

/* MPI overwrites the message's handle. */
static void begin_receive(struct mw_call *call, const void *message)
{
    struct mw_request matched = {.peer = MW_PEER_NONE};
    call->keep.word[0] = mw_abi_load(mw_recorder.abi, message, 0);
    mw_request_peek(call->keep.word[0], &matched);
    mw_open(call, matched.comm, matched.peer, matched.tag, 0);
}

/* The message as a RECV; 0 when nobody saw the probe, or there is no message. */
static int take(struct mw_call *call, struct mw_request *matched, struct mw_raw_event *detail,
                uint32_t *flags)
{
    if (!mw_request_forget(call->keep.word[0], matched))
        return 0;
    *detail = (struct mw_raw_event){.comm = matched->comm,
                                    .peer = matched->peer,
                                    .tag = matched->tag,
                                    .bytes_in = matched->bytes_in};
    *flags = matched->flags;
    if (matched->number != MW_NO_ORDINAL) {
        detail->ordinal = matched->number;
        *flags |= MW_EVENT_COUNTED;
    }
    return 1;
}

void mw_mrecv_begin(struct mw_call *call, int64_t count, mw_handle datatype, void *message,
                    void **status)
{
    begin_receive(call, message);
}

void mw_mrecv_end(struct mw_call *call, int rc, int64_t count, mw_handle datatype, void *message,
                  void **status)
{
    uint64_t end = mw_close(call);
    struct mw_request matched;
    struct mw_raw_event detail;
    uint32_t flags;
    if ((rc != 0 && !mw_is_truncated(rc)) || !take(call, &matched, &detail, &flags)) {
        mw_probe_close(call, end, rc);
        return;
    }
    if (rc != 0) {
        detail.bytes = (uint64_t)(int64_t)rc;
        detail.bytes_in = 0;
    }
    mw_call_event(call, end, MW_EVENT_RECV, flags | (rc ? MW_EVENT_ERROR : MW_EVENT_STATUS), &detail);
    mw_leave(call);
}

void mw_mrecv_start_begin(struct mw_call *call, int64_t count, mw_handle datatype, void *message)
{
    begin_receive(call, message);
}

void mw_mrecv_start_end(struct mw_call *call, int rc, int64_t count, mw_handle datatype,
                        void *message)
{
    uint64_t end = mw_close(call);
    struct mw_request matched;
    struct mw_raw_event detail;
    uint32_t flags;
    if (rc != 0 || !take(call, &matched, &detail, &flags)) {
        mw_probe_close(call, end, rc);
        return;
    }
    detail.bytes_in = mw_bytes(call->thread, count, datatype); /* room: the size stands in DONE */
    detail.request = call->thread->requests++;
    flags |= mw_spaces_of(call, MW_EVENT_RECV, flags, &detail);
    matched.flags |= flags & MW_EVENT_SPACES;
    matched.number = detail.request;
    matched.origin = (uint16_t)call->thread->index;
    mw_request_started_by(&matched, call);
    matched.bytes_in = detail.bytes_in;
    matched.active = 1;
    mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &matched);
    mw_call_event(call, end, MW_EVENT_RECV, flags | MW_EVENT_REQUEST, &detail);
    mw_leave(call);
}
