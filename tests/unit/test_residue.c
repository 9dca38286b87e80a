/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process leaves in its mapping: read while it lives, after SIGKILL, from elsewhere, and
 * from mappings that are damaged or lie. (Moving it into the node file: test_collect.c.)
 */
#include "mapping_fixture.h"

#include <pthread.h>

static int exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static uint64_t file_size(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void check_types(const struct taken *taken, const unsigned *types, size_t count)
{
    assert_int_equal(taken->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(taken->chunk[i].type, types[i]);
}

static void check_content(const struct fixture *fixture, const struct taken *taken, int alive)
{
    static const unsigned types[] = {
        MW_CHUNK_HEALTH, 999,           MW_CHUNK_EVENTS, MW_CHUNK_COUNTS,
        MW_CHUNK_COUNTS, MW_CHUNK_OPEN, MW_CHUNK_CLOCK,  MW_CHUNK_END};
    check_types(taken, types, 8);
    assert_memory_equal(taken->chunk[0].data, fixture->map + OUTBOX_OFFSET, taken->chunk[0].size);
    uint64_t next = chunk_check(taken->chunk[2].data, taken->chunk[2].size,
                                fixture_ring(fixture, 0), RING - 1, 0, 2);
    assert_int_equal(next, 5000);
    struct mw_reader open = taken_find(taken, MW_CHUNK_OPEN), end = taken_find(taken, MW_CHUNK_END);
    assert_int_equal(field_value(open, MW_F_OPEN_alive), alive);
    uint64_t now = mw_clock_ns(CLOCK_REALTIME);
    assert_in_range(field_value(open, MW_F_OPEN_taken), now - 60000000000u, now);
    assert_int_equal(field_value(end, MW_F_END_reason), alive ? MW_END_SNAPSHOT : MW_END_COLLECTED);
    if (!alive) /* the second open call began after the last event ended */
        assert_int_equal(field_value(end, MW_F_END_time), 600001);
    now = mw_clock_ns(CLOCK_MONOTONIC);
    assert_in_range(field_value(taken_find(taken, MW_CHUNK_CLOCK), MW_F_CLOCK_time),
                    now - 60000000000u, now);
}

static void a_living_process_is_read(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    struct taken taken = {0};
    uint64_t bytes = 5;
    fixture_make(&fixture, NULL);
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    assert_int_equal(residue.alive, 1);
    assert_int_equal(residue.foreign, 0);
    assert_int_equal(residue.size, FIXTURE_SIZE);
    assert_int_equal(residue.header->process, FIXTURE_KEY);
    mw_residue_close(&residue);
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    check_content(&fixture, &taken, 1);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_ARGUMENT);
    assert_int_equal(bytes, 5);
    assert_true(exists(fixture.path));
    assert_int_equal(file_size(fixture.node_file), MW_CHUNK_HEADER_SIZE);
    taken_free(&taken);
    fixture_remove(&fixture);
}

/* A process that looks into its own mapping, which may be no file at all. */
static void a_mapping_in_memory_is_read(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    fixture_make(&fixture, NULL);
    unlink(fixture.path);
    struct mw_residue own = {.header = fixture.header, .size = FIXTURE_SIZE, .alive = 1};
    assert_int_equal(mw_residue_chunks(&own, taken_sink, &taken), MW_OK);
    check_content(&fixture, &taken, 1);
    mw_residue_close(&own);
    assert_int_equal(fixture.header->magic, MW_MAP_MAGIC); /* still there */
    taken_free(&taken);
    own.size = AREA_OFFSET + AREA_SIZE - 1;
    assert_int_equal(mw_residue_chunks(&own, taken_sink, &taken), MW_ERR_CORRUPT);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void a_killed_process_is_read(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    fixture_make(&fixture, NULL);
    kill(fixture.child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)fixture.child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK); /* a zombie */
    check_content(&fixture, &taken, 0);
    taken_free(&taken);
    fixture_kill(&fixture); /* reaped */
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    check_content(&fixture, &taken, 0);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void counts_and_open_calls_have_names(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    struct mw_field record, field;
    fixture_make(&fixture, NULL);
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    struct mw_reader counts = taken_find(&taken, MW_CHUNK_COUNTS);
    assert_int_equal(mw_field_next(&counts, &record), MW_OK);
    assert_int_equal(record.id, MW_F_COUNTS_function);
    struct mw_reader in = {record.data, record.data + record.size};
    assert_int_equal(field_value(in, MW_F_COUNT_id), 1);
    assert_int_equal(field_value(in, MW_F_COUNT_calls), 5000);
    int named = 0;
    while (mw_field_next(&in, &field) == MW_OK)
        named |=
            field.id == MW_F_COUNT_name && field.size > 4 && memcmp(field.data, "MPI_", 4) == 0;
    assert_true(named);
    assert_int_equal(mw_field_next(&counts, &record),
                     MW_END); /* thread 0, and no count of nothing */

    struct mw_reader open = taken_find(&taken, MW_CHUNK_OPEN);
    int calls = 0;
    while (mw_field_next(&open, &record) == MW_OK) {
        if (record.id != MW_F_OPEN_call)
            continue;
        in = (struct mw_reader){record.data, record.data + record.size};
        assert_int_equal(field_value(in, MW_F_OPENCALL_start), 600000 + calls);
        assert_int_equal(field_value(in, MW_F_OPENCALL_function), 1 + calls);
        assert_int_equal(mw_unzigzag(field_value(in, MW_F_OPENCALL_peer)), calls ? -2 : 3);
        assert_int_equal(mw_unzigzag(field_value(in, MW_F_OPENCALL_tag)), calls ? 0 : -1);
        assert_int_equal(field_value(in, MW_F_OPENCALL_comm), calls ? 0 : 1);
        assert_int_equal(field_value(in, MW_F_OPENCALL_instance), calls ? 12 : 0);
        assert_int_equal(field_value(in, MW_F_OPENCALL_site), calls ? 0 : 8);
        calls++;
    }
    assert_int_equal(calls, 2);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void first_thread_leaves(struct fixture *fixture)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0)
        pthread_exit(NULL);
}

static void a_process_whose_first_thread_left_is_alive(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    char path[64], line[256];
    fixture_make(&fixture, first_thread_leaves);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)fixture.child);
    for (int i = 0; i < 1000; i++) { /* until the first thread is a zombie */
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        fclose(file);
        if (strstr(line, ") Z "))
            break;
        usleep(5000);
    }
    assert_non_null(strstr(line, ") Z "));
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    assert_int_equal(residue.alive, 1);
    mw_residue_close(&residue);
    fixture_remove(&fixture);
}

static void a_reused_pid_is_another_process(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    fixture_make(&fixture, NULL);
    fixture.header->start_time -= 1;
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    assert_int_equal(residue.alive, 0);
    assert_int_equal(residue.foreign, 0);
    mw_residue_close(&residue);
    fixture_remove(&fixture);
}

static void what_is_foreign_has_no_end(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    struct taken taken = {0};
    uint64_t bytes;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    fixture.header->pid_ns ^=
        1; /* a container's: the clock is the same, the process is not to be seen */
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    assert_int_equal(residue.foreign, 1);
    assert_int_equal(residue.alive, 0);
    mw_residue_close(&residue);
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    assert_null(taken_find(&taken, MW_CHUNK_END).next);
    assert_non_null(taken_find(&taken, MW_CHUNK_CLOCK).next);
    assert_non_null(taken_find(&taken, MW_CHUNK_OPEN).next);
    taken_free(&taken);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_ARGUMENT);
    fixture.header->pid_ns ^= 1;
    fixture.header->boot_id[0] ^= 1; /* before a reboot, or another machine's */
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    assert_null(taken_find(&taken, MW_CHUNK_END).next);
    assert_null(taken_find(&taken, MW_CHUNK_CLOCK).next);
    taken_free(&taken);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_ARGUMENT);
    fixture_remove(&fixture);
}

static void no_clock_from_another_time_namespace(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    fixture.header->time_ns = 1;
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    assert_null(taken_find(&taken, MW_CHUNK_CLOCK).next);
    assert_non_null(taken_find(&taken, MW_CHUNK_END).next);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void a_process_that_ended_itself_gets_no_second_end(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    static const unsigned types[] = {MW_CHUNK_HEALTH, 999, MW_CHUNK_EVENTS, MW_CHUNK_COUNTS,
                                     MW_CHUNK_COUNTS};
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    fixture.header->state = MW_MAP_ENDED;
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    check_types(&taken, types, 5);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void the_sinks_error_stops(void **state)
{
    struct fixture fixture;
    fixture_make(&fixture, NULL);
    for (size_t i = 1; i <= 8; i++) {
        struct taken taken = {.refuse_at = i};
        assert_int_equal(fixture_take(&fixture, &taken), MW_ERR_FULL);
        assert_int_equal(taken.count, i - 1);
        taken_free(&taken);
    }
    fixture_remove(&fixture);
}

/* A recorder that never rests: records, "writes" what is old, records. At times it is slow enough
 * for a reader to get whole events, at times so fast that everything is overwritten while it is
 * read. */
static void record_for_ever(struct fixture *fixture)
{
    struct mw_map_thread *thread = fixture_thread(fixture, 0);
    struct mw_raw_event *ring = fixture_ring(fixture, 0);
    while (atomic_load(&thread->open_depth) == 0) /* it is set when the fixture is whole */
        usleep(100);
    for (uint64_t next = atomic_load(&thread->committed);; next++) {
        uint64_t flushed = atomic_load(&thread->flushed);
        if (next - flushed == RING)
            atomic_store(&thread->flushed, next - RING / 8);
        ring[next & (RING - 1)] = fixture_event(next);
        atomic_store_explicit(&thread->committed, next + 1, memory_order_release);
        if (next % 64 == 0) {
            uint64_t until = mw_clock_ns(CLOCK_MONOTONIC) + next / 64 % 8 * 10000;
            while (mw_clock_ns(CLOCK_MONOTONIC) < until)
                ;
        }
    }
}

static void a_busy_process_gives_no_torn_events(void **state)
{
    enum { SNAPSHOTS = 300 };
    struct fixture fixture;
    uint64_t events = 0, newest = 0;
    fixture_make(&fixture, record_for_ever);
    for (int i = 0; i < 5000 && atomic_load(&fixture_thread(&fixture, 0)->committed) < 50000; i++)
        usleep(1000); /* a loaded machine may not have run it yet */
    for (int i = 0; i < SNAPSHOTS; i++) {
        struct taken taken = {0};
        assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
        for (size_t c = 0; c < taken.count; c++) {
            if (taken.chunk[c].type != MW_CHUNK_EVENTS)
                continue;
            struct mw_decoder *decoder =
                chunk_open(taken.chunk[c].data, taken.chunk[c].size, FIXTURE_KEY);
            uint64_t number = mw_decoder_head(decoder)->first;
            const struct mw_event *step;
            size_t count;
            while (mw_decoder_step(decoder, &step, &count) == MW_OK)
                for (size_t e = 0; e < count; e++, number++, events++) {
                    struct mw_raw_event raw = fixture_event(number);
                    struct mw_event expected = event_expected(&raw, 0, 2);
                    event_check(&step[e], &expected);
                }
            assert_true(number ==
                        mw_decoder_head(decoder)->first + mw_decoder_head(decoder)->count);
            newest = number;
            mw_decoder_close(decoder);
        }
        taken_free(&taken);
    }
    assert_true(events > SNAPSHOTS);
    assert_true(newest > 5000 + RING); /* it did not rest */
    fixture_remove(&fixture);
}

/* Files that are no mapping of ours. */
static void what_is_no_mapping_is_refused(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    char other[700];
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    snprintf(other, sizeof other, "%s/other", fixture.folder);
    assert_int_equal(mw_residue_open(other, &residue), MW_ERR_NOT_FOUND);
    assert_int_equal(symlink(fixture.path, other), 0);
    assert_int_equal(mw_residue_open(other, &residue), MW_ERR_CORRUPT);
    unlink(other);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(mw_residue_open(other, &residue), MW_ERR_CORRUPT);
    unlink(other);
    assert_int_equal(mw_residue_open(fixture.folder, &residue), MW_ERR_CORRUPT);
    fixture_write(other, fixture.map, sizeof(struct mw_map_header) - 1);
    assert_int_equal(mw_residue_open(other, &residue), MW_ERR_CORRUPT);
    fixture_write(other, fixture.map, sizeof(struct mw_map_header));
    chmod(other, 0600);
    assert_int_equal(mw_residue_open(other, &residue), MW_OK);
    mw_residue_close(&residue);
    chmod(other, 0660);
    assert_int_equal(mw_residue_open(other, &residue), MW_ERR_CORRUPT);
    chmod(other, 0600);
    if (geteuid() == 0) {
        assert_int_equal(chown(other, 1, (gid_t)-1), 0);
        assert_int_equal(mw_residue_open(other, &residue), MW_ERR_CORRUPT);
    }
    fixture_remove(&fixture);
}

static void wrong_headers_are_refused(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    fixture_make(&fixture, NULL);
    struct mw_map_header *header = fixture.header;
    static const struct {
        uint64_t magic_change;
        uint32_t layout_change, size_change;
        enum mw_status status;
    } cases[] = {{1, 0, 0, MW_ERR_CORRUPT}, {0, 3, 0, MW_ERR_NEWER}, {0, 0, 8, MW_ERR_CORRUPT}};
    for (size_t i = 0; i < 3; i++) {
        header->magic ^= cases[i].magic_change;
        header->layout ^= cases[i].layout_change;
        header->header_size ^= cases[i].size_change;
        assert_int_equal(mw_residue_open(fixture.path, &residue), cases[i].status);
        header->magic ^= cases[i].magic_change;
        header->layout ^= cases[i].layout_change;
        header->header_size ^= cases[i].size_change;
    }
    const uint64_t pids[] = {0, (uint64_t)INT_MAX + 1, UINT64_MAX};
    uint64_t pid = header->pid;
    for (size_t i = 0; i < 3; i++) {
        header->pid = pids[i];
        assert_int_equal(mw_residue_open(fixture.path, &residue), MW_ERR_CORRUPT);
    }
    header->pid = pid;
    header->shift = 64;
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_ERR_CORRUPT);
    header->shift = 2;
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    mw_residue_close(&residue);
    fixture_remove(&fixture);
}

/* One lie at a time: it is noticed, and what it does not concern is still given. */
struct lie {
    size_t offset;
    unsigned size;
    uint64_t value;
    unsigned lost; /* chunk type that is missing then; 0 none */
};

#define HEADER_AT(member)                                                                          \
    offsetof(struct mw_map_header, member), sizeof(((struct mw_map_header *)0)->member)
#define THREAD_AT(member)                                                                          \
    AREA_OFFSET + offsetof(struct mw_map_thread, member),                                          \
        sizeof(((struct mw_map_thread *)0)->member)

static void lies_are_noticed(void **state)
{
    static const struct lie lies[] = {
        {HEADER_AT(outbox_offset), UINT64_MAX, MW_CHUNK_HEALTH},
        {HEADER_AT(outbox_offset), FIXTURE_SIZE - 10, MW_CHUNK_HEALTH},
        {HEADER_AT(outbox_offset), OUTBOX_OFFSET + 1, MW_CHUNK_HEALTH},
        {HEADER_AT(outbox_used), UINT64_MAX, MW_CHUNK_HEALTH},
        {HEADER_AT(outbox_used), OUTBOX_CAPACITY + 1, MW_CHUNK_HEALTH},
        {HEADER_AT(outbox_used), 35, MW_CHUNK_HEALTH},
        {HEADER_AT(outbox_used), 69, 0}, /* one byte after the last chunk */
        {OUTBOX_OFFSET + MW_CHUNK_HEADER_SIZE, 1, 0x77, MW_CHUNK_HEALTH},
        {HEADER_AT(thread_count), UINT32_MAX, 0},
        {offsetof(struct mw_map_header, thread_offset), 8, UINT64_MAX, MW_CHUNK_EVENTS},
        {offsetof(struct mw_map_header, thread_offset), 8, FIXTURE_SIZE - 100, MW_CHUNK_EVENTS},
        {THREAD_AT(capacity), 0, MW_CHUNK_EVENTS},
        {THREAD_AT(capacity), 1000, MW_CHUNK_EVENTS},
        {THREAD_AT(capacity), 1ull << 20, MW_CHUNK_EVENTS},
        {THREAD_AT(capacity), 1ull << 21, MW_CHUNK_EVENTS},
        {THREAD_AT(capacity), 1ull << 58, MW_CHUNK_EVENTS}, /* times 64 it is nothing */
        {THREAD_AT(ring_offset), UINT64_MAX - 100, MW_CHUNK_EVENTS},
        {THREAD_AT(ring_offset), FIXTURE_SIZE - RING * 64 + 1, MW_CHUNK_EVENTS},
        {THREAD_AT(flushed), 5001, MW_CHUNK_EVENTS},
        {THREAD_AT(flushed), 0, 0}, /* more than the ring holds */
        {THREAD_AT(committed), UINT64_MAX, 0},
    };
    struct fixture fixture;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct taken taken = {0};
        uint64_t truth = 0;
        memcpy(&truth, fixture.map + lies[i].offset, lies[i].size);
        memcpy(fixture.map + lies[i].offset, &lies[i].value, lies[i].size);
        assert_int_equal(fixture_take(&fixture, &taken), MW_ERR_CORRUPT);
        static const unsigned types[] = {MW_CHUNK_HEALTH, MW_CHUNK_EVENTS, MW_CHUNK_COUNTS,
                                         MW_CHUNK_OPEN, MW_CHUNK_END};
        for (size_t t = 0; t < 5; t++)
            assert_int_equal(taken_find(&taken, types[t]).next != NULL, types[t] != lies[i].lost);
        taken_free(&taken);
        memcpy(fixture.map + lies[i].offset, &truth, lies[i].size);
    }
    struct taken taken = {0};
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    check_content(&fixture, &taken, 0);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void random_damage_is_survived(void **state)
{
    enum { ROUNDS = 1500 };
    static uint8_t whole[FIXTURE_SIZE];
    struct fixture fixture;
    uint64_t seed = 99, good = 0, bad = 0;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    memcpy(whole, fixture.map, FIXTURE_SIZE);
    for (int round = 0; round < ROUNDS; round++) {
        struct taken taken = {0};
        const size_t starts[] = {0, AREA_OFFSET, AREA_OFFSET + AREA_SIZE, OUTBOX_OFFSET};
        for (uint64_t random = random_next(&seed), left = 1 + random % 6; left; left--) {
            uint64_t where = random_next(&seed), word = random_next(&seed);
            size_t at = starts[where & 3] + (where >> 8) % 192;
            word >>= where >> 50 & 63; /* small numbers, too */
            memcpy(fixture.map + at, &word, 1 + (where >> 40 & 7));
        }
        fixture.header->process = FIXTURE_KEY;
        enum mw_status status = fixture_take(&fixture, &taken);
        good += status == MW_OK;
        bad += status == MW_ERR_CORRUPT;
        assert_true(status == MW_OK || status == MW_ERR_CORRUPT || status == MW_ERR_NEWER);
        taken_free(&taken);
        memcpy(fixture.map, whole, FIXTURE_SIZE);
    }
    assert_true(good > 0 && bad > 0);
    fixture_remove(&fixture);
}

static struct mw_map_group *sums_make(struct fixture *fixture)
{
    struct mw_map_group *group = (struct mw_map_group *)(fixture->map + SUMS_OFFSET);
    fixture_thread(fixture, 0)->segment[0] = SUMS_OFFSET;
    fixture_thread(fixture, 0)->last_function = 2;
    fixture_thread(fixture, 0)->last_end = 700000;
    group->number = 3;
    group->start = 5;
    group->end = 700000;
    group->why = MW_WHY_BUDGET;
    group->used = 3;
    group->row[0] = (struct mw_map_row){
        .key = {.comm = 1, .peer = 7, .function = 1, .kind = MW_EVENT_SEND, .size_class = 4},
        .calls = 3,
        .operations = 3,
        .bytes = 24};
    group->row[2] =
        (struct mw_map_row){.key = {.peer = -2, .function = 2, .kind = MW_EVENT_CALL}, .calls = 1};
    return group;
}

/* Sums of calls are there, those that have been written are not, and regions. */
static void sums_and_regions_are_read(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    struct mw_field field;
    fixture_make(&fixture, NULL);
    struct mw_map_group *group = sums_make(&fixture);
    fixture.header->region_count = 1;
    strcpy(fixture.header->region[0].name, "solve");
    fixture.header->region[0].entries = 12;
    fixture_kill(&fixture);
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    struct mw_reader sums = taken_find(&taken, MW_CHUNK_AGGREGATE);
    assert_non_null(sums.next);
    assert_int_equal(field_value(sums, MW_F_AGGREGATE_number), 3);
    assert_int_equal(field_value(sums, MW_F_AGGREGATE_why), MW_WHY_BUDGET);
    assert_int_equal(field_value(sums, MW_F_AGGREGATE_last_function), 2);
    unsigned rows = 0;
    while (mw_field_next(&sums, &field) == MW_OK) {
        if (field.id != MW_F_AGGREGATE_row)
            continue;
        struct mw_reader row = {field.data, field.data + field.size};
        assert_int_equal(field_value(row, MW_F_ROW_calls), rows ? 1 : 3);
        assert_int_equal(field_value(row, MW_F_ROW_bytes), rows ? 0 : 24);
        assert_int_equal(field_value(row, MW_F_ROW_peer), rows ? 3 : 14); /* zigzag */
        rows++;
    }
    assert_int_equal(rows, 2);
    assert_int_equal(field_value(taken_find(&taken, MW_CHUNK_REGION), MW_F_REGION_entries), 12);
    assert_int_equal(field_value(taken_find(&taken, MW_CHUNK_END), MW_F_END_time), 700000);
    taken_free(&taken);
    group->why = 0;
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    assert_null(taken_find(&taken, MW_CHUNK_AGGREGATE).next);
    taken_free(&taken);
    group->why = 1;
    group->used = UINT32_MAX;
    fixture.header->region_count = MW_MAP_REGIONS + 1;
    memset(fixture.header->region[0].name, 'x', sizeof fixture.header->region[0].name);
    fixture_thread(&fixture, 0)->segment[1] = FIXTURE_SIZE - 100;
    fixture_thread(&fixture, 0)->segment[2] = UINT64_MAX - 100;
    taken.refuse_at = 40;
    assert_int_equal(fixture_take(&fixture, &taken), MW_ERR_FULL);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void a_mapping_that_shrinks_does_not_kill(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    struct taken taken = {0};
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    assert_int_equal(truncate(fixture.path, AREA_OFFSET + 100), 0);
    assert_int_equal(mw_residue_chunks(&residue, taken_sink, &taken), MW_ERR_CORRUPT);
    assert_non_null(taken_find(&taken, MW_CHUNK_HEALTH).next);
    assert_non_null(taken_find(&taken, MW_CHUNK_END).next);
    mw_residue_close(&residue);
    taken_free(&taken);
    fixture_remove(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_living_process_is_read),
        cmocka_unit_test(a_mapping_in_memory_is_read),
        cmocka_unit_test(a_killed_process_is_read),
        cmocka_unit_test(counts_and_open_calls_have_names),
        cmocka_unit_test(a_process_whose_first_thread_left_is_alive),
        cmocka_unit_test(a_reused_pid_is_another_process),
        cmocka_unit_test(what_is_foreign_has_no_end),
        cmocka_unit_test(no_clock_from_another_time_namespace),
        cmocka_unit_test(a_process_that_ended_itself_gets_no_second_end),
        cmocka_unit_test(the_sinks_error_stops),
        cmocka_unit_test(a_busy_process_gives_no_torn_events),
        cmocka_unit_test(what_is_no_mapping_is_refused),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(lies_are_noticed),
        cmocka_unit_test(random_damage_is_survived),
        cmocka_unit_test(sums_and_regions_are_read),
        cmocka_unit_test(a_mapping_that_shrinks_does_not_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
