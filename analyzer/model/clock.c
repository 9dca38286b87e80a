/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of a job's nodes and their corrections (clock.h). Nodes are tied together along a tree
 * whose edges are those with the smallest error; a correction is kept at knots in time.
 */
#include "analyzer/model/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/clock_hull.h"

/* Ns that no honest clock is away; keeps sums of a hostile one's times within 64 bits. */
#define FAR 0x1p59

/* The difference of the clocks of two nodes, first < second: what must be added to the second's
 * minus what must be added to the first's. */
struct edge {
    uint32_t first, second;
    struct mw_clock_edge bounds;
    struct mw_clock_fit fit;
    double apart, error; /* in the middle of what it covers, ns */
};

struct mw_clock {
    const struct mw_model *model;
    struct mw_index domain_index, edge_index;
    MW_VECTOR(struct mw_clock_domain) domains;
    uint32_t *by_process;
    MW_VECTOR(struct edge) edges;
};

/* One boot of one host, by one source of time. */
static uint64_t domain_key(const struct mw_process *process)
{
    uint64_t key = mw_hash_text(mw_hash_text(7, process->host), process->boot_id);
    return mw_mix(key ^ (uint64_t)process->clock);
}

/* A node's line goes through the first and the last reading that any of its processes took. */
struct readings {
    const struct mw_clock_reading *first, *last;
};

static void readings_add(struct readings *readings, const struct mw_process *process)
{
    for (size_t i = 0; i < process->clock_count; i++) {
        const struct mw_clock_reading *at = &process->clocks[i];
        if (!readings->first || at->time < readings->first->time)
            readings->first = at;
        if (!readings->last || at->time > readings->last->time)
            readings->last = at;
    }
}

static void domain_time(struct mw_clock_domain *domain, const struct readings *readings,
                        enum mw_clock_kind kind)
{
    const struct mw_clock_reading *first = readings->first, *last = readings->last;
    if (!first || first->real_ns > INT64_MAX / 2)
        return;
    domain->origin = first->time;
    domain->origin_ns = (int64_t)first->real_ns;
    domain->tick = kind == MW_CLOCK_MONOTONIC ? 1 : 0;
    if (!domain->tick && last->time > first->time && last->raw_ns > first->raw_ns)
        domain->tick = (double)(last->raw_ns - first->raw_ns) / (double)(last->time - first->time);
    domain->timed = domain->tick > 0;
    domain->from = (int64_t)first->real_ns;
    double length = domain->tick * (double)(last->time - first->time);
    domain->to = domain->from + (int64_t)fmin(FAR, length);
}

struct mw_clock *mw_clock_create(const struct mw_model *model)
{
    struct mw_clock *clock = mw_alloc(1, sizeof(*clock));
    MW_VECTOR(struct readings) readings = {0};
    MW_VECTOR(enum mw_clock_kind) kinds = {0};
    clock->model = model;
    clock->by_process = mw_alloc(model->process_count, sizeof(clock->by_process[0]));
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        size_t number = mw_index_put(&clock->domain_index, domain_key(process));
        if (number == clock->domains.count) {
            mw_vector_add(&clock->domains)->host = process->host;
            mw_vector_add(&readings);
            *mw_vector_add(&kinds) = process->clock;
        }
        clock->domains.at[number].processes++;
        readings_add(&readings.at[number], process);
        clock->by_process[i] = (uint32_t)number;
    }
    for (size_t i = 0; i < clock->domains.count; i++)
        domain_time(&clock->domains.at[i], &readings.at[i], kinds.at[i]);
    if (clock->domains.count)
        clock->domains.at[0].synchronised = 1;
    free(readings.at);
    free(kinds.at);
    return clock;
}

void mw_clock_free(struct mw_clock *clock)
{
    if (!clock)
        return;
    for (size_t i = 0; i < clock->edges.count; i++) {
        mw_clock_fit_free(&clock->edges.at[i].fit);
        mw_clock_edge_free(&clock->edges.at[i].bounds);
    }
    mw_index_free(&clock->domain_index);
    mw_index_free(&clock->edge_index);
    free(clock->edges.at);
    free(clock->domains.at);
    free(clock->by_process);
    free(clock);
}

size_t mw_clock_domain_count(const struct mw_clock *clock)
{
    return clock->domains.count;
}

const struct mw_clock_domain *mw_clock_domain(const struct mw_clock *clock, size_t domain)
{
    return &clock->domains.at[domain];
}

size_t mw_clock_domain_of(const struct mw_clock *clock, size_t process)
{
    return clock->by_process[process];
}

int mw_clock_knows(const struct mw_clock *clock, size_t process)
{
    return clock->domains.at[clock->by_process[process]].timed;
}

/* The correction of a node at a time, and by how much it may be wrong. Beyond the knots the nearest
 * straight line goes on, as long as the clocks may have run apart. */
static double domain_at(const struct mw_clock_domain *domain, int64_t ns, double *error)
{
    double span = (double)(domain->knots_to - domain->knots_from);
    double at = span > 0 ? (double)(ns - domain->knots_from) / span * (MW_CLOCK_KNOTS - 1) : 0;
    size_t knot = at <= 0 ? 0 : at >= MW_CLOCK_KNOTS - 1 ? MW_CLOCK_KNOTS - 2 : (size_t)at;
    double first = domain->correction[knot], second = domain->correction[knot + 1];
    int64_t beyond = ns < domain->knots_from ? domain->knots_from - ns
                     : ns > domain->knots_to ? ns - domain->knots_to
                                             : 0;
    *error = fmax(domain->error[knot], domain->error[knot + 1]) + MW_CLOCK_DRIFT * (double)beyond;
    return fmax(-FAR, fmin(FAR, first + (at - (double)knot) * (second - first)));
}

int64_t mw_clock_ns(const struct mw_clock *clock, size_t process, uint64_t ticks)
{
    const struct mw_clock_domain *domain = &clock->domains.at[clock->by_process[process]];
    int back = ticks < domain->origin;
    double since = domain->tick * (double)(back ? domain->origin - ticks : ticks - domain->origin);
    if (since > FAR)
        since = FAR;
    int64_t ns = domain->origin_ns + (int64_t)(back ? -since : since + 0.5);
    double ignored;
    return domain->bounds ? ns + (int64_t)llround(domain_at(domain, ns, &ignored)) : ns;
}

/* At a time on the common clock: the corrections are by the node's own. */
static void domain_error(const struct mw_clock_domain *domain, int64_t ns, double *error)
{
    if (domain->bounds)
        domain_at(domain, ns - (int64_t)domain_at(domain, ns, error), error);
}

double mw_clock_error(const struct mw_clock *clock, size_t first, size_t second, int64_t ns)
{
    const struct mw_clock_domain *a = &clock->domains.at[clock->by_process[first]];
    const struct mw_clock_domain *b = &clock->domains.at[clock->by_process[second]];
    double one = 0, two = 0;
    if (a == b)
        return 0;
    if (!a->synchronised || !b->synchronised)
        return INFINITY;
    domain_error(a, ns, &one);
    domain_error(b, ns, &two);
    return fmin(FAR, one + two);
}

void mw_clock_bound(struct mw_clock *clock, size_t first, int64_t before, size_t second,
                    int64_t after)
{
    uint32_t a = clock->by_process[first], b = clock->by_process[second];
    if (a == b)
        return;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t at = mw_index_put(&clock->edge_index, (uint64_t)low << 32 | high);
    if (at == clock->edges.count)
        *mw_vector_add(&clock->edges) = (struct edge){.first = low, .second = high};
    /* before + c(a) <= after + c(b) */
    double least = (double)(before - after);
    if (a == low)
        mw_clock_edge_add(&clock->edges.at[at].bounds, after, least, 0);
    else
        mw_clock_edge_add(&clock->edges.at[at].bounds, before, -least, 1);
}

/* The edge with the smallest error from a node that is tied to one that is not; NULL: no more. */
static struct edge *edge_next(struct mw_clock *clock)
{
    struct edge *best = NULL;
    for (size_t i = 0; i < clock->edges.count; i++) {
        struct edge *edge = &clock->edges.at[i];
        int first = clock->domains.at[edge->first].synchronised;
        int second = clock->domains.at[edge->second].synchronised;
        if (edge->fit.lines.count && first != second && (!best || edge->error < best->error))
            best = edge;
    }
    return best;
}

static int64_t knot_ns(const struct mw_clock_domain *domain, size_t knot)
{
    double part = (double)knot / (MW_CLOCK_KNOTS - 1);
    return domain->knots_from + (int64_t)(part * (double)(domain->knots_to - domain->knots_from));
}

/* Ties the node at the other end of an edge. */
static void edge_follow(struct mw_clock *clock, const struct edge *edge)
{
    int forth = clock->domains.at[edge->first].synchronised;
    const struct mw_clock_domain *known = &clock->domains.at[forth ? edge->first : edge->second];
    struct mw_clock_domain *found = &clock->domains.at[forth ? edge->second : edge->first];
    int64_t apart = (int64_t)fmax(
        -FAR, fmin(FAR, edge->apart)); /* an edge's times are those of its second node */
    mw_clock_fit_reach(&edge->fit, &edge->bounds, &found->knots_from, &found->knots_to);
    found->knots_from += forth ? 0 : apart;
    found->knots_to += forth ? 0 : apart;
    for (size_t i = 0; i < MW_CLOCK_KNOTS; i++) {
        int64_t own = knot_ns(found, i), second = forth ? own : own - apart;
        double error, known_error = 0;
        double value = mw_clock_fit_value(&edge->fit, &edge->bounds, second, &error);
        int64_t others = forth ? own + apart : second;
        double before = known->bounds ? domain_at(known, others, &known_error) : 0;
        found->correction[i] = before + (forth ? value : -value);
        found->error[i] = known_error + error;
    }
    found->synchronised = 1;
    found->bounds = edge->bounds.bounds;
    found->pieces = edge->fit.lines.count;
}

void mw_clock_fit(struct mw_clock *clock)
{
    for (size_t i = 0; i < clock->edges.count; i++) {
        struct edge *edge = &clock->edges.at[i];
        edge->fit = mw_clock_edge_fit(&edge->bounds);
        if (!edge->fit.lines.count)
            continue;
        int64_t from, to;
        mw_clock_fit_reach(&edge->fit, &edge->bounds, &from, &to);
        edge->apart =
            mw_clock_fit_value(&edge->fit, &edge->bounds, from / 2 + to / 2, &edge->error);
    }
    for (struct edge *edge = edge_next(clock); edge; edge = edge_next(clock))
        edge_follow(clock, edge);
}
