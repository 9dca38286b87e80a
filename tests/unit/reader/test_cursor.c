/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading events: chunks that overlap, lack, lie or vanish; parts; several readers at once. */
#include "reader_fixture.h"

#include <pthread.h>

static struct place place;
static struct bytes file;

static int setup(void **state)
{
    place_make(&place);
    memset(&file, 0, sizeof file);
    return 0;
}

static int teardown(void **state)
{
    bytes_free(&file);
    place_remove(&place);
    return 0;
}

static mw_cursor *cursor_of(const mw_trace *trace, size_t process, uint64_t thread)
{
    mw_cursor *cursor = NULL;
    assert_int_equal(mw_cursor_open(trace, mw_trace_process(trace, process), thread, &cursor),
                     MW_OK);
    return cursor;
}

/* Reads on and checks that the numbers are from .. end - 1 and the events those of event_call. */
static void expect_calls(mw_cursor *cursor, uint64_t from, uint64_t end)
{
    const struct mw_call_record *record;
    for (uint64_t n = from; n < end; n++) {
        struct mw_raw_event event = event_call(n);
        assert_int_equal(mw_cursor_next(cursor, &record), MW_OK);
        assert_int_equal(record->number, n);
        assert_int_equal(record->part_count, 0);
        assert_false(record->incomplete);
        assert_int_equal(record->call.start, event.start);
        assert_int_equal(record->call.end, event.end);
        assert_int_equal(record->call.function, event.function);
        assert_int_equal(record->call.tag, event.tag);
    }
}

static void expect_end(mw_cursor *cursor, uint64_t missing)
{
    const struct mw_call_record *record;
    assert_int_equal(mw_cursor_next(cursor, &record), MW_END);
    assert_int_equal(mw_cursor_next(cursor, &record), MW_END);
    assert_int_equal(mw_cursor_missing(cursor), missing);
    mw_cursor_close(cursor);
}

static void test_threads(void **state)
{
    add_rank(&file, 1, 0, 1);
    add_events(&file, 1, 3, 0, 10, event_call);
    add_events(&file, 1, 0, 0, 5, event_call);
    add_events(&file, 1, 3, 10, 10, event_call);
    add_events(&file, 2, 3, 0, 4, event_call);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = mw_trace_process(trace, 0);
    mw_cursor *cursor = NULL;
    assert_int_equal(process->thread_count, 2);
    assert_int_equal(process->threads[0].index, 0);
    assert_int_equal(process->threads[1].index, 3);
    assert_int_equal(mw_cursor_open(trace, process, 1, &cursor), MW_ERR_NOT_FOUND);
    assert_null(cursor);
    cursor = cursor_of(trace, 0, 3);
    expect_calls(cursor, 0, 20);
    expect_end(cursor, 0);
    cursor = cursor_of(trace, 0, 0);
    expect_calls(cursor, 0, 5);
    expect_end(cursor, 0);
    cursor = cursor_of(trace, 1, 3);
    expect_calls(cursor, 0, 4);
    expect_end(cursor, 0);
    mw_cursor_close(NULL);
    mw_trace_close(trace);
}

static void test_overlaps_are_read_once(void **state)
{
    static const size_t chunks[][2] = {{40, 30}, {0, 20}, {10, 25}, {0, 20},
                                       {34, 2},  {35, 5}, {12, 1},  {69, 31}};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        add_events(&file, 1, 0, chunks[i][0], chunks[i][1], event_call);
    mw_trace *trace = open_bytes(&place, &file);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    expect_calls(cursor, 0, 100);
    expect_end(cursor, 0);
    mw_trace_close(trace);
}

static void test_missing_are_counted(void **state)
{
    add_events(&file, 1, 0, 5, 10, event_call);
    add_events(&file, 1, 0, 20, 10, event_call);
    mw_trace *trace = open_bytes(&place, &file);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    expect_calls(cursor, 5, 6);
    assert_int_equal(mw_cursor_missing(cursor), 5);
    expect_calls(cursor, 6, 15);
    expect_calls(cursor, 20, 30);
    expect_end(cursor, 10);
    mw_trace_close(trace);
}

/* An EVENTS chunk whose head claims `count` events, but whose content ends after `real` of them. */
static void add_lying_events(uint64_t first, size_t real, uint64_t count)
{
    struct bytes honest = {0};
    add_events(&honest, 1, 0, first, real, event_call);
    const uint8_t *at = honest.data + MW_CHUNK_HEADER_SIZE;
    struct mw_reader reader = {at, honest.data + honest.size};
    uint64_t head[6];
    uint8_t payload[1 << 16];
    struct mw_buffer buffer;
    for (int i = 0; i < 6; i++)
        assert_int_equal(mw_read_varint(&reader, &head[i]), MW_OK);
    head[2] = count;
    mw_buffer_init(&buffer, payload, sizeof payload);
    for (int i = 0; i < 6; i++)
        mw_buffer_varint(&buffer, head[i]);
    mw_buffer_bytes(&buffer, reader.next, (size_t)(reader.end - reader.next));
    add_chunk(&file, MW_CHUNK_EVENTS, 1, &buffer);
    bytes_free(&honest);
}

static void test_lies_are_found_out(void **state)
{
    add_lying_events(0, 10, 1000);
    size_t second = file.size;
    add_events(&file, 1, 0, 5, 15, event_call);
    add_events(&file, 1, 0, 990, 10, event_call);
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(mw_trace_damage_count(trace), 0);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    expect_calls(cursor, 0, 20);
    expect_calls(cursor, 990, 1000);
    assert_int_equal(mw_cursor_damage_count(cursor), 1);
    const struct mw_damage *damage = mw_cursor_damage(cursor, 0);
    assert_int_equal(damage->offset, 0);
    assert_int_equal(damage->length, second);
    assert_int_equal(damage->status, MW_ERR_CORRUPT);
    assert_non_null(strstr(damage->text, "event 10 of thread 0"));
    assert_null(mw_cursor_damage(cursor, 1));
    expect_end(cursor, 970);
    mw_trace_close(trace);
}

static void test_claims_of_the_last_chunk_count(void **state)
{
    add_lying_events(0, 10, 1000);
    mw_trace *trace = open_bytes(&place, &file);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    expect_calls(cursor, 0, 10);
    expect_end(cursor, 990);
    mw_trace_close(trace);
}

/* Every fifth event ends a call, those before it are its parts. */
static struct mw_raw_event event_parts(uint64_t number)
{
    if (number % 5 == 4)
        return event_call(number);
    return (struct mw_raw_event){.kind = MW_EVENT_DONE,
                                 .flags = MW_EVENT_PART | MW_EVENT_REQUEST,
                                 .function = 9,
                                 .request = (uint32_t)number};
}

static void expect_call_with_parts(mw_cursor *cursor, uint64_t number, size_t parts, int incomplete)
{
    const struct mw_call_record *record;
    assert_int_equal(mw_cursor_next(cursor, &record), MW_OK);
    assert_int_equal(record->number, number);
    assert_int_equal(record->part_count, parts);
    assert_int_equal(record->incomplete, incomplete);
    for (size_t i = 0; i < parts; i++) {
        assert_int_equal(record->parts[i].request, number - parts + i);
        assert_int_equal(record->parts[i].start, record->call.start);
        assert_int_equal(record->parts[i].end, record->call.end);
    }
    if (incomplete)
        assert_int_equal(record->call.kind, MW_EVENT_CALL);
    else
        assert_int_equal(record->call.start, event_call(number).start);
}

static void test_parts(void **state)
{
    add_events(&file, 1, 0, 0, 7, event_parts);
    add_events(&file, 1, 0, 7, 1, event_parts);
    add_events(&file, 1, 0, 8, 3, event_parts);   /* 11 to 21 are missing */
    add_events(&file, 1, 0, 22, 11, event_parts); /* 33 and 34 have not been */
    mw_trace *trace = open_bytes(&place, &file);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    expect_call_with_parts(cursor, 4, 4, 0);
    expect_call_with_parts(cursor, 9, 4, 0);
    expect_call_with_parts(cursor, 11, 1, 1);
    assert_int_equal(mw_cursor_missing(cursor), 11);
    expect_call_with_parts(cursor, 24, 2, 0);
    expect_call_with_parts(cursor, 29, 4, 0);
    expect_call_with_parts(cursor, 33, 3, 1);
    expect_end(cursor, 11);
    mw_trace_close(trace);
}

static void test_open_call_of_parts(void **state)
{
    add_events(&file, 1, 2, 0, 8, event_parts);
    BUFFER(b);
    for (unsigned thread = 1; thread < 4; thread++) {
        size_t mark = mw_put_begin(&b, MW_F_OPEN_call);
        mw_put_u64(&b, MW_F_OPENCALL_thread, thread);
        mw_put_u64(&b, MW_F_OPENCALL_function, 30 + thread);
        mw_put_u64(&b, MW_F_OPENCALL_start, 700 + thread);
        mw_put_u64(&b, MW_F_OPENCALL_site, thread);
        mw_put_end(&b, mark);
    }
    add_chunk(&file, MW_CHUNK_OPEN, 1, &b);
    mw_trace *trace = open_bytes(&place, &file);
    mw_cursor *cursor = cursor_of(trace, 0, 2);
    const struct mw_call_record *record;
    expect_call_with_parts(cursor, 4, 4, 0);
    assert_int_equal(mw_cursor_next(cursor, &record), MW_OK);
    assert_true(record->incomplete);
    assert_int_equal(record->part_count, 3);
    assert_int_equal(record->call.function, 32);
    assert_int_equal(record->call.start, 702);
    assert_int_equal(record->call.site, 2);
    expect_end(cursor, 0);
    expect_end(cursor_of(trace, 0, 3), 0); /* a thread of which only an open call is known */
    mw_trace_close(trace);
}

static struct mw_raw_event event_part_only(uint64_t number)
{
    struct mw_raw_event event = event_parts(number - number % 5);
    event.request = (uint32_t)number;
    return event;
}

/* A hostile trace may have nothing but parts: they come in records of a bounded size. */
static void test_parts_without_end(void **state)
{
    enum { CHUNK = 60000, CHUNKS = 40 };
    for (uint64_t i = 0; i < CHUNKS; i++)
        add_events(&file, 1, 0, i * CHUNK, CHUNK, event_part_only);
    mw_trace *trace = open_bytes(&place, &file);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    const struct mw_call_record *record;
    uint64_t total = 0;
    size_t records = 0;
    while (mw_cursor_next(cursor, &record) == MW_OK) {
        assert_true(record->incomplete);
        assert_int_equal(record->parts[0].request, total);
        total += record->part_count;
        assert_int_equal(record->number, total);
        records++;
    }
    assert_int_equal(total, (uint64_t)CHUNKS * CHUNK);
    assert_in_range(records, 2, 10);
    expect_end(cursor, 0);
    mw_trace_close(trace);
}

/* After the trace was opened its file is cut, or replaced. */
static void test_files_that_change(void **state)
{
    add_events(&file, 1, 0, 0, 1000, event_call);
    size_t half = file.size;
    add_events(&file, 1, 0, 1000, 1000, event_call);
    const char *path = place_write(&place, "t.mpiw", &file);
    mw_trace *trace = open_one(path);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    assert_int_equal(truncate(path, (off_t)half + 50), 0);
    expect_calls(cursor, 0, 1000);
    const struct mw_call_record *record;
    assert_int_equal(mw_cursor_next(cursor, &record), MW_END);
    assert_int_equal(mw_cursor_damage_count(cursor), 1);
    assert_int_equal(mw_cursor_damage(cursor, 0)->status, MW_ERR_TRUNCATED);
    expect_end(cursor, 1000);
    mw_trace_close(trace);
}

static void test_file_that_was_overwritten(void **state)
{
    add_events(&file, 1, 0, 0, 1000, event_call);
    mw_trace *trace = open_one(place_write(&place, "t.mpiw", &file));
    memset(file.data + 100, 'x', 20);
    place_write(&place, "t.mpiw", &file);
    mw_cursor *cursor = cursor_of(trace, 0, 0);
    const struct mw_call_record *record;
    assert_int_equal(mw_cursor_next(cursor, &record), MW_END);
    assert_int_equal(mw_cursor_damage_count(cursor), 1);
    expect_end(cursor, 1000);
    mw_trace_close(trace);
}

struct reader {
    const mw_trace *trace;
    uint64_t calls, sum;
};

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    const struct mw_process *process = mw_trace_process(reader->trace, 0);
    for (size_t t = 0; t < process->thread_count; t++) {
        mw_cursor *cursor;
        const struct mw_call_record *record;
        if (mw_cursor_open(reader->trace, process, process->threads[t].index, &cursor) != MW_OK)
            return NULL;
        while (mw_cursor_next(cursor, &record) == MW_OK) {
            reader->calls++;
            reader->sum += record->call.start;
            (void)mw_process_function_name(process, 60000 + record->call.function);
        }
        mw_cursor_close(cursor);
    }
    return NULL;
}

static void test_readers_at_once(void **state)
{
    enum { READERS = 4 };
    for (uint32_t thread = 0; thread < 3; thread++)
        for (uint64_t i = 0; i < 5; i++)
            add_events(&file, 1, thread, i * 2000, 2000, event_call);
    mw_trace *trace = open_bytes(&place, &file);
    struct reader readers[READERS] = {0};
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i].trace = trace;
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(readers[i].calls, 30000);
        assert_int_equal(readers[i].sum, readers[0].sum);
    }
    mw_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overlaps_are_read_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lies_are_found_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claims_of_the_last_chunk_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_call_of_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts_without_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files_that_change, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_that_was_overwritten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_readers_at_once, setup, teardown),
    };
    return cmocka_run_group_tests_name("reader: cursor", tests, NULL, NULL);
}
