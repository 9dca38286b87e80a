/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the transports of a job (transport_totals.h). One pass over the pairs, then sorting. */
#include "analyzer/analysis/transport_totals.h"

#include <stdlib.h>
#include <string.h>

const struct mw_route *mw_pair_route(const struct mw_pair_transport *pair, unsigned size_class)
{
    for (size_t i = 0; i < pair->routes.count; i++)
        if (pair->routes.at[i].messages && pair->routes.at[i].first_class <= size_class &&
            pair->routes.at[i].last_class >= size_class)
            return &pair->routes.at[i];
    return NULL;
}

static void sizes_add(struct mw_route_sizes *sizes, const struct mw_route *route)
{
    if (!route->messages)
        return;
    if (!sizes->any || route->first_class < sizes->first_class)
        sizes->first_class = route->first_class;
    if (!sizes->any || route->last_class > sizes->last_class)
        sizes->last_class = route->last_class;
    sizes->any = 1;
}

static void way_add(struct mw_way_total *way, const struct mw_pair_transport *pair,
                    const struct mw_route *route)
{
    way->messages += route->messages;
    way->bytes += route->bytes;
    way->carried += route->carried;
    way->bytes_where[pair->where] += route->bytes;
    way->bytes_of[route->buffer] += route->bytes;
    if (route->certainty == MW_SEEN)
        way->seen += route->bytes;
    else
        way->concluded += route->bytes;
    sizes_add(&way->sizes, route);
}

struct latency {
    uint32_t way;
    uint64_t ns;
};
typedef MW_VECTOR(struct latency) latencies;

/* Credits what was measured of a pair to the ways that its small and its large messages took. */
static void speed_add(struct mw_transport_totals *totals, latencies *all,
                      const struct mw_pair_transport *pair)
{
    const struct mw_speed *small = mw_speeds_small(totals->speeds, pair->src, pair->dst);
    const struct mw_speed *large = mw_speeds_large(totals->speeds, pair->src, pair->dst);
    const struct mw_route *route = small ? mw_pair_route(pair, small->class) : NULL;
    if (route)
        *mw_vector_add(all) = (struct latency){route->way, small->latency_median};
    route = large ? mw_pair_route(pair, large->class) : NULL;
    if (!route)
        return;
    struct mw_way_total *way = &totals->ways.at[route->way];
    int bound;
    double rate = mw_speed_in_flight(large, &bound);
    way->rate_pairs++;
    if (rate > way->best_rate) {
        way->best_rate = rate;
        way->best_bound = bound;
        way->best_src = pair->src;
        way->best_dst = pair->dst;
    }
}

static int latency_compare(const void *left, const void *right)
{
    const struct latency *a = left, *b = right;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The median of each way's pairs. */
static void latencies_take(struct mw_transport_totals *totals, latencies *all)
{
    if (all->count)
        qsort(all->at, all->count, sizeof(all->at[0]), latency_compare);
    for (size_t from = 0, to; from < all->count; from = to) {
        for (to = from; to < all->count && all->at[to].way == all->at[from].way;)
            to++;
        totals->ways.at[all->at[from].way].latency = all->at[from + (to - from - 1) / 2].ns;
    }
    free(all->at);
}

int mw_route_repeats(const struct mw_pair_transport *pair, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (pair->routes.at[i].way == pair->routes.at[index].way)
            return 1;
    return 0;
}

/* The key of the group that a pair belongs to. */
static uint64_t pair_key(const struct mw_pair_transport *pair)
{
    uint64_t key = mw_mix((uint64_t)pair->where + 1);
    key = mw_hash_text(key, pair->unknown ? pair->unknown : "");
    key = mw_hash_text(key, pair->remainder_is ? pair->remainder_is : "");
    for (size_t i = 0; i < pair->routes.count; i++)
        key = mw_mix(key ^ ((uint64_t)pair->routes.at[i].way << 8 |
                            (uint64_t)pair->routes.at[i].buffer << 2 |
                            (uint64_t)pair->routes.at[i].certainty << 1 | 1));
    return key;
}

static void group_begin(struct mw_pair_group *group, const struct mw_pair_transport *pair)
{
    group->where = pair->where;
    group->unknown = pair->unknown;
    group->remainder_is = pair->remainder_is ? pair->remainder_is : "";
    for (size_t i = 0; i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        struct mw_route_total *total = mw_vector_add(&group->routes);
        total->way = route->way;
        total->buffer = route->buffer;
        total->certainty = route->certainty;
        total->evidence = route->evidence ? route->evidence : "";
    }
}

static void group_add(struct mw_pair_group *group, const struct mw_pair_transport *pair,
                      uint32_t number)
{
    *mw_vector_add(&group->pairs) = number;
    group->messages += pair->messages;
    group->bytes += pair->bytes;
    group->carried += pair->carried;
    group->remainder = (int64_t)(group->carried - group->bytes); /* a hostile sum may be over */
    for (size_t i = 0; i < pair->routes.count && i < group->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        struct mw_route_total *total = &group->routes.at[i];
        total->messages += route->messages;
        total->bytes += route->bytes;
        total->carried += route->carried;
        sizes_add(&total->sizes, route);
        if (route->evidence && strcmp(route->evidence, total->evidence))
            total->evidence_differs = 1;
    }
}

static int way_compare(const void *left, const void *right)
{
    const struct mw_way_total *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->carried != b->carried)
        return a->carried > b->carried ? -1 : 1;
    return (a->way > b->way) - (a->way < b->way);
}

static int group_compare(const void *left, const void *right)
{
    const struct mw_pair_group *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->messages != b->messages)
        return a->messages > b->messages ? -1 : 1;
    return (a->pairs.at[0] > b->pairs.at[0]) - (a->pairs.at[0] < b->pairs.at[0]);
}

static void totals_add(struct mw_transport_totals *totals, const struct mw_pair_transport *pair)
{
    totals->messages += pair->messages;
    totals->bytes += pair->bytes;
    if (!pair->routes.count && pair->unknown) {
        totals->unknown_pairs++;
        totals->unknown_messages += pair->messages;
        totals->unknown_bytes += pair->bytes;
    } else if (pair->unknown) {
        totals->partly_pairs++;
    }
    for (size_t i = 0; i < pair->routes.count; i++) {
        struct mw_way_total *way = &totals->ways.at[pair->routes.at[i].way];
        way->pairs += !mw_route_repeats(pair, i);
        way_add(way, pair, &pair->routes.at[i]);
    }
}

/* Leaves out the ways that no pair took. */
static void ways_sort(struct mw_transport_totals *totals)
{
    size_t kept = 0;
    for (size_t i = 0; i < totals->ways.count; i++)
        if (totals->ways.at[i].pairs)
            totals->ways.at[kept++] = totals->ways.at[i];
    totals->ways.count = kept;
    if (kept)
        qsort(totals->ways.at, kept, sizeof(totals->ways.at[0]), way_compare);
}

struct mw_transport_totals *mw_transport_totals_create(const struct mw_transports *transports,
                                                       const struct mw_speeds *speeds)
{
    struct mw_transport_totals *totals = mw_alloc(1, sizeof(*totals));
    struct mw_index index = {0};
    latencies all = {0};
    totals->transports = transports;
    totals->speeds = speeds;
    for (size_t i = 0; i < transports->ways.count; i++)
        mw_vector_add(&totals->ways)->way = (uint32_t)i;
    for (size_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        totals_add(totals, pair);
        speed_add(totals, &all, pair);
        size_t at = mw_index_put(&index, pair_key(pair));
        if (at == totals->groups.count)
            group_begin(mw_vector_add(&totals->groups), pair);
        group_add(&totals->groups.at[at], pair, (uint32_t)i);
    }
    mw_index_free(&index);
    latencies_take(totals, &all);
    ways_sort(totals);
    if (totals->groups.count)
        qsort(totals->groups.at, totals->groups.count, sizeof(totals->groups.at[0]), group_compare);
    return totals;
}

void mw_transport_totals_free(struct mw_transport_totals *totals)
{
    if (!totals)
        return;
    for (size_t i = 0; i < totals->groups.count; i++) {
        free(totals->groups.at[i].routes.at);
        free(totals->groups.at[i].pairs.at);
    }
    free(totals->groups.at);
    free(totals->ways.at);
    free(totals);
}

static int rank_compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static size_t ranks_unique(int64_t *ranks, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(ranks, count, sizeof(*ranks), rank_compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    return kept;
}

/* How many ranks are in both of two sorted lists. */
static size_t ranks_common(const struct mw_group_members *members)
{
    size_t common = 0, s = 0, d = 0;
    while (s < members->sources.count && d < members->destinations.count) {
        int64_t source = members->sources.at[s], destination = members->destinations.at[d];
        common += source == destination;
        s += source <= destination;
        d += destination <= source;
    }
    return common;
}

/* How many ordered pairs of different ranks of a list are on one node; -1 where the node of one is
 * not known. */
static int64_t pairs_on_nodes(const struct mw_model *model, const int64_t *ranks, size_t count)
{
    int64_t *nodes = mw_alloc(count, sizeof(*nodes)), pairs = 0;
    for (size_t i = 0; i < count; i++)
        nodes[i] = mw_model_rank_node(model, ranks[i]);
    if (count)
        qsort(nodes, count, sizeof(*nodes), rank_compare);
    if (count && nodes[0] < 0)
        pairs = -1;
    for (size_t from = 0, to; from < count && pairs >= 0; from = to) {
        for (to = from; to < count && nodes[to] == nodes[from];)
            to++;
        pairs += (int64_t)((to - from) * (to - from - 1));
    }
    free(nodes);
    return pairs;
}

static enum mw_shape shape_of(const struct mw_transport_totals *totals, size_t pairs,
                              const struct mw_group_members *members, size_t common)
{
    size_t sources = members->sources.count, destinations = members->destinations.count;
    int same = common == sources && common == destinations;
    if (pairs == sources * destinations - common)
        return same ? MW_SHAPE_EACH_OTHER : MW_SHAPE_ALL_TO_ALL;
    if (!same)
        return MW_SHAPE_SOME;
    int64_t within = pairs_on_nodes(totals->transports->tally->model, members->sources.at, sources);
    if (within < 0)
        return MW_SHAPE_SOME;
    if (pairs == (size_t)within)
        return MW_SHAPE_WITHIN_NODES;
    return pairs == sources * (sources - 1) - (size_t)within ? MW_SHAPE_ACROSS_NODES
                                                             : MW_SHAPE_SOME;
}

void mw_pair_group_members(const struct mw_transport_totals *totals,
                           const struct mw_pair_group *group, struct mw_group_members *members)
{
    size_t selves = 0;
    *members = (struct mw_group_members){0};
    for (size_t i = 0; i < group->pairs.count; i++) {
        const struct mw_pair_transport *pair = &totals->transports->pairs.at[group->pairs.at[i]];
        *mw_vector_add(&members->sources) = pair->src;
        *mw_vector_add(&members->destinations) = pair->dst;
        selves += pair->src == pair->dst;
    }
    members->sources.count = ranks_unique(members->sources.at, members->sources.count);
    members->destinations.count =
        ranks_unique(members->destinations.at, members->destinations.count);
    if (selves == group->pairs.count)
        members->shape = MW_SHAPE_SELF;
    else if (!selves)
        members->shape = shape_of(totals, group->pairs.count, members, ranks_common(members));
}

void mw_group_members_free(struct mw_group_members *members)
{
    free(members->sources.at);
    free(members->destinations.at);
    *members = (struct mw_group_members){0};
}
