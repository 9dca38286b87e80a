/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process left in its mapping, read together with the trace's files. */
#include "reader_fixture.h"

#include "../mapping_fixture.h"
#include "trace/reader/reader.h"

static struct fixture fixture;

static int setup(void **state)
{
    fixture_make(&fixture, NULL);
    mw_reader_shm = fixture.folder;
    struct bytes file = {0};
    add_process(&file, FIXTURE_KEY, "host", 1);
    add_events(&file, FIXTURE_KEY, 0, 0, 4200, fixture_event); /* 4100 to 4199 are in both */
    fixture_write(fixture.node_file, file.data, file.size);
    bytes_free(&file);
    return 0;
}

static int teardown(void **state)
{
    fixture_remove(&fixture);
    return 0;
}

static void expect_events(const mw_trace *trace, uint64_t count)
{
    mw_cursor *cursor;
    const struct mw_call_record *record;
    assert_int_equal(mw_cursor_open(trace, mw_trace_process(trace, 0), 0, &cursor), MW_OK);
    for (uint64_t n = 0; n < count; n++) {
        assert_int_equal(mw_cursor_next(cursor, &record), MW_OK);
        assert_int_equal(record->number, n);
        assert_int_equal(record->call.ordinal, n);
        assert_int_equal(record->call.bytes, n % 7 * 8);
    }
    assert_int_equal(mw_cursor_next(cursor, &record), MW_END);
    assert_int_equal(mw_cursor_missing(cursor), 0);
    mw_cursor_close(cursor);
}

static void expect_joined(int alive)
{
    mw_trace *trace = open_flags(fixture.trace, MW_OPEN_RESIDUE);
    const struct mw_process *process = mw_trace_process(trace, 0);
    assert_int_equal(mw_trace_damage_count(trace), 0);
    assert_int_equal(mw_trace_process_count(trace), 1);
    assert_int_equal(mw_trace_file_count(trace), 2);
    assert_false(mw_trace_file(trace, 0)->residue);
    assert_true(mw_trace_file(trace, 1)->residue);
    assert_string_equal(mw_trace_file(trace, 1)->path, fixture.path);
    assert_true(mw_trace_file(trace, 1)->chunks > 3);
    assert_string_equal(process->host, "host");
    assert_int_equal(process->end_reason, alive ? MW_END_SNAPSHOT : MW_END_COLLECTED);
    assert_int_equal(process->open_alive, alive);
    assert_true(process->open_taken_ns > 0);
    assert_int_equal(process->open_call_count, 2);
    assert_int_equal(process->open_calls[0].peer, 3);
    assert_int_equal(process->open_calls[1].instance, 11);
    assert_int_equal(process->health_count, 1); /* of the outbox */
    assert_true(process->count_count > 0);
    expect_events(trace, 5000);
    mw_trace_close(trace);
}

static void test_of_a_living_process(void **state)
{
    expect_joined(1);
}

static void test_of_a_dead_process(void **state)
{
    fixture_kill(&fixture);
    expect_joined(0);
}

static void test_only_when_asked(void **state)
{
    mw_trace *trace = open_one(fixture.trace);
    assert_int_equal(mw_trace_file_count(trace), 1);
    assert_int_equal(mw_trace_process(trace, 0)->end_reason, 0);
    expect_events(trace, 4200);
    mw_trace_close(trace);
}

static void test_of_another_trace(void **state)
{
    fixture.header->folder_ino++;
    mw_trace *trace = open_flags(fixture.trace, MW_OPEN_RESIDUE);
    assert_int_equal(mw_trace_file_count(trace), 1);
    mw_trace_close(trace);
    trace = open_flags(fixture.node_file, MW_OPEN_RESIDUE); /* a file alone has no residue */
    assert_int_equal(mw_trace_file_count(trace), 1);
    mw_trace_close(trace);
}

/* A process that was killed before its node file had anything. */
static void test_with_nothing_in_the_folder(void **state)
{
    assert_int_equal(unlink(fixture.node_file), 0);
    mw_trace *trace = open_flags(fixture.trace, MW_OPEN_RESIDUE);
    assert_int_equal(mw_trace_file_count(trace), 1);
    assert_true(mw_trace_file(trace, 0)->residue);
    assert_int_equal(mw_trace_process(trace, 0)->key, FIXTURE_KEY);
    mw_trace_close(trace);
}

static void test_damaged(void **state)
{
    fixture_kill(&fixture);
    fixture_thread(&fixture, 0)->capacity = 3;
    mw_trace *trace = open_flags(fixture.trace, MW_OPEN_RESIDUE);
    assert_int_equal(mw_trace_damage_count(trace), 1);
    assert_string_equal(mw_trace_damage(trace, 0)->file, fixture.path);
    expect_events(trace, 4200);
    assert_int_equal(mw_trace_process(trace, 0)->open_call_count, 2);
    mw_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_of_a_living_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_a_dead_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_when_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_another_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_with_nothing_in_the_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
    };
    return cmocka_run_group_tests_name("reader: residue", tests, NULL, NULL);
}
