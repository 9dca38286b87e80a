/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening traces: paths, folders, files that are none, damage, hostile files, residues. */
#include "reader_fixture.h"

#include <sys/resource.h>
#include <time.h>

static struct place place;

static int setup(void **state)
{
    place_make(&place);
    return 0;
}

static int teardown(void **state)
{
    place_remove(&place);
    return 0;
}

static void test_arguments(void **state)
{
    mw_trace *trace = (mw_trace *)1;
    const char *path = place.path;
    assert_int_equal(mw_trace_open(NULL, 1, 0, &trace, NULL), MW_ERR_ARGUMENT);
    assert_int_equal(mw_trace_open(&path, 0, 0, &trace, NULL), MW_ERR_ARGUMENT);
    assert_int_equal(mw_trace_open(&path, 1, 1u << 20, &trace, NULL), MW_ERR_ARGUMENT);
    assert_int_equal(mw_trace_open(&path, 1, 0, NULL, NULL), MW_ERR_ARGUMENT);
    assert_ptr_equal(trace, (mw_trace *)1);
    mw_trace_close(NULL);
}

static void test_no_trace(void **state)
{
    struct bytes empty = {0};
    errno = 0;
    assert_int_equal(open_status(place_file(&place, "missing.mpiw")), MW_ERR_SYSTEM);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(open_status(place.path), MW_ERR_NOT_TRACE);
    assert_int_equal(open_status(place_write(&place, "empty.mpiw", &empty)), MW_ERR_NOT_TRACE);
    assert_int_equal(open_status(place.path), MW_ERR_NOT_TRACE);
    assert_int_equal(open_status("/dev/null"), MW_ERR_NOT_TRACE);
    const char *fifo = place_file(&place, "fifo.mpiw");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(open_status(fifo), MW_ERR_NOT_TRACE);
    assert_int_equal(open_status(place.path), MW_ERR_NOT_TRACE);
}

static void test_several_paths(void **state)
{
    struct bytes good = {0}, bad = {0};
    add_rank(&good, 5, 1, 2);
    bytes_add(&bad, "no trace", 8);
    char paths[3][300];
    snprintf(paths[0], 300, "%s", place_file(&place, "missing"));
    snprintf(paths[1], 300, "%s", place_write(&place, "bad.mpiw", &bad));
    snprintf(paths[2], 300, "%s", place_write(&place, "good.mpiw", &good));
    const char *names[] = {paths[0], paths[1], paths[2], paths[2]};
    mw_trace *trace;
    size_t failed = 99;
    assert_int_equal(mw_trace_open(names, 2, 0, &trace, &failed), MW_ERR_SYSTEM);
    assert_int_equal(failed, 0);
    assert_int_equal(mw_trace_open(names + 1, 1, 0, &trace, &failed), MW_ERR_NOT_TRACE);
    assert_int_equal(mw_trace_open(names, 4, 0, &trace, &failed), MW_OK);
    assert_int_equal(mw_trace_file_count(trace), 2); /* the third is there once */
    assert_int_equal(mw_trace_damage_count(trace), 2);
    assert_string_equal(mw_trace_damage(trace, 0)->file, paths[0]);
    assert_int_equal(mw_trace_damage(trace, 0)->status, MW_ERR_SYSTEM);
    assert_non_null(strstr(mw_trace_damage(trace, 0)->text, strerror(ENOENT)));
    assert_string_equal(mw_trace_damage(trace, 1)->file, paths[1]);
    assert_int_equal(mw_trace_damage(trace, 1)->length, 8);
    assert_null(mw_trace_damage(trace, 2));
    assert_null(mw_trace_file(trace, 2));
    assert_int_equal(mw_trace_process_count(trace), 1);
    assert_null(mw_trace_process(trace, 1));
    mw_trace_close(trace);
    bytes_free(&good);
    bytes_free(&bad);
}

static void test_folder(void **state)
{
    struct bytes one = {0}, two = {0}, other = {0};
    add_process(&one, 7, "alpha", 100);
    add_rank(&two, 7, 3, 4);
    add_rank(&other, 8, 0, 4);
    place_write(&place, "b.mpiw", &one);
    place_write(&place, "a.mpiw", &two);
    place_write(&place, "not-mine.txt", &other);
    place_write(&place, ".mpiw", &other);
    assert_int_equal(mkdir(place_file(&place, "sub.mpiw"), 0700), 0);
    place_write(&place, "sub.mpiw/c.mpiw", &other);
    assert_int_equal(symlink("not-mine.txt", place_file(&place, "link.mpiw")), 0);
    char slash[300];
    snprintf(slash, sizeof slash, "%s///", place.path);
    mw_trace *trace = open_one(slash);
    assert_int_equal(mw_trace_file_count(trace), 2);
    assert_string_equal(mw_trace_file(trace, 0)->path, place_file(&place, "a.mpiw"));
    assert_string_equal(mw_trace_file(trace, 1)->path, place_file(&place, "b.mpiw"));
    assert_int_equal(mw_trace_process_count(trace), 1);
    const struct mw_process *process = mw_trace_process(trace, 0);
    assert_string_equal(process->host, "alpha");
    assert_true(process->has_rank);
    assert_int_equal(process->rank, 3);
    assert_int_equal(mw_trace_damage_count(trace),
                     2); /* the link and the folder: named, not read */
    assert_string_equal(mw_trace_damage(trace, 0)->file, place_file(&place, "link.mpiw"));
    assert_non_null(strstr(mw_trace_damage(trace, 0)->text, "link"));
    assert_string_equal(mw_trace_damage(trace, 1)->file, place_file(&place, "sub.mpiw"));
    mw_trace_close(trace);
    /* A link that the user names is followed. */
    mw_trace_close(open_one(place_file(&place, "link.mpiw")));
    bytes_free(&one);
    bytes_free(&two);
    bytes_free(&other);
}

static void test_more_files_than_descriptors(void **state)
{
    enum { FILES = 300 };
    struct rlimit old, low;
    for (int i = 0; i < FILES; i++) {
        struct bytes file = {0};
        char name[32];
        snprintf(name, sizeof name, "n%03d.mpiw", i);
        add_rank(&file, 1000 + (uint64_t)i, (uint64_t)(FILES - i), FILES);
        add_events(&file, 1000 + (uint64_t)i, 0, 0, 3, event_call);
        place_write(&place, name, &file);
        bytes_free(&file);
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = old;
    low.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    mw_trace *trace = open_one(place.path);
    assert_int_equal(mw_trace_damage_count(trace), 0);
    assert_int_equal(mw_trace_process_count(trace), FILES);
    static mw_cursor *cursors[FILES];
    const struct mw_call_record *record;
    for (int i = 0; i < FILES; i++) {
        const struct mw_process *process = mw_trace_process(trace, (size_t)i);
        assert_int_equal(process->rank, i + 1);
        assert_int_equal(mw_cursor_open(trace, process, 0, &cursors[i]), MW_OK);
        assert_int_equal(mw_cursor_next(cursors[i], &record), MW_OK);
    }
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(mw_cursor_next(cursors[i], &record), MW_OK);
        assert_int_equal(record->number, 1);
        mw_cursor_close(cursors[i]);
    }
    mw_trace_close(trace);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* Five chunks of different kinds. */
static void make_ordinary(struct bytes *file, size_t ends[5])
{
    add_process(file, 1, "host", 42);
    ends[0] = file->size;
    add_rank(file, 1, 0, 1);
    ends[1] = file->size;
    add_events(file, 1, 0, 0, 20, event_call);
    ends[2] = file->size;
    add_health(file, 1, "a_code", 5);
    ends[3] = file->size;
    add_clock(file, 1, 1, 2, 3);
    ends[4] = file->size;
}

static void test_cut_anywhere(void **state)
{
    struct bytes file = {0};
    size_t ends[5];
    make_ordinary(&file, ends);
    for (size_t cut = 0; cut < file.size; cut++) {
        struct bytes prefix = {file.data, cut, cut};
        const char *path = place_write(&place, "t.mpiw", &prefix);
        size_t whole = 0;
        while (ends[whole] <= cut)
            whole++;
        if (whole == 0) {
            assert_int_equal(open_status(path), cut < 4 ? MW_ERR_NOT_TRACE : MW_ERR_TRUNCATED);
            continue;
        }
        mw_trace *trace = open_one(path);
        assert_int_equal(mw_trace_file(trace, 0)->chunks, whole);
        assert_int_equal(mw_trace_damage_count(trace), cut != ends[whole - 1]);
        if (cut != ends[whole - 1]) {
            const struct mw_damage *damage = mw_trace_damage(trace, 0);
            assert_int_equal(damage->status, MW_ERR_TRUNCATED);
            assert_int_equal(damage->offset, ends[whole - 1]);
            assert_int_equal(damage->offset + damage->length, cut);
            assert_true(*damage->text);
        }
        mw_trace_close(trace);
    }
    bytes_free(&file);
}

static void test_any_bit_changed(void **state)
{
    struct bytes file = {0};
    size_t ends[5];
    make_ordinary(&file, ends);
    for (size_t bit = 0; bit < file.size * 8; bit += 3) {
        size_t hurt = 0;
        while (ends[hurt] <= bit / 8)
            hurt++;
        file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        mw_trace *trace = open_bytes(&place, &file);
        file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(mw_trace_file(trace, 0)->chunks, 4); /* all but the one */
        assert_int_equal(mw_trace_damage_count(trace), 1);
        const struct mw_damage *damage = mw_trace_damage(trace, 0);
        assert_int_equal(damage->offset, hurt ? ends[hurt - 1] : 0);
        assert_int_equal(damage->offset + damage->length, ends[hurt]);
        mw_trace_close(trace);
    }
    bytes_free(&file);
}

static void test_torn_write(void **state)
{
    struct bytes file = {0};
    uint8_t payload[5000] = {0};
    add_rank(&file, 1, 0, 1);
    size_t torn = file.size;
    add_chunk_raw(&file, MW_CHUNK_LOG, 0, 1, payload, sizeof payload, sizeof payload);
    file.size -= 100; /* the disk was full; then it was not */
    size_t good = file.size;
    add_health(&file, 1, "next", 1);
    add_health(&file, 1, "last", 2);
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(mw_trace_file(trace, 0)->chunks, 3);
    assert_int_equal(mw_trace_damage_count(trace), 1);
    assert_int_equal(mw_trace_damage(trace, 0)->offset, torn);
    assert_int_equal(mw_trace_damage(trace, 0)->length, good - torn);
    assert_int_equal(mw_trace_process(trace, 0)->health_count, 2);
    mw_trace_close(trace);
    bytes_free(&file);
}

static void test_damage_all_over(void **state)
{
    struct bytes file = {0};
    for (int i = 0; i < 1000; i++) {
        add_health(&file, 1, "fine", 1);
        bytes_add(&file, "rubbish", 7);
    }
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(mw_trace_file(trace, 0)->chunks, 1000);
    size_t count = mw_trace_damage_count(trace);
    assert_in_range(count, 10, 200);
    assert_non_null(strstr(mw_trace_damage(trace, count - 1)->text, "more"));
    for (size_t i = 1; i < count; i++)
        assert_true(mw_trace_damage(trace, i - 1)->offset < mw_trace_damage(trace, i)->offset);
    mw_trace_close(trace);
    bytes_free(&file);
}

/* Processor time, seconds: others may keep the machine busy. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Headers that each claim the megabytes behind them: the work must not be their product. */
static void test_headers_only(void **state)
{
    struct bytes file = {0};
    static const uint8_t payload[1];
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, MW_CHUNK_LOG, 0, 1, payload, 0, 0);
    mw_chunk_frame(header, MW_CHUNK_LOG, 0, 1, payload, 1, 1);
    /* A length far over the payload: frame it by hand, with the checksum of the header made right.
     */
    uint32_t length = MW_CHUNK_MAX_STORED;
    memcpy(header + 16, &length, 4);
    memcpy(header + 20, &length, 4);
    uint32_t check = mw_checksum(header, 28);
    memcpy(header + 28, &check, 4);
    add_rank(&file, 1, 0, 1);
    while (file.size < (40u << 20)) {
        bytes_add(&file, header, sizeof header);
        bytes_add(&file, "xxxxxxxx", 8);
    }
    double start = now();
    mw_trace *trace = open_bytes(&place, &file);
    assert_true(now() - start < 20); /* seconds; it would be hours */
    assert_true(mw_trace_damage_count(trace) > 0);
    mw_trace_close(trace);
    bytes_free(&file);
}

static size_t count_limits(const mw_trace *trace)
{
    size_t limits = 0;
    for (size_t i = 0; i < mw_trace_damage_count(trace); i++)
        limits += mw_trace_damage(trace, i)->status == MW_ERR_LIMIT;
    return limits;
}

/* A file of some hundred kilobytes that unpacks to gigabytes. */
static void test_time_is_bounded(void **state)
{
    struct bytes file = {0};
    uint8_t *field = calloc(1, MW_CHUNK_MAX_RAW);
    assert_non_null(field);
    add_rank(&file, 1, 0, 1);
    size_t rank = file.size;
    add_chunk_zstd(&file, MW_CHUNK_CLOCK, 1, field, MW_CHUNK_MAX_RAW);
    free(field);
    size_t bomb = file.size - rank;
    for (int i = 0; i < 200; i++) {
        uint8_t *copy = malloc(bomb);
        assert_non_null(copy);
        memcpy(copy, file.data + rank, bomb);
        bytes_add(&file, copy, bomb);
        free(copy);
    }
    double start = now();
    mw_trace *trace = open_bytes(&place, &file);
    assert_true(now() - start < 20);
    assert_int_equal(count_limits(trace), 1);
    assert_true(mw_trace_process(trace, 0)->has_rank);
    mw_trace_close(trace);
    bytes_free(&file);
}

/* A few kilobytes that unpack to a lot of tiny records. */
static void test_memory_is_bounded(void **state)
{
    struct bytes file = {0};
    size_t size = MW_CHUNK_MAX_RAW / 2;
    uint8_t *records = malloc(size);
    assert_non_null(records);
    for (size_t i = 0; i + 1 < size; i += 2) { /* an empty record each */
        records[i] = MW_F_MODULES_module << 1 | 1;
        records[i + 1] = 0;
    }
    for (int i = 0; i < 3; i++)
        add_chunk_zstd(&file, MW_CHUNK_MODULES, 1, records, size);
    for (size_t i = 0; i + 1 < size; i += 2)
        records[i] = MW_F_ENVIRONMENT_fact << 1 | 1;
    add_chunk_zstd(&file, MW_CHUNK_ENVIRONMENT, 1, records, size);
    for (size_t i = 0; i + 1 < size; i += 2)
        records[i] = MW_F_COUNTS_function << 1 | 1;
    add_chunk_zstd(&file, MW_CHUNK_COUNTS, 2, records, size);
    free(records);
    add_rank(&file, 1, 0, 1);
    assert_true(file.size < (1 << 20));
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    mw_trace *trace = open_bytes(&place, &file);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(count_limits(trace), 1);
    assert_true(after.ru_maxrss - before.ru_maxrss < 900 * 1024); /* KiB */
    mw_trace_close(trace);
    bytes_free(&file);
}

static void test_many_processes(void **state)
{
    enum { PROCESSES = 20000 };
    struct bytes file = {0};
    for (uint64_t i = 0; i < PROCESSES; i++) {
        BUFFER(b);
        add_process(&file, i + 1, "node", i);
        add_rank(&file, i + 1, PROCESSES - 1 - i, PROCESSES);
        mw_put_u64(&b, MW_F_ENVIRONMENT_base, i == 0 ? 0 : i); /* a chain of all */
        if (i == 0) {
            size_t mark = mw_put_begin(&b, MW_F_ENVIRONMENT_fact);
            mw_put_text(&b, MW_F_FACT_key, "the deepest");
            mw_put_end(&b, mark);
        }
        add_chunk(&file, MW_CHUNK_ENVIRONMENT, i + 1, &b);
    }
    double start = now();
    mw_trace *trace = open_bytes(&place, &file);
    assert_true(now() - start < 10);
    assert_int_equal(mw_trace_process_count(trace), PROCESSES);
    assert_int_equal(mw_trace_damage_count(trace), 0);
    for (size_t i = 0; i < PROCESSES; i++) {
        const struct mw_process *process = mw_trace_process(trace, i);
        assert_int_equal(process->rank, i);
        assert_int_equal(process->fact_count, 1);
        assert_string_equal(process->facts[0].key, "the deepest");
    }
    mw_trace_close(trace);
    bytes_free(&file);
}

static void test_order_of_processes(void **state)
{
    struct bytes file = {0};
    add_process(&file, 50, "b", 2);
    add_process(&file, 51, "b", 1);
    add_process(&file, 52, "a", 9);
    BUFFER(b);
    mw_put_u64(&b, MW_F_PROCESS_rank_hint, 8);
    add_chunk(&file, MW_CHUNK_PROCESS, 53, &b);
    add_rank(&file, 54, 1, 2);
    add_rank(&file, 55, 0, 2);
    mw_trace *trace = open_bytes(&place, &file);
    static const uint64_t keys[] = {55, 54, 53, 52, 51, 50};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(mw_trace_process(trace, i)->key, keys[i]);
    mw_trace_close(trace);
    bytes_free(&file);
}

struct visited {
    size_t count, stop_after;
    uint64_t offset;
    int newer;
};

static enum mw_status visit(void *context, const struct mw_chunk_view *chunk)
{
    struct visited *visited = context;
    assert_true(visited->count == 0 || chunk->offset > visited->offset);
    visited->offset = chunk->offset;
    visited->newer += chunk->version > MW_FORMAT_VERSION;
    return ++visited->count == visited->stop_after ? MW_ERR_SYSTEM : MW_OK;
}

static void test_visit(void **state)
{
    struct bytes file = {0};
    size_t ends[5];
    make_ordinary(&file, ends);
    bytes_add(&file, "rubbish", 7);
    add_chunk_raw(&file, 4711, 0, 0, "?", 1, 1);
    size_t newer = file.size;
    add_rank(&file, 1, 0, 1);
    file.data[newer + 6] = 9;
    uint32_t check = mw_checksum(file.data + newer, 28);
    memcpy(file.data + newer + 28, &check, 4);
    mw_trace *trace = open_bytes(&place, &file);
    struct visited all = {0}, some = {.stop_after = 3};
    assert_int_equal(mw_trace_visit(trace, visit, &all), MW_OK);
    assert_int_equal(all.count, 7);
    assert_int_equal(all.newer, 1);
    assert_int_equal(mw_trace_visit(trace, visit, &some), MW_ERR_SYSTEM);
    assert_int_equal(some.count, 3);
    assert_int_equal(mw_trace_damage_count(trace), 2);
    assert_int_equal(mw_trace_damage(trace, 1)->status, MW_ERR_NEWER);
    assert_int_equal(mw_trace_damage(trace, 1)->offset, newer);
    mw_trace_close(trace);
    bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_more_files_than_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any_bit_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage_all_over, setup, teardown),
        cmocka_unit_test_setup_teardown(test_headers_only, setup, teardown),
        cmocka_unit_test_setup_teardown(test_time_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_processes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_of_processes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_visit, setup, teardown),
    };
    return cmocka_run_group_tests_name("reader: open", tests, NULL, NULL);
}
