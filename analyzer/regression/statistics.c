/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of statistics.h: means of logarithms, their variance, and Student's distribution
 * for how far the difference of two may be off. Nothing else of the program is used but memory.
 */
#include "analyzer/regression/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), from front to back by the
 * ratios of successive numerators and denominators. Quick for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double above = 1, below = 0, value = 1;

    for (int i = 1; i < 1000; i++) {
        double m = i / 2, part; /* whole */

        if (i % 2)
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        else
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        above = 1 + part / above;
        below = 1 / (1 + part * below);
        value *= above * below;
        if (fabs(above * below - 1) < 4 * DBL_EPSILON)
            break;
    }
    return value;
}

/* The regularized incomplete beta function. */
static double beta_part(double a, double b, double x)
{
    double scale;

    if (x <= 0 || x >= 1)
        return x >= 1;
    scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return scale / a / beta_fraction(a, b, x);
    return 1 - scale / b / beta_fraction(b, a, 1 - x);
}

double mw_student_tail(double t, double freedom)
{
    double half = beta_part(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;

    return t < 0 ? 1 - half : half;
}

/* Newton's way from the left: the tail falls ever more slowly, so no step goes too far. */
double mw_student_quantile(double tail, double freedom)
{
    double scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * acos(-1));
    double t = 0;

    for (int i = 0; i < 500; i++) {
        double density = scale * pow(1 + t * t / freedom, -(freedom + 1) / 2);
        double step = (mw_student_tail(t, freedom) - tail) / density;

        t += step;
        if (step <= 1e-14 * t)
            break;
    }
    return t;
}

/* Logarithms of the values, the caller's; NULL when one has none. */
static double *logs_of(const double *values, size_t count)
{
    double *logs = mw_alloc(count, sizeof(*logs));

    for (size_t i = 0; i < count; i++) {
        logs[i] = values[i] > 0 ? log(values[i]) : NAN;
        if (!isfinite(logs[i])) {
            free(logs);
            return NULL;
        }
    }
    return logs;
}

/* The variance of the mean of `count` values of which neighbours within `length` may depend on each
 * other: what the circular block bootstrap would find with infinitely many draws, which is the
 * spread of the means of all blocks of that length, made free of its bias. */
static double mean_variance(const double *logs, size_t count, size_t length, double mean)
{
    double blocks = (double)count / (double)length, sum = 0, squares = 0;

    for (size_t i = 0; i < length; i++)
        sum += logs[i];
    for (size_t first = 0; first < count; first++) {
        double off = sum / (double)length - mean;

        squares += off * off;
        sum += logs[(first + length) % count] - logs[first];
    }
    return squares / (double)count / (blocks - 1);
}

static void group_widen(struct mw_group *group, double noise)
{
    if (group->noise < noise) {
        group->noise = noise;
        group->variance = noise * noise / group->count;
    }
}

/* 0; -1 when the values say nothing. */
static int group_of(const double *values, size_t count, size_t length, struct mw_group *group)
{
    double *logs = count > length ? logs_of(values, count) : NULL;

    if (!logs)
        return -1;
    *group =
        (struct mw_group){.freedom = (double)count / (double)length - 1, .count = (double)count};
    for (size_t i = 0; i < count; i++)
        group->mean += logs[i] / (double)count;
    group->variance = mean_variance(logs, count, length, group->mean);
    group->noise = sqrt(group->variance * (double)count);
    group_widen(group, MW_NOISE_LEAST);
    free(logs);
    return 0;
}

/* What a difference of two means is measured by. */
struct scale {
    double error, freedom;
};

/* Welch: each side has a variance of its own. Too sure of itself where sizes differ much. */
static struct scale scale_welch(const struct mw_group *base, const struct mw_group *fresh)
{
    double variance = base->variance + fresh->variance;

    return (struct scale){sqrt(variance), variance * variance /
                                              (base->variance * base->variance / base->freedom +
                                               fresh->variance * fresh->variance / fresh->freedom)};
}

/* Student: both have the same, as they do when nothing changed. */
static struct scale scale_pooled(const struct mw_group *base, const struct mw_group *fresh)
{
    double freedom = base->freedom + fresh->freedom;
    double pooled =
        (base->noise * base->noise * base->freedom + fresh->noise * fresh->noise * fresh->freedom) /
        freedom;

    return (struct scale){sqrt(pooled / base->count + pooled / fresh->count), freedom};
}

/* The difference of two means, as unsure as the less sure of both ways to look at it. */
static void change_conclude(struct mw_change *change, double level)
{
    const struct mw_group *base = &change->parts[0], *fresh = &change->parts[1];
    const struct scale scales[] = {scale_welch(base, fresh), scale_pooled(base, fresh)};
    double difference = fresh->mean - base->mean, reach = 0;

    change->ratio = exp(difference);
    change->base = exp(base->mean);
    change->fresh = exp(fresh->mean);
    change->noise = sqrt((base->noise * base->noise + fresh->noise * fresh->noise) / 2);
    change->p = 0;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        double error = scales[i].error, freedom = scales[i].freedom;

        reach = fmax(reach, error * mw_student_quantile(level / 2, freedom));
        change->p = fmax(change->p, 2 * mw_student_tail(fabs(difference) / error, freedom));
    }
    change->low = exp(difference - reach);
    change->high = exp(difference + reach);
}

void mw_change_widen(struct mw_change *change, double noise, double level)
{
    group_widen(&change->parts[0], noise);
    group_widen(&change->parts[1], noise);
    change_conclude(change, level);
}

int mw_change_of_runs(const double *base, size_t base_count, const double *fresh,
                      size_t fresh_count, double level, struct mw_change *change)
{
    if (group_of(base, base_count, 1, &change->parts[0]) ||
        group_of(fresh, fresh_count, 1, &change->parts[1]))
        return -1;
    change_conclude(change, level);
    return 0;
}

/* How far neighbours are taken to depend on each other. */
static size_t block_length(size_t count)
{
    return (size_t)ceil(sqrt((double)count));
}

int mw_change_of_blocks(const double *base, size_t base_count, const double *fresh,
                        size_t fresh_count, double level, struct mw_change *change)
{
    if (base_count < MW_BLOCKS_LEAST || fresh_count < MW_BLOCKS_LEAST ||
        group_of(base, base_count, block_length(base_count), &change->parts[0]) ||
        group_of(fresh, fresh_count, block_length(fresh_count), &change->parts[1]))
        return -1;
    change_conclude(change, level);
    return 0;
}

enum mw_worse mw_change_worse(const struct mw_change *change, double threshold, double level)
{
    double border = 1 + threshold;

    if (change->ratio > border)
        return change->p <= level ? MW_WORSE_YES : MW_WORSE_UNSURE;
    return change->high < border * border ? MW_WORSE_NO : MW_WORSE_UNSURE;
}

size_t mw_runs_needed(const struct mw_change *change, double threshold, double level, size_t limit)
{
    double difference = log(change->ratio), border = log1p(threshold);
    double room = difference > border ? difference : 2 * border - difference;

    for (size_t runs = 2; runs <= limit; runs++) {
        double error = change->noise * sqrt(2 / (double)runs);

        if (error * mw_student_quantile(level / 2, 2 * (double)runs - 2) <= room)
            return runs;
    }
    return 0;
}

static int value_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Sorts the values. */
static double middle_of(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), value_compare);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : NAN;
}

double mw_median(const double *values, size_t count)
{
    double *copy = mw_alloc(count, sizeof(*copy)), median;

    for (size_t i = 0; i < count; i++)
        copy[i] = values[i];
    median = middle_of(copy, count);
    free(copy);
    return median;
}

double mw_median_deviation(const double *values, size_t count)
{
    double *off = mw_alloc(count, sizeof(*off)), median = mw_median(values, count);

    for (size_t i = 0; i < count; i++)
        off[i] = fabs(values[i] - median);
    median = middle_of(off, count);
    free(off);
    return median;
}

static int rank_compare(const void *left, const void *right)
{
    double a = **(double *const *)left, b = **(double *const *)right;

    return a < b ? -1 : a > b;
}

void mw_adjust(double *p, size_t count)
{
    double **ranked = mw_alloc(count, sizeof(*ranked)), least = 1;
    size_t judged = 0;

    for (size_t i = 0; i < count; i++) {
        if (!isnan(p[i]))
            ranked[judged++] = &p[i];
    }
    qsort(ranked, judged, sizeof(*ranked), rank_compare);
    for (size_t rank = judged; rank > 0; rank--) {
        double adjusted = *ranked[rank - 1] * (double)judged / (double)rank;

        least = adjusted < least ? adjusted : least;
        *ranked[rank - 1] = least;
    }
    free(ranked);
}
