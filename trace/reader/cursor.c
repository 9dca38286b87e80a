/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of one thread, one after the other, from the chunks that hold them. A cursor belongs to
 * one thread; several may read one trace at the same time. Memory: one chunk, and the parts of one
 * call.
 */
#include "trace/reader/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decoder.h"

/* Parts of one record at most: a hostile trace may have nothing but parts. */
#define PARTS_MAX  ((size_t)1 << 20)
#define DAMAGE_MAX 100

struct mw_cursor {
    const struct mw_trace *trace;
    const struct mw_process *process;
    uint64_t thread;
    const struct mw_event_chunk *chunks; /* of this thread, by first event */
    size_t chunk_count, next_chunk;
    size_t *heap; /* chunks that begin at or before `position`, that with the last end on top */
    size_t heap_count;
    uint64_t position;  /* number of the next event */
    uint64_t known_end; /* number behind the last event that any chunk claims */
    uint64_t missing;

    const struct mw_event_chunk *current;
    struct mw_window window;
    struct mw_decoder *decoder;
    const struct mw_event *events; /* of the current step */
    size_t event_count, event_next;
    uint64_t event_number; /* of events[event_next] */
    int gap;               /* events are missing before the next one */

    struct mw_vector parts; /* struct mw_event */
    struct mw_call_record record;
    struct mw_vector damage; /* struct mw_damage */
};

static uint64_t chunk_end(const struct mw_event_chunk *chunk)
{
    return chunk->first + chunk->count;
}

enum mw_status mw_cursor_open(const struct mw_trace *trace, const struct mw_process *process,
                              uint64_t thread, struct mw_cursor **opened)
{
    int known = 0;
    for (size_t i = 0; i < process->thread_count && !known; i++)
        known = process->threads[i].index == thread;
    if (!known)
        return MW_ERR_NOT_FOUND;
    struct mw_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return MW_ERR_MEMORY;
    cursor->trace = trace;
    cursor->process = process;
    cursor->thread = thread;
    cursor->chunks =
        mw_index_thread((const struct mw_process_entry *)process, thread, &cursor->chunk_count);
    cursor->heap = malloc((cursor->chunk_count + 1) * sizeof *cursor->heap);
    if (!cursor->heap) {
        free(cursor);
        return MW_ERR_MEMORY;
    }
    for (size_t i = 0; i < cursor->chunk_count; i++)
        if (chunk_end(&cursor->chunks[i]) > cursor->known_end)
            cursor->known_end = chunk_end(&cursor->chunks[i]);
    *opened = cursor;
    return MW_OK;
}

static void chunk_leave(struct mw_cursor *cursor)
{
    mw_decoder_close(cursor->decoder);
    cursor->decoder = NULL;
    cursor->current = NULL;
    cursor->event_count = cursor->event_next = 0;
}

void mw_cursor_close(struct mw_cursor *cursor)
{
    if (!cursor)
        return;
    chunk_leave(cursor);
    if (cursor->window.source)
        mw_window_close(&cursor->window);
    for (size_t i = 0; i < cursor->damage.count; i++)
        free((char *)((struct mw_damage *)cursor->damage.items)[i].text);
    mw_vector_free(&cursor->damage);
    mw_vector_free(&cursor->parts);
    free(cursor->heap);
    free(cursor);
}

/* The heap. */
static int heap_above(const struct mw_cursor *cursor, size_t a, size_t b)
{
    uint64_t x = chunk_end(&cursor->chunks[a]), y = chunk_end(&cursor->chunks[b]);
    return x != y ? x > y : a < b;
}

static void heap_push(struct mw_cursor *cursor, size_t chunk)
{
    size_t *heap = cursor->heap, at = cursor->heap_count++;
    for (; at > 0 && heap_above(cursor, chunk, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = chunk;
}

static size_t heap_pop(struct mw_cursor *cursor)
{
    size_t *heap = cursor->heap, top = heap[0], last = heap[--cursor->heap_count], at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= cursor->heap_count)
            break;
        if (child + 1 < cursor->heap_count && heap_above(cursor, heap[child + 1], heap[child]))
            child++;
        if (!heap_above(cursor, heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* The chunk to read on from: that which has the next event and reaches farthest; where none has it,
 * the next chunk, and what lies between is missing. NULL at the end. */
static const struct mw_event_chunk *chunk_choose(struct mw_cursor *cursor)
{
    for (;;) {
        while (cursor->next_chunk < cursor->chunk_count &&
               cursor->chunks[cursor->next_chunk].first <= cursor->position)
            heap_push(cursor, cursor->next_chunk++);
        if (cursor->heap_count) {
            const struct mw_event_chunk *chunk = &cursor->chunks[heap_pop(cursor)];
            if (chunk_end(chunk) > cursor->position)
                return chunk;
            cursor->heap_count = 0; /* the others end even earlier */
        }
        uint64_t next = cursor->known_end;
        if (cursor->next_chunk < cursor->chunk_count)
            next = cursor->chunks[cursor->next_chunk].first;
        if (next > cursor->position) {
            cursor->missing += next - cursor->position;
            cursor->position = next;
            cursor->gap = 1;
        }
        if (cursor->next_chunk == cursor->chunk_count)
            return NULL;
    }
}

static void damage_note(struct mw_cursor *cursor, enum mw_status status, const char *what)
{
    const struct mw_event_chunk *chunk = cursor->current;
    enum mw_status ignored;
    char *text;
    if (cursor->damage.count >= DAMAGE_MAX)
        return;
    if (asprintf(&text, "EVENTS chunk of process %016llx: %s from event %llu of thread %llu on",
                 (unsigned long long)cursor->process->key, what,
                 (unsigned long long)cursor->position, (unsigned long long)cursor->thread) < 0)
        return;
    struct mw_damage *damage = mw_vector_add(NULL, &cursor->damage, sizeof *damage, &ignored);
    if (!damage) {
        free(text);
        return;
    }
    *damage = (struct mw_damage){
        .file = mw_trace_source(cursor->trace, chunk->source)->file.path,
        .offset = chunk->offset,
        .length = MW_CHUNK_HEADER_SIZE + (uint64_t)chunk->length,
        .status = status,
        .text = text,
    };
}

/* The chunk's payload, valid until the next one is read. The file may have changed since the trace
 * was opened. */
static enum mw_status payload_read(struct mw_cursor *cursor, const struct mw_event_chunk *chunk,
                                   const uint8_t **payload)
{
    const struct mw_source *source = mw_trace_source(cursor->trace, chunk->source);
    struct mw_window *window = &cursor->window;
    if (window->source != source) {
        if (window->source)
            mw_window_close(window);
        mw_window_open(window, source, 0);
    }
    enum mw_status status =
        mw_window_get(window, chunk->offset + MW_CHUNK_HEADER_SIZE, chunk->length, payload);
    int error = errno;
    mw_window_rest(window); /* ten thousand cursors may be open at once: none keeps a descriptor */
    errno = error;
    if (status == MW_OK && mw_checksum(*payload, chunk->length) != chunk->check)
        status = MW_ERR_CORRUPT;
    return status;
}

/* Goes to the next chunk with events that are still wanted. MW_END when there is none. */
static enum mw_status chunk_enter(struct mw_cursor *cursor)
{
    const uint8_t *payload;
    for (;;) {
        cursor->current = chunk_choose(cursor);
        if (!cursor->current)
            return MW_END;
        enum mw_status status = payload_read(cursor, cursor->current, &payload);
        if (status == MW_ERR_SYSTEM)
            damage_note(cursor, status, strerror(errno));
        else if (status == MW_OK)
            status = mw_decoder_open(payload, cursor->current->length, cursor->current->raw_length,
                                     &cursor->decoder);
        if (status == MW_OK) {
            cursor->event_number = cursor->current->first;
            return MW_OK;
        }
        if (status == MW_ERR_MEMORY)
            return status;
        if (status != MW_ERR_SYSTEM)
            damage_note(cursor, status, "cannot be decoded");
    }
}

/* The next event that is wanted, without taking it. */
static enum mw_status event_find(struct mw_cursor *cursor, const struct mw_event **event)
{
    for (;;) {
        enum mw_status status = MW_OK;
        if (!cursor->current)
            status = chunk_enter(cursor);
        if (status != MW_OK)
            return status;
        while (cursor->event_next < cursor->event_count &&
               cursor->event_number < cursor->position) {
            cursor->event_next++;
            cursor->event_number++;
        }
        if (cursor->event_next < cursor->event_count) {
            *event = &cursor->events[cursor->event_next];
            return MW_OK;
        }
        cursor->event_next = cursor->event_count = 0;
        status = mw_decoder_step(cursor->decoder, &cursor->events, &cursor->event_count);
        if (status == MW_OK)
            continue;
        cursor->event_count = 0;
        if (status == MW_ERR_MEMORY)
            return status;
        if (status != MW_END)
            damage_note(cursor, status, "malformed");
        chunk_leave(cursor);
    }
}

static void event_take(struct mw_cursor *cursor)
{
    cursor->event_next++;
    cursor->position = ++cursor->event_number;
    cursor->gap = 0;
}

/* The record of parts whose call is not here: it is still open, or it is lost. */
static void record_incomplete(struct mw_cursor *cursor, int at_end)
{
    struct mw_event *parts = cursor->parts.items;
    struct mw_event *call = &cursor->record.call;
    memset(call, 0, sizeof *call);
    call->kind = MW_EVENT_CALL;
    call->comm = call->ordinal = -1;
    call->peer = MW_PEER_NONE;
    for (size_t i = 0; at_end && i < cursor->process->open_call_count; i++) {
        const struct mw_open_call *open = &cursor->process->open_calls[i];
        if (open->thread != cursor->thread)
            continue;
        call->function = open->function;
        call->start = call->end = open->start;
        call->site = open->site;
        break; /* the outermost */
    }
    for (size_t i = 0; i < cursor->parts.count; i++)
        parts[i].start = parts[i].end = call->start;
    cursor->record.incomplete = 1;
}

static void record_complete(struct mw_cursor *cursor, const struct mw_event *event)
{
    struct mw_event *parts = cursor->parts.items;
    cursor->record.call = *event;
    for (size_t i = 0; i < cursor->parts.count; i++) {
        parts[i].start = event->start;
        parts[i].end = event->end;
    }
    cursor->record.incomplete = 0;
}

static enum mw_status part_add(struct mw_cursor *cursor, const struct mw_event *event)
{
    enum mw_status status = MW_OK;
    struct mw_event *part = mw_vector_add(NULL, &cursor->parts, sizeof *part, &status);
    if (part)
        *part = *event;
    return status;
}

static enum mw_status record_give(struct mw_cursor *cursor, uint64_t number,
                                  const struct mw_call_record **record)
{
    cursor->record.number = number;
    cursor->record.parts = cursor->parts.count ? cursor->parts.items : NULL;
    cursor->record.part_count = cursor->parts.count;
    *record = &cursor->record;
    return MW_OK;
}

enum mw_status mw_cursor_next(struct mw_cursor *cursor, const struct mw_call_record **record)
{
    const struct mw_event *event;
    uint64_t after = 0; /* number of the event behind the last part */
    cursor->parts.count = 0;
    for (;;) {
        enum mw_status status = event_find(cursor, &event);
        if (status != MW_OK && status != MW_END)
            return status;
        int lost = status == MW_END || cursor->gap || cursor->parts.count >= PARTS_MAX;
        if (cursor->parts.count && lost) {
            record_incomplete(cursor, status == MW_END && !cursor->gap);
            return record_give(cursor, after, record);
        }
        if (status != MW_OK)
            return status;
        uint64_t number = cursor->event_number;
        if (!(event->flags & MW_EVENT_PART)) {
            record_complete(cursor, event);
            event_take(cursor);
            return record_give(cursor, number, record);
        }
        status = part_add(cursor, event);
        if (status != MW_OK)
            return status;
        event_take(cursor);
        after = number + 1;
    }
}

uint64_t mw_cursor_missing(const struct mw_cursor *cursor)
{
    return cursor->missing;
}

size_t mw_cursor_damage_count(const struct mw_cursor *cursor)
{
    return cursor->damage.count;
}

const struct mw_damage *mw_cursor_damage(const struct mw_cursor *cursor, size_t index)
{
    return index < cursor->damage.count ? &((struct mw_damage *)cursor->damage.items)[index] : NULL;
}
