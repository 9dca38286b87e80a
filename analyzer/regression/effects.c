/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What got slower or faster (compare.h): the steps in their order (effects_parts.h), and how much
 * of the job a figure is. docs/regression.md has the rules, docs/statistics.md the tests.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/regression/effects_parts.h"

#define PART_LEAST 0.05 /* of the samples or bytes: so much of the job that it counts */

double mw_figure_bytes(const struct mw_figure *figure)
{
    return (double)figure->samples * (double)mw_class_to(figure->size_class);
}

int mw_figure_is_start_or_end(const struct mw_figure *figure)
{
    return !strncmp(figure->name, "MPI_Init", strlen("MPI_Init")) ||
           !strncmp(figure->name, "MPI_Finalize", strlen("MPI_Finalize"));
}

int mw_job_has_part(const struct mw_job_size *size, const struct mw_figure *figure)
{
    const double *whole = size->whole[figure->metric];
    return (double)figure->samples >= PART_LEAST * whole[0] ||
           mw_figure_bytes(figure) >= PART_LEAST * whole[1];
}

static double wall_of(const struct mw_digest *run)
{
    for (size_t f = 0; f < run->figures.count; f++)
        if (run->figures.at[f].scope == MW_SCOPE_JOB && !strcmp(run->figures.at[f].name, "wall"))
            return run->figures.at[f].value;
    return 0;
}

static double shortest_of(const struct mw_comparison *comparison)
{
    const struct mw_runs *sides[] = {&comparison->base, &comparison->fresh};
    double shortest = INFINITY;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->count; i++)
            shortest = fmin(shortest, wall_of(sides[side]->at[i]));
    return shortest;
}

static struct mw_job_size size_of(const struct mw_comparison *comparison)
{
    const struct mw_digest *run = comparison->base.at[0];
    struct mw_job_size size = {.time = wall_of(run) * (double)run->recorded_ranks,
                               .shortest = shortest_of(comparison)};
    for (size_t f = 0; f < run->figures.count; f++) {
        const struct mw_figure *figure = &run->figures.at[f];
        if (figure->scope == MW_SCOPE_CLASS) {
            size.whole[figure->metric][0] += (double)figure->samples;
            size.whole[figure->metric][1] += mw_figure_bytes(figure);
        }
    }
    return size;
}

static int counts(const struct mw_job_size *size, unsigned parts, const struct mw_figure *figure)
{
    int alone = !(parts & MW_COMPARE_CLASSES);
    switch (figure->scope) {
    case MW_SCOPE_CLASS:
    case MW_SCOPE_PAIR:
        return (figure->scope == MW_SCOPE_CLASS || (alone && parts & MW_COMPARE_PAIRS)) &&
               mw_job_has_part(size, figure);
    case MW_SCOPE_JOB:
        return 1;
    default:
        return alone && !mw_figure_is_start_or_end(figure) &&
               figure->value >= PART_LEAST * size->time;
    }
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
    struct mw_job_size size = size_of(comparison);
    mw_effects_join(comparison);
    for (size_t i = 0; i < comparison->effects.count; i++) {
        struct mw_effect *effect = &comparison->effects.at[i];
        effect->counts = counts(&size, comparison->options.parts, effect->about);
    }
    mw_effects_judge(comparison, &size);
    drop_unasked(comparison);
    if (comparison->effects.count)
        qsort(comparison->effects.at, comparison->effects.count, sizeof(comparison->effects.at[0]),
              effect_compare);
    mw_compare_coverage(comparison);
}
