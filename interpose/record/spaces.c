/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory spaces of calls; see spaces.h. The numbers of spaces have a lock, finding one takes none.
 */
#include "record/spaces.h"

#include <stdio.h>
#include <string.h>

#include "output/output.h"
#include "probe/gpu.h"
#include "trace/fields.h"

#define SPACES (MW_EVENT_SPACE_MORE - 1u)

_Atomic uint64_t mw_spaces_due = UINT64_MAX;

static struct space {
    enum mw_memory_kind kind;
    char runtime[16], note[96];
    int device;
    _Atomic uint64_t calls, bytes;
    uint64_t told; /* calls that the trace knows of */
} spaces[SPACES];
static _Atomic unsigned count;
static struct mw_lock lock;

void mw_spaces_due_at(uint64_t time)
{
    atomic_store_explicit(&mw_spaces_due, time, memory_order_relaxed);
}

/* --- the list --- */

static void space_put(struct mw_buffer *buffer, unsigned index)
{
    struct space *space = &spaces[index];
    size_t mark = mw_put_begin(buffer, MW_F_BUFFER_space);
    mw_put_u64(buffer, MW_F_SPACE_id, index + 1);
    mw_put_u64(buffer, MW_F_SPACE_kind, space->kind);
    mw_put_text(buffer, MW_F_SPACE_runtime, space->runtime);
    mw_put_u64(buffer, MW_F_SPACE_device, (uint64_t)(space->device + 1));
    mw_put_text(buffer, MW_F_SPACE_note, space->note);
    space->told = atomic_load_explicit(&space->calls, memory_order_relaxed);
    mw_put_u64(buffer, MW_F_SPACE_calls, space->told);
    mw_put_u64(buffer, MW_F_SPACE_bytes, atomic_load_explicit(&space->bytes, memory_order_relaxed));
    mw_put_end(buffer, mark);
}

/* Under the lock. `all`, or number `only`. */
static void write_some(int all, unsigned only)
{
    uint8_t memory[8192];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    for (unsigned i = 0; i < atomic_load(&count); i++)
        if (all ? atomic_load(&spaces[i].calls) != spaces[i].told : i == only)
            space_put(&buffer, i);
    if (buffer.size)
        mw_output_chunk(MW_CHUNK_BUFFER, buffer.data, buffer.size);
}

void mw_spaces_write(void)
{
    mw_lock_take(&lock);
    write_some(1, 0);
    mw_lock_drop(&lock);
}

static unsigned search(enum mw_memory_kind kind, const char *runtime, int device, const char *note)
{
    unsigned have = atomic_load_explicit(&count, memory_order_acquire);
    for (unsigned i = 0; i < have; i++)
        if (spaces[i].kind == kind && spaces[i].device == device &&
            strcmp(spaces[i].runtime, runtime) == 0 && strcmp(spaces[i].note, note) == 0)
            return i + 1;
    return 0;
}

unsigned mw_space_number(enum mw_memory_kind kind, const char *runtime, int device,
                         const char *note)
{
    runtime = runtime ? runtime : "";
    unsigned number = search(kind, runtime, device, note);
    if (number)
        return number;
    mw_lock_take(&lock);
    number = search(kind, runtime, device, note);
    unsigned index = atomic_load(&count);
    if (!number && index < SPACES) {
        struct space *space = &spaces[index];
        space->kind = kind;
        space->device = device;
        snprintf(space->runtime, sizeof space->runtime, "%s", runtime);
        snprintf(space->note, sizeof space->note, "%s", note);
        number = index + 1;
        atomic_store_explicit(&count, number, memory_order_release);
        write_some(0, index); /* events that name it may be all that is left of this process */
    }
    mw_lock_drop(&lock);
    return number ? number : MW_EVENT_SPACE_MORE;
}

static void count_one(unsigned number, uint64_t calls, uint64_t bytes)
{
    if (!number || number > SPACES)
        return;
    atomic_fetch_add_explicit(&spaces[number - 1].calls, calls, memory_order_relaxed);
    atomic_fetch_add_explicit(&spaces[number - 1].bytes, bytes, memory_order_relaxed);
}

/* --- a call --- */

/* Where the bytes stand that an event takes from the process's memory, and that it puts there. */
enum { OUT = 1, IN = 2, IN_BYTES = 4 };
static const uint8_t movers[] = {
    [MW_EVENT_SEND] = OUT,     [MW_EVENT_RECV] = IN,   [MW_EVENT_COLL] = OUT | IN,
    [MW_EVENT_RMA] = OUT | IN, [MW_EVENT_WRITE] = OUT, [MW_EVENT_READ] = IN_BYTES,
};

/* A datatype with addresses of its own lies anywhere. */
static unsigned space_of(const struct mw_call *call, const void *buffer, const void *other)
{
    if (buffer == mw_recorder.abi->in_place)
        buffer = other;
    if (!buffer)
        return mw_space_number(MW_MEMORY_UNKNOWN, NULL, -1,
                               "MPI_BOTTOM: the datatype has the addresses");
    return mw_gpu_space(call->thread, buffer, call->start);
}

/* All of it: asks, looks for runtimes, counts. What was found when the request was started has been
 * counted. */
static uint32_t find(const struct mw_call *call, unsigned mover, uint32_t flags,
                     const struct mw_raw_event *detail)
{
    unsigned send = MW_EVENT_SPACE_SEND(flags), receive = MW_EVENT_SPACE_RECEIVE(flags);
    if (flags & MW_EVENT_SPACES && !(flags & MW_EVENT_PERSISTENT))
        return flags & MW_EVENT_SPACES;
    if (!mw_gpu_is_there(call->start) || !mover || flags & MW_EVENT_ERROR)
        return 0;
    uint64_t out = mover & OUT ? detail->bytes : 0;
    uint64_t in = mover & IN ? detail->bytes_in : mover & IN_BYTES ? detail->bytes : 0;
    if (!(flags & MW_EVENT_PERSISTENT)) { /* else it was found when it was prepared */
        send = out ? space_of(call, call->sends, call->receives) : 0;
        receive = in ? space_of(call, call->receives, call->sends) : 0;
    }
    if (call->mode != MW_PREPARES) {
        count_one(send, 1, out);
        count_one(receive, receive != send, in);
    }
    return send << MW_EVENT_SPACE_SEND_SHIFT | receive << MW_EVENT_SPACE_RECEIVE_SHIFT;
}

/* The common case, in few instructions: the buffers are known to be ordinary host memory. A buffer
 * of no bytes is looked at as well, which at worst leads to find(). */
uint32_t mw_spaces_find(const struct mw_call *call, int kind, uint32_t flags,
                        const struct mw_raw_event *detail)
{
    unsigned mover = (unsigned)kind < sizeof movers ? movers[kind] : 0;
    const struct mw_gpu_answers *answers = call->thread->gpu_answers;
    if (!mover)
        return 0;
    if (flags & (MW_EVENT_ERROR | MW_EVENT_PERSISTENT) || !answers ||
        call->start >= atomic_load_explicit(&mw_gpu_next_look, memory_order_relaxed))
        return find(call, mover, flags, detail);
    if (mover & OUT && mw_gpu_answer(answers, call->sends, call->start) != 0)
        return find(call, mover, flags, detail);
    if (mover & (IN | IN_BYTES) && mw_gpu_answer(answers, call->receives, call->start) != 0)
        return find(call, mover, flags, detail);
    return 0;
}
