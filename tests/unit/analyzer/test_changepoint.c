/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Change points: how often series without any get one, over thousands of seeded series and several
 * kinds of noise, and how often real ones are found. docs/history.md quotes the limits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/regression/changepoint.h"

#define LONGEST 200

static uint64_t state;

/* In (0, 1). */
static double chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(chance())) * cos(2 * M_PI * chance());
}

/* Noise of a logarithm. */
static double noise_normal(void)
{
    return 0.03 * normal();
}

static double noise_wide(void)
{
    return 0.1 * normal();
}

static double noise_skewed(void)
{
    return 0.03 * exp(normal());
}

static double noise_student(void) /* three degrees of freedom */
{
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        double value = normal();
        squares += value * value;
    }
    return 0.03 * normal() / sqrt(squares / 3);
}

static double noise_spikes(void) /* now and then much slower */
{
    return 0.03 * normal() + (chance() < 0.1 ? -0.5 * log(chance()) : 0);
}

static double noise_two(void) /* one of two places, by chance */
{
    return (chance() < 0.5 ? 0.1 : 0) + 0.01 * normal();
}

/* Whether a series without a change gets a change point. */
static int falsely_found(double (*noise)(void), size_t count)
{
    double values[LONGEST];
    size_t found;
    for (size_t i = 0; i < count; i++)
        values[i] = 1e9 * exp(noise());
    free(mw_changepoints(values, count, &found));
    return found > 0;
}

static void expect_at_most(double (*noise)(void), const char *name, double share)
{
    static const size_t counts[] = {10, 12, 15, 20, 30, 50, 100, 200};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int series = counts[i] <= 30 ? 4000 : 1500, false_ones = 0;
        state = 88172645463325252u + counts[i];
        for (int n = 0; n < series; n++)
            false_ones += falsely_found(noise, counts[i]);
        print_message("%s, %zu values: %.2f %%\n", name, counts[i], 100.0 * false_ones / series);
        /* two standard deviations of such a count are allowed above it */
        assert_true(false_ones <= series * share + 2 * sqrt(series * share));
    }
}

static void test_false_alarms(void **unused)
{
    (void)unused;
    expect_at_most(noise_normal, "normal, 3 %", MW_CHANGEPOINT_LEVEL);
    expect_at_most(noise_wide, "normal, 10 %", MW_CHANGEPOINT_LEVEL);
    expect_at_most(noise_two, "two levels by chance", 2 * MW_CHANGEPOINT_LEVEL);
    expect_at_most(noise_student, "heavy tails", 2 * MW_CHANGEPOINT_LEVEL);
    expect_at_most(noise_skewed, "skewed", 2 * MW_CHANGEPOINT_LEVEL);
    expect_at_most(noise_spikes, "spikes", 2 * MW_CHANGEPOINT_LEVEL);
}

/* Segments that alternate between two levels; how many of 1000 series have all changes found, each
 * at most two values off, and none besides. */
static int found_of_1000(const size_t *lengths, double step)
{
    double values[LONGEST];
    int all = 0;
    state = 1234567;
    for (int n = 0; n < 1000; n++) {
        size_t count = 0, starts[8], levels = 0, found;
        for (size_t i = 0; lengths[i]; i++) {
            starts[levels++] = count;
            for (size_t k = 0; k < lengths[i]; k++)
                values[count++] = 1e9 * (i % 2 ? step : 1) * exp(noise_normal());
        }
        struct mw_changepoint *points = mw_changepoints(values, count, &found);
        int right = found == levels - 1;
        for (size_t i = 0; right && i < found; i++) {
            right = points[i].at + 2 >= starts[i + 1] && points[i].at <= starts[i + 1] + 2;
            assert_true(points[i].p <= MW_CHANGEPOINT_LEVEL);
        }
        all += right;
        free(points);
    }
    return all;
}

static void test_power(void **unused)
{
    static const struct {
        size_t lengths[6];
        int least;
    } cases[] = {
        {{5, 5}, 900},       {{10, 5}, 930},      {{20, 5}, 960},      {{20, 3}, 750},
        {{10, 10, 10}, 750}, {{30, 10, 30}, 950}, {{40, 40, 40}, 990}, {{20, 20, 20, 20, 20}, 900}};
    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int slower = found_of_1000(cases[i].lengths, 0.9);
        int faster = found_of_1000(cases[i].lengths, 1 / 0.9);
        print_message("%zu, %zu, ...: %d and %d of 1000\n", cases[i].lengths[0],
                      cases[i].lengths[1], slower, faster);
        assert_in_range(slower, (size_t)cases[i].least, 1000);
        assert_in_range(faster, (size_t)cases[i].least, 1000);
    }
}

static void test_edges(void **unused)
{
    double values[40] = {0};
    size_t found = 7;
    (void)unused;
    free(mw_changepoints(values, 0, &found));
    assert_int_equal(found, 0);
    for (size_t i = 0; i < 40; i++)
        values[i] = 5;
    for (size_t count = 1; count <= 40; count++) {
        free(mw_changepoints(values, count, &found));
        assert_int_equal(found, 0);
    }
    for (size_t i = 20; i < 40; i++)
        values[i] = 5.2; /* sure, but not worth it */
    free(mw_changepoints(values, 40, &found));
    assert_int_equal(found, 0);
    for (size_t i = 20; i < 40; i++)
        values[i] = 50;
    struct mw_changepoint *points = mw_changepoints(values, 40, &found);
    assert_int_equal(found, 1);
    assert_int_equal(points[0].at, 20);
    assert_true(points[0].before == 5 && points[0].after == 50);
    free(points);
    values[39] = 1e-300; /* one outlier hides no change */
    values[3] = 1e12;
    points = mw_changepoints(values, 38, &found);
    assert_true(found <= 1);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
