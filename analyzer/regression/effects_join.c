/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures of both sides of a comparison brought together, by what they are about, and how far they
 * are apart (effects_parts.h). Classes of messages that went another way are joined with what they
 * were.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/speed.h"
#include "analyzer/regression/effects_parts.h"

#define WAY_LEAST                                                                                  \
    0.05 /* of the samples of a kind of message: fewer on another way do not matter                \
          */

enum side { BASE, FRESH, SIDES };

/* A figure of one run. */
struct reference {
    const struct mw_figure *figure;
    enum side side;
    size_t run; /* of its side */
};

struct joining {
    struct mw_comparison *comparison;
    MW_VECTOR(struct reference) all; /* by what they are about */
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
                *mw_vector_add(&joining->all) = (struct reference){figure, side, i};
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
                                     .fresh = mw_median(new.plain, new.count)};
        measure(effect, &old, &new, MW_SURE / (double)comparison->options.looks);
    } else if (base[0].figure->scope <= MW_SCOPE_PAIR) {
        comparison->too_few++;
    }
    values_free(&old);
    values_free(&new);
}

/* --- messages that went another way ----------------------------------------------------------- */

/* The references to one figure. */
struct range {
    size_t at, count;
    double samples[SIDES];
};

static struct range range_at(const struct joining *joining, size_t at)
{
    struct range range = {.at = at};
    for (size_t i = at; i < joining->all.count &&
                        !mw_figure_compare(joining->all.at[at].figure, joining->all.at[i].figure);
         i++) {
        const struct reference *reference = &joining->all.at[i];
        range.count++;
        range.samples[reference->side] += (double)reference->figure->samples;
    }
    return range;
}

static int is_one_sided(const struct joining *joining, const struct range *range)
{
    return joining->all.at[range->at].side == joining->all.at[range->at + range->count - 1].side;
}

/* Where both sides have it. */
static void join_range(struct joining *joining, const struct range *range)
{
    const struct reference *at = &joining->all.at[range->at];
    if (!is_one_sided(joining, range))
        join_figure(joining, at, range->count, at, range->count);
}

/* One run's figures of one kind of message that went several ways: the mean, by messages. Without
 * blocks. The comparison's. */
static const struct mw_figure *merged(struct mw_comparison *comparison,
                                      const struct mw_figure *const *figures, size_t count)
{
    struct mw_figure *whole = mw_alloc(1, sizeof(*whole));
    double logs = 0, samples = 0;
    *whole = *figures[0];
    whole->transport = mw_text_copy("");
    whole->samples = 0;
    whole->blocks = NULL;
    whole->block_count = 0;
    for (size_t i = 0; i < count; i++) {
        char *longer = mw_format("%s%s%s", whole->transport, i ? ", " : "", figures[i]->transport);
        free(whole->transport);
        whole->transport = longer;
        whole->samples += figures[i]->samples;
        samples += (double)figures[i]->samples;
        logs += (double)figures[i]->samples * log(figures[i]->value);
    }
    if (samples > 0)
        whole->value = exp(logs / samples);
    *mw_vector_add(&comparison->merged) = whole;
    return whole;
}

/* What a run's messages of one kind did, whichever of these ways they went; NULL: it has none. */
static const struct mw_figure *figure_over(struct joining *joining, const struct range *ranges,
                                           size_t count, enum side side, size_t run)
{
    const struct mw_figure **found = mw_alloc(count, sizeof(*found)), *figure = NULL;
    size_t found_count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = ranges[i].at; k < ranges[i].at + ranges[i].count; k++)
            if (joining->all.at[k].side == side && joining->all.at[k].run == run)
                found[found_count++] = joining->all.at[k].figure;
    if (found_count)
        figure = found_count > 1 ? merged(joining->comparison, found, found_count) : found[0];
    free(found);
    return figure;
}

static void join_ways(struct joining *joining, const struct range *ranges, size_t count)
{
    const struct mw_comparison *comparison = joining->comparison;
    size_t runs[SIDES] = {comparison->base.count, comparison->fresh.count}, filled[SIDES] = {0};
    struct reference *sides[SIDES];
    for (int side = 0; side < SIDES; side++) {
        sides[side] = mw_alloc(runs[side], sizeof(*sides[side]));
        for (size_t run = 0; run < runs[side]; run++) {
            const struct mw_figure *figure =
                figure_over(joining, ranges, count, (enum side)side, run);
            if (figure)
                sides[side][filled[side]++] = (struct reference){figure, (enum side)side, run};
        }
    }
    if (filled[BASE] && filled[FRESH])
        join_figure(joining, sides[BASE], filled[BASE], sides[FRESH], filled[FRESH]);
    free(sides[BASE]);
    free(sides[FRESH]);
}

/* --- joining ---------------------------------------------------------------------------------- */

/* Classes that differ in their transport only are of one kind. */
static int kind_compare(const struct mw_figure *a, const struct mw_figure *b)
{
    int order = (a->metric > b->metric) - (a->metric < b->metric);
    order = order ? order : (a->size_class > b->size_class) - (a->size_class < b->size_class);
    order = order ? order : strcmp(a->distance, b->distance);
    return order ? order : strcmp(a->buffer, b->buffer);
}

/* A class, for sorting. */
struct class_range {
    const struct mw_figure *figure;
    struct range range;
};

static int class_compare(const void *left, const void *right)
{
    const struct class_range *a = left, *b = right;
    int order = kind_compare(a->figure, b->figure);
    return order ? order : mw_figure_compare(a->figure, b->figure);
}

/* Ways that one side alone took stand for ways that the other alone took; where there are none, all
 * ways of a side are set against all of the other. */
static void join_kind(struct joining *joining, const struct range *ranges, size_t count)
{
    struct range *single = mw_alloc(count, sizeof(*single));
    double whole[SIDES] = {0}, alone[SIDES] = {0};
    size_t single_count = 0;
    for (size_t i = 0; i < count; i++) {
        int one_sided = is_one_sided(joining, &ranges[i]);
        if (one_sided)
            single[single_count++] = ranges[i];
        for (int side = 0; side < SIDES; side++) {
            whole[side] += ranges[i].samples[side];
            alone[side] += one_sided ? ranges[i].samples[side] : 0;
        }
    }
    int left = alone[BASE] > WAY_LEAST * whole[BASE];
    int came = alone[FRESH] > WAY_LEAST * whole[FRESH];
    if (left && came)
        join_ways(joining, single, single_count);
    else if (left || came)
        join_ways(joining, ranges, count);
    for (size_t i = 0; i < count && left == came; i++)
        join_range(joining, &ranges[i]);
    free(single);
}

static void join_classes(struct joining *joining, struct class_range *classes, size_t count)
{
    struct range *ranges = mw_alloc(count, sizeof(*ranges));
    if (count)
        qsort(classes, count, sizeof(*classes), class_compare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && !kind_compare(classes[i].figure, classes[end].figure); end++)
            ranges[end - i] = classes[end].range;
        join_kind(joining, ranges, end - i);
    }
    free(ranges);
}

void mw_effects_join(struct mw_comparison *comparison)
{
    struct joining joining = {.comparison = comparison};
    MW_VECTOR(struct class_range) classes = {0};
    gather(&joining, &comparison->base, BASE);
    gather(&joining, &comparison->fresh, FRESH);
    if (joining.all.count)
        qsort(joining.all.at, joining.all.count, sizeof(joining.all.at[0]), reference_compare);
    for (size_t i = 0; i < joining.all.count;) {
        struct range range = range_at(&joining, i);
        if (joining.all.at[i].figure->scope == MW_SCOPE_CLASS)
            *mw_vector_add(&classes) = (struct class_range){joining.all.at[i].figure, range};
        else
            join_range(&joining, &range);
        i += range.count;
    }
    join_classes(&joining, classes.at, classes.count);
    free(classes.at);
    free(joining.all.at);
}
