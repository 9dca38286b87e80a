/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics of comparisons against SciPy's values (statistics_golden.py prints them), and the
 * error rates that docs/statistics.md states, counted over seeded series whose truth is known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/regression/statistics.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_student(void **unused)
{
    /* t, degrees of freedom, scipy.stats.t.sf */
    static const double tails[][3] = {
        {-1.5, 1, 0.8128329581890013},    {0.1, 1, 0.4682744825694464},
        {2, 1, 0.1475836176504332},       {12, 1, 0.02646467605958987},
        {80, 1, 0.003978666363724491},    {-1.5, 2.5, 0.876081773456852},
        {0.1, 2.5, 0.4639032720312448},   {2, 2.5, 0.078695747878983},
        {12, 2.5, 0.0014181075150391613}, {80, 2.5, 1.2561577138447336e-05},
        {-1.5, 8, 0.9139983540240443},    {0.1, 8, 0.46140245471529845},
        {2, 8, 0.04025811897863128},      {12, 8, 1.071933373844385e-06},
        {80, 8, 3.322882664361523e-13},   {-1.5, 60, 0.9305708228409101},
        {0.1, 60, 0.4603388560282745},    {2, 60, 0.025016521825728718},
        {12, 60, 6.893161320908854e-18},  {80, 60, 5.617557960438623e-63},
    };
    /* tail, degrees of freedom, scipy.stats.t.isf with one step of Newton's */
    static const double quantiles[][3] = {
        {0.05, 1, 6.313751514675041},     {0.005, 1, 63.65674116287157},
        {1e-06, 1, 318309.8861827435},    {0.05, 1.3, 4.3333391834670305},
        {0.005, 1.3, 26.057551633213915}, {1e-06, 1.3, 18263.527663197932},
        {0.05, 4, 2.13184678632665},      {0.005, 4, 4.604094871349993},
        {1e-06, 4, 41.57785415045098},    {0.05, 8, 1.8595480375308975},
        {0.005, 8, 3.3553873313333953},   {1e-06, 8, 12.109834665556214},
        {0.05, 200, 1.6525081009108777},  {0.005, 200, 2.6006344361915583},
        {1e-06, 200, 4.897302102826782},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(tails); i++)
        assert_near(mw_student_tail(tails[i][0], tails[i][1]), tails[i][2], 1e-11);
    for (size_t i = 0; i < COUNT(quantiles); i++)
        assert_near(mw_student_quantile(quantiles[i][0], quantiles[i][1]), quantiles[i][2], 1e-11);
    assert_true(mw_student_quantile(0.5, 3) < 1e-12);
}

static void test_runs(void **unused)
{
    static const double base[] = {10.02, 9.87, 10.31, 9.95, 10.10},
                        fresh[] = {8.91, 9.20, 9.02, 8.85};
    struct mw_change change;
    (void)unused;
    assert_int_equal(mw_change_of_runs(base, 5, fresh, 4, 0.01, &change), 0);
    assert_near(change.ratio, 0.8950272047757849, 1e-12);
    assert_near(change.low, 0.8593593297891203, 1e-10);
    assert_near(change.high, 0.9321754818037894, 1e-10);
    assert_near(change.p, 3.9490709516316044e-05, 1e-10);
    assert_near(change.base, 10.048878582313476, 1e-12);
    assert_near(change.fresh, 8.994019708659284, 1e-12);
}

/* Where sizes differ much, Student's own test is the less sure one. */
static void test_unlike_sizes(void **unused)
{
    static const double base[] = {10, 10.4, 9.6, 10.1, 9.9, 10.6, 9.5, 10.2},
                        fresh[] = {10.9, 11.0};
    struct mw_change change;
    (void)unused;
    assert_int_equal(mw_change_of_runs(base, 8, fresh, 2, 0.01, &change), 0);
    assert_near(change.p, 0.013225369293540684, 1e-10);
}

static void test_medians(void **unused)
{
    static const double five[] = {10.02, 9.87, 10.31, 9.95, 10.10},
                        four[] = {8.91, 9.20, 9.02, 8.85};
    (void)unused;
    assert_near(mw_median(five, 5), 10.02, 1e-12);
    assert_near(mw_median(four, 4), 8.965, 1e-12);
    assert_near(mw_median_deviation(five, 5), 0.08, 1e-12);
    assert_near(mw_median_deviation(four, 4), 0.085, 1e-12);
    assert_true(isnan(mw_median(NULL, 0)));
}

static void test_says_nothing(void **unused)
{
    static const double good[] = {1, 2, 3, 4, 5, 6, 7, 8}, zero[] = {1, 0, 2}, negative[] = {1, -1};
    static const double endless[] = {1, INFINITY}, nothing[] = {NAN, 1};
    struct mw_change change;
    (void)unused;
    assert_int_equal(mw_change_of_runs(good, 1, good, 3, 0.01, &change), -1);
    assert_int_equal(mw_change_of_runs(good, 3, good, 1, 0.01, &change), -1);
    assert_int_equal(mw_change_of_runs(NULL, 0, good, 3, 0.01, &change), -1);
    assert_int_equal(mw_change_of_runs(good, 3, zero, 3, 0.01, &change), -1);
    assert_int_equal(mw_change_of_runs(negative, 2, good, 3, 0.01, &change), -1);
    assert_int_equal(mw_change_of_runs(good, 3, endless, 2, 0.01, &change), -1);
    assert_int_equal(mw_change_of_runs(nothing, 2, good, 3, 0.01, &change), -1);
    assert_int_equal(mw_change_of_blocks(good, 7, good, 8, 0.01, &change), -1);
    assert_int_equal(mw_change_of_blocks(good, 8, good, 8, 0.01, &change), 0);
    assert_near(change.p, 1, 1e-12);
}

/* Figures that are coarse agree to the last digit: that is not certainty. */
static void test_no_noise(void **unused)
{
    static const double base[] = {100, 100, 100}, near[] = {101, 101, 101}, far[] = {110, 110, 110};
    struct mw_change change;
    (void)unused;
    assert_int_equal(mw_change_of_runs(base, 3, near, 3, MW_SURE, &change), 0);
    assert_near(change.noise, MW_NOISE_LEAST, 1e-9);
    assert_true(change.p > MW_SURE && change.low < 1);
    assert_int_equal(mw_change_of_runs(base, 3, far, 3, MW_SURE, &change), 0);
    assert_true(change.p < MW_SURE && change.low > 1.05);
}

static void test_adjust(void **unused)
{
    static const double expected[] = {0.01,  0.04,  0.084, 0.084, 0.084, 0.1, 0.10571428571428572,
                                      0.216, 0.216, 0.216};
    double p[] = {0.001, 0.216, 0.039, NAN, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.008};
    static const int order[] = {0, 10, 2, 4, 5, 6, 7, 8, 9, 1};
    (void)unused;
    mw_adjust(p, COUNT(p));
    for (size_t i = 0; i < COUNT(order); i++)
        assert_near(p[order[i]], expected[i], 1e-12);
    assert_true(isnan(p[3]));
    mw_adjust(p, 0);
}

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

/* One run's figure around 1: times that are long on a bad day. */
enum noise { NORMAL, LOG_NORMAL, HEAVY, DISTURBED, NOISES };

static double run_of(enum noise noise, double spread)
{
    double x = normal(), squares = 0;

    switch (noise) {
    case NORMAL:
        return fmax(1 + spread * x, 0.01);
    case LOG_NORMAL:
        return exp(spread * x);
    case HEAVY: /* Student's t with three degrees of freedom */
        for (int i = 0; i < 3; i++) {
            double y = normal();

            squares += y * y;
        }
        return exp(spread * x / sqrt(squares / 3));
    default: /* every tenth run, something else was on the machine */
        return exp(spread * x) * (uniform() < 0.1 ? 1 - 0.25 * log(uniform()) : 1);
    }
}

static void group_fill(double *group, size_t count, enum noise noise, double spread, double scale)
{
    for (size_t i = 0; i < count; i++)
        group[i] = scale * run_of(noise, spread);
}

enum { TRIALS = 6000 };

struct rates {
    double changed, slower; /* p <= MW_SURE; that and an estimate beyond 5 % */
};

static struct rates rates_of(size_t base_count, size_t fresh_count, enum noise noise, double spread,
                             double scale)
{
    double base[32], fresh[32];
    size_t changed = 0, slower = 0;
    struct mw_change change;

    state = 20 + base_count;
    for (int i = 0; i < TRIALS; i++) {
        group_fill(base, base_count, noise, spread, 1);
        group_fill(fresh, fresh_count, noise, spread, scale);
        assert_int_equal(mw_change_of_runs(base, base_count, fresh, fresh_count, MW_SURE, &change),
                         0);
        assert_int_equal(change.p <= MW_SURE, change.low >= 1 || change.high <= 1);
        changed += change.p <= MW_SURE;
        slower += change.p <= MW_SURE && change.ratio > 1.05;
    }
    return (struct rates){(double)changed / TRIALS, (double)slower / TRIALS};
}

/* Runs that differ in nothing: MW_SURE is kept, whatever the noise is like. */
static void test_false_alarms(void **unused)
{
    static const size_t sizes[][2] = {{2, 2}, {3, 3}, {5, 5}, {10, 10}, {10, 3}, {3, 20}};
    static const double spreads[] = {0.03, 0.15};
    (void)unused;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (int noise = 0; noise < NOISES; noise++) {
            for (size_t i = 0; i < COUNT(spreads); i++) {
                struct rates rates = rates_of(sizes[s][0], sizes[s][1], noise, spreads[i], 1);

                print_message("%zu against %zu, noise %d of %g: %.4f changed, %.4f slower\n",
                              sizes[s][0], sizes[s][1], noise, spreads[i], rates.changed,
                              rates.slower);
                /* Three standard errors of the count. */
                assert_true(rates.changed <= MW_SURE + 0.0039);
                assert_true(rates.slower <= MW_SURE / 2 + 0.0027);
            }
        }
    }
}

/* Ten percent slower is found with five runs a side where they scatter by 2 %, and mostly at 3 %.
 */
static void test_power(void **unused)
{
    (void)unused;
    for (int noise = 0; noise < NOISES; noise++) {
        for (int percent = 1; percent <= 3; percent++)
            print_message("noise %d of %d %%: found %.3f of three a side, %.3f of five\n", noise,
                          percent, rates_of(3, 3, noise, percent / 100.0, 1.1).slower,
                          rates_of(5, 5, noise, percent / 100.0, 1.1).slower);
    }
    assert_true(rates_of(5, 5, NORMAL, 0.02, 1.1).slower > 0.99);
    assert_true(rates_of(5, 5, LOG_NORMAL, 0.03, 1.1).slower > 0.85);
    assert_true(rates_of(5, 5, HEAVY, 0.02, 1.1).slower > 0.8);
    assert_true(rates_of(3, 3, NORMAL, 0.01, 1.1).slower > 0.95);
}

/* A run cut into blocks that resemble their neighbours. */
static void series_fill(double *series, size_t count, double memory)
{
    double now = normal();

    for (size_t i = 0; i < count; i++) {
        series[i] = exp(0.05 * now);
        now = memory * now + sqrt(1 - memory * memory) * normal();
    }
}

static double block_alarms(size_t count, double memory)
{
    double base[128], fresh[128];
    size_t changed = 0;
    struct mw_change change;

    state = 3;
    for (int i = 0; i < TRIALS; i++) {
        series_fill(base, count, memory);
        series_fill(fresh, count, memory);
        assert_int_equal(mw_change_of_blocks(base, count, fresh, count, MW_SURE, &change), 0);
        changed += change.p <= MW_SURE;
    }
    return (double)changed / TRIALS;
}

static void test_blocks(void **unused)
{
    static const double values[] = {5.0, 5.1, 5.3, 5.2, 4.9, 4.7, 4.8, 5.0, 5.2, 5.3, 5.1, 4.9};
    static const size_t counts[] = {8, 16, 64};
    /* How much of a block is its neighbour's, and the rate of false alarms that comes of it. */
    static const double memories[][2] = {{0, MW_SURE}, {0.3, 0.015}, {0.6, 0.03}};
    struct mw_change change;
    (void)unused;
    assert_int_equal(mw_change_of_blocks(values, 12, values, 12, MW_SURE, &change), 0);
    assert_near(change.noise, 0.04740502431184497,
                0.01); /* drawn at random, a hundred thousand times */
    for (size_t c = 0; c < COUNT(counts); c++) {
        for (size_t m = 0; m < COUNT(memories); m++) {
            double alarms = block_alarms(counts[c], memories[m][0]);

            print_message("%zu blocks, memory %g: %.4f\n", counts[c], memories[m][0], alarms);
            assert_true(alarms <= memories[m][1] + 0.0039);
        }
    }
}

/* A script that looks after 3, 5, 10 and 20 runs a side until it is told, and shares the error
 * among its looks: how often it is told wrong, and after how many runs. */
struct search {
    double worse, fine, runs;
};

static struct search search_of(enum noise noise, double spread, double scale)
{
    static const size_t looks[] = {3, 5, 10, 20};
    size_t told[3] = {0}, runs = 0;
    double base[20], fresh[20];

    state = 4;
    for (int i = 0; i < TRIALS; i++) {
        enum mw_worse worse = MW_WORSE_UNSURE;

        group_fill(base, 20, noise, spread, 1);
        group_fill(fresh, 20, noise, spread, scale);
        for (size_t look = 0; look < COUNT(looks) && worse == MW_WORSE_UNSURE; look++) {
            double level = MW_SURE / COUNT(looks);
            struct mw_change change;

            assert_int_equal(
                mw_change_of_runs(base, looks[look], fresh, looks[look], level, &change), 0);
            worse = mw_change_worse(&change, 0.05, level);
            runs += looks[look] - (look ? looks[look - 1] : 0);
        }
        told[worse]++;
    }
    return (struct search){(double)told[MW_WORSE_YES] / TRIALS, (double)told[MW_WORSE_NO] / TRIALS,
                           (double)runs / TRIALS};
}

static void test_looks(void **unused)
{
    (void)unused;
    for (int noise = 0; noise < NOISES; noise++) {
        for (int percent = 1; percent <= 10; percent += percent < 3 ? 1 : 7) {
            struct search same = search_of(noise, percent / 100.0, 1);
            struct search slower = search_of(noise, percent / 100.0, 1.11);

            print_message(
                "noise %d of %d %%: told %.4f worse, %.3f fine in %.1f runs; of 11 %% more "
                "%.3f worse, %.4f fine in %.1f\n",
                noise, percent, same.worse, same.fine, same.runs, slower.worse, slower.fine,
                slower.runs);
            assert_true(same.worse <= MW_SURE / 2 + 0.0027);
            assert_true(slower.fine <= MW_SURE / 2 + 0.0027);
        }
    }
    assert_true(search_of(NORMAL, 0.03, 1.11).worse > 0.99);
    assert_true(search_of(NORMAL, 0.03, 1).fine > 0.98);
    assert_true(search_of(NORMAL, 0.01, 1.11).runs < 4);
}

/* Figures that jump between two values, as the speeds of messages do: of forty pairs some sit on
 * one value in all runs of a side, and on the other in all of the other's. */
static double jumping_alarms(int widened)
{
    enum { FIGURES = 40, FAMILIES = 500, RUNS = 5 };
    int alarms = 0;

    state = 5;
    for (int family = 0; family < FAMILIES; family++) {
        struct mw_change changes[FIGURES];
        double noises[FIGURES], p[FIGURES];
        int alarm = 0;

        for (int f = 0; f < FIGURES; f++) {
            double sides[2][RUNS];

            for (int i = 0; i < 2 * RUNS; i++)
                sides[i / RUNS][i % RUNS] = (uniform() < 0.5 ? 1 : 30) * run_of(LOG_NORMAL, 0.05);
            assert_int_equal(
                mw_change_of_runs(sides[0], RUNS, sides[1], RUNS, MW_SURE, &changes[f]), 0);
            noises[f] = changes[f].noise;
        }
        for (int f = 0; f < FIGURES; f++) {
            if (widened)
                mw_change_widen(&changes[f], mw_median(noises, FIGURES), MW_SURE);
            p[f] = changes[f].p;
        }
        mw_adjust(p, FIGURES);
        for (int f = 0; f < FIGURES; f++)
            alarm |= p[f] <= MW_SURE;
        alarms += alarm;
    }
    return (double)alarms / FAMILIES;
}

static void test_widen(void **unused)
{
    static const double base[] = {100, 100.5, 99.5}, fresh[] = {110, 110.5, 109.5};
    struct mw_change change, wider;
    double alone, together;
    (void)unused;
    assert_int_equal(mw_change_of_runs(base, 3, fresh, 3, MW_SURE, &change), 0);
    wider = change;
    mw_change_widen(&wider, 0, MW_SURE);
    assert_memory_equal(&wider, &change, sizeof(change));
    mw_change_widen(&wider, 0.10, MW_SURE);
    assert_near(wider.noise, 0.10, 1e-9);
    assert_near(wider.ratio, change.ratio, 1e-12);
    assert_true(wider.low < 1 && wider.p > 0.1 && change.p < MW_SURE);
    alone = jumping_alarms(0);
    together = jumping_alarms(1);
    print_message("jumping: %.3f false of families alone, %.3f together\n", alone, together);
    assert_true(together <= MW_SURE + 0.0133 && alone > 0.03);
}

static void test_runs_needed(void **unused)
{
    struct mw_change change = {.ratio = 1.10, .noise = 0.03};
    size_t few, many;
    (void)unused;
    few = mw_runs_needed(&change, 0.05, MW_SURE, 100);
    assert_in_range(few, 4, 6);
    change.noise = 0.10;
    many = mw_runs_needed(&change, 0.05, MW_SURE, 100);
    assert_in_range(many, 15, 30);
    assert_int_equal(mw_runs_needed(&change, 0.05, MW_SURE, many - 1), 0);
    change.ratio = 0.9; /* better: that it is no worse shows at once */
    assert_true(mw_runs_needed(&change, 0.05, MW_SURE, 100) < many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),      cmocka_unit_test(test_runs),
        cmocka_unit_test(test_says_nothing), cmocka_unit_test(test_no_noise),
        cmocka_unit_test(test_adjust),       cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_power),        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_medians),      cmocka_unit_test(test_unlike_sizes),
        cmocka_unit_test(test_looks),        cmocka_unit_test(test_runs_needed),
        cmocka_unit_test(test_widen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
