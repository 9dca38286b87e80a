/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much a figure changed between two groups of measurements, and how sure that is. Knows nothing
 * of MPI, keeps no state and draws no random numbers: the same values give the same answer. Any
 * thread. docs/statistics.md has the definitions, the reasons and the error rates.
 */
#ifndef MW_REGRESSION_STATISTICS_H
#define MW_REGRESSION_STATISTICS_H

#include <stddef.h>

/* The share of comparisons of things that do not differ which may be called a change. */
#define MW_SURE 0.01
/* Nobody repeats better than this: a few runs that agree to the last digit do so by chance, or
 * because the figure is coarse. The least standard deviation of one measurement, relative. */
#define MW_NOISE_LEAST  0.005
#define MW_BLOCKS_LEAST 8 /* blocks of a run that say something about its noise */

/* A group of measurements, as logarithms. */
struct mw_group {
    double mean, variance; /* of the mean */
    double freedom;        /* of the variance */
    double noise;          /* standard deviation of one measurement */
    double count;
};

struct mw_change {
    double ratio, low, high;  /* the second group over the first; its interval */
    double p;                 /* that no less would be seen if nothing had changed; two-sided */
    double base, fresh;       /* the geometric means of the groups */
    double noise;             /* relative standard deviation of one measurement */
    struct mw_group parts[2]; /* what it was made of: base, fresh */
};

/* Two groups of independent measurements, such as one a run. -1 when they say nothing: fewer than
 * two a side, or one that is not a positive number. The interval misses the truth with a
 * probability of `level`. */
int mw_change_of_runs(const double *base, size_t base_count, const double *fresh,
                      size_t fresh_count, double level, struct mw_change *change);
/* One run a side, each cut into consecutive blocks of time, whose neighbours may resemble each
 * other. -1 as above; MW_BLOCKS_LEAST a side. What differs from run to run is not in the interval.
 */
int mw_change_of_blocks(const double *base, size_t base_count, const double *fresh,
                        size_t fresh_count, double level, struct mw_change *change);

/* The same change where measurements are known to scatter by `noise` or more, whatever these few
 * did: of figures that jump between two values some sit on one in all runs of a side by chance. */
void mw_change_widen(struct mw_change *change, double noise, double level);

/* Whether a figure of which more is worse got worse by more than `threshold` (0.05). Yes: that it
 * grew is sure to `level` (p may have been adjusted), and the estimate lies beyond the threshold.
 * No: it lies within, and the interval excludes that it grew by twice the threshold. */
enum mw_worse {
    MW_WORSE_UNSURE,
    MW_WORSE_NO,
    MW_WORSE_YES,
};
enum mw_worse mw_change_worse(const struct mw_change *change, double threshold, double level);

/* How many runs a side would settle that, if estimate and noise stayed as they are; for groups of
 * runs. 0: more than `limit`. */
size_t mw_runs_needed(const struct mw_change *change, double threshold, double level, size_t limit);

double mw_median(const double *values, size_t count); /* NaN of none */
/* The median of how far they are from their median. */
double mw_median_deviation(const double *values, size_t count);

/* Makes each p the least rate of false discoveries at which it would be one, among all of them
 * (Benjamini and Hochberg). NaN: was not judged, stays out. */
void mw_adjust(double *p, size_t count);

/* The probability that Student's t exceeds `t`, and the t >= 0 that is exceeded with probability
 * `tail` (0 < tail <= 0.5); `freedom` > 0 need not be whole. */
double mw_student_tail(double t, double freedom);
double mw_student_quantile(double tail, double freedom);

#endif
