/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges the cursors of a process's threads by the end of their calls (stream.h): a binary heap
 * over the threads, each with its next call.
 */
#include "analyzer/model/stream.h"

#include <stdlib.h>

#include "analyzer/base/heap.h"

struct lane {
    mw_cursor *cursor;
    uint64_t thread;
    const struct mw_call_record *record;
};

_Static_assert(sizeof(struct lane) <= MW_HEAP_ITEM, "a lane is one item");

struct mw_stream {
    MW_VECTOR(struct lane) lanes; /* a heap; the earliest end first */
    MW_VECTOR(mw_cursor *) cursors;
    MW_VECTOR(uint64_t) threads; /* of the cursors */
    int taken;                   /* the first lane's record was given out */
    enum mw_status status;
};

static int lane_before(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;
    uint64_t end = a->record->call.end, other = b->record->call.end;
    return end != other ? end < other : a->thread < b->thread;
}

static void lanes_sift(struct mw_stream *stream, size_t at)
{
    mw_heap_sift(stream->lanes.at, stream->lanes.count, sizeof(struct lane), at, lane_before);
}

static void stream_note(struct mw_stream *stream, enum mw_status status)
{
    if (status != MW_END && stream->status == MW_OK)
        stream->status = status;
}

struct mw_stream *mw_stream_open(const struct mw_model *model, const struct mw_process *process)
{
    struct mw_stream *stream = mw_alloc(1, sizeof(*stream));
    uint64_t thread;
    for (size_t i = 0; mw_model_thread(model, process, i, &thread) == MW_OK; i++) {
        struct lane lane = {.thread = thread};
        enum mw_status status = mw_cursor_open(model->trace, process, thread, &lane.cursor);
        if (status != MW_OK) {
            stream_note(stream, status == MW_ERR_NOT_FOUND ? MW_END : status);
            continue;
        }
        *mw_vector_add(&stream->cursors) = lane.cursor;
        *mw_vector_add(&stream->threads) = thread;
        status = mw_cursor_next(lane.cursor, &lane.record);
        if (status == MW_OK)
            *mw_vector_add(&stream->lanes) = lane;
        else
            stream_note(stream, status);
    }
    for (size_t i = stream->lanes.count; i-- > 0;)
        lanes_sift(stream, i);
    return stream;
}

/* Replaces the call that was given out by the next one of its thread. */
static void stream_advance(struct mw_stream *stream)
{
    struct lane *lane = stream->lanes.at;
    enum mw_status status = mw_cursor_next(lane[0].cursor, &lane[0].record);
    if (status != MW_OK) {
        stream_note(stream, status);
        lane[0] = lane[--stream->lanes.count];
    }
    lanes_sift(stream, 0);
}

enum mw_status mw_stream_next(struct mw_stream *stream, uint64_t *thread,
                              const struct mw_call_record **record)
{
    if (stream->taken)
        stream_advance(stream);
    stream->taken = stream->lanes.count > 0;
    if (!stream->taken)
        return MW_END;
    *thread = stream->lanes.at[0].thread;
    *record = stream->lanes.at[0].record;
    return MW_OK;
}

uint64_t mw_stream_missing(const struct mw_stream *stream)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < stream->cursors.count; i++)
        missing += mw_cursor_missing(stream->cursors.at[i]);
    return missing;
}

enum mw_status mw_stream_status(const struct mw_stream *stream)
{
    return stream->status;
}

size_t mw_stream_damage_count(const struct mw_stream *stream)
{
    size_t count = 0;
    for (size_t i = 0; i < stream->cursors.count; i++)
        count += mw_cursor_damage_count(stream->cursors.at[i]);
    return count;
}

const struct mw_damage *mw_stream_damage(const struct mw_stream *stream, size_t index)
{
    for (size_t i = 0; i < stream->cursors.count; i++) {
        size_t count = mw_cursor_damage_count(stream->cursors.at[i]);
        if (index < count)
            return mw_cursor_damage(stream->cursors.at[i], index);
        index -= count;
    }
    return NULL;
}

size_t mw_stream_threads(const struct mw_stream *stream)
{
    return stream->cursors.count;
}

int mw_stream_has(const struct mw_stream *stream, uint64_t thread)
{
    for (size_t i = 0; i < stream->threads.count; i++)
        if (stream->threads.at[i] == thread)
            return 1;
    return 0;
}

void mw_stream_close(struct mw_stream *stream)
{
    for (size_t i = 0; i < stream->cursors.count; i++)
        mw_cursor_close(stream->cursors.at[i]);
    free(stream->cursors.at);
    free(stream->threads.at);
    free(stream->lanes.at);
    free(stream);
}
