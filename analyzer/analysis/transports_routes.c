/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds routes to a pair (transports_pair.h), and finds the size at which messages went from one way
 * to another by what was counted on the second. Main thread.
 */
#include "analyzer/analysis/transports_pair.h"

void mw_route_add(struct mw_pair_work *work, uint32_t way, size_t from, size_t end,
                  enum mw_certainty certainty, uint64_t carried, const char *evidence)
{
    if (from >= end)
        return;
    struct mw_route *route = mw_vector_add(&work->pair->routes);
    route->way = way;
    route->first_class = work->classes[from].class;
    route->last_class = work->classes[end - 1].class;
    for (size_t i = from; i < end; i++) {
        route->messages += work->classes[i].messages;
        route->bytes += work->classes[i].bytes;
    }
    route->certainty = certainty;
    route->carried = carried;
    route->evidence = mw_work_keep(work, evidence);
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

size_t mw_route_split_at(const struct mw_pair_work *work, uint64_t bytes, uint64_t calls,
                         int *exact)
{
    uint64_t sum = 0, messages = 0, least = UINT64_MAX, slack = bytes / 50;
    size_t fits = work->class_count, best = work->class_count;
    for (size_t i = work->class_count; i-- > 0;) {
        sum += work->classes[i].bytes;
        messages += work->classes[i].messages;
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
    *exact = least != UINT64_MAX;
    return *exact ? best : fits;
}

void mw_route_split(struct mw_pair_work *work, uint32_t small, uint64_t rest,
                    enum mw_certainty small_certainty, const char *small_evidence, uint32_t large,
                    uint64_t bytes, uint64_t calls, const char *large_evidence)
{
    int exact;
    size_t at = mw_route_split_at(work, bytes, calls, &exact);
    mw_route_add(work, small, 0, at, small_certainty, rest, small_evidence);
    if (!work->class_count && rest)
        mw_route_extra(work, small, small_certainty, rest, small_evidence);
    if (at < work->class_count)
        mw_route_add(work, large, at, work->class_count, exact ? MW_SEEN : MW_CONCLUDED, bytes,
                     large_evidence);
    else
        mw_route_extra(work, large, MW_SEEN, bytes, large_evidence);
}
