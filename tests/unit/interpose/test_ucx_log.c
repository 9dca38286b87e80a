/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines of fabric libraries on their way into LOG chunks: each once, counted, bounded, from any
 * thread. What stands in the chunks is read back field by field.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "output/output.h"
#include "probe/loglines.h"
#include "trace/fields.h"
#include "recorder_fixture.h"

/* What the last chunk of each id said. */
enum { IDS = 200 };
static struct kept {
    uint64_t count, line, time;
    char library[80], level[80], subsystem[80], provider[80], function[80], text[512];
    size_t chunks;
} kept[IDS];
static _Atomic size_t chunks, flushes;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static void copy(char *to, size_t room, const struct mw_field *field)
{
    assert_true(field->size < room);
    memcpy(to, field->data, field->size);
    to[field->size] = '\0';
}

void mw_output_chunk(unsigned type, const void *payload, size_t size)
{
    struct mw_reader reader = {payload, (const uint8_t *)payload + size};
    struct mw_field field;
    struct kept now = {0};
    uint64_t id = 0;
    assert_int_equal(type, MW_CHUNK_LOG);
    while (mw_field_next(&reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_LOG_id:
            id = field.value;
            break;
        case MW_F_LOG_count:
            now.count = field.value;
            break;
        case MW_F_LOG_line:
            now.line = field.value;
            break;
        case MW_F_LOG_time:
            now.time = field.value;
            break;
        case MW_F_LOG_library:
            copy(now.library, sizeof now.library, &field);
            break;
        case MW_F_LOG_level:
            copy(now.level, sizeof now.level, &field);
            break;
        case MW_F_LOG_subsystem:
            copy(now.subsystem, sizeof now.subsystem, &field);
            break;
        case MW_F_LOG_provider:
            copy(now.provider, sizeof now.provider, &field);
            break;
        case MW_F_LOG_function:
            copy(now.function, sizeof now.function, &field);
            break;
        case MW_F_LOG_text:
            copy(now.text, sizeof now.text, &field);
            break;
        }
    }
    assert_ptr_equal(reader.next, reader.end);
    assert_true(id < IDS);
    pthread_mutex_lock(&kept_lock);
    now.chunks = kept[id].chunks + 1;
    kept[id] = now;
    pthread_mutex_unlock(&kept_lock);
    chunks++;
}

void mw_output_flush(void)
{
    flushes++;
}

/* The table lives as long as the process: the tests run in this order. */

static void the_first_is_written_at_once(void **state)
{
    (void)state;
    mw_log_line("libfabric", "warn", "core", "cxi", "cxip_ep_enable", 77, "no room\r\n");
    assert_int_equal(chunks, 1);
    assert_int_equal(flushes, 1);
    assert_int_equal(kept[1].count, 1);
    assert_int_equal(kept[1].line, 77);
    assert_true(kept[1].time > 0);
    assert_string_equal(kept[1].library, "libfabric");
    assert_string_equal(kept[1].level, "warn");
    assert_string_equal(kept[1].subsystem, "core");
    assert_string_equal(kept[1].provider, "cxi");
    assert_string_equal(kept[1].function, "cxip_ep_enable");
    assert_string_equal(kept[1].text, "no room");
}

static void repetitions_are_counted_and_written_at_the_end(void **state)
{
    (void)state;
    for (int i = 0; i < 999; i++)
        mw_log_line("libfabric", "warn", "core", "cxi", "cxip_ep_enable", 77, "no room");
    assert_int_equal(chunks, 1);
    mw_log_lines_finish();
    assert_int_equal(kept[1].count, 1000);
    assert_string_equal(kept[1].text, "no room");
    assert_int_equal(chunks, 2);
    mw_log_lines_finish(); /* nothing new */
    assert_int_equal(chunks, 2);
}

static void a_place_has_four_texts(void **state)
{
    char text[32];
    (void)state;
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof text, "queue %d is full", i);
        mw_log_line("ucx", "WARN", "file.c", NULL, "f", 5, text);
    }
    assert_string_equal(kept[2].text, "queue 0 is full");
    assert_string_equal(kept[5].text, "queue 3 is full");
    assert_int_equal(kept[6].chunks, 0);
    mw_log_lines_finish();
    assert_int_equal(kept[0].count, 6);
    mw_log_line("ucx", "WARN", "file.c", NULL, "f", 6, "queue 9 is full"); /* another place */
    assert_string_equal(kept[6].text, "queue 9 is full");
    mw_log_line("ucx", "DIAG", "file.c", NULL, "f", 6, "queue 9 is full"); /* and another */
    assert_string_equal(kept[7].level, "DIAG");
}

static void nothing_is_needed(void **state)
{
    (void)state;
    mw_log_line(NULL, NULL, NULL, NULL, NULL, 0, NULL);
    assert_int_equal(kept[8].count, 1);
    mw_log_line("", "", "", "", "", 0, "\n"); /* the same */
    mw_log_lines_finish();
    assert_int_equal(kept[8].count, 2);
}

static void long_texts_are_cut_between_characters(void **state)
{
    char text[2000], word[200];
    (void)state;
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    for (size_t i = 0; i < sizeof text - 2; i += 2)
        memcpy(text + i, "\xc3\xa9", 2); /* é: 2 bytes */
    memcpy(text + sizeof text - 2, "\0", 2);
    mw_log_line(word, word, word, word, word, 1, text + 1 - 1);
    assert_int_equal(strlen(kept[9].library), MW_LOG_WORD);
    assert_true(strlen(kept[9].text) <= MW_LOG_TEXT && strlen(kept[9].text) > MW_LOG_TEXT - 8);
    assert_int_equal((unsigned char)kept[9].text[0], 0xc3);
    text[0] = 'a'; /* shifts what is left by one: now a character would be cut in half */
    memmove(text + 1, text + 2, sizeof text - 2);
    mw_log_line("ucx", "", "", "", "", 1, text);
    size_t end = strcspn(kept[10].text, "[");
    assert_true(end <= MW_LOG_TEXT);
    assert_int_equal((unsigned char)kept[10].text[end - 1], 0xa9);
}

static void secrets_are_left_out(void **state)
{
    (void)state;
    mw_log_line("ucx", "INFO", "parser.c", "", "", 9,
                "UCX_* env variable: UCX_X=ghp_16C7e42F292c6912E7710c838347Ae178B4a");
    assert_null(strstr(kept[11].text, "ghp_"));
    assert_non_null(strstr(kept[11].text, "UCX_* env variable"));
}

static void *flood(void *argument)
{
    for (unsigned i = 0; i < 20000; i++)
        mw_log_line("ucx", "WARN", argument, NULL, "f", i % 200, "lost");
    return NULL;
}

static void threads_and_floods_are_bounded(void **state)
{
    pthread_t threads[4];
    uint64_t sum = 0;
    (void)state;
    uint64_t before = kept[0].count;
    chunks = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, flood, "t.c"), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_true(chunks <= MW_LOG_LINES);
    mw_log_lines_finish();
    for (int i = 12; i < IDS; i++)
        sum += kept[i].count;
    assert_int_equal(kept[MW_LOG_LINES].line, MW_LOG_LINES - 12);
    assert_int_equal(kept[MW_LOG_LINES + 1].chunks, 0);
    assert_int_equal(sum + kept[0].count - before, 80000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_written_at_once),
        cmocka_unit_test(repetitions_are_counted_and_written_at_the_end),
        cmocka_unit_test(a_place_has_four_texts),
        cmocka_unit_test(nothing_is_needed),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(secrets_are_left_out),
        cmocka_unit_test(threads_and_floods_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
