/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the measuring of messages is built of, against the plain way of doing the same: maps that
 * forget, unions of intervals, histograms, courses, and the straight lines between bounds of clocks.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analysis/cover.h"
#include "analyzer/analysis/histogram.h"
#include "analyzer/analysis/trail.h"
#include "analyzer/base/map.h"
#include "analyzer/model/clock_hull.h"

static uint64_t state;

static uint64_t chance(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void test_map(void **unused)
{
    enum { KEYS = 500 };
    uint32_t kept[KEYS];
    struct mw_map map = {0};
    (void)unused;
    state = 1;
    memset(kept, 0xff, sizeof(kept));
    assert_int_equal(mw_map_find(&map, 7), MW_MAP_NONE);
    mw_map_remove(&map, 7);
    for (int n = 0; n < 200000; n++) {
        uint64_t key = chance(KEYS);
        if (chance(2)) {
            kept[key] = (uint32_t)n;
            mw_map_put(&map, key * 4096, kept[key]);
        } else {
            kept[key] = MW_MAP_NONE;
            mw_map_remove(&map, key * 4096);
        }
        key = chance(KEYS);
        assert_int_equal(mw_map_find(&map, key * 4096), kept[key]);
    }
    size_t used = 0;
    for (int i = 0; i < KEYS; i++)
        used += kept[i] != MW_MAP_NONE;
    assert_int_equal(map.used, used);
    mw_map_free(&map);
}

/* Intervals whose ends come nearly in order. */
static void test_cover(void **unused)
{
    enum { LENGTH = 20000 };
    static unsigned char covered[LENGTH + 200];
    struct mw_cover cover = {0};
    uint64_t expected = 0;
    (void)unused;
    state = 2;
    for (int64_t end = 100; end < LENGTH; end += (int64_t)chance(40)) {
        int64_t from = end - (int64_t)chance(50), to = end + (int64_t)chance(20);
        mw_cover_add(&cover, from, to);
        if (to > from)
            memset(covered + from, 1, (size_t)(to - from));
    }
    for (int i = 0; i < LENGTH + 200; i++)
        expected += covered[i];
    assert_int_equal(mw_cover_time(&cover), expected);
}

/* Many stretches apart, more than are kept; what comes far too late counts at most once. */
static void test_cover_closes_old_ones(void **unused)
{
    struct mw_cover cover = {0};
    (void)unused;
    for (int64_t n = 1; n <= 100; n++)
        mw_cover_add(&cover, 1000 * n, 1000 * n + 400);
    assert_int_equal(mw_cover_time(&cover), 40000);
    mw_cover_add(&cover, 1100, 1200);
    assert_int_equal(mw_cover_time(&cover), 40000);
    mw_cover_add(&cover, 100000, 100500);
    assert_int_equal(mw_cover_time(&cover), 40100);
}

static void test_histogram(void **unused)
{
    struct mw_histogram histogram = {0};
    (void)unused;
    assert_int_equal(mw_histogram_quantile(&histogram, 0.5), 0);
    for (uint64_t value = 1000; value > 0; value--) /* downwards: it grows at both ends */
        mw_histogram_add(&histogram, value * 1000);
    mw_histogram_add(&histogram, UINT64_C(1) << 40);
    for (int tenth = 1; tenth < 10; tenth++) {
        double found = (double)mw_histogram_quantile(&histogram, tenth / 10.0);
        assert_true(found > tenth * 100000 * 0.96 && found < tenth * 100000 * 1.04);
    }
    assert_int_equal(histogram.least, 1000);
    assert_in_range(mw_histogram_quantile(&histogram, 0), 1000, 1040);
    mw_histogram_free(&histogram);
}

/* The difference is `apart` + `drift` × seconds; messages take at least 5 us, more by chance. */
static struct mw_clock_edge bounded(double apart, double drift, int seconds)
{
    struct mw_clock_edge edge = {0};
    for (int64_t at = 0; at < (int64_t)seconds * 1000; at++) {
        double truth = apart + drift * (double)at / 1000, slack = (double)chance(100000);
        int64_t ns = 1000000000 + at * 1000000;
        mw_clock_edge_add(&edge, ns, truth - 5000 - slack, 0);
        mw_clock_edge_add(&edge, ns + 100, truth + 5000 + slack, 1);
    }
    return edge;
}

static void check_fit(double apart, double drift, int seconds)
{
    struct mw_clock_edge edge = bounded(apart, drift, seconds);
    struct mw_clock_fit fit = mw_clock_edge_fit(&edge);
    assert_int_equal(fit.lines.count, 1);
    for (int at = 0; at < seconds; at++) {
        double error, truth = apart + drift * at;
        double value =
            mw_clock_fit_value(&fit, &edge, 1000000000 + (int64_t)at * 1000000000, &error);
        double off = value > truth ? value - truth : truth - value;
        assert_true(off <= error + 1);
        assert_true(error < 20000);
    }
    mw_clock_fit_free(&fit);
    mw_clock_edge_free(&edge);
}

static void test_clock_lines(void **unused)
{
    (void)unused;
    state = 3;
    check_fit(0, 0, 3);
    check_fit(-1e12, 0, 20);
    check_fit(5e6, 30000, 100); /* 30 ppm, over more stretches than an edge has */
    check_fit(0, -150000, 40);
}

static void test_clock_needs_both_sides(void **unused)
{
    struct mw_clock_edge edge = {0};
    (void)unused;
    for (int64_t at = 0; at < 100; at++)
        mw_clock_edge_add(&edge, at * 1000000, 5, 0);
    struct mw_clock_fit fit = mw_clock_edge_fit(&edge);
    assert_int_equal(fit.lines.count, 0);
    mw_clock_fit_free(&fit);
    mw_clock_edge_free(&edge);
}

/* However many values: few blocks, all values but those of a last small one, in their order. */
static void test_trail(void **unused)
{
    double means[MW_TRAIL_BLOCKS];
    (void)unused;
    for (size_t length = 1; length <= 3000; length += length < 70 ? 1 : 97) {
        struct mw_trail trail = {0};
        for (size_t i = 0; i < length; i++)
            mw_trail_add(&trail, 7);
        size_t count = mw_trail_means(&trail, means);
        assert_true(count >= (length < 8 ? length : 7) && count <= MW_TRAIL_BLOCKS);
        assert_true(trail.each * count + trail.each > length);
        for (size_t i = 0; i < count; i++)
            assert_true(fabs(means[i] - 7) < 1e-9);
    }
    struct mw_trail empty = {0};
    assert_int_equal(mw_trail_means(&empty, means), 0);
}

static void test_trail_keeps_its_course(void **unused)
{
    double means[MW_TRAIL_BLOCKS];
    struct mw_trail trail = {0};
    (void)unused;
    for (int i = 0; i < 1 << 14; i++) /* the value is e to the part of the way; one of many is wild */
        mw_trail_add(&trail, i % 997 == 500 ? 1e6 : exp(i / 16384.0));
    size_t count = mw_trail_means(&trail, means);
    assert_true(count >= 8);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(log(means[i]) - ((double)i + 0.5) / (double)count) < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_cover_closes_old_ones),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_trail),
        cmocka_unit_test(test_trail_keeps_its_course),
        cmocka_unit_test(test_clock_lines),
        cmocka_unit_test(test_clock_needs_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
