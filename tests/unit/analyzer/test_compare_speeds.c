/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of comparisons of speeds on digests that are made by hand: what one run a side can say,
 * of how much of a job a verdict speaks, what is set against what where messages went another way.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/regression/compare.h"

#define BLOCKS 8
#define MOST   5 /* runs a side */
#define MEBI   1048576

/* A digest that grows a figure at a time. */
static struct mw_digest *run_begin(void)
{
    struct mw_digest *run = mw_digest_create("run");
    run->program = mw_text_copy("solver");
    run->arguments = mw_text_copy("");
    run->executable_id = mw_text_copy("");
    run->ranks = run->recorded_ranks = 2;
    run->messages = run->bytes = run->collective_calls = 1000;
    return run;
}

/* `steady`: its blocks say so, too; else there are none. */
static void put_class(struct mw_digest *run, enum mw_figure_metric metric, const char *transport,
                      uint64_t size, uint64_t samples, double value, int steady)
{
    double blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = value * (i % 2 ? 1.001 : 0.999);
    mw_digest_put_figure(run, &(struct mw_figure){.scope = MW_SCOPE_CLASS,
                                                  .metric = metric,
                                                  .distance = "other node",
                                                  .transport = (char *)transport,
                                                  .buffer = "host",
                                                  .name = (char *)"",
                                                  .src = -1,
                                                  .dst = -1,
                                                  .size_class = mw_size_class(size),
                                                  .value = value,
                                                  .samples = samples,
                                                  .blocks = steady ? blocks : NULL,
                                                  .block_count = steady ? BLOCKS : 0});
}

static void put_time(struct mw_digest *run, enum mw_figure_scope scope, const char *name,
                     double value)
{
    mw_digest_put_figure(run, &(struct mw_figure){.scope = scope,
                                                  .metric = MW_METRIC_TIME,
                                                  .distance = "",
                                                  .transport = (char *)"",
                                                  .buffer = "",
                                                  .name = (char *)name,
                                                  .src = -1,
                                                  .dst = -1,
                                                  .value = value,
                                                  .samples = 100});
}

static struct mw_comparison *compare(struct mw_digest *const *base, struct mw_digest *const *fresh,
                                     size_t count, unsigned parts)
{
    struct mw_compare_options options = {.threshold = 0.05, .parts = parts, .looks = 1};
    for (size_t i = 0; i < count; i++) {
        mw_digest_finish(base[i]);
        mw_digest_finish(fresh[i]);
    }
    return mw_comparison_create((struct mw_runs){(const struct mw_digest *const *)base, count},
                                (struct mw_runs){(const struct mw_digest *const *)fresh, count},
                                &options);
}

static void forget(struct mw_comparison *comparison, struct mw_digest *const *base,
                   struct mw_digest *const *fresh, size_t count)
{
    mw_comparison_free(comparison);
    for (size_t i = 0; i < count; i++) {
        mw_digest_free(base[i]);
        mw_digest_free(fresh[i]);
    }
}

/* The outcome of sides whose runs `fill` makes: of the base side 0, of the new one 1. */
static enum mw_outcome outcome_of(void (*fill)(struct mw_digest *run, int side, size_t number),
                                  size_t count, unsigned parts)
{
    struct mw_digest *runs[2][MOST];
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < count; i++) {
            runs[side][i] = run_begin();
            fill(runs[side][i], side, i);
        }
    struct mw_comparison *comparison = compare(runs[0], runs[1], count, parts);
    enum mw_outcome outcome = comparison->outcome;
    assert_true(outcome != MW_OUTCOME_NO_REGRESSION || !comparison->gap);
    forget(comparison, runs[0], runs[1], count);
    return outcome;
}

/* --- one run a side --------------------------------------------------------------------------- */

/* The 1-byte answers and the large messages of a bandwidth test over a network, of `seconds`. */
struct stream {
    double latency, bandwidth, seconds;
    int steady; /* the bandwidth's noise within the run is known */
};

static void put_stream(struct mw_digest *run, const struct stream *stream)
{
    put_class(run, MW_METRIC_LATENCY, "tcp", 1, 20, stream->latency, 1);
    put_class(run, MW_METRIC_THROUGHPUT, "tcp", 1, 20, 4, 0);
    put_class(run, MW_METRIC_BANDWIDTH, "tcp", MEBI, 400, stream->bandwidth, stream->steady);
    put_class(run, MW_METRIC_THROUGHPUT, "tcp", MEBI, 400, stream->bandwidth, 0);
    put_time(run, MW_SCOPE_JOB, "wall", stream->seconds);
}

static void assert_streams(const struct stream *old, const struct stream *new,
                           enum mw_outcome outcome, int gap)
{
    struct mw_digest *base = run_begin(), *fresh = run_begin();
    put_stream(base, old);
    put_stream(fresh, new);
    struct mw_comparison *comparison = compare(&base, &fresh, 1, MW_COMPARE_ALL);
    assert_int_equal(comparison->outcome, outcome);
    assert_int_equal(comparison->gap != NULL, gap);
    forget(comparison, &base, &fresh, 1);
}

static void test_answers_do_not_speak_for_the_data(void **unused)
{
    const struct stream plain = {28e-6, 95e6, 10, 0}, known = {28e-6, 95e6, 10, 1};
    const struct stream slower = {28e-6, 84e6, 10, 0};
    (void)unused;
    assert_streams(&known, &known, MW_OUTCOME_NO_REGRESSION, 0);
    assert_streams(&plain, &plain, MW_OUTCOME_NOT_SURE, 1);
    assert_streams(&plain, &slower, MW_OUTCOME_NOT_SURE, 1);
}

/* What nobody can judge, and looks slower, is not the same. */
static void test_what_looks_slower_is_not_sure(void **unused)
{
    const struct stream old = {28e-6, 95e6, 10, 0}, new = {28e-6, 84e6, 10, 0};
    struct mw_digest *base = run_begin(), *fresh = run_begin();
    size_t unsure = 0;
    (void)unused;
    put_stream(base, &old);
    put_stream(fresh, &new);
    struct mw_comparison *comparison = compare(&base, &fresh, 1, MW_COMPARE_ALL);
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->verdict != MW_EFFECT_UNSURE)
            continue;
        unsure++;
        assert_false(effect->measured);
        assert_string_equal(effect->why, "one run a side says too little of it");
    }
    assert_int_equal(unsure, 2); /* bandwidth and throughput of the large ones */
    forget(comparison, &base, &fresh, 1);
}

static void test_levels_of_single_runs(void **unused)
{
    const struct stream plain = {28e-6, 95e6, 10, 1}, sleepy = {85e-6, 95e6, 10, 1};
    const struct stream broken = {200e-6, 95e6, 10, 1}, half = {28e-6, 47e6, 10, 1};
    const struct stream third = {28e-6, 70e6, 10, 1}, brief = {28e-6, 47e6, 2, 1};
    (void)unused;
    assert_streams(&plain, &sleepy, MW_OUTCOME_NOT_SURE, 0); /* 3 times: whether a core slept */
    assert_streams(&plain, &broken, MW_OUTCOME_REGRESSION, 0);
    assert_streams(&plain, &half, MW_OUTCOME_REGRESSION, 0);
    assert_streams(&plain, &third, MW_OUTCOME_NOT_SURE, 1);
    assert_streams(&plain, &brief, MW_OUTCOME_NOT_SURE, 1);
    assert_streams(&half, &plain, MW_OUTCOME_NO_REGRESSION, 0);
}

/* --- of how much a verdict speaks ------------------------------------------------------------- */

static double run_noise(size_t number)
{
    return 1 + 0.002 * (double)(number % 3);
}

/* Most bytes are in messages of which there are too few. */
static void few_large(struct mw_digest *run, int side, size_t number)
{
    (void)side;
    put_class(run, MW_METRIC_LATENCY, "tcp", 8, 500, 1e-5 * run_noise(number), 0);
    put_class(run, MW_METRIC_THROUGHPUT, "tcp", 8, 500, 1e5 * run_noise(number), 0);
    put_class(run, MW_METRIC_THROUGHPUT, "tcp", 64 * MEBI, 6, 1e9 * run_noise(number), 0);
}

/* The same, but it is known how long the job was in MPI. */
static void few_large_timed(struct mw_digest *run, int side, size_t number)
{
    few_large(run, side, number);
    put_time(run, MW_SCOPE_JOB, "mpi", 10 * run_noise(number));
}

/* Most messages are over a distance whose clocks nobody knows. */
static void no_clocks(struct mw_digest *run, int side, size_t number)
{
    (void)side;
    put_class(run, MW_METRIC_LATENCY, "tcp", 8, 500, 1e-5 * run_noise(number), 0);
    put_class(run, MW_METRIC_THROUGHPUT, "tcp", 8, 500, 1e5 * run_noise(number), 0);
    mw_digest_put_pair(run, &(struct mw_digest_pair){.src = 0,
                                                     .dst = 1,
                                                     .distance = "other switch",
                                                     .transport = (char *)"tcp",
                                                     .messages = 5000,
                                                     .bytes = UINT64_C(5000) * MEBI});
}

static void collectives_only(struct mw_digest *run, int side, size_t number)
{
    (void)side;
    put_time(run, MW_SCOPE_COLLECTIVE, "MPI_Allreduce on world", 1e-5 * run_noise(number));
}

static void collectives_slower(struct mw_digest *run, int side, size_t number)
{
    put_time(run, MW_SCOPE_COLLECTIVE, "MPI_Allreduce on world",
             (side ? 2e-5 : 1e-5) * run_noise(number));
}

/* A program that mostly does collectives, and some messages, of which alone one run tells. */
static void collectives_mostly(struct mw_digest *run, int side, size_t number)
{
    (void)side;
    (void)number;
    put_class(run, MW_METRIC_LATENCY, "tcp", 8, 50, 1e-5, 1);
    put_class(run, MW_METRIC_THROUGHPUT, "tcp", 8, 50, 1e5, 0);
    put_time(run, MW_SCOPE_COLLECTIVE, "MPI_Allreduce on world", 1e-5);
    put_time(run, MW_SCOPE_JOB, "wall", 10);
}

static void test_of_how_much_it_speaks(void **unused)
{
    (void)unused;
    assert_int_equal(outcome_of(few_large, 5, MW_COMPARE_ALL), MW_OUTCOME_NOT_SURE);
    assert_int_equal(outcome_of(few_large_timed, 5, MW_COMPARE_ALL), MW_OUTCOME_NO_REGRESSION);
    assert_int_equal(outcome_of(few_large_timed, 5, MW_COMPARE_CLASSES), MW_OUTCOME_NOT_SURE);
    assert_int_equal(outcome_of(few_large_timed, 5, MW_COMPARE_CALLS), MW_OUTCOME_NO_REGRESSION);
    assert_int_equal(outcome_of(no_clocks, 5, MW_COMPARE_ALL), MW_OUTCOME_NOT_SURE);
    assert_int_equal(outcome_of(collectives_only, 5, MW_COMPARE_ALL), MW_OUTCOME_NO_REGRESSION);
    assert_int_equal(outcome_of(collectives_only, 5, MW_COMPARE_CALLS), MW_OUTCOME_NO_REGRESSION);
    assert_int_equal(outcome_of(collectives_only, 1, MW_COMPARE_ALL), MW_OUTCOME_NOT_SURE);
    assert_int_equal(outcome_of(collectives_slower, 5, MW_COMPARE_ALL), MW_OUTCOME_REGRESSION);
    assert_int_equal(outcome_of(collectives_mostly, 1, MW_COMPARE_ALL), MW_OUTCOME_NOT_SURE);
    assert_int_equal(outcome_of(collectives_mostly, 1, MW_COMPARE_CLASSES),
                     MW_OUTCOME_NO_REGRESSION);
}

/* --- other ways ------------------------------------------------------------------------------- */

/* The only bandwidth that was compared, after the messages of the base side (cxi) went so. */
static void assert_ways(const char *const *ways, const double *speeds, size_t count,
                        const char *said, double ratio)
{
    struct mw_digest *base[MOST], *fresh[MOST];
    for (size_t i = 0; i < MOST; i++) {
        base[i] = run_begin();
        fresh[i] = run_begin();
        put_class(base[i], MW_METRIC_BANDWIDTH, "cxi", MEBI, 400, 20e9 * run_noise(i), 0);
        for (size_t k = 0; k < count; k++)
            put_class(fresh[i], MW_METRIC_BANDWIDTH, ways[k], MEBI, 200, speeds[k] * run_noise(i),
                      0);
    }
    struct mw_comparison *comparison = compare(base, fresh, MOST, MW_COMPARE_CLASSES);
    assert_int_equal(comparison->effects.count, 1);
    const struct mw_effect *effect = &comparison->effects.at[0];
    assert_string_equal(effect->about->transport, "cxi");
    assert_string_equal(effect->fresh_transport, said);
    assert_true(fabs(effect->change.ratio / ratio - 1) < 0.01);
    assert_int_equal(effect->verdict, MW_EFFECT_WORSE);
    assert_int_equal(comparison->outcome, MW_OUTCOME_REGRESSION);
    forget(comparison, base, fresh, MOST);
}

static void test_ways_that_part(void **unused)
{
    (void)unused;
    assert_ways((const char *const[]){"tcp"}, (double[]){2e9}, 1, "tcp", 10);
    assert_ways((const char *const[]){"sockets", "tcp"}, (double[]){2e9, 0.2e9}, 2, "sockets, tcp",
                sqrt(1000));
    assert_ways((const char *const[]){"cxi", "tcp"}, (double[]){20e9, 0.2e9}, 2, "cxi, tcp", 10);
}

/* Two messages that went astray are no other way of the class, and take its blocks from nobody. */
static void test_a_few_that_went_astray(void **unused)
{
    struct mw_digest *base = run_begin(), *fresh = run_begin();
    (void)unused;
    put_class(base, MW_METRIC_BANDWIDTH, "cxi", MEBI, 400, 20e9, 1);
    put_class(fresh, MW_METRIC_BANDWIDTH, "cxi", MEBI, 398, 20e9, 1);
    put_class(fresh, MW_METRIC_BANDWIDTH, "unknown", MEBI, 2, 1e9, 0);
    struct mw_comparison *comparison = compare(&base, &fresh, 1, MW_COMPARE_CLASSES);
    assert_int_equal(comparison->effects.count, 1);
    assert_string_equal(comparison->effects.at[0].fresh_transport, "cxi");
    assert_int_equal(comparison->effects.at[0].verdict, MW_EFFECT_SAME);
    forget(comparison, &base, &fresh, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_do_not_speak_for_the_data),
        cmocka_unit_test(test_what_looks_slower_is_not_sure),
        cmocka_unit_test(test_levels_of_single_runs),
        cmocka_unit_test(test_of_how_much_it_speaks),
        cmocka_unit_test(test_ways_that_part),
        cmocka_unit_test(test_a_few_that_went_astray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
