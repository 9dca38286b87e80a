/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast messages were: by pair and size class, and by class of pairs that can be compared
 * (digest.h). Medians, as a rank that the machine kept from running for a while spoils sums.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/exchange.h"
#include "analyzer/analysis/transport_totals.h"
#include "analyzer/model/distance.h"
#include "analyzer/regression/digest_build.h"

/* A pair's size class and what it can be compared with. */
struct member {
    const char *distance, *transport, *buffer;
    const struct mw_speed *speed;
};

static struct member member_of(const struct mw_analysis *analysis, const struct mw_speed *speed)
{
    const struct mw_transports *transports = analysis->transports;
    const struct mw_pair_transport *pair = mw_transports_pair(transports, speed->src, speed->dst);
    const struct mw_route *route = pair ? mw_pair_route(pair, speed->class) : NULL;
    return (struct member){
        mw_distance_word(mw_distance_of(analysis->model, speed->src, speed->dst)),
        route ? transports->ways.at[route->way].name : "unknown",
        route ? mw_buffer_word(route->buffer) : "", speed};
}

/* What kind of thing two members are. */
static int kind_compare(const struct member *a, const struct member *b)
{
    int order = strcmp(a->distance, b->distance);
    order = order ? order : strcmp(a->transport, b->transport);
    order = order ? order : strcmp(a->buffer, b->buffer);
    return order ? order
                 : (a->speed->class > b->speed->class) - (a->speed->class < b->speed->class);
}

static int member_compare(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = kind_compare(a, b);
    return order ? order : (a->speed > b->speed) - (a->speed < b->speed); /* by src, dst */
}

/* --- what a pair reached, by metric ----------------------------------------------------------- */

static double value_of(const struct mw_speed *speed, enum mw_figure_metric metric)
{
    switch (metric) {
    case MW_METRIC_BANDWIDTH:
        return speed->usual;
    case MW_METRIC_THROUGHPUT:
        return mw_rate_value(&speed->throughput);
    default:
        return (double)speed->latency_median * 1e-9;
    }
}

static uint64_t samples_of(const struct mw_speed *speed, enum mw_figure_metric metric)
{
    switch (metric) {
    case MW_METRIC_BANDWIDTH:
        return speed->certain;
    case MW_METRIC_THROUGHPUT:
        return speed->messages;
    default:
        return speed->latencies;
    }
}

static int value_compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), value_compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* --- the same over time ----------------------------------------------------------------------- */

/* In SI. */
static size_t member_blocks(const struct mw_speed *speed, enum mw_figure_metric metric,
                            double blocks[MW_TRAIL_BLOCKS])
{
    const struct mw_trail *trail = metric == MW_METRIC_BANDWIDTH ? speed->paces
                                   : metric == MW_METRIC_LATENCY ? speed->delays
                                                                 : NULL;
    size_t count = trail ? mw_trail_means(trail, blocks) : 0;
    for (size_t i = 0; i < count; i++)
        blocks[i] =
            metric == MW_METRIC_LATENCY ? blocks[i] * 1e-9 : MW_SPEED_PACE * 1e9 / blocks[i];
    return count;
}

/* Block number `at` of `wanted`, of a member that has at least as many. */
static double regrouped(const double *blocks, size_t count, size_t at, size_t wanted)
{
    size_t from = at * count / wanted, to = (at + 1) * count / wanted;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += blocks[i];
    return sum / (double)(to - from);
}

/* By blocks: the median over the members that have enough of them to be compared; none where no
 * member has. */
static size_t fill_blocks(const struct member *members, size_t count, enum mw_figure_metric metric,
                          double blocks[MW_TRAIL_BLOCKS])
{
    double own[MW_TRAIL_BLOCKS];
    double *values = mw_alloc(count, sizeof(*values));
    size_t wanted = MW_TRAIL_BLOCKS + 1;
    for (size_t i = 0; i < count; i++) {
        size_t found = member_blocks(members[i].speed, metric, own);
        if (found >= MW_TRAIL_BLOCKS / 2 && found < wanted)
            wanted = found;
    }
    for (size_t block = 0; block < wanted && wanted <= MW_TRAIL_BLOCKS; block++) {
        size_t known = 0;
        for (size_t i = 0; i < count; i++) {
            size_t found = member_blocks(members[i].speed, metric, own);
            if (found >= wanted)
                values[known++] = regrouped(own, found, block, wanted);
        }
        blocks[block] = median(values, known);
    }
    free(values);
    return wanted <= MW_TRAIL_BLOCKS ? wanted : 0;
}

/* One metric of members of one kind: the median over those that have enough samples, or over all
 * where none has. */
static void put_metric(struct mw_digest *digest, struct mw_figure figure,
                       const struct member *members, size_t count)
{
    double blocks[MW_TRAIL_BLOCKS];
    double *values = mw_alloc(count, sizeof(*values));
    size_t judged = 0, known = 0;
    for (size_t i = 0; i < count; i++)
        judged += samples_of(members[i].speed, figure.metric) >= MW_SPEED_MIN_CERTAIN;
    for (size_t i = 0; i < count; i++) {
        uint64_t samples = samples_of(members[i].speed, figure.metric);
        double value = value_of(members[i].speed, figure.metric);
        figure.samples += samples;
        if (value > 0 && (!judged || samples >= MW_SPEED_MIN_CERTAIN))
            values[known++] = value;
    }
    if (known) {
        figure.value = median(values, known);
        figure.blocks = blocks;
        figure.block_count = fill_blocks(members, count, figure.metric, blocks);
        mw_digest_put_figure(digest, &figure);
    }
    free(values);
}

static void put_metrics(struct mw_digest *digest, struct mw_figure figure,
                        const struct member *members, size_t count)
{
    static const enum mw_figure_metric metrics[] = {MW_METRIC_BANDWIDTH, MW_METRIC_THROUGHPUT,
                                                    MW_METRIC_LATENCY};
    figure.distance = members[0].distance;
    figure.transport = (char *)members[0].transport;
    figure.buffer = members[0].buffer;
    figure.size_class = members[0].speed->class;
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        figure.metric = metrics[i];
        put_metric(digest, figure, members, count);
    }
}

void mw_digest_add_speeds(struct mw_digest *digest, const struct mw_analysis *analysis)
{
    const struct mw_speeds *speeds = analysis->exchange->speeds;
    struct member *members = mw_alloc(speeds->all.count, sizeof(*members));
    size_t count = 0;
    for (size_t i = 0; i < speeds->all.count; i++)
        if (speeds->all.at[i].src != speeds->all.at[i].dst)
            members[count++] = member_of(analysis, &speeds->all.at[i]);
    if (count)
        qsort(members, count, sizeof(*members), member_compare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !kind_compare(&members[i], &members[end]);)
            end++;
        put_metrics(digest, (struct mw_figure){.scope = MW_SCOPE_CLASS, .src = -1, .dst = -1},
                    &members[i], end - i);
    }
    for (size_t i = 0; i < count; i++)
        put_metrics(digest,
                    (struct mw_figure){.scope = MW_SCOPE_PAIR,
                                       .src = members[i].speed->src,
                                       .dst = members[i].speed->dst},
                    &members[i], 1);
    free(members);
}
