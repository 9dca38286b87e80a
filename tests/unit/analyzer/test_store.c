/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The history's file and the trends that are made of it, with digests made by hand: what goes in
 * comes out, facts are kept once, which runs stand in which trends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/regression/trends.h"
#include "analyzer/store/store.h"

static char folder[] = "/tmp/mpiwatch-store-XXXXXX";
static char *file;

static int make_folder(void **unused)
{
    (void)unused;
    if (!mkdtemp(folder))
        return -1;
    file = mw_format("%s/runs.db", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    rmdir(folder);
    free(file);
    return 0;
}

static int remove_file(void **unused)
{
    (void)unused;
    unlink(file);
    return 0;
}

static void put_class(struct mw_digest *digest, const char *transport, double bandwidth,
                      uint64_t samples)
{
    mw_digest_put_figure(digest, &(struct mw_figure){.scope = MW_SCOPE_CLASS,
                                                     .metric = MW_METRIC_BANDWIDTH,
                                                     .distance = "other node",
                                                     .transport = (char *)transport,
                                                     .buffer = "host",
                                                     .size_class = 21,
                                                     .value = bandwidth,
                                                     .samples = samples,
                                                     .src = -1,
                                                     .dst = -1});
}

/* A run of day `day`, over a library of that version. */
static struct mw_digest *run_of(int day, const char *transport, double bandwidth)
{
    struct mw_digest *digest = mw_digest_create("job.mpiw");
    digest->program = mw_text_copy("osu_bw");
    digest->arguments = mw_text_copy("-m 4M");
    digest->executable_id = mw_text_copy("");
    digest->identity = mw_format("job %d", day);
    digest->ranks = digest->recorded_ranks = 2;
    digest->nodes = 1;
    digest->began = 1700000000 + 86400 * (int64_t)day;
    digest->messages = UINT64_MAX; /* more than a file has room for */
    mw_digest_put_fact(digest, MW_FACT_MPI, "version", "Open MPI v4.1.4", "", 0);
    mw_digest_put_fact(digest, MW_FACT_LIBRARY, "libfabric.so", "1.20", "/lib/libfabric.so.1", 0);
    mw_digest_put_fact(digest, MW_FACT_MACHINE, "host", day % 2 ? "a" : "b", "", 1);
    mw_digest_put_way(digest, &(struct mw_digest_way){.distance = "other node",
                                                      .buffer = "host",
                                                      .transport = (char *)transport,
                                                      .layer = "libfabric",
                                                      .device = "cxi0",
                                                      .first_class = 21,
                                                      .last_class = 21,
                                                      .pairs = 1,
                                                      .messages = 100,
                                                      .bytes = 100 << 20});
    put_class(digest, transport, bandwidth, 100);
    mw_digest_put_figure(digest, &(struct mw_figure){.scope = MW_SCOPE_PAIR,
                                                     .transport = (char *)transport,
                                                     .value = 1,
                                                     .samples = 100,
                                                     .src = 0,
                                                     .dst = 1});
    mw_digest_finish(digest);
    return digest;
}

static int64_t add(struct mw_store *store, struct mw_digest *digest, enum mw_store_added expected)
{
    mw_store_tags none = {0};
    int64_t id = 0;
    char *why = NULL;
    assert_int_equal(mw_store_add(store, digest, &none, &id, &why), expected);
    assert_null(why);
    mw_digest_free(digest);
    return id;
}

static struct mw_store *open_file(void)
{
    char *why = NULL;
    struct mw_store *store = mw_store_open(file, 1, &why);
    assert_non_null(store);
    return store;
}

static void test_what_goes_in_comes_out(void **unused)
{
    struct mw_store *store = open_file();
    char *why = NULL;
    (void)unused;
    add(store, run_of(1, "cxi", 2e9), MW_STORE_NEW);
    mw_store_close(store);
    store = open_file();
    struct mw_store_runs *runs =
        mw_store_runs(store, NULL, MW_STORE_FACTS | MW_STORE_FIGURES, &why);
    assert_int_equal(runs->all.count, 1);
    const struct mw_digest *digest = runs->all.at[0].digest;
    assert_string_equal(runs->all.at[0].benchmark, "osu_bw -m 4M, 2 ranks");
    assert_string_equal(digest->identity, "job 1");
    assert_null(digest->crashed);
    assert_true(digest->messages == INT64_MAX);
    assert_int_equal(digest->stack.count, 3);
    assert_string_equal(digest->stack.at[1].detail, "/lib/libfabric.so.1");
    assert_int_equal(digest->ways.count, 1);
    assert_string_equal(digest->ways.at[0].device, "cxi0");
    assert_int_equal(digest->figures.count, 1); /* without the pair */
    assert_true(digest->figures.at[0].value == 2e9);
    assert_int_equal(digest->figures.at[0].size_class, 21);
    char *stack = mw_store_stack(digest);
    assert_string_equal(stack, runs->all.at[0].stack);
    free(stack);
    mw_store_runs_free(runs);
    runs = mw_store_runs(store, "another", MW_STORE_FIGURES, &why);
    assert_int_equal(runs->all.count, 0);
    mw_store_runs_free(runs);
    mw_store_close(store);
}

/* What is written into files for ever. */
static void test_stack_number(void **unused)
{
    struct mw_digest *digest = run_of(1, "cxi", 2e9);
    char *stack = mw_store_stack(digest);
    (void)unused;
    assert_string_equal(stack, "403227caec5d5e8c");
    free(stack);
    mw_digest_free(digest);
}

static int64_t count_rows(const char *table)
{
    sqlite3 *connection;
    sqlite3_stmt *statement;
    char *sql = mw_format("SELECT count(*) FROM %s", table);
    assert_int_equal(sqlite3_open(file, &connection), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(connection);
    free(sql);
    return count;
}

static void test_facts_are_kept_once(void **unused)
{
    struct mw_store *store = open_file();
    (void)unused;
    for (int day = 0; day < 10; day++)
        add(store, run_of(day, "cxi", 2e9), MW_STORE_NEW);
    assert_int_equal(add(store, run_of(3, "cxi", 7e9), MW_STORE_THERE), 4);
    mw_store_close(store);
    assert_int_equal(count_rows("fact"), 4);
    assert_int_equal(count_rows("run_fact"), 30);
    assert_int_equal(count_rows("figure"), 10);
}

static void test_a_run_without_a_name(void **unused)
{
    struct mw_store *store = open_file();
    struct mw_digest *digest = run_of(1, "cxi", 2e9);
    mw_store_tags none = {0};
    int64_t id = 0;
    char *why = NULL;
    (void)unused;
    digest->identity[0] = '\0';
    assert_int_equal(mw_store_add(store, digest, &none, &id, &why), MW_STORE_FAILED);
    assert_non_null(strstr(why, "no process"));
    free(why);
    mw_digest_free(digest);
    mw_store_close(store);
}

/* --- trends ----------------------------------------------------------------------------------- */

enum { RUNS = 20 };

static void test_trends(void **unused)
{
    struct mw_digest *runs[RUNS];
    const struct mw_digest *const *all = (const struct mw_digest *const *)runs;
    (void)unused;
    for (int i = 0; i < RUNS; i++) /* 2 % of noise, then a fifth less, then over something else */
        runs[i] = run_of(i, i < 16 ? "cxi" : "tcp",
                         (i < 8 ? 2e9 : 1.6e9) * (1 + 0.02 * ((i * 7) % 5 - 2) / 2));
    runs[3]->crashed = mw_text_copy("rank 0 aborted");
    runs[3]->figures.at[0].value = 1;
    runs[12]->incomplete = mw_text_copy("rank 1 was not recorded");
    runs[5]->figures.at[0].samples = 1; /* too few to be believed */
    runs[5]->figures.at[0].value = 9e9;
    struct mw_trends *trends = mw_trends_create((struct mw_runs){all, RUNS});
    assert_int_equal(trends->all.count, 2);
    const struct mw_trend *cxi = &trends->all.at[0], *tcp = &trends->all.at[1];
    assert_string_equal(cxi->about->transport, "cxi");
    assert_int_equal(cxi->points.count, 13);
    assert_int_equal(tcp->points.count, 4);
    assert_int_equal(tcp->change_count, 0);
    assert_int_equal(cxi->change_count, 1);
    assert_int_equal(cxi->points.at[cxi->changes[0].at].run, 8);
    assert_true(mw_trend_worse(cxi, &cxi->changes[0]));
    mw_trends_free(trends);
    for (int i = 0; i < RUNS; i++)
        mw_digest_free(runs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_what_goes_in_comes_out, remove_file),
        cmocka_unit_test(test_stack_number),
        cmocka_unit_test_teardown(test_facts_are_kept_once, remove_file),
        cmocka_unit_test_teardown(test_a_run_without_a_name, remove_file),
        cmocka_unit_test(test_trends),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
