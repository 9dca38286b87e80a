/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events decoder against bytes written by hand from docs/format.md, against everything that the
 * norm calls malformed, and against payloads that are cut and flipped at every place. Meant to be
 * run with the address and undefined-behaviour sanitizers, too.
 */
#include "events.h"

#include <zstd.h>

#include "trace/fields.h"

enum { CONTENT_MAX = 1 << 20 };

struct payload {
    uint64_t thread, first, count, shift, base, request;
    struct mw_buffer content;
    uint8_t *bytes; /* head and frame */
    size_t size;
};

static void payload_begin(struct payload *payload, uint64_t count)
{
    static uint8_t memory[CONTENT_MAX];
    memset(payload, 0, sizeof *payload);
    payload->count = count;
    mw_buffer_init(&payload->content, memory, sizeof memory);
}

static void put(struct payload *payload, uint64_t value)
{
    mw_buffer_varint(&payload->content, value);
}

static void put_signed(struct payload *payload, int64_t value)
{
    mw_buffer_signed(&payload->content, value);
}

/* A step's first numbers and one shape; what follows is the caller's. */
static void put_step(struct payload *payload, uint64_t events, uint64_t kind, uint64_t flags)
{
    put(payload, events);
    put(payload, 1);
    put(payload, kind); /* a byte, as they are small */
    put(payload, flags);
    put(payload, 12);        /* function */
    put(payload, 3);         /* comm + 1 */
    put_signed(payload, -1); /* peer */
    put_signed(payload, 99); /* tag */
    put(payload, 1000);      /* bytes */
    put(payload, 2000);      /* bytes_in */
    put(payload, 5);         /* site */
}

/* Head and frame from the content. */
static void payload_seal(struct payload *payload)
{
    const uint64_t head[] = {payload->thread, payload->first, payload->count,
                             payload->shift,  payload->base,  payload->request};
    size_t room = 60 + ZSTD_compressBound(payload->content.size);
    struct mw_buffer bytes;
    assert_false(payload->content.overflow);
    payload->bytes = malloc(room);
    mw_buffer_init(&bytes, payload->bytes, room);
    for (size_t i = 0; i < 6; i++)
        mw_buffer_varint(&bytes, head[i]);
    size_t frame = ZSTD_compress(bytes.data + bytes.size, room - bytes.size, payload->content.data,
                                 payload->content.size, 3);
    assert_false(ZSTD_isError(frame));
    payload->size = bytes.size + frame;
}

/* Reads to the end; the events up to there. */
static enum mw_status decode_all(const uint8_t *bytes, size_t size, uint64_t *events)
{
    struct mw_decoder *decoder;
    const struct mw_event *step;
    size_t count;
    *events = 0;
    enum mw_status status = mw_decoder_open(bytes, size, (uint32_t)size, &decoder);
    if (status != MW_OK)
        return status;
    while ((status = mw_decoder_step(decoder, &step, &count)) == MW_OK) {
        assert_true(count > 0 && count <= MW_STEP_MAX_EVENTS);
        *events += count;
        assert_true(step[count - 1].kind >= MW_EVENT_CALL); /* reads the last one */
    }
    assert_int_equal(mw_decoder_step(decoder, &step, &count), status); /* and stays so */
    mw_decoder_close(decoder);
    return status;
}

static enum mw_status seal_and_decode(struct payload *payload, uint64_t *events)
{
    payload_seal(payload);
    enum mw_status status = decode_all(payload->bytes, payload->size, events);
    free(payload->bytes);
    return status;
}

static void put_example(struct payload *payload)
{
    payload_begin(payload, 4);
    payload->thread = 6;
    payload->first = 100;
    payload->shift = 4;
    payload->base = 1000;
    payload->request = 50;
    put(payload, 3);             /* n */
    put(payload, 2);             /* m */
    put(payload, MW_EVENT_RECV); /* kinds */
    put(payload, MW_EVENT_DONE);
    put(payload, MW_EVENT_REQUEST | MW_EVENT_COUNTED | MW_EVENT_ORDINAL); /* flags */
    put(payload, MW_EVENT_REQUEST | MW_EVENT_FOREIGN | MW_EVENT_PART);
    put(payload, 12), put(payload, 9);                 /* functions */
    put(payload, 1), put(payload, 0);                  /* comm + 1 */
    put_signed(payload, 7), put_signed(payload, -2);   /* peers */
    put_signed(payload, -5), put_signed(payload, 0);   /* tags */
    put(payload, 0), put(payload, 0);                  /* bytes */
    put(payload, 4096), put(payload, 300);             /* bytes_in */
    put(payload, 70), put(payload, 0);                 /* sites */
    put(payload, 0), put(payload, 1), put(payload, 0); /* the shape of each event */
    put_signed(payload, 2), put_signed(payload, -1);   /* gap */
    put(payload, 30), put(payload, 1);                 /* duration */
    put_signed(payload, 0), put_signed(payload, 3), put_signed(payload, -1); /* request */
    put(payload, 8);                                                         /* origin */
    put(payload, 40), put(payload, 45);                                      /* ordinal */
    /* second step: a failed poll and nothing else */
    put_step(payload, 1, MW_EVENT_POLL, MW_EVENT_ERROR);
    put(payload, 2);          /* shape */
    put_signed(payload, 9);   /* gap */
    put(payload, 5);          /* duration */
    put(payload, 77);         /* polls */
    put(payload, 3);          /* busy */
    put_signed(payload, -16); /* code */
}

static void an_example_is_read_as_the_norm_says(void **state)
{
    struct payload payload;
    struct mw_decoder *decoder;
    const struct mw_event *events;
    size_t count;
    put_example(&payload);
    payload_seal(&payload);
    assert_int_equal(mw_decoder_open(payload.bytes, payload.size, (uint32_t)payload.size, &decoder),
                     MW_OK);
    assert_int_equal(mw_decoder_step(decoder, &events, &count), MW_OK);
    assert_int_equal(count, 3);
    const struct mw_event first = {.kind = MW_EVENT_RECV,
                                   .flags = MW_EVENT_REQUEST | MW_EVENT_COUNTED,
                                   .function = 12,
                                   .start = 1002 << 4,
                                   .end = 1032 << 4,
                                   .comm = 0,
                                   .peer = 7,
                                   .tag = -5,
                                   .bytes_in = 4096,
                                   .site = 70,
                                   .request = 50,
                                   .origin = 6,
                                   .ordinal = 40};
    struct mw_event third = first;
    third.start = 1031 << 4;
    third.end = 1032 << 4;
    third.request = 50; /* 51 was expected: one was taken back */
    third.ordinal = 45;
    const struct mw_event second = {.kind = MW_EVENT_DONE,
                                    .flags = MW_EVENT_REQUEST | MW_EVENT_FOREIGN | MW_EVENT_PART,
                                    .function = 9,
                                    .comm = -1,
                                    .peer = -2,
                                    .bytes_in = 300,
                                    .request = 48,
                                    .origin = 8,
                                    .ordinal = -1};
    event_check(&events[0], &first);
    event_check(&events[1], &second);
    event_check(&events[2], &third);
    assert_int_equal(events[0].flags & MW_EVENT_ORDINAL, MW_EVENT_ORDINAL);
    assert_int_equal(mw_decoder_step(decoder, &events, &count), MW_OK);
    assert_int_equal(count, 1);
    const struct mw_event poll = {.kind = MW_EVENT_POLL,
                                  .flags = MW_EVENT_ERROR,
                                  .function = 12,
                                  .start = 1041 << 4,
                                  .end = 1046 << 4,
                                  .comm = 2,
                                  .peer = -1,
                                  .tag = 99,
                                  .bytes = 1000,
                                  .bytes_in = 2000,
                                  .site = 5,
                                  .ordinal = -1,
                                  .polls = 77,
                                  .busy = 3 << 4,
                                  .code = -16};
    event_check(&events[0], &poll);
    assert_int_equal(mw_decoder_step(decoder, &events, &count), MW_END);
    mw_decoder_close(decoder);
    free(payload.bytes);
}

static void what_follows_the_last_step_means_nothing(void **state)
{
    struct payload payload;
    uint64_t events;
    put_example(&payload);
    mw_buffer_bytes(&payload.content, "\xff\xff\xff", 3);
    assert_int_equal(seal_and_decode(&payload, &events), MW_END);
    assert_int_equal(events, 4);
}

static void steps_before_a_bad_one_are_given(void **state)
{
    struct payload payload;
    uint64_t events;
    put_example(&payload);
    payload.count = 5; /* one more than there are */
    assert_int_equal(seal_and_decode(&payload, &events), MW_ERR_CORRUPT);
    assert_int_equal(events, 4);
    put_example(&payload);
    payload.count = 3; /* the step boundary is kept: only whole steps */
    assert_int_equal(seal_and_decode(&payload, &events), MW_END);
    assert_int_equal(events, 3);
    put_example(&payload);
    payload.count = 2;
    assert_int_equal(seal_and_decode(&payload, &events), MW_ERR_CORRUPT);
    assert_int_equal(events, 0);
}

/* One step with one event: changes of single numbers that the norm forbids. */
struct change {
    uint64_t events, shapes, kind, flags, comm, shape;
    int64_t ordinal; /* -1: no such column */
    enum mw_status status;
};

static enum mw_status decode_change(const struct change *change)
{
    struct payload payload;
    uint64_t events;
    payload_begin(&payload, 1);
    put(&payload, change->events);
    put(&payload, change->shapes);
    mw_buffer_bytes(&payload.content, &change->kind, 1);
    put(&payload, change->flags);
    put(&payload, 1);
    put(&payload, change->comm);
    put(&payload, 0), put(&payload, 0), put(&payload, 0), put(&payload, 0), put(&payload, 0);
    put(&payload, change->shape);
    put(&payload, 0), put(&payload, 0);
    if (change->ordinal != -1)
        put(&payload, (uint64_t)change->ordinal);
    for (int i = 0; i < 100; i++)
        put(&payload, 0); /* whatever else is asked for */
    return seal_and_decode(&payload, &events);
}

static void malformed_steps_are_refused(void **state)
{
    const uint64_t counted = MW_EVENT_COUNTED, given = MW_EVENT_COUNTED | MW_EVENT_ORDINAL;
    const struct change cases[] = {
        {1, 1, MW_EVENT_CALL, 0, 1, 0, -1, MW_END}, /* the example itself */
        {0, 0, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {2, 1, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT}, /* more than count */
        {1, 2, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT}, /* m over n */
        {1, 0, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT}, /* no shape introduced */
        {4097, 1, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {UINT64_MAX, 1, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {1, UINT64_MAX, MW_EVENT_CALL, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {1, 1, 0, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {1, 1, 7, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {1, 1, 255, 0, 1, 0, -1, MW_ERR_CORRUPT},
        {1, 1, MW_EVENT_CALL, MW_EVENT_READY, 1, 0, -1, MW_END},
        {1, 1, MW_EVENT_CALL, MW_EVENT_READY << 1, 1, 0, -1, MW_ERR_CORRUPT},
        {1, 1, MW_EVENT_CALL, 1ull << 40, 1, 0, -1, MW_ERR_CORRUPT},
        {1, 1, MW_EVENT_CALL, 0, INT64_MAX, 0, -1, MW_END},
        {1, 1, MW_EVENT_CALL, 0, 1ull << 63, 0, -1, MW_ERR_CORRUPT},
        {1, 1, MW_EVENT_CALL, 0, 1, 1, -1, MW_ERR_CORRUPT}, /* of which there is none */
        {1, 1, MW_EVENT_CALL, 0, 1, UINT64_MAX, -1, MW_ERR_CORRUPT},
        {1, 1, MW_EVENT_SEND, counted, 1, 0, -1, MW_ERR_CORRUPT}, /* one more than what? */
        {1, 1, MW_EVENT_SEND, given, 1, 0, 0, MW_END},
        {1, 1, MW_EVENT_SEND, given, 1, 0, INT64_MAX, MW_END},
        {1, 1, MW_EVENT_SEND, given, 1, 0, INT64_MIN, MW_ERR_CORRUPT}, /* 2^63 */
        {1, 1, MW_EVENT_CALL, MW_EVENT_ORDINAL, 1, 0, 5, MW_END},      /* means nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(decode_change(&cases[i]), cases[i].status);
}

static void heads_are_checked(void **state)
{
    struct payload payload;
    uint64_t events;
    struct mw_events_head head = {.thread = 12345};
    put_example(&payload);
    payload.shift = 64;
    assert_int_equal(seal_and_decode(&payload, &events), MW_ERR_CORRUPT);
    put_example(&payload);
    payload.first = UINT64_MAX - 3;
    assert_int_equal(seal_and_decode(&payload, &events), MW_ERR_CORRUPT);
    put_example(&payload);
    payload.first = UINT64_MAX - 4;
    assert_int_equal(seal_and_decode(&payload, &events), MW_END);
    put_example(&payload);
    payload.count = MW_EVENTS_MAX_COUNT + 1;
    assert_int_equal(seal_and_decode(&payload, &events), MW_ERR_CORRUPT);
    put_example(&payload);
    payload_seal(&payload);
    for (size_t cut = 0; cut < 6; cut++)
        assert_int_equal(mw_events_head_read(payload.bytes, cut, &head), MW_ERR_CORRUPT);
    assert_int_equal(head.thread, 12345);
    assert_int_equal(mw_events_head_read(payload.bytes, payload.size, &head), MW_OK);
    assert_int_equal(head.thread, 6);
    assert_int_equal(head.base, 1000);
    free(payload.bytes);
}

/* Each shape is a few bytes of content and more of memory: their number has a limit. */
static void too_many_shapes_are_refused(void **state)
{
    struct payload payload;
    uint64_t events;
    for (uint64_t more = 0; more < 2; more++) {
        payload_begin(&payload, MW_EVENTS_MAX_SHAPES + more);
        for (uint64_t done = 0; done < payload.count;) {
            uint64_t now = payload.count - done < 4096 ? payload.count - done : 4096;
            put(&payload, now);
            put(&payload, now);
            for (uint64_t i = 0; i < now; i++)
                put(&payload, MW_EVENT_DONE);
            for (uint64_t i = 0; i < now; i++)
                put(&payload, MW_EVENT_PART);
            for (uint64_t i = 0; i < now * 7; i++)
                put(&payload, 0);
            for (uint64_t i = 0; i < now; i++)
                put(&payload, done + i);
            done += now;
        }
        assert_int_equal(seal_and_decode(&payload, &events), more ? MW_ERR_LIMIT : MW_END);
        assert_int_equal(events, MW_EVENTS_MAX_SHAPES);
    }
}

/* A frame of a few kilobytes that would fill the memory. */
static void a_bomb_is_refused(void **state)
{
    enum { CHUNK = 1 << 20 };
    static uint8_t zeros[CHUNK];
    size_t room = 1 << 20;
    uint8_t *payload = malloc(room);
    memset(payload, 1, 6);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_outBuffer out = {payload, room, 6};
    uint64_t events;
    for (int i = 0; i < 100; i++) {
        ZSTD_inBuffer in = {zeros, CHUNK, 0};
        while (in.pos < in.size)
            assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
    }
    ZSTD_inBuffer in = {NULL, 0, 0};
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    assert_true(out.pos < 20000);
    assert_int_equal(decode_all(payload, out.pos, &events), MW_ERR_LIMIT);
    ZSTD_freeCCtx(context);
    free(payload);
}

static void a_frame_is_needed(void **state)
{
    struct payload payload;
    uint64_t events;
    put_example(&payload);
    payload_seal(&payload);
    /* no frame, no content, not a frame */
    assert_int_equal(decode_all(payload.bytes, 7, &events), MW_ERR_CORRUPT);
    memset(payload.bytes + 8, 0x5a, payload.size - 8);
    assert_int_equal(decode_all(payload.bytes, payload.size, &events), MW_ERR_CORRUPT);
    free(payload.bytes);
    /* nothing is asked for */
    static const uint8_t none[] = {1, 0, 0, 0, 0, 0};
    assert_int_equal(decode_all(none, sizeof none, &events), MW_END);
}

/* The payload with its frame made anew for a window of that size, whatever the size of the content.
 */
static enum mw_status decode_with_window(int window_log)
{
    struct payload payload;
    uint64_t events;
    put_example(&payload);
    payload_seal(&payload);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log)));
    ZSTD_inBuffer in = {payload.content.data, payload.content.size, 0};
    ZSTD_outBuffer out = {payload.bytes, 60 + ZSTD_compressBound(in.size),
                          7}; /* the head has 7 bytes */
    assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)));
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(context);
    enum mw_status status = decode_all(payload.bytes, out.pos, &events);
    free(payload.bytes);
    return status;
}

static void windows_have_a_limit(void **state)
{
    assert_int_equal(decode_with_window(17), MW_END);
    assert_int_equal(decode_with_window(23), MW_END);
    assert_int_equal(decode_with_window(24), MW_ERR_CORRUPT);
}

/* A chunk of the encoder's with all kinds of events in it. */
static const uint8_t *varied_chunk(struct mw_encoder *encoder, size_t *size)
{
    static struct mw_raw_event events[1500];
    uint64_t seed = 77, clock = 1000000;
    for (size_t i = 0; i < 1500; i++) {
        uint64_t random = random_next(&seed), mixed = random & 31;
        mixed = random_next(&mixed);
        events[i] = (struct mw_raw_event){
            .start = clock += random >> 40 & 0xfff,
            .end = clock += random >> 50,
            .bytes = mixed >> 20 & 0xff,
            .flags = (uint32_t)(mixed & MW_EVENT_KNOWN_FLAGS & ~MW_EVENT_ORDINAL),
            .ordinal = (uint32_t)(i / 8 + (random >> 20 & 1)),
            .request = (uint32_t)i,
            .comm = mixed >> 30 & 1,
            .peer = (int32_t)(mixed >> 31 & 3),
            .kind = (uint8_t)(mixed % 11 < 6 ? 1 + mixed % 11 : 2 + mixed % 11)};
    }
    const uint8_t *chunk;
    mw_encoder_begin(encoder, 1, 10, 2);
    for (size_t i = 0; i < 1500; i += 500)
        assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, i, 500), MW_OK);
    assert_int_equal(mw_encoder_end(encoder, 1, &chunk, size), MW_OK);
    *size -= MW_CHUNK_HEADER_SIZE;
    return chunk + MW_CHUNK_HEADER_SIZE;
}

/* On a copy of exactly that size, so that a sanitizer sees a byte read too far. */
static enum mw_status decode_copy(const uint8_t *bytes, size_t size, uint64_t *events)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    enum mw_status status = decode_all(copy, size, events);
    free(copy);
    return status;
}

static void payloads_cut_anywhere_are_survived(void **state)
{
    struct mw_encoder *encoder = encoder_new(1);
    size_t size;
    uint64_t events, before = 0;
    const uint8_t *payload = varied_chunk(encoder, &size);
    assert_int_equal(decode_copy(payload, size, &events), MW_END);
    assert_int_equal(events, 1500);
    for (size_t cut = 0; cut < size; cut++) {
        enum mw_status status = decode_copy(payload, cut, &events);
        assert_true(status == MW_ERR_CORRUPT || (status == MW_END && events == 1500));
        assert_true(events >= before); /* what is whole is given */
        before = events;
    }
    encoder_delete(encoder);
}

static void flipped_bits_are_survived(void **state)
{
    struct mw_encoder *encoder = encoder_new(1);
    size_t size;
    uint64_t events;
    const uint8_t *payload = varied_chunk(encoder, &size);
    uint8_t *copy = malloc(size);
    /* All bits of the beginning, then one in each byte. */
    for (size_t bit = 0; bit < size * 8; bit += bit < 100 * 8 ? 1 : 7) {
        memcpy(copy, payload, size);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum mw_status status = decode_all(copy, size, &events);
        assert_true(status == MW_END || status == MW_ERR_CORRUPT || status == MW_ERR_LIMIT);
    }
    free(copy);
    encoder_delete(encoder);
}

/* The same behind zstd, where the decoder's own checks are all there is. */
static void damaged_content_is_survived(void **state)
{
    enum { ROUNDS = 20000 };
    struct mw_encoder *encoder = encoder_new(1);
    size_t size;
    uint64_t events, seed = 4, good = 0;
    const uint8_t *chunk = varied_chunk(encoder, &size);
    struct payload payload;
    payload_begin(&payload, 1500);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    const uint8_t *frame = chunk;
    for (int i = 0; i < 6; i++) /* over the head */
        while (*frame++ & 0x80)
            ;
    ZSTD_inBuffer in = {frame, size - (size_t)(frame - chunk), 0};
    ZSTD_outBuffer out = {payload.content.data, CONTENT_MAX, 0};
    while (ZSTD_decompressStream(context, &out, &in))
        assert_true(out.pos < out.size);
    ZSTD_freeDCtx(context);
    payload.content.size = out.pos;
    uint8_t *original = malloc(out.pos);
    memcpy(original, out.dst, out.pos);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(payload.content.data, original, out.pos);
        payload.content.size = out.pos;
        for (uint64_t random = random_next(&seed), left = 1 + random % 3; left; left--) {
            uint64_t where = random_next(&seed);
            payload.content.data[where % out.pos] = (uint8_t)(where >> 40);
        }
        if (round % 7 == 0)
            payload.content.size = random_next(&seed) % out.pos;
        enum mw_status status = seal_and_decode(&payload, &events);
        assert_true(status == MW_END || status == MW_ERR_CORRUPT);
        good += status == MW_END;
    }
    assert_in_range(good, 1, ROUNDS - 1); /* both ways were tried */
    free(original);
    encoder_delete(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_example_is_read_as_the_norm_says),
        cmocka_unit_test(what_follows_the_last_step_means_nothing),
        cmocka_unit_test(steps_before_a_bad_one_are_given),
        cmocka_unit_test(malformed_steps_are_refused),
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(too_many_shapes_are_refused),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(a_frame_is_needed),
        cmocka_unit_test(windows_have_a_limit),
        cmocka_unit_test(payloads_cut_anywhere_are_survived),
        cmocka_unit_test(flipped_bits_are_survived),
        cmocka_unit_test(damaged_content_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
