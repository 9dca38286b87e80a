/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that complete requests: Wait*, Test*, Request_free, Cancel. MPI overwrites the handles of what it
 * completes, so they are copied before the call. Unsuccessful tests become polls.
 */
#include "record/aggregate.h"
#include "record/coll.h"
#include "record/comms.h"
#include "record/record.h"
#include "record/requests.h"
#include "record/status.h"

/* What begin keeps for end. */
enum { KEEP_MARK, KEEP_HANDLES };

/* Recording so many completions holds up a call for longer than a small message takes: the clock is read once
 * more, so that nobody takes that for the program's own time. */
#define HELD_FROM 8

static const mw_handle *handles_of(const struct mw_call *call)
{
    return call->keep.pointer[KEEP_HANDLES];
}

/* What was started by calls that made sums is completed by such, so that sums have both. */
static void follow_reduced(struct mw_call *call, const mw_handle *handles, size_t count)
{
    if (__builtin_expect(
            atomic_load_explicit(&mw_recorder.reduced_requests, memory_order_relaxed) == 0, 1))
        return;
    for (size_t i = 0; i < count && !call->reduced; i++)
        if (mw_request_is_reduced(handles[i]))
            mw_aggregate_begin(call, MW_REDUCED_PCONTROL);
}

/* Copies the handles and lends statuses where they may be needed: only a status tells what a wildcard
 * matched, and which of the requests are wildcards would take longer to find out. Then opens the call.
 * A null pointer is the program's mistake, for MPI to report. */
static void begin(struct mw_call *call, int given, const void *requests, void **statuses, int many)
{
    struct mw_thread_state *thread = call->thread;
    size_t count = requests && given > 0 ? (size_t)given : 0;
    call->keep.word[KEEP_MARK] = thread->scratch_used;
    mw_handle *handles = count ? mw_scratch_push(thread, count * sizeof *handles) : NULL;
    call->keep.pointer[KEEP_HANDLES] = handles;
    for (size_t i = 0; handles && i < count; i++)
        handles[i] = mw_abi_load(mw_recorder.abi, requests, i);
    if (count && !handles)
        mw_health("waits", "no memory to follow a wait on many requests: their completion is unknown");
    int needed = handles && atomic_load_explicit(&mw_recorder.status_needs, memory_order_relaxed) != 0;
    if (many)
        mw_statuses_borrow(thread, statuses, count, needed);
    else
        mw_status_borrow(thread, statuses, needed);
    thread->waited = handles;
    thread->waited_open = atomic_load_explicit(&thread->area->open_depth, memory_order_relaxed);
    thread->waited_count = handles ? count : 0;
    follow_reduced(call, handles, thread->waited_count);
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_waits_abandon(struct mw_thread_state *thread)
{
    for (size_t i = 0; i < thread->waited_count; i++)
        if (thread->waited[i] != mw_recorder.abi->request_null)
            mw_request_abandon(thread->waited[i]);
    thread->waited_count = 0;
}

static void finish(struct mw_call *call)
{
    call->thread->scratch_used = call->keep.word[KEEP_MARK];
    call->thread->waited_count = 0;
    mw_leave(call);
}

static void plain(struct mw_call *call, uint64_t end)
{
    struct mw_raw_event none = {.peer = MW_PEER_NONE};
    mw_call_event(call, end, MW_EVENT_CALL, 0, &none);
}

/* The event of a call whose `count` completions have theirs; all work that they make is done before. */
static void complete(struct mw_call *call, uint64_t end, int count)
{
    if (count < HELD_FROM || call->reduced) {
        plain(call, end);
        return;
    }
    mw_events_work(call->thread);
    struct mw_raw_event held = {.peer = MW_PEER_NONE, .bytes_in = mw_now() - end};
    mw_call_event(call, end, MW_EVENT_CALL, MW_EVENT_HELD, &held);
}

/* What a wildcard receive matched. */
static void match(struct mw_thread_state *thread, const struct mw_request *request,
                  const struct mw_status_view *view, struct mw_raw_event *detail, uint32_t *flags)
{
    const struct mw_comm_entry *comm = request->comm_entry;
    /* The communicator may have been freed, and its entry reused, while the request was under way. */
    int same = comm && mw_comm_id(comm) == request->comm;
    detail->peer = request->flags & MW_EVENT_ANY_SOURCE
                       ? (same ? mw_comm_peer(comm, view->source) : MW_PEER_UNKNOWN)
                       : request->peer;
    detail->tag = view->tag;
    *flags |= MW_EVENT_MATCHED;
    if (detail->peer == MW_PEER_UNKNOWN)
        return;
    uint32_t ordinal =
        mw_ordinal_next(thread, MW_EVENT_RECV, detail->comm, detail->peer, detail->tag);
    if (ordinal != MW_NO_ORDINAL) {
        detail->ordinal = ordinal;
        *flags |= MW_EVENT_COUNTED;
    }
}

/* A completed request as a DONE event. */
static void describe(struct mw_call *call, const struct mw_request *request, const void *status,
                     struct mw_raw_event *detail, uint32_t *flags)
{
    *detail = (struct mw_raw_event){.comm = request->comm,
                                    .peer = MW_PEER_NONE,
                                    .request = request->number,
                                    .origin = (uint8_t)request->origin};
    *flags = MW_EVENT_REQUEST | (request->flags & (MW_EVENT_PERSISTENT | MW_EVENT_INTER));
    if (request->origin != call->thread->index)
        *flags |= MW_EVENT_FOREIGN | (uint32_t)(request->origin >> 8) << MW_ORIGIN_HIGH_SHIFT;
    if (request->part && request->kind == MW_EVENT_RECV && request->peer != MW_PEER_NONE) {
        /* all of it, which what was sent has to be: statuses of partitioned receives tell nothing in some MPIs */
        detail->bytes_in = request->bytes_in;
        *flags |= MW_EVENT_STATUS;
        return;
    }
    int tells = request->kind == MW_EVENT_RECV || request->kind == MW_EVENT_READ;
    if (!status || (!tells && !request->cancelled))
        return;
    struct mw_status_view view = mw_status_read(status);
    if (view.cancelled && request->cancelled) {
        *flags |= MW_EVENT_CANCELLED;
    } else if (request->kind == MW_EVENT_READ) {
        detail->bytes_in = view.bytes;
        *flags |= MW_EVENT_STATUS;
    } else if (request->kind == MW_EVENT_RECV && request->peer != MW_PEER_NONE) {
        detail->bytes_in = view.bytes;
        *flags |= MW_EVENT_STATUS;
        if (request->flags & (MW_EVENT_ANY_SOURCE | MW_EVENT_ANY_TAG))
            match(call->thread, request, &view, detail, flags);
    }
}

/* The one request that the call completed: number `index` of those it was given. */
static void done_one(struct mw_call *call, uint64_t end, int index, const void *status)
{
    const mw_handle *handles = handles_of(call);
    struct mw_request request;
    struct mw_raw_event detail;
    uint32_t flags;
    if (!handles || !mw_request_take(handles[index], (uint16_t)call->thread->index, &request)) {
        plain(call, end);
        return;
    }
    describe(call, &request, status, &detail, &flags);
    mw_call_done(call, end, &request, flags, &detail);
}

/* One of several. `code`: its own error, 0 none. */
static void done_part(struct mw_call *call, mw_handle handle, const void *status, int code)
{
    struct mw_request request;
    struct mw_raw_event detail;
    uint32_t flags;
    if (handle == mw_recorder.abi->request_null ||
        !mw_request_take(handle, (uint16_t)call->thread->index, &request))
        return;
    /* what is too long has been matched; of any other failure the status tells nothing */
    describe(call, &request, code && !mw_is_truncated(code) ? NULL : status, &detail, &flags);
    if (code) {
        flags = (flags & ~(uint32_t)MW_EVENT_STATUS) | MW_EVENT_ERROR;
        detail.bytes = (uint64_t)(int64_t)code;
        detail.bytes_in = 0;
    }
    mw_call_done_part(call, &request, flags, &detail);
}

/* A call that failed: what MPI took out of the array has completed all the same, with an error. `one`: the status of a
 * call that has only one, NULL none. */
static void failed(struct mw_call *call, uint64_t end, int rc, int count, const void *requests,
                   const void *statuses, const void *one)
{
    const struct mw_abi *abi = mw_recorder.abi;
    const mw_handle *handles = handles_of(call);
    int in_status = abi->error_class(rc) == abi->err_in_status;
    for (int i = 0; handles && i < count; i++) {
        if (mw_abi_load(abi, requests, (size_t)i) != abi->request_null)
            continue;
        const void *status = in_status ? mw_statuses_at(statuses, (size_t)i) : NULL;
        int code = status ? mw_status_read(status).error : rc;
        done_part(call, handles[i], status ? status : one, code);
    }
    mw_call_failed(call, end, rc);
}

/* The same for those that complete some, and say which. */
static void failed_some(struct mw_call *call, uint64_t end, int rc, int count, const void *requests,
                        const int *outcount, const int *indices, const void *statuses)
{
    const struct mw_abi *abi = mw_recorder.abi;
    const mw_handle *handles = handles_of(call);
    if (!handles || statuses == abi->statuses_ignore ||
        abi->error_class(rc) != abi->err_in_status || *outcount < 0 || *outcount > count) {
        failed(call, end, rc, count, requests, abi->statuses_ignore, NULL);
        return;
    }
    for (int i = 0; i < *outcount; i++) {
        const void *status = mw_statuses_at(statuses, (size_t)i);
        if (indices[i] >= 0 && indices[i] < count)
            done_part(call, handles[indices[i]], status, mw_status_read(status).error);
    }
    mw_call_failed(call, end, rc);
}

void mw_wait_begin(struct mw_call *call, void *request, void **status)
{
    begin(call, 1, request, status, 0);
}

void mw_wait_end(struct mw_call *call, int rc, void *request, void **status)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed(call, end, rc, 1, request, mw_recorder.abi->statuses_ignore, mw_status_usable(*status));
    else
        done_one(call, end, 0, mw_status_usable(*status));
    finish(call);
}

void mw_test_begin(struct mw_call *call, void *request, int *flag, void **status)
{
    begin(call, 1, request, status, 0);
}

void mw_test_end(struct mw_call *call, int rc, void *request, int *flag, void **status)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed(call, end, rc, 1, request, mw_recorder.abi->statuses_ignore, mw_status_usable(*status));
    else if (!*flag)
        mw_call_poll(call, end);
    else
        done_one(call, end, 0, mw_status_usable(*status));
    finish(call);
}

static void end_any(struct mw_call *call, uint64_t end, int count, int index, const void *status)
{
    if (index >= 0 && index < count)
        done_one(call, end, index, status);
    else
        plain(call, end);
}

void mw_waitany_begin(struct mw_call *call, int count, void *requests, int *index, void **status)
{
    begin(call, count, requests, status, 0);
}

void mw_waitany_end(struct mw_call *call, int rc, int count, void *requests, int *index,
                    void **status)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed(call, end, rc, count, requests, mw_recorder.abi->statuses_ignore,
               mw_status_usable(*status));
    else
        end_any(call, end, count, *index, mw_status_usable(*status));
    finish(call);
}

void mw_testany_begin(struct mw_call *call, int count, void *requests, int *index, int *flag,
                      void **status)
{
    begin(call, count, requests, status, 0);
}

void mw_testany_end(struct mw_call *call, int rc, int count, void *requests, int *index, int *flag,
                    void **status)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed(call, end, rc, count, requests, mw_recorder.abi->statuses_ignore,
               mw_status_usable(*status));
    else if (!*flag)
        mw_call_poll(call, end);
    else
        end_any(call, end, count, *index, mw_status_usable(*status));
    finish(call);
}

static void end_some(struct mw_call *call, uint64_t end, int count, int outcount,
                     const int *indices, const void *statuses)
{
    const mw_handle *handles = handles_of(call);
    for (int i = 0; handles && i < outcount; i++)
        if (indices[i] >= 0 && indices[i] < count)
            done_part(call, handles[indices[i]], mw_statuses_at(statuses, (size_t)i), 0);
    complete(call, end, outcount);
}

void mw_waitsome_begin(struct mw_call *call, int count, void *requests, int *outcount, int *indices,
                       void **statuses)
{
    begin(call, count, requests, statuses, 1);
}

void mw_waitsome_end(struct mw_call *call, int rc, int count, void *requests, int *outcount,
                     int *indices, void **statuses)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed_some(call, end, rc, count, requests, outcount, indices, *statuses);
    else
        end_some(call, end, count, *outcount, indices, *statuses);
    finish(call);
}

void mw_testsome_begin(struct mw_call *call, int count, void *requests, int *outcount, int *indices,
                       void **statuses)
{
    begin(call, count, requests, statuses, 1);
}

void mw_testsome_end(struct mw_call *call, int rc, int count, void *requests, int *outcount,
                     int *indices, void **statuses)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed_some(call, end, rc, count, requests, outcount, indices, *statuses);
    else if (*outcount == 0)
        mw_call_poll(call, end);
    else
        end_some(call, end, count, *outcount, indices, *statuses);
    finish(call);
}

static void end_all(struct mw_call *call, uint64_t end, int count, const void *statuses)
{
    const mw_handle *handles = handles_of(call);
    for (int i = 0; handles && i < count; i++)
        done_part(call, handles[i], mw_statuses_at(statuses, (size_t)i), 0);
    complete(call, end, count);
}

void mw_waitall_begin(struct mw_call *call, int count, void *requests, void **statuses)
{
    begin(call, count, requests, statuses, 1);
}

void mw_waitall_end(struct mw_call *call, int rc, int count, void *requests, void **statuses)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed(call, end, rc, count, requests, *statuses, NULL);
    else
        end_all(call, end, count, *statuses);
    finish(call);
}

void mw_testall_begin(struct mw_call *call, int count, void *requests, int *flag, void **statuses)
{
    begin(call, count, requests, statuses, 1);
}

void mw_testall_end(struct mw_call *call, int rc, int count, void *requests, int *flag,
                    void **statuses)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        failed(call, end, rc, count, requests, *statuses, NULL);
    else if (!*flag)
        mw_call_poll(call, end);
    else
        end_all(call, end, count, *statuses);
    finish(call);
}

void mw_request_poll_begin(struct mw_call *call, mw_handle request, int *flag)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

/* Get_status completes nothing, whatever it says. */
void mw_request_poll_end(struct mw_call *call, int rc, mw_handle request, int *flag)
{
    uint64_t end = mw_close(call);
    if (rc != 0)
        mw_call_failed(call, end, rc);
    else if (!*flag)
        mw_call_poll(call, end);
    else
        plain(call, end);
    mw_leave(call);
}

/* MPI_REQUEST_NULL where the program gave no place. */
static mw_handle handle_at(const void *request)
{
    return request ? mw_abi_load(mw_recorder.abi, request, 0) : mw_recorder.abi->request_null;
}

void mw_request_free_begin(struct mw_call *call, void *request)
{
    mw_handle handle = handle_at(request);
    call->keep.word[0] = handle;
    follow_reduced(call, &handle, 1);
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_request_free_end(struct mw_call *call, int rc, void *request)
{
    uint64_t end = mw_close(call);
    struct mw_request freed;
    struct mw_raw_event detail;
    uint32_t flags;
    int known = rc == 0 && mw_request_forget(call->keep.word[0], &freed);
    if (known)
        mw_flow_forget(freed.flow);
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else if (known && (freed.active || !(freed.flags & MW_EVENT_PERSISTENT))) {
        describe(call, &freed, NULL, &detail, &flags);
        mw_call_done(call, end, &freed, flags | MW_EVENT_FREED, &detail);
    } else {
        plain(call, end);
    }
    mw_leave(call);
}

void mw_cancel_begin(struct mw_call *call, void *request)
{
    call->keep.word[0] = handle_at(request);
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_cancel_end(struct mw_call *call, int rc, void *request)
{
    uint64_t end = mw_close(call);
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else {
        mw_request_mark_cancelled(call->keep.word[0]);
        plain(call, end);
    }
    mw_leave(call);
}
