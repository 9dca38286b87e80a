/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds routes to a pair (transports_pair.h), and finds the size at which messages went from one way
 * to another by what was counted on the second. Main thread.
 */
#include "analyzer/analysis/transports_pair.h"

#define KINDS    (MW_MEMORY_UNKNOWN + 1)
#define NO_GPUS  (~(1u << MW_MEMORY_DEVICE))
#define ALL_GPUS (1u << MW_MEMORY_DEVICE)
#define ALL      (~0u)

struct amount {
    uint64_t messages, bytes;
};

/* What of a class came from each kind of buffer. */
static void class_amounts(const struct mw_pair_work *work, const struct mw_pair_class *class,
                          struct amount amounts[KINDS])
{
    amounts[MW_MEMORY_HOST] = (struct amount){class->messages, class->bytes};
    for (unsigned kind = 1; kind < KINDS; kind++)
        amounts[kind] = (struct amount){0, 0};
    for (size_t i = 0; i < work->buffer_count; i++) {
        const struct mw_pair_class *of = &work->buffers[i];
        if (of->class != class->class || of->kind == MW_MEMORY_HOST || of->kind >= KINDS)
            continue;
        amounts[of->kind] = (struct amount){of->messages, of->bytes};
        amounts[MW_MEMORY_HOST].messages -= of->messages;
        amounts[MW_MEMORY_HOST].bytes -= of->bytes;
    }
}

/* Adds one class to the route of a kind of buffer. */
static void route_grow(struct mw_route *route, unsigned class, struct amount amount)
{
    if (!route->messages)
        route->first_class = class;
    route->last_class = class;
    route->messages += amount.messages;
    route->bytes += amount.bytes;
}

/* Of messages of classes number `from` to `end` those out of `kinds` of buffers. What the evidence
 * counted is of all of them; each route has as much of it as its messages come to, the last one what
 * is over. */
static void routes_add(struct mw_pair_work *work, uint32_t way, unsigned kinds, size_t from,
                       size_t end, enum mw_certainty certainty, uint64_t carried,
                       const char *evidence)
{
    struct mw_route of[KINDS] = {0};
    struct mw_route *route = NULL;
    for (size_t i = from; i < end; i++) {
        struct amount amounts[KINDS];
        class_amounts(work, &work->classes[i], amounts);
        for (unsigned kind = 0; kind < KINDS; kind++)
            if (amounts[kind].messages && kinds >> kind & 1)
                route_grow(&of[kind], work->classes[i].class, amounts[kind]);
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (!of[kind].messages)
            continue;
        route = mw_vector_add(&work->pair->routes);
        *route = of[kind];
        route->way = way;
        route->buffer = kind;
        route->certainty = certainty;
        route->evidence = mw_work_keep(work, evidence);
        route->carried = carried < route->bytes ? carried : route->bytes;
        carried -= route->carried;
    }
    if (route)
        route->carried += carried;
}

void mw_route_add(struct mw_pair_work *work, uint32_t way, size_t from, size_t end,
                  enum mw_certainty certainty, uint64_t carried, const char *evidence)
{
    routes_add(work, way, ALL, from, end, certainty, carried, evidence);
}

void mw_route_extra(struct mw_pair_work *work, uint32_t way, enum mw_certainty certainty,
                    uint64_t carried, const char *evidence)
{
    for (size_t i = 0; i < work->pair->routes.count; i++)
        if (work->pair->routes.at[i].way == way) {
            work->pair->routes.at[i].carried += carried;
            return;
        }
    struct mw_route *route = mw_vector_add(&work->pair->routes);
    route->way = way;
    if (work->class_count) {
        route->first_class = work->classes[0].class;
        route->last_class = work->classes[work->class_count - 1].class;
    }
    route->certainty = certainty;
    route->carried = carried;
    route->evidence = mw_work_keep(work, evidence);
}

void mw_route_all(struct mw_pair_work *work, uint32_t way, enum mw_certainty certainty,
                  uint64_t carried, const char *evidence)
{
    if (work->class_count)
        mw_route_add(work, way, 0, work->class_count, certainty, carried, evidence);
    else
        mw_route_extra(work, way, certainty, carried, evidence);
}

static struct mw_route_split split_find(const struct mw_pair_work *work, int no_gpus,
                                        uint64_t bytes, uint64_t calls)
{
    uint64_t sum = 0, messages = 0, least = UINT64_MAX, slack = bytes / 50;
    size_t fits = work->class_count, best = work->class_count;
    for (size_t i = work->class_count; i-- > 0;) {
        struct amount amounts[KINDS], gpus = {0, 0};
        class_amounts(work, &work->classes[i], amounts);
        if (no_gpus)
            gpus = amounts[MW_MEMORY_DEVICE];
        sum += work->classes[i].bytes - gpus.bytes;
        messages += work->classes[i].messages - gpus.messages;
        uint64_t off = sum > bytes ? sum - bytes : bytes - sum;
        if (sum > bytes + slack || (calls && messages > calls + calls / 50))
            break;
        if (work->classes[i].class >= MW_SPLIT_FROM)
            fits = i;
        /* without calls to tell, small ones drown in the slack: then what is large alone will do */
        if (off <= slack && off < least && (calls || best == work->class_count)) {
            least = off;
            best = i;
        }
    }
    int exact = least != UINT64_MAX;
    return (struct mw_route_split){exact ? best : fits, exact, no_gpus};
}

struct mw_route_split mw_route_split_find(const struct mw_pair_work *work, uint64_t bytes,
                                          uint64_t calls)
{
    struct mw_route_split all = split_find(work, 0, bytes, calls);
    if (all.exact || !work->buffer_count)
        return all;
    struct mw_route_split host = split_find(work, 1, bytes, calls);
    return host.exact ? host : all;
}

void mw_route_split(struct mw_pair_work *work, uint32_t small, uint64_t rest,
                    enum mw_certainty small_certainty, const char *small_evidence, uint32_t large,
                    uint64_t bytes, uint64_t calls, const char *large_evidence)
{
    struct mw_route_split split = mw_route_split_find(work, bytes, calls);
    mw_route_add(work, small, 0, split.at, small_certainty, rest, small_evidence);
    if (!work->class_count && rest)
        mw_route_extra(work, small, small_certainty, rest, small_evidence);
    if (split.at == work->class_count) {
        mw_route_extra(work, large, MW_SEEN, bytes, large_evidence);
        return;
    }
    routes_add(work, large, split.no_gpus ? NO_GPUS : ALL, split.at, work->class_count,
               split.exact ? MW_SEEN : MW_CONCLUDED, bytes, large_evidence);
    if (split.no_gpus)
        routes_add(work, small, ALL_GPUS, split.at, work->class_count, MW_CONCLUDED, 0,
                   small_evidence);
}
