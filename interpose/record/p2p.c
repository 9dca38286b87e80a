/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point calls that start or move a message: send and receive in all modes, blocking,
 * nonblocking and persistent, probes. Completions are in complete.c. What MPI must be asked (type sizes,
 * new communicators) is asked after the call succeeded.
 */
#include "record/coll.h"
#include "record/comms.h"
#include "record/partitioned.h"
#include "record/record.h"
#include "record/requests.h"
#include "record/spaces.h"
#include "record/status.h"

/* Flags that say which of the four modes a send has. */
static uint32_t mode_flags(unsigned function)
{
    switch (function) {
    case MW_FN_Ssend:
    case MW_FN_Issend:
    case MW_FN_Ssend_init:
    case MW_FN_Ssend_c:
    case MW_FN_Issend_c:
    case MW_FN_Ssend_init_c:
        return MW_EVENT_SYNC;
    case MW_FN_Bsend:
    case MW_FN_Ibsend:
    case MW_FN_Bsend_init:
    case MW_FN_Bsend_c:
    case MW_FN_Ibsend_c:
    case MW_FN_Bsend_init_c:
        return MW_EVENT_BUFFERED;
    case MW_FN_Rsend:
    case MW_FN_Irsend:
    case MW_FN_Rsend_init:
    case MW_FN_Rsend_c:
    case MW_FN_Irsend_c:
    case MW_FN_Rsend_init_c:
        return MW_EVENT_READY;
    default:
        return 0;
    }
}

static uint32_t inter_flag(const struct mw_comm_entry *comm)
{
    return comm && comm->inter ? MW_EVENT_INTER : 0;
}

/* Gives a message its running number. */
static void count(struct mw_thread_state *thread, int kind, struct mw_raw_event *detail,
                  uint32_t *flags)
{
    uint32_t ordinal = mw_ordinal_next(thread, kind, detail->comm, detail->peer, detail->tag);
    if (ordinal != MW_NO_ORDINAL) {
        detail->ordinal = ordinal;
        *flags |= MW_EVENT_COUNTED;
    }
}

/* The request that a nonblocking call started: numbered, remembered until its completion. */
static void start_request(struct mw_call *call, int kind, uint32_t *flags,
                          struct mw_raw_event *detail, struct mw_comm_entry *comm)
{
    *flags |= mw_spaces_of(call, kind, *flags, detail);
    struct mw_request request = {
        .number = call->thread->requests++,
        .flags = *flags,
        .kind = (uint8_t)kind,
        .origin = (uint16_t)call->thread->index,
        .active = 1,
        .comm = detail->comm,
        .peer = detail->peer,
        .tag = detail->tag,
        .bytes = detail->bytes,
        .bytes_in = detail->bytes_in,
        .comm_entry = comm,
    };
    mw_request_started_by(&request, call);
    detail->request = request.number;
    *flags |= MW_EVENT_REQUEST;
    mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &request);
}

/* A persistent request that was prepared: no event of its own kind, but MPI_Start will need to know. */
static void prepare_request(struct mw_call *call, int kind, uint32_t flags,
                            const struct mw_raw_event *detail, struct mw_comm_entry *comm)
{
    struct mw_request request = {
        .flags = flags | MW_EVENT_PERSISTENT | mw_spaces_of(call, kind, flags, detail),
        .part = mw_part_number(call, kind, detail),
        .kind = (uint8_t)kind,
        .comm = detail->comm,
        .peer = detail->peer,
        .tag = detail->tag,
        .function = call->function,
        .bytes = detail->bytes,
        .bytes_in = detail->bytes_in,
        .comm_entry = comm,
    };
    mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &request);
}

/* The sending half of a call that succeeded: what is known about the message. */
static struct mw_raw_event sent(struct mw_call *call, const struct mw_comm_entry *comm,
                                int64_t amount, mw_handle datatype, int dest, int tag,
                                uint32_t *flags)
{
    struct mw_raw_event detail = {.comm = mw_comm_id(comm),
                                  .peer = mw_comm_peer(comm, dest),
                                  .tag = tag,
                                  .bytes = mw_bytes(call->thread, amount, datatype)};
    *flags = mode_flags(call->function) | inter_flag(comm);
    return detail;
}

static void open_message(struct mw_call *call, mw_handle comm, int rank, int tag)
{
    const struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    mw_open(call, mw_comm_id(entry), mw_comm_peer(entry, rank), mw_tag(tag), 0);
}

void mw_send_begin(struct mw_call *call, int64_t amount, mw_handle datatype, int dest, int tag,
                   mw_handle comm)
{
    open_message(call, comm, dest, tag);
}

/* A message to or from MPI_PROC_NULL moves nothing: a call like any other. */
static void no_message(struct mw_call *call, uint64_t end)
{
    struct mw_raw_event detail = {.comm = call->comm, .peer = MW_PEER_NONE, .tag = call->tag};
    mw_call_event(call, end, MW_EVENT_CALL, 0, &detail);
}

/* Whether a receive says by itself which messages it counts among. */
static int is_counted_when_posted(uint32_t flags)
{
    return !(flags & (MW_EVENT_ANY_SOURCE | MW_EVENT_ANY_TAG));
}

/* The end of a call that sends, or posts a receive: the message itself, or what was prepared of it. */
static void end_message(struct mw_call *call, uint64_t end, int kind, uint32_t flags,
                        struct mw_raw_event *detail, struct mw_comm_entry *comm)
{
    if (call->mode == MW_PREPARES) {
        prepare_request(call, kind, flags, detail, comm);
        no_message(call, end);
        return;
    }
    if (is_counted_when_posted(flags))
        count(call->thread, kind, detail, &flags);
    if (call->mode == MW_STARTS)
        start_request(call, kind, &flags, detail, comm);
    mw_call_event(call, end, kind, flags, detail);
}

/* Nothing is moved, and the datatype need not even be one. A prepared request is remembered all the same. */
static int is_void(const struct mw_call *call, int rank)
{
    return rank == mw_recorder.abi->proc_null && call->mode != MW_PREPARES;
}

void mw_send_end(struct mw_call *call, int rc, int64_t amount, mw_handle datatype, int dest, int tag,
                 mw_handle comm)
{
    uint64_t end = mw_close(call);
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else if (is_void(call, dest)) {
        no_message(call, end);
    } else {
        struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
        uint32_t flags;
        struct mw_raw_event detail = sent(call, entry, amount, datatype, dest, tag, &flags);
        end_message(call, end, MW_EVENT_SEND, flags, &detail, entry);
    }
    mw_leave(call);
}

static uint32_t wildcard_flags(int source, int tag)
{
    return (source == mw_recorder.abi->any_source ? MW_EVENT_ANY_SOURCE : 0) |
           (tag == mw_recorder.abi->any_tag ? MW_EVENT_ANY_TAG : 0);
}

/* The receiving half of a blocking call: from the status where there is one. */
static void received(struct mw_call *call, const struct mw_comm_entry *comm, int64_t amount,
                     mw_handle datatype, int source, int tag, const void *status,
                     struct mw_raw_event *detail, uint32_t *flags)
{
    *flags = wildcard_flags(source, tag) | inter_flag(comm);
    if (status) {
        struct mw_status_view view = mw_status_read(status);
        if (*flags & MW_EVENT_ANY_SOURCE)
            source = view.source;
        if (*flags & MW_EVENT_ANY_TAG)
            tag = view.tag;
        detail->bytes_in = view.bytes;
        *flags |= MW_EVENT_STATUS;
    } else {
        detail->bytes_in = mw_bytes(call->thread, amount, datatype);
    }
    detail->comm = mw_comm_id(comm);
    detail->peer = mw_comm_peer(comm, source);
    detail->tag = mw_tag(tag);
    if (detail->peer != MW_PEER_ANY)
        count(call->thread, MW_EVENT_RECV, detail, flags);
}

/* A receive that failed. Where its message was too long it has taken it, and counts. */
static void receive_failed(struct mw_call *call, uint64_t end, int rc, int source, int tag,
                           mw_handle comm, const void *status)
{
    struct mw_raw_event detail = {0};
    uint32_t flags;
    if (!mw_is_truncated(rc) || source == mw_recorder.abi->proc_null) {
        mw_call_failed(call, end, rc);
        return;
    }
    received(call, mw_comm_learn(call->thread, comm), 0, mw_recorder.abi->datatype_byte, source,
             tag, status, &detail, &flags);
    detail.bytes = (uint64_t)(int64_t)rc;
    detail.bytes_in = 0;
    mw_call_event(call, end, MW_EVENT_RECV, (flags & ~(uint32_t)MW_EVENT_STATUS) | MW_EVENT_ERROR,
                  &detail);
}

void mw_recv_begin(struct mw_call *call, int64_t amount, mw_handle datatype, int source, int tag,
                   mw_handle comm, void **status)
{
    call->keep.word[0] = call->thread->scratch_used;
    mw_status_borrow(call->thread, status, wildcard_flags(source, tag) != 0);
    open_message(call, comm, source, tag);
}

void mw_recv_end(struct mw_call *call, int rc, int64_t amount, mw_handle datatype, int source,
                 int tag, mw_handle comm, void **status)
{
    uint64_t end = mw_close(call);
    if (rc != 0) {
        receive_failed(call, end, rc, source, tag, comm, mw_status_usable(*status));
    } else if (source == mw_recorder.abi->proc_null) {
        no_message(call, end);
    } else {
        struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
        struct mw_raw_event detail = {0};
        uint32_t flags;
        received(call, entry, amount, datatype, source, tag, mw_status_usable(*status), &detail,
                 &flags);
        mw_call_event(call, end, MW_EVENT_RECV, flags, &detail);
    }
    call->thread->scratch_used = call->keep.word[0];
    mw_leave(call);
}

/* A receive that was posted: asked for, not matched yet. */
static struct mw_raw_event posted(struct mw_call *call, const struct mw_comm_entry *comm,
                                  int64_t amount, mw_handle datatype, int source, int tag,
                                  uint32_t *flags)
{
    struct mw_raw_event detail = {.comm = mw_comm_id(comm),
                                  .peer = mw_comm_peer(comm, source),
                                  .tag = mw_tag(tag),
                                  .bytes_in = mw_bytes(call->thread, amount, datatype)};
    *flags = wildcard_flags(source, tag) | inter_flag(comm);
    return detail;
}

void mw_recv_start_begin(struct mw_call *call, int64_t amount, mw_handle datatype, int source,
                         int tag, mw_handle comm)
{
    open_message(call, comm, source, tag);
}

void mw_recv_start_end(struct mw_call *call, int rc, int64_t amount, mw_handle datatype, int source,
                       int tag, mw_handle comm)
{
    uint64_t end = mw_close(call);
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else if (is_void(call, source)) {
        no_message(call, end);
    } else {
        struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
        uint32_t flags;
        struct mw_raw_event detail = posted(call, entry, amount, datatype, source, tag, &flags);
        end_message(call, end, MW_EVENT_RECV, flags, &detail, entry);
    }
    mw_leave(call);
}

void mw_sendrecv_begin(struct mw_call *call, int64_t sendcount, mw_handle sendtype, int dest,
                       int sendtag, int64_t recvcount, mw_handle recvtype, int source, int recvtag,
                       mw_handle comm, void **status)
{
    call->keep.word[0] = call->thread->scratch_used;
    mw_status_borrow(call->thread, status, wildcard_flags(source, recvtag) != 0);
    open_message(call, comm, source, recvtag);
}

/* Two messages in one call: a SEND part, then the RECV, or a plain call where a half is missing. */
void mw_sendrecv_end(struct mw_call *call, int rc, int64_t sendcount, mw_handle sendtype, int dest,
                     int sendtag, int64_t recvcount, mw_handle recvtype, int source, int recvtag,
                     mw_handle comm, void **status)
{
    uint64_t end = mw_close(call);
    uint32_t flags;
    if (rc != 0 && !mw_is_truncated(rc)) {
        mw_call_failed(call, end, rc);
    } else {
        struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
        if (dest != mw_recorder.abi->proc_null) {
            struct mw_raw_event detail =
                sent(call, entry, sendcount, sendtype, dest, sendtag, &flags);
            count(call->thread, MW_EVENT_SEND, &detail, &flags);
            mw_call_part(call, MW_EVENT_SEND, flags, &detail);
        }
        if (rc != 0) {
            receive_failed(call, end, rc, source, recvtag, comm, mw_status_usable(*status));
        } else if (source != mw_recorder.abi->proc_null) {
            struct mw_raw_event detail = {0};
            received(call, entry, recvcount, recvtype, source, recvtag, mw_status_usable(*status),
                     &detail, &flags);
            mw_call_event(call, end, MW_EVENT_RECV, flags, &detail);
        } else {
            no_message(call, end);
        }
    }
    call->thread->scratch_used = call->keep.word[0];
    mw_leave(call);
}

void mw_sendrecv_start_begin(struct mw_call *call, int64_t sendcount, mw_handle sendtype, int dest,
                             int sendtag, int64_t recvcount, mw_handle recvtype, int source,
                             int recvtag, mw_handle comm)
{
    open_message(call, comm, source, recvtag);
}

/* One request for both messages: its completion completes the receive; the send is a part without one. */
void mw_sendrecv_start_end(struct mw_call *call, int rc, int64_t sendcount, mw_handle sendtype,
                           int dest, int sendtag, int64_t recvcount, mw_handle recvtype, int source,
                           int recvtag, mw_handle comm)
{
    uint64_t end = mw_close(call);
    uint32_t flags;
    if (rc != 0) {
        mw_call_failed(call, end, rc);
        mw_leave(call);
        return;
    }
    struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
    if (dest != mw_recorder.abi->proc_null) {
        struct mw_raw_event detail = sent(call, entry, sendcount, sendtype, dest, sendtag, &flags);
        count(call->thread, MW_EVENT_SEND, &detail, &flags);
        mw_call_part(call, MW_EVENT_SEND, flags, &detail);
    }
    if (source != mw_recorder.abi->proc_null) {
        struct mw_raw_event detail =
            posted(call, entry, recvcount, recvtype, source, recvtag, &flags);
        end_message(call, end, MW_EVENT_RECV, flags, &detail, entry);
    } else {
        no_message(call, end);
    }
    mw_leave(call);
}

/* MPI_Start and MPI_Startall: one use of a persistent request each. */
static int start_one(struct mw_call *call, mw_handle handle, struct mw_raw_event *detail, int *kind,
                     uint32_t *flags)
{
    struct mw_request request;
    uint32_t number = call->thread->requests;
    if (!mw_request_start(handle, call, number, &request))
        return 0;
    call->thread->requests++;
    *detail = (struct mw_raw_event){.comm = request.comm,
                                    .peer = request.peer,
                                    .tag = request.tag,
                                    .bytes = request.bytes,
                                    .bytes_in = request.bytes_in,
                                    .request = number};
    *kind = request.kind;
    *flags = request.flags | MW_EVENT_REQUEST;
    if (request.peer == MW_PEER_NONE && request.kind != MW_EVENT_COLL) {
        *kind = MW_EVENT_CALL;
    } else if (request.kind == MW_EVENT_COLL) {
        /* the entry may be another communicator's by now */
        if (request.comm_entry && mw_comm_id(request.comm_entry) == request.comm) {
            detail->ordinal = atomic_fetch_add(&request.comm_entry->instances, 1);
            *flags |= MW_EVENT_COUNTED;
            mw_flow_start(request.comm_entry, request.flow);
        }
    } else if (request.part) {
        mw_part_mark(detail, request.kind, request.part);
        detail->ordinal = request.uses - 1;
        *flags |= MW_EVENT_COUNTED;
    } else if (is_counted_when_posted(*flags)) {
        count(call->thread, request.kind, detail, flags);
    }
    return 1;
}

void mw_start_begin(struct mw_call *call, void *request)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_start_end(struct mw_call *call, int rc, void *request)
{
    uint64_t end = mw_close(call);
    struct mw_raw_event detail = {.peer = MW_PEER_NONE};
    int kind = MW_EVENT_CALL;
    uint32_t flags = 0;
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else {
        start_one(call, mw_abi_load(mw_recorder.abi, request, 0), &detail, &kind, &flags);
        mw_call_event(call, end, kind, flags, &detail);
    }
    mw_leave(call);
}

void mw_startall_begin(struct mw_call *call, int n, void *requests)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_startall_end(struct mw_call *call, int rc, int n, void *requests)
{
    uint64_t end = mw_close(call);
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else {
        struct mw_raw_event detail, none = {.peer = MW_PEER_NONE};
        int kind;
        uint32_t flags;
        for (int i = 0; i < n; i++)
            if (start_one(call, mw_abi_load(mw_recorder.abi, requests, (size_t)i), &detail, &kind,
                          &flags))
                mw_call_part(call, kind, flags, &detail);
        mw_call_event(call, end, MW_EVENT_CALL, 0, &none);
    }
    mw_leave(call);
}
