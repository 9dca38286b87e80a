/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events encoder, judged by what the decoder gives back: all kinds and flags, random streams,
 * ordinals, extreme values, chunks that are full, and that nothing is allocated. (The decoder has
 * tests of its own against bytes written by hand.)
 */
#include "allocations.h"
#include "events.h"

enum {
    LOW_FLAGS = (MW_EVENT_READY << 1) - 1,
    HIGH_FLAGS = MW_EVENT_KNOWN_FLAGS & ~LOW_FLAGS,
    ALL_FLAGS = MW_EVENT_KNOWN_FLAGS,
};
static const uint8_t kinds[] = {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12};
enum { KINDS = sizeof kinds };

static struct mw_raw_event *events_new(size_t count)
{
    struct mw_raw_event *events = calloc(count, sizeof *events);
    assert_non_null(events);
    return events;
}

static void every_kind_with_every_set_of_flags(void **state)
{
    enum { BATCH = 1 << 16 };
    struct mw_encoder *encoder = encoder_new(1);
    struct mw_raw_event *events = events_new(BATCH);
    uint64_t seed = 1, clock = 1 << 20;
    for (uint32_t base = 0; base <= LOW_FLAGS; base += BATCH)
        for (unsigned k = 0; k < KINDS; k++) {
            size_t count = 0;
            for (uint32_t flags = base; flags < base + BATCH; flags++) {
                if (flags & MW_EVENT_ORDINAL)
                    continue;
                uint64_t random = random_next(&seed);
                events[count++] = (struct mw_raw_event){
                    .start = clock,
                    .end = clock + (random & 0xfff),
                    .bytes = random >> 50,
                    .bytes_in = random >> 40 & 0xff,
                    .flags = flags | (random >> 10 & HIGH_FLAGS),
                    .ordinal = (uint32_t)(random >> 30 & 3),
                    .request = (uint32_t)(random >> 20),
                    .comm = random >> 12 & 3,
                    .peer = (int32_t)(random & 7) - 3,
                    .tag = (int32_t)(random >> 3 & 3),
                    .site = (uint32_t)(random >> 33 & 0xff),
                    .function = (uint16_t)(random >> 5),
                    .kind = kinds[k],
                    .origin = (uint8_t)(random >> 45),
                };
                clock += 0x1000;
            }
            assert_int_equal(count, BATCH / 2);
            round_trip(encoder, events, count, MW_ENCODER_STEP, 0);
        }
    free(events);
    encoder_delete(encoder);
}

/* How random a stream is. */
struct profile {
    uint64_t seed;
    unsigned shapes; /* distinct ones, as a mask */
    unsigned shift;
    uint64_t times; /* mask of gaps and durations */
    int backwards;  /* clocks may */
    int level;
};

static void random_stream(struct mw_raw_event *events, size_t count, const struct profile *profile)
{
    uint64_t seed = profile->seed, clock = random_next(&seed) >> 8;
    uint32_t request = (uint32_t)random_next(&seed), ordinals[64] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t random = random_next(&seed), shape = random & profile->shapes, mixed = shape;
        mixed = random_next(&mixed);
        struct mw_raw_event *event = &events[i];
        *event = (struct mw_raw_event){
            .bytes = mixed >> 20 & 0xffff,
            .bytes_in = mixed >> 40 & 0xfff,
            .flags = (uint32_t)(mixed & ALL_FLAGS & ~MW_EVENT_ORDINAL),
            .comm = mixed >> 30 & 3,
            .peer = (int32_t)(mixed >> 32 & 7) - 3,
            .tag = (int32_t)(mixed >> 35 & 1),
            .site = (uint32_t)(mixed >> 36 & 0xfff),
            .function = (uint16_t)(mixed >> 41 & 0x7f),
            .kind = kinds[(mixed >> 48) % KINDS],
            .origin = (uint8_t)(random >> 8),
        };
        if (mixed >> 55 & 1) /* most events are not errors */
            event->flags &= ~(uint32_t)MW_EVENT_ERROR;
        if (event->flags & MW_EVENT_ERROR || event->kind == MW_EVENT_POLL) {
            event->bytes = random_next(&seed) >> (random & 63);
            event->bytes_in = random_next(&seed) >> 40;
        }
        if (event->flags & MW_EVENT_OFFSET)
            event->bytes_in = random_next(&seed) >> (random >> 6 & 63);
        if (event->flags & MW_EVENT_REQUEST)
            event->request =
                event->kind == MW_EVENT_DONE ? request - (uint32_t)(random >> 60) : request++;
        uint32_t *ordinal =
            &ordinals[event->comm * 16 + (uint32_t)(event->peer + 3) * 2 + (uint32_t)event->tag];
        *ordinal += (random >> 50 & 63) == 0 ? (uint32_t)(random >> 10 & 0xff) : 1;
        event->ordinal = *ordinal;
        if (!(event->flags & MW_EVENT_PART)) {
            uint64_t gap = random_next(&seed) & profile->times;
            clock += profile->backwards && (random >> 32 & 7) == 0 ? 0 - gap : gap;
            event->start = clock;
            clock += random_next(&seed) & profile->times;
            event->end = profile->backwards && (random >> 35 & 7) == 0 ? event->start - 5 : clock;
        }
    }
}

static void random_streams(void **state)
{
    enum { COUNT = 30000 };
    const struct profile profiles[] = {
        {101, 0x7f, 0, 0xfff, 0, 1},
        {102, 0x3ff, 4, 0xffff, 0, 0},
        {103, 1, 0, 0xff, 0, -5},
        {104, 0xffff, 2, 0xfffff, 1, 1},
        {105, 0, 0, 0, 0, 1},
        {106, 0x1fff, 63, UINT64_MAX, 1, 1},
        {107, 0xf, 1, UINT64_MAX, 1, -64},
        {108, 0xff, 9, UINT32_MAX, 0, 7},
    };
    struct mw_raw_event *events = events_new(COUNT);
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        struct mw_encoder *encoder = encoder_new(profiles[i].level);
        random_stream(events, COUNT, &profiles[i]);
        round_trip(encoder, events, COUNT, MW_ENCODER_STEP, profiles[i].shift);
        round_trip(encoder, events, COUNT / 8, 37, profiles[i].shift);
        round_trip(encoder, events, 300, 1, profiles[i].shift);
        encoder_delete(encoder);
    }
    free(events);
}

static struct mw_raw_event message(unsigned kind, int peer, int tag, uint64_t bytes,
                                   uint32_t ordinal)
{
    return (struct mw_raw_event){.start = 100,
                                 .end = 200,
                                 .bytes = bytes,
                                 .flags = MW_EVENT_COUNTED,
                                 .ordinal = ordinal,
                                 .comm = 1,
                                 .peer = peer,
                                 .tag = tag,
                                 .kind = (uint8_t)kind};
}

static void ordinals_survive_gaps_and_wraps(void **state)
{
    const uint32_t numbers[] = {0,          1, 2, 10, 11, 5,          6, UINT32_MAX - 1,
                                UINT32_MAX, 0, 1, 1,  1,  UINT32_MAX, 0};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    struct mw_raw_event events[COUNT];
    struct mw_encoder *encoder = encoder_new(1);
    for (size_t i = 0; i < COUNT; i++)
        events[i] = message(MW_EVENT_SEND, 1, 7, 8, numbers[i]);
    round_trip(encoder, events, COUNT, MW_ENCODER_STEP, 0);
    encoder_delete(encoder);
}

/* Which events of a chunk carry their ordinal. */
static void ordinals_given(struct mw_encoder *encoder, const struct mw_raw_event *events,
                           size_t count, int *given)
{
    const uint8_t *chunk;
    size_t size, step;
    const struct mw_event *decoded;
    mw_encoder_begin(encoder, 0, 0, 0);
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, count), MW_OK);
    assert_int_equal(mw_encoder_end(encoder, 1, &chunk, &size), MW_OK);
    struct mw_decoder *decoder = chunk_open(chunk, size, 1);
    assert_int_equal(mw_decoder_step(decoder, &decoded, &step), MW_OK);
    assert_int_equal(step, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(decoded[i].ordinal, events[i].ordinal);
        given[i] = (decoded[i].flags & MW_EVENT_ORDINAL) != 0;
    }
    mw_decoder_close(decoder);
}

static void ordinals_are_counted_by_the_key_alone(void **state)
{
    struct mw_raw_event events[] = {
        message(MW_EVENT_SEND, 1, 7, 8, 50),    /* new key */
        message(MW_EVENT_SEND, 1, 7, 4096, 51), /* other size, same key: continues */
        message(MW_EVENT_RECV, 1, 7, 0, 90),    /* received: its own key */
        message(MW_EVENT_DONE, 1, 7, 0, 91),    /* counted with the receives */
        message(MW_EVENT_CALL, 1, 7, 0, 92),    /* a matching probe too */
        message(MW_EVENT_SEND, 1, 8, 8, 52),    /* other tag */
        message(MW_EVENT_SEND, 1, 7, 8, 52),    message(MW_EVENT_COLL, 3, 0, 8, 0),
        message(MW_EVENT_COLL, 5, 0, 99, 1), /* other root: the communicator counts */
        message(MW_EVENT_COLL, 5, 9, 99, 3), /* one is missing */
        message(MW_EVENT_RECV, 1, 7, 0, 93),
    };
    const int expected[] = {1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0};
    enum { COUNT = sizeof events / sizeof events[0] };
    int given[COUNT];
    struct mw_encoder *encoder = encoder_new(1);
    ordinals_given(encoder, events, COUNT, given);
    assert_memory_equal(given, expected, sizeof expected);
    events[3].comm = 2; /* another communicator is another key */
    ordinals_given(encoder, events, COUNT, given);
    assert_int_equal(given[3], 1);
    assert_int_equal(given[4], 1); /* 90 and then 92 */
    encoder_delete(encoder);
}

static void extreme_values_come_back(void **state)
{
    const uint64_t wide[] = {0, 1, INT64_MAX, 1ull << 63, UINT64_MAX};
    const int32_t narrow[] = {0, -1, INT32_MAX, INT32_MIN};
    struct mw_raw_event events[400];
    size_t count = 0;
    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < 5; j++)
            for (unsigned k = 0; k < 4; k++)
                for (unsigned kind = MW_EVENT_CALL; kind <= MW_EVENT_POLL && count < 400; kind += 2)
                    events[count++] = (struct mw_raw_event){
                        .start = wide[i],
                        .end = wide[j],
                        .bytes = wide[(i + k) % 5],
                        .bytes_in = wide[(j + k) % 5],
                        .flags = (MW_EVENT_COUNTED | MW_EVENT_REQUEST | MW_EVENT_FOREIGN |
                                  MW_EVENT_ERROR) &
                                 (k & 1 ? ~(uint32_t)MW_EVENT_ERROR : UINT32_MAX),
                        .ordinal = (uint32_t)narrow[k],
                        .request = (uint32_t)narrow[(k + i) % 4],
                        .comm = (uint32_t)narrow[k],
                        .peer = narrow[k],
                        .tag = narrow[(k + 1) % 4],
                        .site = (uint32_t)narrow[j % 4],
                        .function = k & 1 ? UINT16_MAX : 0,
                        .kind = (uint8_t)kind,
                        .origin = i & 1 ? UINT8_MAX : 0,
                    };
    struct mw_encoder *encoder = encoder_new(1);
    for (unsigned shift = 0; shift < 64; shift++)
        round_trip(encoder, events, count, MW_ENCODER_STEP, shift);
    encoder_delete(encoder);
}

/* The recorder's events may come from a damaged mapping: whatever is in them, the chunk must be
 * readable. */
static void garbage_makes_readable_chunks(void **state)
{
    enum { COUNT = 20000 };
    struct mw_raw_event *events = events_new(COUNT);
    struct mw_encoder *encoder = encoder_new(1);
    uint64_t seed = 7, done = 0, decoded = 0;
    for (size_t i = 0; i < COUNT * sizeof *events / 8; i++) {
        uint64_t random = random_next(&seed);
        memcpy((uint8_t *)events + i * 8, &random, 8);
    }
    while (done < COUNT) {
        const uint8_t *chunk;
        size_t size, count;
        const struct mw_event *step;
        mw_encoder_begin(encoder, UINT32_MAX, UINT64_MAX - 99999, 200);
        while (done < COUNT) {
            size_t now = COUNT - done < 500 ? COUNT - done : 500;
            if (mw_encoder_step(encoder, events, UINT64_MAX, done, now) != MW_OK)
                break;
            done += now;
        }
        assert_int_equal(mw_encoder_end(encoder, 1, &chunk, &size), MW_OK);
        struct mw_decoder *decoder = chunk_open(chunk, size, 1);
        enum mw_status status;
        while ((status = mw_decoder_step(decoder, &step, &count)) == MW_OK)
            for (size_t i = 0; i < count; i++, decoded++)
                assert_true(MW_EVENT_KIND_KNOWN(step[i].kind) &&
                            step[i].tag == events[decoded].tag);
        assert_int_equal(status, MW_END);
        mw_decoder_close(decoder);
    }
    assert_int_equal(decoded, COUNT);
    free(events);
    encoder_delete(encoder);
}

static void events_are_taken_from_a_ring(void **state)
{
    enum { RING = 1024, FIRST = 1000000 - 300 };
    static struct mw_raw_event ring[RING];
    struct mw_encoder *encoder = encoder_new(1);
    const struct profile profile = {55, 0xff, 3, 0xfff, 0, 1};
    const uint8_t *chunk;
    size_t size;
    random_stream(ring, RING, &profile);
    mw_encoder_begin(encoder, 9, FIRST, 3);
    assert_int_equal(mw_encoder_step(encoder, ring, RING - 1, FIRST, 512), MW_OK);
    assert_int_equal(mw_encoder_step(encoder, ring, RING - 1, FIRST + 512, 512), MW_OK);
    assert_int_equal(mw_encoder_end(encoder, 4711, &chunk, &size), MW_OK);
    assert_true(chunk_check(chunk, size, ring, RING - 1, 9, 3) == FIRST + 1024);
    encoder_delete(encoder);
}

/* Fills a chunk with what `make` gives until it is full; checks that nothing of the refused step is
 * in it. */
static uint64_t fill_chunk(void (*make)(struct mw_raw_event *event, uint64_t number))
{
    enum { RING = 1 << 20 };
    static struct mw_raw_event ring[RING];
    struct mw_encoder *encoder = encoder_new(1);
    uint64_t number = 0;
    enum mw_status status = MW_OK;
    const uint8_t *chunk;
    size_t size;
    for (int round = 0; round < 2; round++) {
        mw_encoder_begin(encoder, 3, number, 0);
        uint64_t first = number;
        for (;;) {
            for (uint64_t i = number; i < number + MW_ENCODER_STEP; i++)
                make(&ring[i & (RING - 1)], i);
            status = mw_encoder_step(encoder, ring, RING - 1, number, MW_ENCODER_STEP);
            if (status != MW_OK)
                break;
            number += MW_ENCODER_STEP;
            assert_true(number - first < RING);
        }
        assert_int_equal(status, MW_ERR_FULL);
        assert_true(number > first);
        assert_true(mw_encoder_events(encoder) == number - first);
        /* Full is full, also for less. */
        assert_int_equal(mw_encoder_step(encoder, ring, RING - 1, number, 1), MW_ERR_FULL);
        assert_int_equal(mw_encoder_end(encoder, 4711, &chunk, &size), MW_OK);
        assert_true(size < 256 * 1024 + 128);
        assert_true(chunk_check(chunk, size, ring, RING - 1, 3, 0) == number);
        if (round == 0)
            number += 11; /* some were not recorded */
    }
    encoder_delete(encoder);
    return number / 2;
}

static void make_shapes(struct mw_raw_event *event, uint64_t number)
{
    *event = message(MW_EVENT_SEND, (int)number, 0, number, 0);
}

static void make_noise(struct mw_raw_event *event, uint64_t number)
{
    uint64_t seed = number;
    *event = message(MW_EVENT_CALL, 0, 0, 0, 0);
    event->flags = 0;
    event->start = random_next(&seed);
    event->end = random_next(&seed);
}

static void make_monotony(struct mw_raw_event *event, uint64_t number)
{
    *event = message(MW_EVENT_CALL, 0, 0, 0, 0);
    event->flags = MW_EVENT_REQUEST | MW_EVENT_ERROR | MW_EVENT_FOREIGN;
    event->bytes = UINT64_MAX >> 1; /* a wide code that packs to nothing */
    event->start = event->end = number & 1 ? 1ull << 62 : 0;
}

static void full_of_shapes(void **state)
{
    uint64_t taken = fill_chunk(make_shapes);
    assert_in_range(taken, 4096 - MW_ENCODER_STEP, 4096 + 11);
}

static void full_of_output(void **state)
{
    uint64_t taken = fill_chunk(make_noise); /* 20 bytes each */
    assert_in_range(taken, 8000, 16000);
}

static void full_of_content(void **state)
{
    uint64_t taken =
        fill_chunk(make_monotony); /* some 24 bytes each before compression, of 16 MiB */
    assert_in_range(taken, 500000, 900000);
}

static void an_empty_chunk_is_none(void **state)
{
    struct mw_encoder *encoder = encoder_new(1);
    const uint8_t *chunk = (const uint8_t *)"untouched";
    size_t size = 77;
    mw_encoder_begin(encoder, 1, 2, 3);
    assert_int_equal(mw_encoder_events(encoder), 0);
    assert_int_equal(mw_encoder_end(encoder, 1, &chunk, &size), MW_END);
    assert_string_equal((const char *)chunk, "untouched");
    assert_int_equal(size, 77);
    encoder_delete(encoder);
}

static void wrong_uses_are_refused(void **state)
{
    struct mw_raw_event events[MW_ENCODER_STEP + 1] = {{.kind = MW_EVENT_CALL}};
    struct mw_encoder *encoder = encoder_new(1);
    const uint8_t *chunk;
    size_t size;
    mw_encoder_begin(encoder, 0, 0, 0);
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, 0), MW_ERR_ARGUMENT);
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, MW_ENCODER_STEP + 1),
                     MW_ERR_ARGUMENT);
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, 1), MW_OK);
    assert_int_equal(mw_encoder_end(encoder, 1, &chunk, &size), MW_OK);
    assert_int_equal(mw_encoder_end(encoder, 1, &chunk, &size), MW_END);
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, 1), MW_ERR_FULL);
    mw_encoder_begin(encoder, 0, 0, 0); /* and it goes on after that */
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, 1), MW_OK);
    encoder_delete(encoder);
    static uint8_t memory[4096] __attribute__((aligned(4096)));
    assert_null(mw_encoder_create(memory, sizeof memory, 1));
}

/* The head says where things stood before the first event. */
static void head_promises_the_first_started_request(void **state)
{
    struct mw_raw_event events[] = {
        {.flags = MW_EVENT_PART | MW_EVENT_REQUEST, .request = 40, .kind = MW_EVENT_DONE},
        {.start = 1000, .end = 1100, .kind = MW_EVENT_CALL},
        {.start = 1200,
         .end = 1300,
         .flags = MW_EVENT_REQUEST,
         .request = 44,
         .kind = MW_EVENT_RECV},
    };
    struct mw_encoder *encoder = encoder_new(1);
    const uint8_t *chunk;
    size_t size;
    mw_encoder_begin(encoder, 2, 77, 2);
    assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, 0, 3), MW_OK);
    assert_int_equal(mw_encoder_end(encoder, 5, &chunk, &size), MW_OK);
    struct mw_decoder *decoder = chunk_open(chunk, size, 5);
    const struct mw_events_head *head = mw_decoder_head(decoder);
    assert_int_equal(head->first, 77);
    assert_int_equal(head->count, 3);
    assert_int_equal(head->base, 250);
    assert_int_equal(head->request, 44);
    mw_decoder_close(decoder);
    encoder_delete(encoder);
}

/* One iteration of a halo exchange, again and again, with noisy times. */
static size_t halo_exchange(struct mw_raw_event *events, size_t room, uint64_t *seed)
{
    size_t count = 0;
    uint64_t clock = 0;
    uint32_t request = 0, ordinal = 0;
    while (count + 80 < room) {
        for (int i = 0; i < 52; i++) {
            struct mw_raw_event *event = &events[count++];
            *event = message(i < 26 ? MW_EVENT_RECV : MW_EVENT_SEND, i % 26, 1024, 2160, ordinal);
            event->flags |= MW_EVENT_REQUEST;
            event->request = request++;
            event->start = clock += 200 + random_next(seed) % 50;
            event->end = clock += 900 + random_next(seed) % 300;
        }
        for (int i = 0; i < 26; i++)
            events[count++] = (struct mw_raw_event){.flags = MW_EVENT_PART | MW_EVENT_REQUEST,
                                                    .request = request - 26 + (uint32_t)i,
                                                    .kind = MW_EVENT_DONE};
        events[count] = message(MW_EVENT_CALL, MW_PEER_NONE, MW_PEER_NONE, 0, 0);
        events[count].flags = 0;
        events[count].start = clock += 300;
        events[count++].end = clock += 20000 + random_next(seed) % 8000;
        ordinal++;
    }
    return count;
}

static void a_loop_packs_well(void **state)
{
    enum { COUNT = 32768 };
    struct mw_raw_event *events = events_new(COUNT);
    struct mw_encoder *encoder = encoder_new(1);
    uint64_t seed = 5;
    size_t count = halo_exchange(events, COUNT, &seed);
    size_t bytes = round_trip(encoder, events, count, MW_ENCODER_STEP, 0);
    assert_true(bytes < count * 5 / 2);
    free(events);
    encoder_delete(encoder);
}

static void nothing_is_allocated(void **state)
{
    enum { COUNT = 32768 };
    struct mw_raw_event *events = events_new(COUNT);
    uint64_t seed = 6;
    size_t count = halo_exchange(events, COUNT, &seed);
    unsigned long before = allocations;
    assert_true(before > 0); /* the counter counts */
    struct mw_encoder *encoder = encoder_new(1);
    const uint8_t *chunk;
    size_t size;
    for (int round = 0; round < 3; round++) {
        mw_encoder_begin(encoder, 0, 0, 0);
        for (size_t done = 0; done + 512 <= count; done += 512)
            assert_int_equal(mw_encoder_step(encoder, events, UINT64_MAX, done, 512), MW_OK);
        assert_int_equal(mw_encoder_end(encoder, 1, &chunk, &size), MW_OK);
    }
    assert_int_equal(allocations, before);
    free(events);
    encoder_delete(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_with_every_set_of_flags),
        cmocka_unit_test(random_streams),
        cmocka_unit_test(ordinals_survive_gaps_and_wraps),
        cmocka_unit_test(ordinals_are_counted_by_the_key_alone),
        cmocka_unit_test(extreme_values_come_back),
        cmocka_unit_test(garbage_makes_readable_chunks),
        cmocka_unit_test(events_are_taken_from_a_ring),
        cmocka_unit_test(full_of_shapes),
        cmocka_unit_test(full_of_output),
        cmocka_unit_test(full_of_content),
        cmocka_unit_test(an_empty_chunk_is_none),
        cmocka_unit_test(wrong_uses_are_refused),
        cmocka_unit_test(head_promises_the_first_started_request),
        cmocka_unit_test(a_loop_packs_well),
        cmocka_unit_test(nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
