/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said of each figure of a comparison (effects_parts.h): how noisy its kind is, how many
 * are looked at, slower or not. docs/regression.md has the rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/regression/effects_parts.h"

/* What runs of one stack differ by, one a side (docs/regression.md, "Tried where ..."). Messages
 * are on one of a few levels all run long: whether a core sleeps, where a buffer lies. */
#define ONE_RUN_LEAST 0.5    /* less is no verdict */
#define ONE_RUN_TIMES 5.0    /* more is one, also of messages that are about as short as a level */
#define LEVELS_APART  100e-6 /* s a message: levels are closer together */
#define STEP_LEAST    2e-6   /* s a message: caches, clocks and a core's other thread do as much */
#define LONG_ENOUGH   5.0    /* s of a single run: what else a machine does lasts about as long */
#define TIME_LEAST    0.01   /* of the time of all ranks: less does not matter */
#define RUNS_MOST     100    /* more are nobody's answer */

struct judging {
    struct mw_comparison *comparison;
    const struct mw_job_size *size;
    size_t families; /* scopes that have figures: they share the error */
};

/* --- noise ------------------------------------------------------------------------------------ */

/* Speeds of messages jump between a few values (who shares a core, which copy is in a cache), and
 * of many some sit on one of them in all runs of a side by chance, as if they had no noise: none is
 * believed to be steadier than the median of its kind. */
static void widen_kind(struct mw_comparison *comparison, enum mw_figure_scope scope,
                       enum mw_figure_metric metric, double level)
{
    double *noises = mw_alloc(comparison->effects.count, sizeof(*noises)), usual;
    size_t count = 0;
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->about->scope == scope && effect->about->metric == metric && effect->measured)
            noises[count++] = effect->change.noise;
    }
    usual = mw_median(noises, count);
    for (size_t i = 0; i < comparison->effects.count; i++) {
        struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->about->scope == scope && effect->about->metric == metric && effect->measured)
            mw_change_widen(&effect->change, usual, level);
    }
    free(noises);
}

static void widen_all(struct mw_comparison *comparison)
{
    double level = MW_SURE / (double)comparison->options.looks;
    for (int metric = 0; metric < MW_METRICS; metric++) {
        widen_kind(comparison, MW_SCOPE_CLASS, (enum mw_figure_metric)metric, level);
        widen_kind(comparison, MW_SCOPE_PAIR, (enum mw_figure_metric)metric, level);
    }
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* Each scope is a family of its own: so that a thousand pairs do not drown ten classes. */
static void adjust_scope(struct judging *judging, enum mw_figure_scope scope)
{
    struct mw_comparison *comparison = judging->comparison;
    double *p = mw_alloc(comparison->effects.count, sizeof(*p));
    size_t count = 0;
    for (size_t i = 0; i < comparison->effects.count; i++)
        if (comparison->effects.at[i].about->scope == scope && comparison->effects.at[i].measured)
            p[count++] = comparison->effects.at[i].change.p;
    mw_adjust(p, count);
    judging->families += count > 0;
    count = 0;
    for (size_t i = 0; i < comparison->effects.count; i++)
        if (comparison->effects.at[i].about->scope == scope && comparison->effects.at[i].measured)
            comparison->effects.at[i].change.p = p[count++];
    free(p);
}

static enum mw_effect_verdict judge_runs(const struct mw_effect *effect, double threshold,
                                         size_t looks, size_t families, int disturbed)
{
    double level = MW_SURE / (double)(looks * families);
    enum mw_worse worse = mw_change_worse(&effect->change, threshold, level);
    if (worse == MW_WORSE_YES && !disturbed)
        return MW_EFFECT_WORSE;
    if (effect->change.ratio > 1 + threshold || (looks > 1 && worse == MW_WORSE_UNSURE))
        return MW_EFFECT_UNSURE;
    if (effect->change.ratio < 1 / (1 + threshold) && effect->change.p <= level)
        return MW_EFFECT_BETTER;
    return MW_EFFECT_SAME;
}

/* What differs from run to run is not in the interval of one run: only large effects are believed.
 */
static enum mw_effect_verdict judge_blocks(const struct mw_effect *effect, double threshold,
                                           int disturbed)
{
    const struct mw_change *change = &effect->change;
    double least = fmax(threshold, ONE_RUN_LEAST);
    if (change->ratio > 1 + least && change->low > 1 + threshold && !disturbed)
        return MW_EFFECT_WORSE;
    if (change->ratio > 1 + threshold)
        return MW_EFFECT_UNSURE;
    if (change->ratio < 1 / (1 + least) && change->high < 1 / (1 + threshold))
        return MW_EFFECT_BETTER;
    return MW_EFFECT_SAME;
}

/* A time that is next to nothing of the job's. */
static int is_little(const struct judging *judging, const struct mw_effect *effect)
{
    enum mw_figure_scope scope = effect->about->scope;
    return (scope == MW_SCOPE_CALL || scope == MW_SCOPE_SITE || scope == MW_SCOPE_WAIT) &&
           fabs(effect->fresh - effect->base) < TIME_LEAST * judging->size->time;
}

/* How much longer a message takes, s. */
static double step_of(const struct mw_effect *effect)
{
    double size = (double)mw_class_from(effect->about->size_class);
    if (effect->about->metric == MW_METRIC_BANDWIDTH)
        return size / effect->fresh - size / effect->base;
    return effect->fresh - effect->base;
}

/* Whether single runs of one stack differ by so much. */
static int is_level(const struct mw_effect *effect)
{
    double step = step_of(effect);
    return step < STEP_LEAST || (step < LEVELS_APART && effect->change.ratio < ONE_RUN_TIMES);
}

/* Why what looks surely slower is not sure even so: what runs of one stack were seen to do, which
 * no test on their values tells. NULL: nothing. */
static const char *doubt_of(const struct judging *judging, const struct mw_effect *effect,
                            int several)
{
    const struct mw_comparison *comparison = judging->comparison;
    if (!several && judging->size->shortest < LONG_ENOUGH)
        return "a single run this short shows what else ran then";
    if (!several && is_level(effect))
        return "what a message takes differs by so much from run to run";
    if (!several && effect->change.p > MW_SURE)
        return "among so many figures one looks like this by chance";
    if (effect->base_runs < comparison->base.count || effect->fresh_runs < comparison->fresh.count)
        return "not measured in each run";
    if (effect->about->scope == MW_SCOPE_PAIR && !mw_job_has_part(judging->size, effect->about))
        return "one pair of many differs from run to run";
    return NULL;
}

/* What looks slower is not the same because nobody can tell. */
static void judge_unmeasured(struct mw_effect *effect, double threshold)
{
    if (effect->counts && effect->change.ratio > 1 + threshold)
        effect->verdict = MW_EFFECT_UNSURE;
}

static void judge_measured(const struct judging *judging, struct mw_effect *effect)
{
    const struct mw_compare_options *options = &judging->comparison->options;
    int several = effect->base_runs > 1 && effect->fresh_runs > 1;
    int disturbed = judging->comparison->disturbed;
    effect->verdict = several ? judge_runs(effect, options->threshold, options->looks,
                                           judging->families, disturbed)
                              : judge_blocks(effect, options->threshold, disturbed);
    const char *doubt =
        effect->verdict == MW_EFFECT_WORSE ? doubt_of(judging, effect, several) : NULL;
    if (doubt) { /* what looks sure matters, however little it is */
        effect->verdict = MW_EFFECT_UNSURE;
        effect->why = doubt;
        effect->counts = 1;
    }
    if (effect->verdict == MW_EFFECT_WORSE && mw_figure_is_start_or_end(effect->about)) {
        effect->verdict = MW_EFFECT_UNSURE;
        effect->why = "depends on the launcher and the machine's load";
    }
    if (is_little(judging, effect)) {
        effect->verdict = MW_EFFECT_SAME;
        effect->why = "too little of the job's time to matter";
    }
    if (several && !disturbed && !effect->why && effect->verdict == MW_EFFECT_UNSURE)
        effect->runs_needed =
            mw_runs_needed(&effect->change, options->threshold,
                           MW_SURE / (double)(options->looks * judging->families), RUNS_MOST);
}

void mw_effects_judge(struct mw_comparison *comparison, const struct mw_job_size *size)
{
    struct judging judging = {.comparison = comparison, .size = size};
    widen_all(comparison);
    for (int scope = 0; scope < MW_SCOPES; scope++)
        adjust_scope(&judging, (enum mw_figure_scope)scope);
    for (size_t i = 0; i < comparison->effects.count; i++) {
        struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->measured)
            judge_measured(&judging, effect);
        else
            judge_unmeasured(effect, comparison->options.threshold);
    }
}
