/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the reading of EVENTS chunks (docs/format.md section 5): opens the frame and gives the
 * events back step by step. Reader side only, never in the job: it allocates. One decoder, one
 * thread. The payload may come from anywhere: every count and index is checked before it is used,
 * and memory is bounded by the format's limits, not by what the payload claims.
 */
#include "trace/decoder.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "trace/keys.h"
#include "trace/varint.h"

enum {
    WINDOW_LOG_MAX = 23,
};

/* What the events of a shape start as, and the key that counts them. */
struct shape {
    struct mw_event event;
    size_t key;
};

struct mw_decoder {
    struct mw_events_head head;
    uint8_t *content; /* the decompressed steps */
    const uint8_t *at, *end;
    uint64_t given;        /* events so far */
    uint64_t last_end;     /* shifted */
    uint64_t expected;     /* number of the next started request */
    enum mw_status failed; /* of an earlier step */
    struct shape *shapes;
    size_t shape_count, shape_capacity;
    struct mw_keys keys;
    struct mw_event *events;
    uint32_t *event_shape;
    size_t event_capacity;
};

enum mw_status mw_events_head_read(const uint8_t *payload, size_t length,
                                   struct mw_events_head *head)
{
    const uint8_t *at = payload, *end = payload + length;
    struct mw_events_head read;
    uint64_t *const numbers[] = {&read.thread, &read.first, &read.count,
                                 &read.shift,  &read.base,  &read.request};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!mw_varint_read(&at, end, numbers[i]))
            return MW_ERR_CORRUPT;
    if (read.shift > 63 || read.count > MW_EVENTS_MAX_COUNT || read.first + read.count < read.first)
        return MW_ERR_CORRUPT;
    *head = read;
    return MW_OK;
}

/* Where the frame begins in a payload whose head has been read. */
static const uint8_t *frame_find(const uint8_t *payload, const uint8_t *end)
{
    uint64_t skipped;
    for (int i = 0; i < 6; i++)
        if (!mw_varint_read(&payload, end, &skipped))
            return end;
    return payload;
}

/* One more piece of room for the content; never more than the format allows. */
static enum mw_status content_grow(uint8_t **content, size_t *capacity)
{
    if (*capacity == MW_CHUNK_MAX_RAW)
        return MW_ERR_LIMIT;
    size_t wanted = *capacity * 2 < MW_CHUNK_MAX_RAW ? *capacity * 2 : MW_CHUNK_MAX_RAW;
    uint8_t *grown = realloc(*content, wanted);
    if (!grown)
        return MW_ERR_MEMORY;
    *content = grown;
    *capacity = wanted;
    return MW_OK;
}

/* Decompresses the frame as far as it goes. A frame that is cut or damaged gives its beginning: the
 * steps will find out what is missing. */
static enum mw_status frame_open(ZSTD_DCtx *context, const uint8_t *frame, size_t length,
                                 uint8_t **content, size_t *size)
{
    size_t capacity = length * 4 + 4096;
    if (capacity > MW_CHUNK_MAX_RAW)
        capacity = MW_CHUNK_MAX_RAW;
    *content = malloc(capacity);
    if (!*content)
        return MW_ERR_MEMORY;
    ZSTD_inBuffer in = {frame, length, 0};
    ZSTD_outBuffer out = {*content, capacity, 0};
    for (;;) {
        size_t in_before = in.pos, out_before = out.pos;
        size_t left = ZSTD_decompressStream(context, &out, &in);
        if (left == 0 || ZSTD_isError(left))
            break;
        if (out.pos == out.size) {
            enum mw_status status = content_grow(content, &capacity);
            if (status != MW_OK)
                return status;
            out.dst = *content;
            out.size = capacity;
        } else if (in.pos == in_before && out.pos == out_before) {
            break; /* wants more than there is */
        }
    }
    *size = out.pos;
    return MW_OK;
}

static enum mw_status content_open(struct mw_decoder *decoder, const uint8_t *frame, size_t length)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context)
        return MW_ERR_MEMORY;
    size_t size = 0;
    enum mw_status status = MW_ERR_MEMORY;
    if (!ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        status = frame_open(context, frame, length, &decoder->content, &size);
    ZSTD_freeDCtx(context);
    if (status != MW_OK)
        return status;
    uint8_t *fitted = realloc(decoder->content, size ? size : 1);
    if (fitted)
        decoder->content = fitted;
    decoder->at = decoder->content;
    decoder->end = decoder->content + size;
    return MW_OK;
}

enum mw_status mw_decoder_open(const uint8_t *payload, size_t length, uint32_t raw_length,
                               struct mw_decoder **decoder)
{
    (void)raw_length; /* the payload as a whole is not compressed: it equals length */
    struct mw_events_head head;
    enum mw_status status = mw_events_head_read(payload, length, &head);
    if (status != MW_OK)
        return status;
    struct mw_decoder *opened = calloc(1, sizeof *opened);
    if (!opened)
        return MW_ERR_MEMORY;
    opened->head = head;
    opened->last_end = head.base;
    opened->expected = head.request;
    const uint8_t *frame = frame_find(payload, payload + length);
    status = content_open(opened, frame, (size_t)(payload + length - frame));
    if (status != MW_OK) {
        mw_decoder_close(opened);
        return status;
    }
    *decoder = opened;
    return MW_OK;
}

const struct mw_events_head *mw_decoder_head(const struct mw_decoder *decoder)
{
    return &decoder->head;
}

void mw_decoder_close(struct mw_decoder *decoder)
{
    if (!decoder)
        return;
    mw_keys_free(&decoder->keys);
    free(decoder->content);
    free(decoder->shapes);
    free(decoder->events);
    free(decoder->event_shape);
    free(decoder);
}

static inline int take(struct mw_decoder *decoder, uint64_t *value)
{
    return mw_varint_read(&decoder->at, decoder->end, value);
}

static inline int take_signed(struct mw_decoder *decoder, int64_t *value)
{
    uint64_t raw;
    if (!take(decoder, &raw))
        return 0;
    *value = mw_zigzag_back(raw);
    return 1;
}

/* Room for `more` shapes. As each of them takes bytes of the content, growth is bounded by it. */
static enum mw_status shapes_reserve(struct mw_decoder *decoder, size_t more)
{
    size_t wanted = decoder->shape_count + more;
    if (wanted > MW_EVENTS_MAX_SHAPES)
        return MW_ERR_LIMIT;
    if (wanted <= decoder->shape_capacity)
        return MW_OK;
    size_t capacity = wanted * 2;
    struct shape *grown = realloc(decoder->shapes, capacity * sizeof *grown);
    if (!grown)
        return MW_ERR_MEMORY;
    decoder->shapes = grown;
    decoder->shape_capacity = capacity;
    return MW_OK;
}

/* Reads the columns that introduce `count` shapes, field by field. */
static int shapes_read(struct mw_decoder *decoder, struct shape *shapes, size_t count)
{
    if ((size_t)(decoder->end - decoder->at) < count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = *decoder->at++;
        if (!MW_EVENT_KIND_KNOWN(kind))
            return 0;
        shapes[i].event = (struct mw_event){.kind = (enum mw_event_kind)kind, .ordinal = -1};
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t flags;
        if (!take(decoder, &flags) || flags & ~(uint64_t)MW_EVENT_KNOWN_FLAGS)
            return 0;
        shapes[i].event.flags = (uint32_t)flags;
    }
    for (size_t i = 0; i < count; i++)
        if (!take(decoder, &shapes[i].event.function))
            return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t comm;
        if (!take(decoder, &comm) || comm > INT64_MAX)
            return 0;
        shapes[i].event.comm = (int64_t)comm - 1;
    }
    for (size_t i = 0; i < count; i++)
        if (!take_signed(decoder, &shapes[i].event.peer))
            return 0;
    for (size_t i = 0; i < count; i++)
        if (!take_signed(decoder, &shapes[i].event.tag))
            return 0;
    for (size_t i = 0; i < count; i++)
        if (!take(decoder, &shapes[i].event.bytes))
            return 0;
    for (size_t i = 0; i < count; i++)
        if (!take(decoder, &shapes[i].event.bytes_in))
            return 0;
    for (size_t i = 0; i < count; i++)
        if (!take(decoder, &shapes[i].event.site))
            return 0;
    return 1;
}

static enum mw_status shape_find_key(struct mw_decoder *decoder, struct shape *shape)
{
    const struct mw_event *event = &shape->event;
    int collective = event->kind == MW_EVENT_COLL;
    struct mw_key key = {
        .class = collective || event->kind == MW_EVENT_SEND ? (uint64_t)event->kind
                                                            : (uint64_t)MW_EVENT_RECV,
        .comm = event->comm,
        .peer = collective ? 0 : event->peer,
        .tag = collective ? 0 : event->tag,
    };
    return mw_keys_intern(&decoder->keys, &key, &shape->key);
}

static enum mw_status shapes_introduce(struct mw_decoder *decoder, size_t count)
{
    enum mw_status status = shapes_reserve(decoder, count);
    if (status != MW_OK || count == 0)
        return status;
    struct shape *shapes = decoder->shapes + decoder->shape_count;
    if (!shapes_read(decoder, shapes, count))
        return MW_ERR_CORRUPT;
    for (size_t i = 0; i < count && status == MW_OK; i++)
        if (shapes[i].event.flags & MW_EVENT_COUNTED)
            status = shape_find_key(decoder, &shapes[i]);
    if (status == MW_OK)
        decoder->shape_count += count;
    return status;
}

static enum mw_status events_reserve(struct mw_decoder *decoder, size_t count)
{
    if (count <= decoder->event_capacity)
        return MW_OK;
    struct mw_event *events = realloc(decoder->events, count * sizeof *events);
    if (events)
        decoder->events = events;
    uint32_t *event_shape = realloc(decoder->event_shape, count * sizeof *event_shape);
    if (event_shape)
        decoder->event_shape = event_shape;
    if (!events || !event_shape)
        return MW_ERR_MEMORY;
    decoder->event_capacity = count;
    return MW_OK;
}

static int shape_column(struct mw_decoder *decoder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t shape;
        if (!take(decoder, &shape) || shape >= decoder->shape_count)
            return 0;
        decoder->event_shape[i] = (uint32_t)shape;
        decoder->events[i] = decoder->shapes[shape].event;
    }
    return 1;
}

/* Gaps need the ends, which come with the durations: both columns are read side by side. */
static int time_columns(struct mw_decoder *decoder, size_t count)
{
    struct mw_event *events = decoder->events;
    for (size_t i = 0; i < count; i++)
        if (!(events[i].flags & MW_EVENT_PART) && !take(decoder, &events[i].start))
            return 0;
    unsigned shift = (unsigned)decoder->head.shift;
    for (size_t i = 0; i < count; i++) {
        uint64_t duration;
        if (events[i].flags & MW_EVENT_PART)
            continue;
        if (!take(decoder, &duration))
            return 0;
        uint64_t start = decoder->last_end + (uint64_t)mw_zigzag_back(events[i].start);
        decoder->last_end = start + duration;
        events[i].start = start << shift;
        events[i].end = decoder->last_end << shift;
    }
    return 1;
}

static int request_columns(struct mw_decoder *decoder, size_t count)
{
    struct mw_event *events = decoder->events;
    for (size_t i = 0; i < count; i++) {
        int64_t ahead;
        if (!(events[i].flags & MW_EVENT_REQUEST))
            continue;
        if (!take_signed(decoder, &ahead))
            return 0;
        events[i].origin = decoder->head.thread;
        if (events[i].kind == MW_EVENT_DONE) {
            events[i].request = decoder->expected - (uint64_t)ahead;
        } else {
            events[i].request = decoder->expected + (uint64_t)ahead;
            decoder->expected = events[i].request + 1;
        }
    }
    for (size_t i = 0; i < count; i++)
        if ((events[i].flags & MW_EVENT_FOREIGN) && !take(decoder, &events[i].origin))
            return 0;
    return 1;
}

static int ordinal_column(struct mw_decoder *decoder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct mw_event *event = &decoder->events[i];
        uint64_t given = 0;
        if ((event->flags & MW_EVENT_ORDINAL) && (!take(decoder, &given) || given > INT64_MAX))
            return 0;
        if (!(event->flags & MW_EVENT_COUNTED))
            continue;
        int64_t *next = mw_keys_next(&decoder->keys, decoder->shapes[decoder->event_shape[i]].key);
        if (event->flags & MW_EVENT_ORDINAL)
            *next = (int64_t)given;
        else if (*next < 0 || *next == INT64_MAX)
            return 0; /* one more than nothing, or than can be counted */
        event->ordinal = *next;
        if (*next < INT64_MAX)
            ++*next;
    }
    return 1;
}

static int rare_columns(struct mw_decoder *decoder, size_t count)
{
    struct mw_event *events = decoder->events;
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == MW_EVENT_POLL && !take(decoder, &events[i].polls))
            return 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != MW_EVENT_POLL)
            continue;
        if (!take(decoder, &events[i].busy))
            return 0;
        events[i].busy <<= decoder->head.shift;
    }
    for (size_t i = 0; i < count; i++)
        if ((events[i].flags & MW_EVENT_ERROR) && !take_signed(decoder, &events[i].code))
            return 0;
    for (size_t i = 0; i < count; i++)
        if ((events[i].flags & MW_EVENT_OFFSET) && !take_signed(decoder, &events[i].offset))
            return 0;
    return 1;
}

static enum mw_status step_read(struct mw_decoder *decoder, size_t *count)
{
    uint64_t n, m;
    if (!take(decoder, &n) || !take(decoder, &m))
        return MW_ERR_CORRUPT;
    if (n == 0 || n > MW_STEP_MAX_EVENTS || m > n || n > decoder->head.count - decoder->given)
        return MW_ERR_CORRUPT;
    enum mw_status status = shapes_introduce(decoder, (size_t)m);
    if (status == MW_OK)
        status = events_reserve(decoder, (size_t)n);
    if (status != MW_OK)
        return status;
    *count = (size_t)n;
    return shape_column(decoder, *count) && time_columns(decoder, *count) &&
                   request_columns(decoder, *count) && ordinal_column(decoder, *count) &&
                   rare_columns(decoder, *count)
               ? MW_OK
               : MW_ERR_CORRUPT;
}

enum mw_status mw_decoder_step(struct mw_decoder *decoder, const struct mw_event **events,
                               size_t *count)
{
    if (decoder->failed)
        return decoder->failed;
    if (decoder->given == decoder->head.count)
        return MW_END;
    size_t read;
    decoder->failed = step_read(decoder, &read);
    if (decoder->failed)
        return decoder->failed;
    decoder->given += read;
    *events = decoder->events;
    *count = read;
    return MW_OK;
}
