/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What got slower or faster (compare.h): figures of both sides joined, how much each changed and
 * how sure that is. docs/regression.md has the rules, docs/statistics.md the tests.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/speed.h"
#include "analyzer/analysis/tally.h"
#include "analyzer/regression/compare.h"

#define ONE_RUN_LEAST 0.20 /* with one run a side nothing smaller is a verdict */
#define PART_LEAST    0.05 /* of the samples or bytes: so much of the job that it counts */
#define TIME_LEAST    0.01 /* of the time of all ranks: less does not matter */
#define LONG_ENOUGH   5.0  /* s of a single run: what else a machine does lasts about as long */
#define STEP_LEAST    2e-6 /* s a message: caches, clocks and a core's other thread do as much */
#define ALONE_MOST    2000 /* classes without counterpart among which one is looked for */
#define RUNS_MOST     100  /* more are nobody's answer */

enum side { BASE, FRESH, SIDES };

/* A figure of one run. */
struct reference {
    const struct mw_figure *figure;
    enum side side;
};

struct joining {
    struct mw_comparison *comparison;
    MW_VECTOR(struct reference) all; /* by what they are about */
    double whole[MW_METRICS][2];     /* samples and bytes of classes, for their parts */
    double time;                     /* s of all ranks in a base run */
    size_t families;                 /* scopes that have figures: they share the error */
    double shortest;                 /* s of the shortest run; 0: not known of each */
};

static int wanted(const struct mw_comparison *comparison, enum mw_figure_scope scope)
{
    unsigned parts = comparison->options.parts;
    switch (scope) {
    case MW_SCOPE_CLASS:
        return (parts & MW_COMPARE_CLASSES) != 0;
    case MW_SCOPE_PAIR: /* what a change of transport cost is said by pair */
        return (parts & (MW_COMPARE_PAIRS | MW_COMPARE_TRANSPORTS)) != 0;
    case MW_SCOPE_COLLECTIVE:
        return (parts & MW_COMPARE_CALLS) != 0;
    default:
        return parts & MW_COMPARE_CALLS && comparison->times_compare;
    }
}

static int has_enough(const struct mw_figure *figure)
{
    if (figure->scope == MW_SCOPE_CLASS || figure->scope == MW_SCOPE_PAIR ||
        figure->scope == MW_SCOPE_COLLECTIVE)
        return figure->samples >= MW_SPEED_MIN_CERTAIN && figure->value > 0;
    return figure->value > 0;
}

static int reference_compare(const void *left, const void *right)
{
    const struct reference *a = left, *b = right;
    int order = mw_figure_compare(a->figure, b->figure);
    order = order ? order : (a->side > b->side) - (a->side < b->side);
    return order ? order : (a->figure > b->figure) - (a->figure < b->figure);
}

static void gather(struct joining *joining, const struct mw_runs *runs, enum side side)
{
    for (size_t i = 0; i < runs->count; i++)
        for (size_t f = 0; f < runs->at[i]->figures.count; f++) {
            const struct mw_figure *figure = &runs->at[i]->figures.at[f];
            if (wanted(joining->comparison, figure->scope))
                *mw_vector_add(&joining->all) = (struct reference){figure, side};
        }
}

/* --- how much of the job a figure is ---------------------------------------------------------- */

static double bytes_of(const struct mw_figure *figure)
{
    return (double)figure->samples * (double)mw_class_to(figure->size_class);
}

static double wall_of(const struct mw_digest *run)
{
    for (size_t f = 0; f < run->figures.count; f++)
        if (run->figures.at[f].scope == MW_SCOPE_JOB && !strcmp(run->figures.at[f].name, "wall"))
            return run->figures.at[f].value;
    return 0;
}

static void find_shortest(struct joining *joining)
{
    const struct mw_runs *sides[] = {&joining->comparison->base, &joining->comparison->fresh};
    joining->shortest = INFINITY;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->count; i++)
            joining->shortest = fmin(joining->shortest, wall_of(sides[side]->at[i]));
}

static void add_whole(struct joining *joining)
{
    const struct mw_digest *run = joining->comparison->base.at[0];
    for (size_t f = 0; f < run->figures.count; f++) {
        const struct mw_figure *figure = &run->figures.at[f];
        if (figure->scope == MW_SCOPE_CLASS) {
            joining->whole[figure->metric][0] += (double)figure->samples;
            joining->whole[figure->metric][1] += bytes_of(figure);
        }
    }
    joining->time = wall_of(run) * (double)run->recorded_ranks;
}

/* Of messages: whether they are more than a few of all. */
static int has_part(const struct joining *joining, const struct mw_figure *figure)
{
    const double *whole = joining->whole[figure->metric];
    return (double)figure->samples >= PART_LEAST * whole[0] ||
           bytes_of(figure) >= PART_LEAST * whole[1];
}

/* Starting and ending take as long as the launcher and the machine's load want. */
static int is_start_or_end(const struct mw_figure *figure)
{
    return !strncmp(figure->name, "MPI_Init", strlen("MPI_Init")) ||
           !strncmp(figure->name, "MPI_Finalize", strlen("MPI_Finalize"));
}

static int counts(const struct joining *joining, const struct mw_figure *figure)
{
    unsigned parts = joining->comparison->options.parts;
    int alone = !(parts & MW_COMPARE_CLASSES);
    switch (figure->scope) {
    case MW_SCOPE_CLASS:
    case MW_SCOPE_PAIR:
        return (figure->scope == MW_SCOPE_CLASS || (alone && parts & MW_COMPARE_PAIRS)) &&
               has_part(joining, figure);
    case MW_SCOPE_JOB:
        return 1;
    default:
        return alone && !is_start_or_end(figure) && figure->value >= PART_LEAST * joining->time;
    }
}

/* --- one figure ------------------------------------------------------------------------------- */

/* The references to one figure on a side. */
struct values {
    const struct mw_figure *first, *middle; /* first with enough samples; the median run */
    double *costs;                          /* of each run: more is slower */
    double *plain;
    size_t count;
};

static double cost(const struct mw_figure *figure, double value)
{
    return mw_metric_more_is_better(figure->metric) ? 1 / value : value;
}

static struct values values_of(const struct reference *references, size_t count, enum side side)
{
    struct values values = {0};
    values.costs = mw_alloc(count + 1, sizeof(*values.costs));
    values.plain = mw_alloc(count + 1, sizeof(*values.plain));
    for (size_t i = 0; i < count; i++) {
        const struct mw_figure *figure = references[i].figure;
        if (references[i].side != side || !has_enough(figure))
            continue;
        if (!values.count)
            values.first = figure;
        values.plain[values.count] = figure->value;
        values.costs[values.count++] = cost(figure, figure->value);
    }
    double median = mw_median(values.plain, values.count);
    for (size_t i = 0; i < count; i++) {
        const struct mw_figure *figure = references[i].figure;
        if (references[i].side == side && has_enough(figure) &&
            (!values.middle || fabs(figure->value - median) < fabs(values.middle->value - median)))
            values.middle = figure;
    }
    return values;
}

static void values_free(struct values *values)
{
    free(values->costs);
    free(values->plain);
}

/* The costs of a run's blocks. */
static double *block_costs(const struct mw_figure *figure)
{
    double *costs = mw_alloc(figure->block_count, sizeof(*costs));
    for (size_t i = 0; i < figure->block_count; i++)
        costs[i] = cost(figure, figure->blocks[i]);
    return costs;
}

static int change_of_blocks(const struct values *base, const struct values *fresh, double level,
                            struct mw_change *change)
{
    double *one = block_costs(base->middle), *two = block_costs(fresh->middle);
    int failed = mw_change_of_blocks(one, base->middle->block_count, two,
                                     fresh->middle->block_count, level, change);
    free(one);
    free(two);
    return failed;
}

static void measure(struct mw_effect *effect, const struct values *base, const struct values *fresh,
                    double level)
{
    int several = base->count > 1 && fresh->count > 1;
    effect->measured = !(several ? mw_change_of_runs(base->costs, base->count, fresh->costs,
                                                     fresh->count, level, &effect->change)
                                 : change_of_blocks(base, fresh, level, &effect->change));
    if (effect->measured) { /* so that the ratio is that of the values that are shown */
        effect->base = cost(base->first, effect->change.base);
        effect->fresh = cost(base->first, effect->change.fresh);
        return;
    }
    effect->verdict = MW_EFFECT_UNJUDGED;
    effect->why = several ? "its values say nothing" : "one run a side says too little of it";
    effect->change = (struct mw_change){.ratio = cost(base->first, effect->fresh) /
                                                 cost(base->first, effect->base),
                                        .low = NAN,
                                        .high = NAN,
                                        .p = NAN,
                                        .noise = NAN};
}

static void join_figure(struct joining *joining, const struct reference *base, size_t base_count,
                        const struct reference *fresh, size_t fresh_count)
{
    struct mw_comparison *comparison = joining->comparison;
    struct values old = values_of(base, base_count, BASE);
    struct values new = values_of(fresh, fresh_count, FRESH);
    if (old.count && new.count) {
        struct mw_effect *effect = mw_vector_add(&comparison->effects);
        *effect = (struct mw_effect){.about = old.first,
                                     .fresh_transport = new.first->transport,
                                     .base_runs = old.count,
                                     .fresh_runs = new.count,
                                     .base = mw_median(old.plain, old.count),
                                     .fresh = mw_median(new.plain, new.count),
                                     .counts = counts(joining, old.first)};
        measure(effect, &old, &new, MW_SURE / (double)comparison->options.looks);
    } else if (base[0].figure->scope <= MW_SCOPE_PAIR) {
        comparison->too_few++;
    }
    values_free(&old);
    values_free(&new);
}

/* --- joining ---------------------------------------------------------------------------------- */

struct range {
    size_t at, count;
};

static int is_one_sided(const struct joining *joining, struct range range, enum side side)
{
    return joining->all.at[range.at].side == side &&
           joining->all.at[range.at + range.count - 1].side == side;
}

/* Classes that differ in their transport only. */
static int other_way(const struct mw_figure *a, const struct mw_figure *b)
{
    return a->scope == MW_SCOPE_CLASS && b->scope == MW_SCOPE_CLASS && a->metric == b->metric &&
           a->size_class == b->size_class && !strcmp(a->distance, b->distance) &&
           !strcmp(a->buffer, b->buffer);
}

/* What has no counterpart because it went another way: joined where there is one such on each
 * side. NULL none. */
static const struct range *counterpart(const struct joining *joining, const struct range *ranges,
                                       size_t count, struct range range, enum side side)
{
    const struct range *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_one_sided(joining, ranges[i], side) ||
            !other_way(joining->all.at[range.at].figure, joining->all.at[ranges[i].at].figure))
            continue;
        if (found)
            return NULL;
        found = &ranges[i];
    }
    return found;
}

static void join_ways(struct joining *joining, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct range *other;
        if (!is_one_sided(joining, ranges[i], BASE) ||
            !(other = counterpart(joining, ranges, count, ranges[i], FRESH)) ||
            counterpart(joining, ranges, count, *other, BASE) != &ranges[i])
            continue;
        join_figure(joining, &joining->all.at[ranges[i].at], ranges[i].count,
                    &joining->all.at[other->at], other->count);
    }
}

static void join_all(struct joining *joining)
{
    MW_VECTOR(struct range) alone = {0};
    for (size_t i = 0, end; i < joining->all.count; i = end) {
        for (end = i + 1;
             end < joining->all.count &&
             !mw_figure_compare(joining->all.at[i].figure, joining->all.at[end].figure);)
            end++;
        struct range range = {i, end - i};
        if (is_one_sided(joining, range, BASE) || is_one_sided(joining, range, FRESH)) {
            if (joining->all.at[i].figure->scope == MW_SCOPE_CLASS)
                *mw_vector_add(&alone) = range;
            continue;
        }
        join_figure(joining, &joining->all.at[i], range.count, &joining->all.at[i], range.count);
    }
    if (alone.count <= ALONE_MOST)
        join_ways(joining, alone.at, alone.count);
    free(alone.at);
}

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
static void adjust_scope(struct joining *joining, enum mw_figure_scope scope)
{
    struct mw_comparison *comparison = joining->comparison;
    double *p = mw_alloc(comparison->effects.count, sizeof(*p));
    size_t count = 0;
    for (size_t i = 0; i < comparison->effects.count; i++)
        if (comparison->effects.at[i].about->scope == scope && comparison->effects.at[i].measured)
            p[count++] = comparison->effects.at[i].change.p;
    mw_adjust(p, count);
    joining->families += count > 0;
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
static int is_little(const struct joining *joining, const struct mw_effect *effect)
{
    enum mw_figure_scope scope = effect->about->scope;
    return (scope == MW_SCOPE_CALL || scope == MW_SCOPE_SITE || scope == MW_SCOPE_WAIT) &&
           fabs(effect->fresh - effect->base) < TIME_LEAST * joining->time;
}

/* How much longer a message takes, s. */
static double step_of(const struct mw_effect *effect)
{
    double size = (double)mw_class_from(effect->about->size_class);
    if (effect->about->metric == MW_METRIC_BANDWIDTH)
        return size / effect->fresh - size / effect->base;
    return effect->fresh - effect->base;
}

/* Why what looks surely slower is not sure even so: what runs of one stack were seen to do, which
 * no test on their values tells. NULL: nothing. */
static const char *doubt_of(const struct joining *joining, const struct mw_effect *effect,
                            int several)
{
    const struct mw_comparison *comparison = joining->comparison;
    if (!several && joining->shortest < LONG_ENOUGH)
        return "a single run this short shows what else ran then";
    if (!several && step_of(effect) < STEP_LEAST)
        return "so little a message differs from run to run";
    if (!several && effect->change.p > MW_SURE)
        return "among so many figures one looks like this by chance";
    if (effect->base_runs < comparison->base.count || effect->fresh_runs < comparison->fresh.count)
        return "not measured in each run";
    if (effect->about->scope == MW_SCOPE_PAIR && !has_part(joining, effect->about))
        return "one pair of many differs from run to run";
    return NULL;
}

static void judge(const struct joining *joining, struct mw_effect *effect)
{
    const struct mw_compare_options *options = &joining->comparison->options;
    if (!effect->measured)
        return;
    int several = effect->base_runs > 1 && effect->fresh_runs > 1;
    int disturbed = joining->comparison->disturbed;
    effect->verdict = several ? judge_runs(effect, options->threshold, options->looks,
                                           joining->families, disturbed)
                              : judge_blocks(effect, options->threshold, disturbed);
    const char *doubt =
        effect->verdict == MW_EFFECT_WORSE ? doubt_of(joining, effect, several) : NULL;
    if (doubt) { /* what looks sure matters, however little it is */
        effect->verdict = MW_EFFECT_UNSURE;
        effect->why = doubt;
        effect->counts = 1;
    }
    if (effect->verdict == MW_EFFECT_WORSE && is_start_or_end(effect->about)) {
        effect->verdict = MW_EFFECT_UNSURE;
        effect->why = "depends on the launcher and the machine's load";
    }
    if (is_little(joining, effect)) {
        effect->verdict = MW_EFFECT_SAME;
        effect->why = "too little of the job's time to matter";
    }
    if (several && !disturbed && !effect->why && effect->verdict == MW_EFFECT_UNSURE)
        effect->runs_needed =
            mw_runs_needed(&effect->change, options->threshold,
                           MW_SURE / (double)(options->looks * joining->families), RUNS_MOST);
}

static int effect_compare(const void *left, const void *right)
{
    const struct mw_effect *a = left, *b = right;
    if (a->verdict != b->verdict)
        return a->verdict < b->verdict ? -1 : 1;
    if (a->about->scope != b->about->scope)
        return a->about->scope < b->about->scope ? -1 : 1;
    double first = fabs(log(a->change.ratio)), second = fabs(log(b->change.ratio));
    if (first != second)
        return first > second ? -1 : 1;
    return mw_figure_compare(a->about, b->about);
}

/* Pairs that were read only to say what a change of transport cost have no say of their own. */
static void drop_unasked(struct mw_comparison *comparison)
{
    for (size_t i = 0; i < comparison->effects.count; i++) {
        struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->about->scope == MW_SCOPE_PAIR &&
            !(comparison->options.parts & MW_COMPARE_PAIRS)) {
            effect->verdict = MW_EFFECT_UNJUDGED;
            effect->why = "not asked for";
        }
    }
}

void mw_compare_effects(struct mw_comparison *comparison)
{
    struct joining joining = {.comparison = comparison};
    gather(&joining, &comparison->base, BASE);
    gather(&joining, &comparison->fresh, FRESH);
    if (joining.all.count)
        qsort(joining.all.at, joining.all.count, sizeof(joining.all.at[0]), reference_compare);
    add_whole(&joining);
    find_shortest(&joining);
    join_all(&joining);
    widen_all(comparison);
    for (int scope = 0; scope < MW_SCOPES; scope++)
        adjust_scope(&joining, (enum mw_figure_scope)scope);
    for (size_t i = 0; i < comparison->effects.count; i++)
        judge(&joining, &comparison->effects.at[i]);
    drop_unasked(comparison);
    if (comparison->effects.count)
        qsort(comparison->effects.at, comparison->effects.count, sizeof(comparison->effects.at[0]),
              effect_compare);
    free(joining.all.at);
}
