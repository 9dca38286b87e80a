/* SPDX-License-Identifier: BSD-3-Clause */
/* Series of figures over runs and their change points (trends.h). */
#include "analyzer/regression/trends.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/analysis/speed.h"

struct sample {
    const struct mw_figure *figure;
    size_t run;
};

int mw_trends_take(const struct mw_digest *run)
{
    return !run->crashed && !run->incomplete;
}

/* Speeds of messages that enough samples say something about. */
static int is_trend(const struct mw_figure *figure)
{
    return figure->scope == MW_SCOPE_CLASS && figure->value > 0 && isfinite(figure->value) &&
           figure->samples >= MW_SPEED_MIN_CERTAIN;
}

static int sample_compare(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int order = mw_figure_compare(a->figure, b->figure);
    return order ? order : (a->run > b->run) - (a->run < b->run);
}

static void add_trend(struct mw_trends *trends, const struct sample *samples, size_t count)
{
    struct mw_trend *trend = mw_vector_add(&trends->all);
    double *values = mw_alloc(count, sizeof(*values));
    trend->about = samples[0].figure;
    for (size_t i = 0; i < count; i++) {
        values[i] = samples[i].figure->value;
        *mw_vector_add(&trend->points) = (struct mw_trend_point){samples[i].run, values[i]};
    }
    trend->changes = mw_changepoints(values, count, &trend->change_count);
    free(values);
}

struct mw_trends *mw_trends_create(struct mw_runs runs)
{
    struct mw_trends *trends = mw_alloc(1, sizeof(*trends));
    MW_VECTOR(struct sample) samples = {0};
    for (size_t run = 0; run < runs.count; run++)
        for (size_t i = 0; mw_trends_take(runs.at[run]) && i < runs.at[run]->figures.count; i++)
            if (is_trend(&runs.at[run]->figures.at[i]))
                *mw_vector_add(&samples) = (struct sample){&runs.at[run]->figures.at[i], run};
    if (samples.count)
        qsort(samples.at, samples.count, sizeof(samples.at[0]), sample_compare);
    for (size_t i = 0, end; i < samples.count; i = end) {
        for (end = i + 1; end < samples.count &&
                          !mw_figure_compare(samples.at[i].figure, samples.at[end].figure);)
            end++;
        add_trend(trends, &samples.at[i], end - i);
    }
    free(samples.at);
    return trends;
}

void mw_trends_free(struct mw_trends *trends)
{
    if (!trends)
        return;
    for (size_t i = 0; i < trends->all.count; i++) {
        free(trends->all.at[i].points.at);
        free(trends->all.at[i].changes);
    }
    free(trends->all.at);
    free(trends);
}

int mw_trend_worse(const struct mw_trend *trend, const struct mw_changepoint *change)
{
    return mw_metric_more_is_better(trend->about->metric) ? change->after < change->before
                                                          : change->after > change->before;
}
