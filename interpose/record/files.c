/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO: files, and what is read and written, blocking, nonblocking and in two halves. Offsets are
 * as the arguments say, in units of the view's etype. Of a read only the status tells how much
 * came: one of ours is lent where the program passes MPI_STATUS_IGNORE.
 */
#include <string.h>

#include "output/output.h"
#include "record/aggregate.h"
#include "record/coll.h"
#include "record/objects.h"
#include "record/requests.h"
#include "record/spaces.h"
#include "record/status.h"
#include "trace/encoder.h"
#include "trace/fields.h"

/* What begin handlers keep for end handlers. Word 0 belongs to coll.c in MPI_File_open. */
enum { KEEP_MARK, KEEP_NUMBER, KEEP_OBJECT };

/* A handle of a file is a pointer in every ABI. */
static mw_handle file_at(const void *file)
{
    return file ? *(const uintptr_t *)file : 0;
}

void mw_file_open_begin(struct mw_call *call, mw_handle comm, const char *name, int mode,
                        void *file)
{
    struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    call->keep.word[KEEP_NUMBER] =
        entry ? atomic_fetch_add_explicit(&entry->files, 1, memory_order_relaxed) : 0;
    mw_coll_open(call, comm, MW_NO_ROOT);
}

static void write_opened(const struct mw_object *file, uint64_t number, const char *name, int mode)
{
    uint8_t memory[1280];
    char copy[1024];
    struct mw_buffer buffer;
    size_t length = strnlen(name, sizeof copy - 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_IOFILE_id, file->id);
    mw_put_u64(&buffer, MW_F_IOFILE_comm, mw_comm_id(file->comm));
    mw_put_u64(&buffer, MW_F_IOFILE_number, number);
    mw_put_text(&buffer, MW_F_IOFILE_name, copy);
    mw_put_u64(&buffer, MW_F_IOFILE_mode, (uint32_t)mode);
    mw_output_chunk(MW_CHUNK_IOFILE, buffer.data, buffer.size);
}

void mw_file_open_end(struct mw_call *call, int rc, mw_handle comm, const char *name, int mode,
                      void *file)
{
    uint64_t end = mw_close(call);
    struct mw_coll_role role;
    if (!mw_coll_succeeded(call, end, rc, comm, MW_NO_ROOT, &role))
        return;
    const struct mw_object *opened = mw_object_made(MW_FILES, file_at(file), role.comm);
    if (opened && opened->listed)
        write_opened(opened, call->keep.word[KEEP_NUMBER], name, mode);
    mw_coll_close(call, end, &role, 0, 0);
}

void mw_file_close_begin(struct mw_call *call, void *file)
{
    call->keep.word[KEEP_OBJECT] = file_at(file);
    mw_object_open(call, mw_object_find(MW_FILES, file_at(file)), MW_PEER_NONE);
}

static void write_closed(uint32_t id, uint64_t time)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_IOFILE_id, id);
    mw_put_u64(&buffer, MW_F_IOFILE_closed, time);
    mw_output_chunk(MW_CHUNK_IOFILE, buffer.data, buffer.size);
}

void mw_file_close_end(struct mw_call *call, int rc, void *file)
{
    uint64_t end = mw_close(call);
    if (rc == 0 && call->tag != MW_OBJECT_UNKNOWN) {
        if (mw_is_listed(&mw_objects_listed[MW_FILES], (uint32_t)call->tag))
            write_closed((uint32_t)call->tag, end);
        mw_object_gone(MW_FILES, call->keep.word[KEEP_OBJECT], (uint32_t)call->tag);
    }
    mw_object_event(call, end, MW_EVENT_FILE, MW_EVENT_COLLECTIVE, rc);
    mw_leave(call);
}

static struct mw_object *open_file(struct mw_call *call, mw_handle file)
{
    struct mw_object *object = mw_object_find(MW_FILES, file);
    mw_object_open(call, object, MW_PEER_NONE);
    return object;
}

/* A call on a file ended. amount: of the arguments, or as the status says. The offset takes the
 * place of bytes_in. */
static void close_file(struct mw_call *call, uint64_t end, int kind, uint32_t flags, int rc,
                       int64_t offset, uint64_t amount)
{
    struct mw_raw_event detail = {
        .comm = call->comm,
        .peer = call->peer,
        .tag = call->tag,
        .bytes = rc ? (uint64_t)(int64_t)rc : amount,
        .bytes_in = flags & MW_EVENT_OFFSET ? (uint64_t)offset : 0,
        .request = (uint32_t)call->keep.word[KEEP_NUMBER],
    };
    mw_call_event(call, end, kind, rc ? flags | MW_EVENT_ERROR : flags, &detail);
    mw_leave(call);
}

void mw_file_move_begin(struct mw_call *call, int kind, uint32_t collective, uint32_t at,
                        mw_handle file, int64_t offset, int64_t amount, mw_handle datatype,
                        void **status)
{
    call->keep.word[KEEP_MARK] = call->thread->scratch_used;
    mw_status_borrow(call->thread, status, kind == MW_EVENT_READ);
    open_file(call, file);
}

void mw_file_move_end(struct mw_call *call, int rc, int kind, uint32_t collective, uint32_t at,
                      mw_handle file, int64_t offset, int64_t amount, mw_handle datatype,
                      void **status)
{
    uint64_t end = mw_close(call), bytes = 0;
    uint32_t flags = collective | at;
    const void *known = kind == MW_EVENT_READ ? mw_status_usable(*status) : NULL;
    if (rc == 0 && known) {
        bytes = mw_status_read(known).bytes;
        flags |= MW_EVENT_STATUS;
    } else if (rc == 0) {
        bytes = mw_bytes(call->thread, amount, datatype);
    }
    call->thread->scratch_used = call->keep.word[KEEP_MARK];
    close_file(call, end, kind, flags, rc, offset, bytes);
}

/* What a nonblocking call or the first half of a split one started. */
static struct mw_request request_of(struct mw_call *call, int kind, uint32_t flags, uint64_t bytes)
{
    struct mw_raw_event detail = {.bytes = bytes};
    call->keep.word[KEEP_NUMBER] = call->thread->requests;
    struct mw_request request = {
        .number = call->thread->requests++,
        .flags = (flags & MW_EVENT_COLLECTIVE) | mw_spaces_of(call, kind, flags, &detail),
        .kind = (uint8_t)kind,
        .origin = (uint16_t)call->thread->index,
        .active = 1,
        .comm = call->comm,
        .peer = call->peer,
        .tag = call->tag,
        .bytes = bytes,
    };
    mw_request_started_by(&request, call);
    return request;
}

void mw_file_start_begin(struct mw_call *call, int kind, uint32_t collective, uint32_t at,
                         mw_handle file, int64_t offset, int64_t amount, mw_handle datatype)
{
    open_file(call, file);
}

void mw_file_start_end(struct mw_call *call, int rc, int kind, uint32_t collective, uint32_t at,
                       mw_handle file, int64_t offset, int64_t amount, mw_handle datatype)
{
    uint64_t end = mw_close(call), bytes = 0;
    uint32_t flags = collective | at;
    if (rc == 0) {
        bytes = mw_bytes(call->thread, amount, datatype);
        struct mw_request request = request_of(call, kind, flags, bytes);
        mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &request);
        flags |= request.flags | MW_EVENT_REQUEST;
    }
    close_file(call, end, kind, flags, rc, offset, bytes);
}

void mw_file_begin_begin(struct mw_call *call, int kind, uint32_t at, mw_handle file,
                         int64_t offset, int64_t amount, mw_handle datatype)
{
    call->keep.pointer[KEEP_OBJECT] = open_file(call, file);
}

void mw_file_begin_end(struct mw_call *call, int rc, int kind, uint32_t at, mw_handle file,
                       int64_t offset, int64_t amount, mw_handle datatype)
{
    uint64_t end = mw_close(call), bytes = 0;
    uint32_t flags = MW_EVENT_COLLECTIVE | at;
    struct mw_object *object = call->keep.pointer[KEEP_OBJECT];
    if (rc == 0) {
        bytes = mw_bytes(call->thread, amount, datatype);
        if (object) {
            object->split.request = request_of(call, kind, flags, bytes);
            atomic_store_explicit(&object->split.active, 1, memory_order_release);
            flags |= object->split.request.flags | MW_EVENT_REQUEST;
        }
    }
    close_file(call, end, kind, flags, rc, offset, bytes);
}

void mw_file_end_begin(struct mw_call *call, int kind, mw_handle file, void **status)
{
    call->keep.word[KEEP_MARK] = call->thread->scratch_used;
    mw_status_borrow(call->thread, status, kind == MW_EVENT_READ);
    struct mw_object *object = call->keep.pointer[KEEP_OBJECT] = open_file(call, file);
    if (object && object->split.request.reduced) /* sums have both halves */
        mw_aggregate_begin(call, MW_REDUCED_PCONTROL);
}

/* The second half completes the request of the first; where that was not seen, it is a call on the
 * file. */
void mw_file_end_end(struct mw_call *call, int rc, int kind, mw_handle file, void **status)
{
    uint64_t end = mw_close(call);
    struct mw_object *object = call->keep.pointer[KEEP_OBJECT];
    const void *known = kind == MW_EVENT_READ ? mw_status_usable(*status) : NULL;
    struct mw_raw_event detail = {.comm = call->comm, .peer = MW_PEER_NONE};
    uint32_t flags = MW_EVENT_REQUEST | MW_EVENT_COLLECTIVE;
    if (!object || !atomic_exchange_explicit(&object->split.active, 0, memory_order_acquire)) {
        mw_object_event(call, end, MW_EVENT_FILE, MW_EVENT_COLLECTIVE, rc);
    } else {
        const struct mw_request *request = &object->split.request;
        detail.request = request->number;
        detail.origin = (uint8_t)request->origin;
        if (request->origin != call->thread->index)
            flags |= MW_EVENT_FOREIGN | (uint32_t)(request->origin >> 8) << MW_ORIGIN_HIGH_SHIFT;
        if (rc != 0) {
            detail.bytes = (uint64_t)(int64_t)rc;
            flags |= MW_EVENT_ERROR;
        } else if (known) {
            detail.bytes_in = mw_status_read(known).bytes;
            flags |= MW_EVENT_STATUS;
        }
        mw_call_done(call, end, request, flags, &detail);
    }
    call->thread->scratch_used = call->keep.word[KEEP_MARK];
    mw_leave(call);
}

void mw_file_call_begin(struct mw_call *call, mw_handle file, uint32_t collective)
{
    open_file(call, file);
}

void mw_file_call_end(struct mw_call *call, int rc, mw_handle file, uint32_t collective)
{
    close_file(call, mw_close(call), MW_EVENT_FILE, collective, rc, 0, 0);
}

void mw_file_call_at_begin(struct mw_call *call, mw_handle file, int64_t offset,
                           uint32_t collective)
{
    open_file(call, file);
}

void mw_file_call_at_end(struct mw_call *call, int rc, mw_handle file, int64_t offset,
                         uint32_t collective)
{
    close_file(call, mw_close(call), MW_EVENT_FILE, collective | MW_EVENT_OFFSET, rc, offset, 0);
}
