/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication: windows, what is put into and got from whose, and the calls that open,
 * close or order accesses. Bytes are those of the arguments: what MPI does with them on the way,
 * and what is loaded and stored in a shared window without a call, is not seen.
 */
#include <string.h>

#include "output/output.h"
#include "record/aggregate.h"
#include "record/coll.h"
#include "record/objects.h"
#include "record/requests.h"
#include "trace/fields.h"

/* What begin handlers keep for end handlers. Word 0 belongs to coll.c. */
enum { KEEP_COLL, KEEP_NUMBER, KEEP_HANDLE, KEEP_ID };

void mw_win_new_begin(struct mw_call *call, enum mw_window_flavour flavour, mw_handle comm,
                      int64_t size, int64_t unit, void *win)
{
    struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    call->keep.word[KEEP_NUMBER] =
        entry ? atomic_fetch_add_explicit(&entry->windows, 1, memory_order_relaxed) : 0;
    mw_coll_open(call, comm, MW_NO_ROOT);
}

static void write_made(const struct mw_object *window, enum mw_window_flavour flavour,
                       uint64_t number, int64_t size, int64_t unit)
{
    uint8_t memory[128];
    struct mw_buffer buffer;
    int dynamic = flavour == MW_WINDOW_DYNAMIC;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_WINDOW_id, window->id);
    mw_put_u64(&buffer, MW_F_WINDOW_flavour, flavour);
    mw_put_u64(&buffer, MW_F_WINDOW_comm, mw_comm_id(window->comm));
    mw_put_u64(&buffer, MW_F_WINDOW_number, number);
    mw_put_u64(&buffer, MW_F_WINDOW_size, size > 0 ? (uint64_t)size : 0);
    mw_put_u64(&buffer, MW_F_WINDOW_unit, dynamic ? 1 : unit > 0 ? (uint64_t)unit : 0);
    mw_output_chunk(MW_CHUNK_WINDOW, buffer.data, buffer.size);
}

void mw_win_new_end(struct mw_call *call, int rc, enum mw_window_flavour flavour, mw_handle comm,
                    int64_t size, int64_t unit, void *win)
{
    uint64_t end = mw_close(call);
    struct mw_coll_role role;
    if (!mw_coll_succeeded(call, end, rc, comm, MW_NO_ROOT, &role))
        return;
    const struct mw_object *window =
        mw_object_made(MW_WINDOWS, mw_abi_load(mw_recorder.abi, win, 0), role.comm);
    if (window && window->listed)
        write_made(window, flavour, call->keep.word[KEEP_NUMBER], size, unit);
    mw_coll_close(call, end, &role, 0, 0);
}

void mw_win_free_begin(struct mw_call *call, void *win)
{
    mw_handle handle = win ? mw_abi_load(mw_recorder.abi, win, 0) : 0;
    const struct mw_object *window = mw_object_find(MW_WINDOWS, handle);
    call->keep.word[KEEP_HANDLE] = handle;
    mw_object_open(call, window, MW_PEER_ANY);
}

static void write_freed(uint32_t id, uint64_t time)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_WINDOW_id, id);
    mw_put_u64(&buffer, MW_F_WINDOW_freed, time);
    mw_output_chunk(MW_CHUNK_WINDOW, buffer.data, buffer.size);
}

void mw_win_free_end(struct mw_call *call, int rc, void *win)
{
    uint64_t end = mw_close(call);
    if (rc == 0 && call->tag != MW_OBJECT_UNKNOWN) {
        if (mw_is_listed(&mw_objects_listed[MW_WINDOWS], (uint32_t)call->tag))
            write_freed((uint32_t)call->tag, end);
        mw_object_gone(MW_WINDOWS, call->keep.word[KEEP_HANDLE], (uint32_t)call->tag);
    }
    mw_object_event(call, end, MW_EVENT_EPOCH, MW_EVENT_COLLECTIVE, rc);
    mw_leave(call);
}

void mw_win_name_begin(struct mw_call *call, mw_handle win, const char *name)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

/* Local: counted, not an event. */
void mw_win_name_end(struct mw_call *call, int rc, mw_handle win, const char *name)
{
    uint8_t memory[256];
    char copy[160];
    struct mw_buffer buffer;
    const struct mw_object *window = mw_object_find(MW_WINDOWS, win);
    if (rc == 0 && window && window->listed && name && mw_budget_allows_name()) {
        size_t length = strnlen(name, sizeof copy - 1);
        memcpy(copy, name, length);
        copy[length] = '\0';
        mw_buffer_init(&buffer, memory, sizeof memory);
        mw_put_u64(&buffer, MW_F_WINDOW_id, window->id);
        mw_put_text(&buffer, MW_F_WINDOW_name, copy);
        mw_output_chunk(MW_CHUNK_WINDOW, buffer.data, buffer.size);
    }
    mw_leave(call);
}

/* The world rank of a target. */
static int32_t target_of(const struct mw_object *window, int target)
{
    return mw_comm_peer(window ? window->comm : NULL, target);
}

static void open_access(struct mw_call *call, int target, mw_handle win)
{
    const struct mw_object *window = mw_window_find(call->thread, win);
    mw_object_open(call, window, target_of(window, target));
}

/* The request of an access: its completion says when its buffers may be used again. */
static void start_access(struct mw_call *call, struct mw_raw_event *detail, uint32_t *flags)
{
    struct mw_request request = {
        .number = call->thread->requests++,
        .kind = MW_EVENT_RMA,
        .origin = (uint16_t)call->thread->index,
        .active = 1,
        .comm = detail->comm,
        .peer = detail->peer,
        .tag = detail->tag,
        .bytes = detail->bytes,
        .bytes_in = detail->bytes_in,
    };
    mw_request_started_by(&request, call);
    detail->request = request.number;
    *flags |= MW_EVENT_REQUEST;
    mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &request);
}

static void close_access(struct mw_call *call, uint64_t end, uint64_t bytes, uint64_t bytes_in)
{
    uint32_t flags = 0;
    struct mw_raw_event detail = {.comm = call->comm,
                                  .peer = call->peer,
                                  .tag = call->tag,
                                  .bytes = bytes,
                                  .bytes_in = bytes_in};
    if (call->mode == MW_STARTS)
        start_access(call, &detail, &flags);
    mw_call_event(call, end, MW_EVENT_RMA, flags, &detail);
    mw_leave(call);
}

/* An access that failed, or that moves nothing as its target is MPI_PROC_NULL: recorded here, and
 * left. Arguments of such mean nothing. */
static int is_void(struct mw_call *call, uint64_t end, int rc, int target)
{
    if (rc == 0 && target != mw_recorder.abi->proc_null)
        return 0;
    mw_object_event(call, end, MW_EVENT_RMA, 0, rc);
    mw_leave(call);
    return 1;
}

void mw_rma_put_begin(struct mw_call *call, int64_t amount, mw_handle datatype, int target,
                      mw_handle win)
{
    open_access(call, target, win);
}

void mw_rma_put_end(struct mw_call *call, int rc, int64_t amount, mw_handle datatype, int target,
                    mw_handle win)
{
    uint64_t end = mw_close(call);
    if (!is_void(call, end, rc, target))
        close_access(call, end, mw_bytes(call->thread, amount, datatype), 0);
}

void mw_rma_get_begin(struct mw_call *call, int64_t amount, mw_handle datatype, int target,
                      mw_handle win)
{
    open_access(call, target, win);
}

void mw_rma_get_end(struct mw_call *call, int rc, int64_t amount, mw_handle datatype, int target,
                    mw_handle win)
{
    uint64_t end = mw_close(call);
    if (!is_void(call, end, rc, target))
        close_access(call, end, 0, mw_bytes(call->thread, amount, datatype));
}

/* MPI_NO_OP only fetches: what would be sent is not significant. */
static int sends(mw_handle op)
{
    return mw_abi_handle(mw_recorder.abi, op) != mw_recorder.abi->op_no_op;
}

void mw_rma_fetch_begin(struct mw_call *call, int64_t sendcount, mw_handle sendtype,
                        int64_t recvcount, mw_handle recvtype, int target, mw_handle op,
                        mw_handle win)
{
    open_access(call, target, win);
}

void mw_rma_fetch_end(struct mw_call *call, int rc, int64_t sendcount, mw_handle sendtype,
                      int64_t recvcount, mw_handle recvtype, int target, mw_handle op,
                      mw_handle win)
{
    uint64_t end = mw_close(call);
    if (is_void(call, end, rc, target))
        return;
    uint64_t out = sends(op) ? mw_bytes(call->thread, sendcount, sendtype) : 0;
    close_access(call, end, out, mw_bytes(call->thread, recvcount, recvtype));
}

void mw_rma_fetch_one_begin(struct mw_call *call, mw_handle datatype, int target, mw_handle op,
                            mw_handle win)
{
    open_access(call, target, win);
}

void mw_rma_fetch_one_end(struct mw_call *call, int rc, mw_handle datatype, int target,
                          mw_handle op, mw_handle win)
{
    uint64_t end = mw_close(call);
    if (is_void(call, end, rc, target))
        return;
    uint64_t bytes = mw_bytes(call->thread, 1, datatype);
    close_access(call, end, sends(op) ? bytes : 0, bytes);
}

/* Fences are the collective ones among them. */
static uint32_t epoch_flags(const struct mw_call *call)
{
    return call->function == MW_FN_Win_fence ? MW_EVENT_COLLECTIVE : 0;
}

void mw_epoch_begin(struct mw_call *call, int32_t peer, mw_handle win)
{
    mw_object_open(call, mw_window_find(call->thread, win), peer);
}

void mw_epoch_end(struct mw_call *call, int rc, int32_t peer, mw_handle win)
{
    mw_object_event(call, mw_close(call), MW_EVENT_EPOCH, epoch_flags(call), rc);
    mw_leave(call);
}

void mw_epoch_target_begin(struct mw_call *call, int target, mw_handle win)
{
    open_access(call, target, win);
}

void mw_epoch_target_end(struct mw_call *call, int rc, int target, mw_handle win)
{
    mw_object_event(call, mw_close(call), MW_EVENT_EPOCH, 0, rc);
    mw_leave(call);
}

void mw_epoch_group_begin(struct mw_call *call, mw_handle group, mw_handle win)
{
    mw_object_open(call, mw_window_find(call->thread, win), MW_PEER_NONE);
}

#define GROUP_MOST 256 /* members that are named */

/* One part for each member of the group: who is given access, or accessed. */
void mw_epoch_group_end(struct mw_call *call, int rc, mw_handle group, mw_handle win)
{
    uint64_t end = mw_close(call);
    size_t mark = call->thread->scratch_used;
    int count = 0;
    const int32_t *world =
        rc == 0 ? mw_group_world_ranks(call->thread, group, GROUP_MOST, &count) : NULL;
    struct mw_raw_event detail = {.comm = call->comm, .tag = call->tag};
    for (int i = 0; world && i < count; i++) {
        detail.peer = world[i];
        mw_call_part(call, MW_EVENT_EPOCH, 0, &detail);
    }
    if (rc == 0 && !world && count != 0)
        call->peer = MW_PEER_UNKNOWN;
    mw_object_event(call, end, MW_EVENT_EPOCH, 0, rc);
    call->thread->scratch_used = mark;
    mw_leave(call);
}

void mw_epoch_poll_begin(struct mw_call *call, mw_handle win, int *flag)
{
    mw_object_open(call, mw_window_find(call->thread, win), MW_PEER_NONE);
}

void mw_epoch_poll_end(struct mw_call *call, int rc, mw_handle win, int *flag)
{
    uint64_t end = mw_close(call);
    if (rc == 0 && !*flag)
        mw_call_poll(call, end);
    else
        mw_object_event(call, end, MW_EVENT_EPOCH, 0, rc);
    mw_leave(call);
}
