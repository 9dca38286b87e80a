/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the making of EVENTS chunks (docs/format.md section 5): a step of raw events becomes
 * columns, the columns go into one zstd frame a chunk. Runs inside MPI calls of other people's
 * programs and when a dead process's events are collected: no allocation after create, no I/O, no
 * locks; one thread at a time. Nothing in an event is trusted to be in range.
 */
#include "trace/encoder.h"

#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "mpiwatch/format.h"
#include "trace/chunk.h"
#include "trace/shapes.h"
#include "trace/varint.h"

enum {
    OUTPUT_MAX = 256 * 1024,        /* of one frame */
    CONTENT_MAX = 16 * 1024 * 1024, /* of one frame, decompressed: what a reader must hold */
    /* zstd compresses once so many are waiting. Tried: 2 KiB costs 3 % more bytes; 8 KiB saves 2 %
     * and a tenth of the time, but its longest step takes half as long again; zstd's own blocks of
     * 64 KiB save 3 %, and their longest step takes five times as long. */
    FLUSH_BYTES = 4 * 1024,
    HEAD_MAX = 6 * MW_VARINT_MAX,
    SLACK = 64, /* zstd: frame header, block headers, end of frame */
    WINDOW_LOG = 16,
    HASH_LOG = 13,
    LEVEL_MIN = -64,
    COLUMN_MAX = MW_ENCODER_STEP * MW_VARINT_MAX,
    SHAPE_FIELDS_MAX = 1 + 8 * MW_VARINT_MAX,
    STEP_MAX = 2 * MW_VARINT_MAX + MW_ENCODER_STEP * SHAPE_FIELDS_MAX + 10 * COLUMN_MAX,
};

enum column { SHAPE, GAP, DURATION, REQUEST, ORIGIN, ORDINAL, POLLS, BUSY, CODE, OFFSET, COLUMNS };

struct mw_encoder {
    ZSTD_CStream *stream;
    uint64_t thread, first, count, base, request;
    unsigned shift;
    int has_base, has_request, ended;
    enum mw_status stopped;  /* why no more events are taken, MW_OK: they are */
    uint64_t last_end;       /* shifted */
    uint64_t expected;       /* number of the next started request */
    size_t content, waiting; /* bytes given to zstd; of these not yet flushed */
    size_t output;           /* bytes of the frame so far */
    uint32_t fresh_count;
    /* Shapes that this step introduces: index of the tuple * 2, + 1 with ordinal. */
    uint16_t fresh[MW_ENCODER_STEP];
    uint8_t column[COLUMNS][COLUMN_MAX];
    uint8_t step[STEP_MAX];
    uint8_t chunk[MW_CHUNK_HEADER_SIZE + HEAD_MAX + OUTPUT_MAX];
    struct mw_shapes shapes;
};

#define FRAME_OFFSET (MW_CHUNK_HEADER_SIZE + HEAD_MAX)

/* The tables are the same for all levels, so that one size of memory serves every one. */
static ZSTD_compressionParameters stream_parameters(int level)
{
    ZSTD_compressionParameters parameters = {
        .windowLog = WINDOW_LOG,
        .chainLog = ZSTD_CHAINLOG_MIN,
        .hashLog = HASH_LOG,
        .searchLog = 1,
        .minMatch = 6,
        .targetLength = level > 0 ? 0 : (unsigned)(1 - level),
        .strategy = ZSTD_fast,
    };
    return parameters;
}

static size_t stream_offset(void)
{
    return (sizeof(struct mw_encoder) + 63) & ~(size_t)63;
}

size_t mw_encoder_memory(void)
{
    size_t stream = ZSTD_estimateCStreamSize_usingCParams(stream_parameters(1));
    return (stream_offset() + stream + 4095) & ~(size_t)4095;
}

static int stream_configure(ZSTD_CStream *stream, int level)
{
    ZSTD_compressionParameters wanted = stream_parameters(level);
    const struct {
        ZSTD_cParameter parameter;
        int value;
    } settings[] = {
        {ZSTD_c_windowLog, (int)wanted.windowLog},
        {ZSTD_c_chainLog, (int)wanted.chainLog},
        {ZSTD_c_hashLog, (int)wanted.hashLog},
        {ZSTD_c_searchLog, (int)wanted.searchLog},
        {ZSTD_c_minMatch, (int)wanted.minMatch},
        {ZSTD_c_targetLength, (int)wanted.targetLength},
        {ZSTD_c_strategy, (int)wanted.strategy},
        /* The fast levels would leave literals as they are, and times are nothing but literals.
         * 1 is "always"; its name depends on the version of zstd. */
        {ZSTD_c_literalCompressionMode, 1},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (ZSTD_isError(ZSTD_CCtx_setParameter(stream, settings[i].parameter, settings[i].value)))
            return 0;
    return 1;
}

/* Whether zstd manages with its memory shows only when it compresses; this also touches its tables
 * once here instead of in somebody's MPI call. */
static int stream_try(struct mw_encoder *encoder)
{
    ZSTD_inBuffer in = {encoder->step, 16, 0};
    ZSTD_outBuffer out = {encoder->chunk, sizeof encoder->chunk, 0};
    return ZSTD_compressStream2(encoder->stream, &out, &in, ZSTD_e_end) == 0;
}

struct mw_encoder *mw_encoder_create(void *memory, size_t size, int level)
{
    if (size < mw_encoder_memory())
        return NULL;
    struct mw_encoder *encoder = memory;
    encoder->stream =
        ZSTD_initStaticCStream((uint8_t *)memory + stream_offset(), size - stream_offset());
    if (!encoder->stream)
        return NULL;
    level = level < LEVEL_MIN ? LEVEL_MIN : level > 1 ? 1 : level;
    if (!stream_configure(encoder->stream, level) || !stream_try(encoder))
        return NULL;
    mw_encoder_begin(encoder, 0, 0, 0);
    return encoder;
}

void mw_encoder_begin(struct mw_encoder *encoder, uint32_t thread, uint64_t first, unsigned shift)
{
    encoder->thread = thread;
    encoder->first = first;
    encoder->count = encoder->base = encoder->request = 0;
    encoder->shift = shift < 63 ? shift : 63;
    encoder->has_base = encoder->has_request = encoder->ended = 0;
    encoder->last_end = encoder->expected = 0;
    encoder->content = encoder->waiting = encoder->output = 0;
    encoder->stopped = ZSTD_isError(ZSTD_CCtx_reset(encoder->stream, ZSTD_reset_session_only))
                           ? MW_ERR_MEMORY
                           : MW_OK;
    mw_shapes_clear(&encoder->shapes);
}

/* A step being made: where the next value of each column goes. */
struct columns {
    uint8_t *at[COLUMNS];
};

/* The number of a shape, introducing it when it is new; -1 when there are too many. */
static inline int shape_number(struct mw_encoder *encoder, struct mw_shape *shape, unsigned ordinal)
{
    if (__builtin_expect(shape->number[ordinal] == 0, 0)) {
        if (encoder->shapes.number_count == MW_SHAPES_MAX)
            return -1;
        shape->number[ordinal] = (uint16_t)++encoder->shapes.number_count;
        size_t tuple = (size_t)(shape - encoder->shapes.shape);
        encoder->fresh[encoder->fresh_count++] = (uint16_t)(tuple * 2 + ordinal);
    }
    return shape->number[ordinal] - 1;
}

/* Whether the ordinal has to be written: it is not the one that the key's last event announces. */
static inline unsigned ordinal_is_news(struct mw_encoder *encoder, const struct mw_shape *shape,
                                       const struct mw_raw_event *event)
{
    struct mw_ordinal_key *key = &encoder->shapes.key[shape->key];
    unsigned news = key->next != event->ordinal;
    key->next = (uint64_t)event->ordinal + 1;
    return news;
}

static inline void put(struct columns *columns, enum column column, uint64_t value)
{
    columns->at[column] = mw_varint_write(columns->at[column], value);
}

/* Of at most 14 bits, as shape numbers are. */
static inline void put_short(struct columns *columns, enum column column, unsigned value)
{
    unsigned more = value > 0x7f;
    uint16_t bytes = htole16((uint16_t)((value & 0x7f) | more << 7 | (value & 0x3f80) << 1));
    memcpy(columns->at[column], &bytes, sizeof bytes);
    columns->at[column] += 1 + more;
}

static inline void put_times(struct mw_encoder *encoder, struct columns *columns,
                             const struct mw_raw_event *event)
{
    uint64_t start = event->start >> encoder->shift, end = event->end >> encoder->shift;
    if (__builtin_expect(!encoder->has_base, 0)) {
        encoder->has_base = 1;
        encoder->base = encoder->last_end = start;
    }
    put(columns, GAP, mw_zigzag_of((int64_t)(start - encoder->last_end)));
    put(columns, DURATION, end - start);
    encoder->last_end = end;
}

/* The first event of a chunk that has a request: looks in the rest of its step for a started one,
 * the number of which is the one that the chunk's head promises. */
static void request_begin(struct mw_encoder *encoder, const struct mw_raw_event *ring,
                          uint64_t mask, uint64_t from, uint64_t end)
{
    uint64_t number = (uint64_t)ring[from & mask].request + 1;
    for (uint64_t at = from; at < end; at++) {
        const struct mw_raw_event *event = &ring[at & mask];
        if ((event->flags & MW_EVENT_REQUEST) && event->kind != MW_EVENT_DONE) {
            number = event->request;
            break;
        }
    }
    encoder->request = encoder->expected = number;
    encoder->has_request = 1;
}

static inline void put_request(struct mw_encoder *encoder, struct columns *columns,
                               const struct mw_shape *shape, const struct mw_raw_event *event)
{
    int64_t ahead = (int64_t)(event->request - encoder->expected);
    if (shape->kind == MW_EVENT_DONE) {
        put(columns, REQUEST, mw_zigzag_of(-ahead));
    } else {
        put(columns, REQUEST, mw_zigzag_of(ahead));
        encoder->expected = (uint64_t)event->request + 1;
    }
}

/* What few events have. */
static void put_rare(const struct mw_encoder *encoder, struct columns *columns,
                     const struct mw_shape *shape, const struct mw_raw_event *event)
{
    int failed = (shape->flags & MW_EVENT_ERROR) != 0;
    if (shape->flags & MW_EVENT_FOREIGN)
        put(columns, ORIGIN, event->origin | event->flags >> MW_ORIGIN_HIGH_SHIFT << 8);
    if (shape->kind == MW_EVENT_POLL) {
        put(columns, POLLS, failed ? 1 : event->bytes);
        put(columns, BUSY, event->bytes_in >> encoder->shift);
    }
    if (failed)
        put(columns, CODE, mw_zigzag_of((int64_t)event->bytes));
    if (shape->flags & MW_EVENT_OFFSET)
        put(columns, OFFSET, mw_zigzag_of((int64_t)event->bytes_in));
}

static enum mw_status columns_fill(struct mw_encoder *encoder, struct columns *columns,
                                   const struct mw_raw_event *ring, uint64_t mask, uint64_t from,
                                   size_t count)
{
    for (uint64_t at = from, end = from + count; at != end; at++) {
        const struct mw_raw_event *event = &ring[at & mask];
        struct mw_shape *shape = mw_shapes_find(&encoder->shapes, event);
        if (!shape)
            return MW_ERR_FULL;
        unsigned ordinal = 0;
        if (shape->flags & MW_EVENT_COUNTED)
            ordinal = ordinal_is_news(encoder, shape, event);
        int number = shape_number(encoder, shape, ordinal);
        if (number < 0)
            return MW_ERR_FULL;
        put_short(columns, SHAPE, (unsigned)number);
        if (!(shape->flags & MW_EVENT_PART))
            put_times(encoder, columns, event);
        if (shape->flags & MW_EVENT_REQUEST) {
            if (__builtin_expect(!encoder->has_request, 0))
                request_begin(encoder, ring, mask, at, end);
            put_request(encoder, columns, shape, event);
        }
        if (ordinal)
            put(columns, ORDINAL, event->ordinal);
        if ((shape->flags & (MW_EVENT_FOREIGN | MW_EVENT_ERROR | MW_EVENT_OFFSET)) ||
            shape->kind == MW_EVENT_POLL)
            put_rare(encoder, columns, shape, event);
    }
    return MW_OK;
}

static const struct mw_shape *fresh_shape(const struct mw_encoder *encoder, uint32_t index)
{
    return &encoder->shapes.shape[encoder->fresh[index] / 2];
}

/* The columns that introduce shapes, field by field. */
static uint8_t *put_fresh_shapes(const struct mw_encoder *encoder, uint8_t *to)
{
    uint32_t count = encoder->fresh_count;
    for (uint32_t i = 0; i < count; i++)
        *to++ = fresh_shape(encoder, i)->kind;
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, fresh_shape(encoder, i)->flags |
                                     (encoder->fresh[i] & 1 ? MW_EVENT_ORDINAL : 0));
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, fresh_shape(encoder, i)->tuple.site_function_kind >> 32 & 0xffff);
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, fresh_shape(encoder, i)->tuple.flags_comm >> 32);
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, mw_zigzag_of((int32_t)fresh_shape(encoder, i)->tuple.peer_tag));
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(
            to, mw_zigzag_of((int32_t)(fresh_shape(encoder, i)->tuple.peer_tag >> 32)));
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, fresh_shape(encoder, i)->tuple.bytes);
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, fresh_shape(encoder, i)->tuple.bytes_in);
    for (uint32_t i = 0; i < count; i++)
        to = mw_varint_write(to, (uint32_t)fresh_shape(encoder, i)->tuple.site_function_kind);
    return to;
}

/* Puts the step together; returns its length. */
static size_t step_assemble(struct mw_encoder *encoder, const struct columns *columns, size_t count)
{
    uint8_t *to = mw_varint_write(encoder->step, count);
    to = mw_varint_write(to, encoder->fresh_count);
    to = put_fresh_shapes(encoder, to);
    for (int i = 0; i < COLUMNS; i++) {
        size_t size = (size_t)(columns->at[i] - encoder->column[i]);
        memcpy(to, encoder->column[i], size);
        to += size;
    }
    return (size_t)(to - encoder->step);
}

/* Gives bytes to zstd. The caller has made sure that the output has room for whatever comes of
 * them. */
static enum mw_status stream_give(struct mw_encoder *encoder, const void *data, size_t size,
                                  ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {data, size, 0};
    ZSTD_outBuffer out = {encoder->chunk + FRAME_OFFSET, OUTPUT_MAX, encoder->output};
    size_t left;
    do {
        size_t before = in.pos + out.pos;
        left = ZSTD_compressStream2(encoder->stream, &out, &in, directive);
        if (ZSTD_isError(left) || (left && directive != ZSTD_e_continue && out.pos == out.size))
            return MW_ERR_MEMORY;
        if (directive == ZSTD_e_continue)
            left = in.size - in.pos;
        if (left && in.pos + out.pos == before)
            return MW_ERR_MEMORY;
    } while (left);
    encoder->output = out.pos;
    return MW_OK;
}

static int stream_has_room(const struct mw_encoder *encoder, size_t size)
{
    return ZSTD_compressBound(encoder->waiting + size) + SLACK <= OUTPUT_MAX - encoder->output &&
           encoder->content + size <= CONTENT_MAX;
}

/* The assembled step goes to zstd, which compresses when enough has come together. */
static enum mw_status step_give(struct mw_encoder *encoder, size_t size)
{
    if (!stream_has_room(encoder, size))
        return MW_ERR_FULL;
    encoder->content += size;
    encoder->waiting += size;
    if (encoder->waiting < FLUSH_BYTES)
        return stream_give(encoder, encoder->step, size, ZSTD_e_continue);
    encoder->waiting = 0;
    return stream_give(encoder, encoder->step, size, ZSTD_e_flush);
}

enum mw_status mw_encoder_step(struct mw_encoder *encoder, const struct mw_raw_event *ring,
                               uint64_t mask, uint64_t from, size_t count)
{
    if (encoder->stopped)
        return encoder->stopped;
    if (count == 0 || count > MW_ENCODER_STEP)
        return MW_ERR_ARGUMENT;
    struct columns columns;
    for (int i = 0; i < COLUMNS; i++)
        columns.at[i] = encoder->column[i];
    encoder->fresh_count = 0;
    enum mw_status status = columns_fill(encoder, &columns, ring, mask, from, count);
    if (status == MW_OK)
        status = step_give(encoder, step_assemble(encoder, &columns, count));
    /* The tables have run ahead of what was written: nothing more fits this chunk. */
    if (status != MW_OK)
        encoder->stopped = status;
    else
        encoder->count += count;
    return status;
}

enum mw_status mw_encoder_end(struct mw_encoder *encoder, uint64_t process, const uint8_t **chunk,
                              size_t *size)
{
    if (encoder->stopped && encoder->stopped != MW_ERR_FULL)
        return encoder->stopped;
    if (encoder->count == 0 || encoder->ended)
        return MW_END;
    enum mw_status status = stream_give(encoder, NULL, 0, ZSTD_e_end);
    if (status != MW_OK)
        return encoder->stopped = status;
    encoder->stopped = MW_ERR_FULL;
    encoder->ended = 1;

    uint8_t head[HEAD_MAX], *to = head;
    const uint64_t numbers[] = {encoder->thread, encoder->first, encoder->count,
                                encoder->shift,  encoder->base,  encoder->request};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        to = mw_varint_write_long(to, numbers[i]);
    /* Only now is the head's length known: it goes right before the frame. */
    size_t head_size = (size_t)(to - head), length = head_size + encoder->output;
    uint8_t *payload = encoder->chunk + FRAME_OFFSET - head_size;
    memcpy(payload, head, head_size);
    mw_chunk_frame(payload - MW_CHUNK_HEADER_SIZE, MW_CHUNK_EVENTS, 0, process, payload,
                   (uint32_t)length, (uint32_t)length);
    *chunk = payload - MW_CHUNK_HEADER_SIZE;
    *size = MW_CHUNK_HEADER_SIZE + length;
    return MW_OK;
}

uint64_t mw_encoder_events(const struct mw_encoder *encoder)
{
    return encoder->count;
}
