/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Change points by binary segmentation over the whole series and over its halves, quarters ...,
 * half overlapping, so that a level that came and went again hides nothing (changepoint.h). A
 * split is a change when Student's t on logarithms, corrected for all splits that were looked at,
 * the ranks of the values and the size of the change agree. Pure; any thread.
 */
#include "analyzer/regression/changepoint.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/regression/statistics.h"

#define SIDE_LEAST 3    /* values on a side of a split */
#define WINDOW     10   /* values that can be told apart at all: 5 and 5 */
#define RANKS      0.02 /* level of the rank test: of 5 and 5 one pair may be out of order ... */
#define RANKS_FULL 20   /* ... and the less the more values beyond these there are to pick from */

struct search {
    const double *logs;
    const double *sums, *squares; /* of the logarithms before each place */
    double least;                 /* variance that a window has, whatever its own values say */
    MW_VECTOR(struct mw_changepoint) found;
};

struct split {
    size_t at;
    double p; /* uncorrected */
};

/* Whether means of so many values are told apart as well as those of 5 and 5. */
static int sides_suffice(size_t left, size_t right)
{
    return left >= SIDE_LEAST && right >= SIDE_LEAST && 5 * (left + right) <= 2 * left * right;
}

/* How many splits of `length` values are looked at. */
static double split_count(size_t length)
{
    double count = 0;
    for (size_t left = SIDE_LEAST; left + SIDE_LEAST <= length; left++)
        count += sides_suffice(left, length - left);
    return count;
}

/* Student's t between [from, at) and [at, to). */
static double split_t(const struct search *search, size_t from, size_t at, size_t to)
{
    double left = (double)(at - from), right = (double)(to - at);
    double left_mean = (search->sums[at] - search->sums[from]) / left;
    double right_mean = (search->sums[to] - search->sums[at]) / right;
    double rest = search->squares[to] - search->squares[from] - left * left_mean * left_mean -
                  right * right_mean * right_mean;
    double variance = fmax(rest, 0) / (left + right - 2);
    variance = fmax(variance, search->least);
    return (right_mean - left_mean) / sqrt(variance * (1 / left + 1 / right));
}

static struct split best_split(const struct search *search, size_t from, size_t to)
{
    struct split best = {0};
    double most = -1;
    for (size_t at = from + SIDE_LEAST; at + SIDE_LEAST <= to; at++) {
        double t = sides_suffice(at - from, to - at) ? fabs(split_t(search, from, at, to)) : -1;
        if (t > most) {
            most = t;
            best.at = at;
        }
    }
    best.p = most < 0 ? 1 : 2 * mw_student_tail(most, (double)(to - from - 2));
    return best;
}

/* Mann and Whitney's test by its normal approximation: no outlier, however far, weighs more than
 * any other value. */
static double rank_p(const double *left, size_t left_count, const double *right, size_t right_count)
{
    double above = 0, n = (double)left_count, m = (double)right_count;
    for (size_t i = 0; i < left_count; i++)
        for (size_t k = 0; k < right_count; k++)
            above += right[k] > left[i] ? 1 : right[k] < left[i] ? 0 : 0.5;
    return erfc(fabs(above - n * m / 2) / sqrt(n * m * (n + m + 1) / 12) / sqrt(2));
}

static int split_holds(const struct search *search, size_t from, size_t at, size_t to)
{
    double level = RANKS * fmin(1, RANKS_FULL / (double)(to - from));
    const double *left = search->logs + from, *right = search->logs + at;
    double change = mw_median(right, to - at) - mw_median(left, at - from);
    return fabs(change) >= log1p(MW_CHANGEPOINT_LEAST) &&
           rank_p(left, at - from, right, to - at) <= level;
}

/* Replaces *best by the best split of a window, where that holds and is less likely by chance.
 * looked_at: splits that share `level`. */
static void try_window(const struct search *search, size_t from, size_t to, double level,
                       double looked_at, struct split *best)
{
    struct split split = best_split(search, from, to);
    double p = split.p * looked_at / level; /* above 1: not significant */
    if (p > 1 || p >= best->p || !split_holds(search, from, split.at, to))
        return;
    *best = (struct split){split.at, p};
}

/* Windows of one length: `count` of them, the first and the last at the ends. */
static size_t window_count(size_t length, size_t window)
{
    return 2 * ((length + window - 1) / window) - 1;
}

static double windows_splits(size_t length)
{
    double count = 0;
    for (size_t window = length / 2; window >= WINDOW; window /= 2)
        count += (double)window_count(length, window) * split_count(window);
    return count;
}

/* From one value to the next, so that changes of the level count once each. */
static double noise_around(const struct search *search, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from + 1; i < to; i++)
        sum += (search->logs[i] - search->logs[i - 1]) * (search->logs[i] - search->logs[i - 1]);
    return sum / 2 / (double)(to - from - 1);
}

/* Of many windows one has values that resemble each other by chance, as with a figure that falls
 * on one of two levels; the noise around it tells. */
static void try_windows(struct search *search, size_t from, size_t to, double level,
                        struct split *best)
{
    double looked_at = windows_splits(to - from), least = search->least;
    search->least = fmax(least, noise_around(search, from, to));
    for (size_t window = (to - from) / 2; window >= WINDOW; window /= 2) {
        size_t count = window_count(to - from, window), room = to - from - window;
        for (size_t i = 0; i < count; i++) {
            size_t start = from + room * i / (count - 1);
            try_window(search, start, start + window, level, looked_at, best);
        }
    }
    search->least = least;
}

static void search_range(struct search *search, size_t from, size_t to)
{
    size_t length = to - from;
    struct split best = {.p = 2};
    if (length < WINDOW)
        return;
    /* Where there are windows, they have half of the error that is allowed. */
    double level = length >= 2 * WINDOW ? MW_CHANGEPOINT_LEVEL / 2 : MW_CHANGEPOINT_LEVEL;
    try_window(search, from, to, level, split_count(length), &best);
    try_windows(search, from, to, level, &best);
    if (best.p > 1)
        return;
    search_range(search, from, best.at);
    *mw_vector_add(&search->found) =
        (struct mw_changepoint){.at = best.at, .p = best.p * MW_CHANGEPOINT_LEVEL};
    search_range(search, best.at, to);
}

/* The level on both sides of each, up to its neighbours. */
static void fill_levels(struct search *search, const double *values, size_t count)
{
    for (size_t i = 0; i < search->found.count; i++) {
        struct mw_changepoint *point = &search->found.at[i];
        size_t from = i ? point[-1].at : 0;
        size_t to = i + 1 < search->found.count ? point[1].at : count;
        point->before = mw_median(values + from, point->at - from);
        point->after = mw_median(values + point->at, to - point->at);
    }
}

struct mw_changepoint *mw_changepoints(const double *values, size_t count, size_t *found)
{
    double *logs = mw_alloc(3 * count + 2, sizeof(*logs));
    double *sums = logs + count, *squares = sums + count + 1;
    /* A figure that repeats to the last digit is coarse, not exact. */
    struct search search = {
        .logs = logs, .sums = sums, .squares = squares, .least = MW_NOISE_LEAST * MW_NOISE_LEAST};
    double middle = count ? log(mw_median(values, count)) : 0;
    for (size_t i = 0; i < count; i++) {
        logs[i] = log(values[i]) - middle; /* small numbers: their squares lose no digits */
        sums[i + 1] = sums[i] + logs[i];
        squares[i + 1] = squares[i] + logs[i] * logs[i];
    }
    search_range(&search, 0, count);
    fill_levels(&search, values, count);
    free(logs);
    *found = search.found.count;
    return search.found.at;
}
