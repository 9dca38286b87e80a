/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reader makes of a process's chunks: which of several counts, look-ups, times, names,
 * jobs, ends. */
#include "reader_fixture.h"

#include <math.h>

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

static const struct mw_process *only_process(const mw_trace *trace)
{
    assert_int_equal(mw_trace_process_count(trace), 1);
    return mw_trace_process(trace, 0);
}

static void test_nothing_is_null(void **state)
{
    add_health(&file, 1, "", 0);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    const struct mw_job *job = mw_trace_job(trace);
    const char *const texts[] = {
        process->host,
        process->exe,
        process->cwd,
        process->boot_id,
        process->mpi_library,
        process->library_version,
        job->key,
        process->processor_name,
        job->launcher,
        job->job_id,
        job->program,
        mw_trace_file(trace, 0)->writer,
        mw_trace_file(trace, 0)->host,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(texts[i], "");
    assert_false(process->has_rank);
    assert_int_equal(process->rank, -1);
    assert_int_equal(process->size, -1);
    assert_int_equal(process->rank_hint, -1);
    assert_int_equal(process->size_hint, -1);
    assert_int_equal(process->appnum, -1);
    assert_int_equal(process->thread_level, -1);
    assert_int_equal(process->end_reason, 0);
    assert_null(mw_process_module(process, 0));
    assert_null(mw_process_site(process, 0));
    assert_null(mw_process_comm(process, 0));
    mw_trace_close(trace);
}

static void put_module(struct mw_buffer *b, uint64_t id, const char *path)
{
    size_t mark = mw_put_begin(b, MW_F_MODULES_module);
    mw_put_u64(b, MW_F_MODULE_id, id);
    mw_put_text(b, MW_F_MODULE_path, path);
    mw_put_bytes(b, MW_F_MODULE_build_id, "\1\2", 2);
    mw_put_end(b, mark);
}

static void test_look_ups(void **state)
{
    static const uint64_t ids[] = {7, 3, UINT64_MAX, 0, 12};
    BUFFER(b);
    for (size_t i = 0; i < 5; i++)
        put_module(&b, ids[i], "old");
    add_chunk(&file, MW_CHUNK_MODULES, 1, &b);
    BUFFER(c);
    put_module(&c, 3, "new");
    add_chunk(&file, MW_CHUNK_MODULES, 1, &c);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->module_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct mw_module *module = mw_process_module(process, ids[i]);
        assert_non_null(module);
        assert_int_equal(module->id, ids[i]);
        assert_string_equal(module->path, ids[i] == 3 ? "new" : "old");
        assert_int_equal(module->build_id_size, 2);
        assert_memory_equal(module->build_id, "\1\2", 2);
    }
    assert_null(mw_process_module(process, 4));
    mw_trace_close(trace);
}

static void test_communicators_add_up(void **state)
{
    BUFFER(a);
    mw_put_u64(&a, MW_F_COMM_id, 4);
    mw_put_u64(&a, MW_F_COMM_how, MW_COMM_SPLIT);
    mw_put_u64(&a, MW_F_COMM_parent, 1);
    mw_put_u64(&a, MW_F_COMM_size, 2);
    uint8_t runs[16];
    struct mw_buffer packed;
    mw_buffer_init(&packed, runs, sizeof runs);
    mw_buffer_signed(&packed, -20);
    mw_buffer_signed(&packed, -1);
    mw_buffer_varint(&packed, 2);
    mw_put_bytes(&a, MW_F_COMM_members, packed.data, packed.size);
    add_chunk(&file, MW_CHUNK_COMM, 1, &a);
    BUFFER(b);
    mw_put_u64(&b, MW_F_COMM_id, 4);
    mw_put_text(&b, MW_F_COMM_name, "halves");
    add_chunk(&file, MW_CHUNK_COMM, 1, &b);
    BUFFER(c);
    mw_put_u64(&c, MW_F_COMM_id, 4);
    mw_put_u64(&c, MW_F_COMM_freed, 99);
    add_chunk(&file, MW_CHUNK_COMM, 1, &c);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_comm *comm = mw_process_comm(only_process(trace), 4);
    assert_non_null(comm);
    assert_int_equal(comm->how, MW_COMM_SPLIT);
    assert_string_equal(mw_comm_how_word(comm->how), "split");
    assert_int_equal(comm->parent, 0);
    assert_int_equal(comm->size, 2);
    assert_string_equal(comm->name, "halves");
    assert_int_equal(comm->freed, 99);
    assert_int_equal(comm->member_runs, 1);
    assert_int_equal(comm->members[0].start, -20);
    assert_int_equal(comm->members[0].stride, -1);
    assert_int_equal(comm->members[0].count, 2);
    mw_trace_close(trace);
}

static void add_counts(uint64_t thread, uint64_t function, const char *name, uint64_t calls)
{
    BUFFER(b);
    size_t mark = mw_put_begin(&b, MW_F_COUNTS_function);
    mw_put_u64(&b, MW_F_COUNT_id, function);
    mw_put_text(&b, MW_F_COUNT_name, name);
    mw_put_u64(&b, MW_F_COUNT_calls, calls);
    mw_put_end(&b, mark);
    mw_put_u64(&b, MW_F_COUNTS_thread, thread);
    add_chunk(&file, MW_CHUNK_COUNTS, 1, &b);
}

/* A state at every flush: only the newest of each thread counts, and not all are kept in memory. */
static void test_counts_are_cumulative(void **state)
{
    for (uint64_t i = 0; i <= 20000; i++)
        add_counts(i % 3, 17, "MPI_Seventeen", i);
    add_counts(0, 17, "", 5); /* an older state that comes late */
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->count_count, 1);
    assert_int_equal(process->counts[0].function, 17);
    assert_string_equal(process->counts[0].name, "MPI_Seventeen");
    assert_int_equal(process->counts[0].calls, 19998 + 19999 + 20000);
    mw_trace_close(trace);
}

static void test_function_names(void **state)
{
    add_counts(0, 60001, "MPI_Of_the_future", 1);
    add_counts(1, 60002, "", 1);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_string_equal(mw_process_function_name(process, 60001), "MPI_Of_the_future");
    const char *made_up = mw_process_function_name(process, 60002);
    assert_string_equal(made_up, "MPI_function_60002");
    assert_string_equal(mw_process_function_name(process, UINT64_MAX),
                        "MPI_function_18446744073709551615");
    for (uint64_t i = 0; i < 5000; i++)
        assert_non_null(mw_process_function_name(process, 70000 + i));
    assert_ptr_equal(mw_process_function_name(process, 60002), made_up);
    assert_string_equal(made_up, "MPI_function_60002");
    /* The commonest have numbers below 128; whichever MPI_Send has, it is one of them. */
    int found = 0;
    for (uint64_t i = 0; i < 128; i++)
        found |= strcmp(mw_process_function_name(process, i), "MPI_Send") == 0;
    assert_true(found);
    mw_trace_close(trace);
}

static void test_words(void **state)
{
    assert_string_equal(mw_chunk_type_name(9), "EVENTS");
    assert_string_equal(mw_chunk_type_name(0), "UNKNOWN");
    assert_string_equal(mw_chunk_type_name(12345), "UNKNOWN");
    assert_string_equal(mw_comm_how_word(MW_COMM_WORLD), "world");
    assert_string_equal(mw_comm_how_word((enum mw_comm_how)77), "unknown");
    assert_string_equal(mw_status_text(MW_ERR_NEWER), "written by a newer format version");
}

static void test_time_without_readings(void **state)
{
    struct mw_process process = {.clock = MW_CLOCK_TSC};
    int64_t ns = 77;
    assert_true(isnan(mw_process_time_ns(&process, 5, MW_TIME_REAL)));
    assert_true(isnan(mw_process_span_ns(&process, 5)));
    assert_false(mw_process_time_exact(&process, 5, MW_TIME_RAW, &ns));
    assert_int_equal(ns, 77);
    process.clock = MW_CLOCK_MONOTONIC;
    assert_true(mw_process_span_ns(&process, 5) == 5.0);
    assert_true(isnan(mw_process_time_ns(&process, 5, MW_TIME_REAL)));
}

static void test_time_with_one_reading(void **state)
{
    struct mw_clock_reading reading = {
        .time = 1000, .raw_ns = 500, .real_ns = UINT64_C(1700000000000000001)};
    struct mw_process process = {.clock = MW_CLOCK_TSC, .clocks = &reading, .clock_count = 1};
    int64_t ns;
    assert_true(isnan(mw_process_time_ns(&process, 1000, MW_TIME_REAL)));
    assert_true(isnan(mw_process_span_ns(&process, 1)));
    process.clock = MW_CLOCK_MONOTONIC;
    assert_true(mw_process_time_exact(&process, 1007, MW_TIME_REAL, &ns));
    assert_int_equal(ns, 1700000000000000008);
    assert_true(mw_process_time_exact(&process, 993, MW_TIME_RAW, &ns));
    assert_int_equal(ns, 493);
}

static void test_time_on_a_line(void **state)
{
    /* 2.5 GHz; the real clock gains 100 ppm on the raw one. Readings in a wrong order in the file.
     */
    add_clock(&file, 1, 10000 + UINT64_C(25000000000), 10000000300, UINT64_C(1700000010001000000));
    add_clock(&file, 1, 10000, 300, UINT64_C(1700000000000000000));
    add_clock(&file, 1, 5000000, 1, 1); /* one between does not count */
    BUFFER(b);
    mw_put_u64(&b, MW_F_PROCESS_clock, MW_CLOCK_TSC);
    add_chunk(&file, MW_CHUNK_PROCESS, 1, &b);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    int64_t ns;
    assert_int_equal(process->clock_count, 3);
    assert_true(fabs(mw_process_span_ns(process, 2500) - 1000.0) < 1e-6);
    assert_true(mw_process_time_exact(process, 10000 + 2500, MW_TIME_RAW, &ns));
    assert_int_equal(ns, 1300);
    assert_true(mw_process_time_exact(process, 10000 + UINT64_C(12500000000), MW_TIME_REAL, &ns));
    assert_int_equal(ns, 1700000005000500000);
    assert_true(mw_process_time_exact(process, 7500, MW_TIME_RAW, &ns)); /* before the first */
    assert_int_equal(ns, -700);
    assert_true(fabs(mw_process_time_ns(process, 10000, MW_TIME_REAL) - 1.7e18) < 300);
    assert_false(mw_process_time_exact(process, UINT64_MAX, MW_TIME_REAL, &ns));
    mw_trace_close(trace);
}

static void add_end(uint64_t reason, uint64_t time)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_END_reason, reason);
    mw_put_u64(&b, MW_F_END_time, time);
    add_chunk(&file, MW_CHUNK_END, 1, &b);
}

static void test_ends(void **state)
{
    static const int orders[][4] = {
        /* first, second, third, which counts */
        {MW_END_FINALIZE, MW_END_COLLECTED, MW_END_SNAPSHOT, MW_END_FINALIZE},
        {MW_END_SNAPSHOT, MW_END_COLLECTED, MW_END_SNAPSHOT, MW_END_COLLECTED},
        {MW_END_COLLECTED, MW_END_SNAPSHOT, MW_END_ABORT, MW_END_ABORT},
        {MW_END_SNAPSHOT, MW_END_EXIT, MW_END_FINALIZE, MW_END_FINALIZE},
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        file.size = 0;
        for (int j = 0; j < 3; j++)
            add_end((uint64_t)orders[i][j], (uint64_t)(10 * orders[i][j]));
        mw_trace *trace = open_bytes(&place, &file);
        assert_int_equal(only_process(trace)->end_reason, orders[i][3]);
        assert_int_equal(only_process(trace)->end_time, 10 * orders[i][3]);
        mw_trace_close(trace);
    }
}

static void test_open_calls_of_a_snapshot(void **state)
{
    BUFFER(b);
    size_t mark = mw_put_begin(&b, MW_F_OPEN_call);
    mw_put_u64(&b, MW_F_OPENCALL_function, 60);
    mw_put_end(&b, mark);
    mw_put_u64(&b, MW_F_OPEN_taken, 5);
    mw_put_u64(&b, MW_F_OPEN_alive, 1);
    add_chunk(&file, MW_CHUNK_OPEN, 1, &b);
    add_end(MW_END_SNAPSHOT, 5);
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(only_process(trace)->open_call_count, 1);
    assert_true(only_process(trace)->open_alive);
    mw_trace_close(trace);
    add_end(MW_END_FINALIZE, 9); /* in which it was, is over */
    trace = open_bytes(&place, &file);
    assert_int_equal(only_process(trace)->open_call_count, 0);
    assert_false(only_process(trace)->open_alive);
    mw_trace_close(trace);
}

static void add_job(uint64_t process, const char *key, const char *launcher, const char *program)
{
    BUFFER(b);
    mw_put_text(&b, MW_F_JOB_key, key);
    mw_put_text(&b, MW_F_JOB_launcher, launcher);
    mw_put_text(&b, MW_F_JOB_program, program);
    add_chunk(&file, MW_CHUNK_JOB, process, &b);
}

static void test_jobs(void **state)
{
    add_job(1, "other", "wrong", "wrong");
    add_job(2, "mine", "launcher", "wrong");
    add_job(0, "mine", "", "program");
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_job *job = mw_trace_job(trace);
    assert_string_equal(job->key, "mine");
    assert_string_equal(job->program, "program");
    assert_string_equal(job->launcher, "launcher");
    mw_trace_close(trace);
}

static void test_health_by_code(void **state)
{
    add_health(&file, 1, "b", 5);
    add_health(&file, 1, "a", 9);
    add_health(&file, 1, "b", 7);
    add_health(&file, 1, "b", 7);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->health_count, 2);
    assert_string_equal(process->health[0].code, "b");
    assert_int_equal(process->health[0].time, 7);
    assert_string_equal(process->health[1].code, "a");
    mw_trace_close(trace);
}

static void test_replaced_as_a_whole(void **state)
{
    BUFFER(a);
    mw_put_text(&a, MW_F_PROCESS_host, "first");
    mw_put_text(&a, MW_F_PROCESS_argument, "x");
    mw_put_u64(&a, MW_F_PROCESS_pid, 12);
    add_chunk(&file, MW_CHUNK_PROCESS, 1, &a);
    BUFFER(b);
    mw_put_text(&b, MW_F_PROCESS_exe, "/bin/second");
    add_chunk(&file, MW_CHUNK_PROCESS, 1, &b);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_string_equal(process->host, "");
    assert_string_equal(process->exe, "/bin/second");
    assert_int_equal(process->pid, 0);
    assert_int_equal(process->argument_count, 0);
    mw_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(test_look_ups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_communicators_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts_are_cumulative, setup, teardown),
        cmocka_unit_test_setup_teardown(test_function_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_time_on_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_calls_of_a_snapshot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jobs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_health_by_code, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced_as_a_whole, setup, teardown),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_time_without_readings),
        cmocka_unit_test(test_time_with_one_reading),
    };
    return cmocka_run_group_tests_name("reader: tables", tests, NULL, NULL);
}
