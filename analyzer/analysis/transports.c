/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the transports of a job (transports.h) from its tally and the joined endpoints: pairs that
 * exchanged messages and pairs between which bytes were counted, merged in order. Nothing is ever
 * done for all pairs of ranks. Main thread.
 */
#include "analyzer/analysis/transports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports_build.h"

static int pair_compare(const void *left, const void *right)
{
    const struct mw_pair *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

static int order_of(int64_t src, int64_t dst, int64_t other_src, int64_t other_dst)
{
    if (src != other_src)
        return src < other_src ? -1 : 1;
    return (dst > other_dst) - (dst < other_dst);
}

static void add_pair(struct mw_building *building, int64_t src, int64_t dst,
                     const struct mw_pair *counted, const struct mw_flow *flows, size_t flow_count)
{
    uint64_t carried = 0;
    for (size_t i = 0; i < flow_count; i++)
        carried += flows[i].bytes;
    if (!(counted && counted->messages) && !carried)
        return;
    struct mw_pair_transport *pair = mw_vector_add(&building->out->pairs);
    pair->src = src;
    pair->dst = dst;
    if (counted) {
        pair->messages = counted->messages;
        pair->bytes = counted->bytes;
    }
    mw_pair_routes(building, pair, flows, flow_count);
    if (!pair->messages && !pair->carried && !pair->routes.count)
        building->out->pairs.count--; /* the bytes were not MPI's */
}

/* Both lists are sorted: one walk over both. */
static void merge_pairs(struct mw_building *building)
{
    const struct mw_tally *tally = building->tally;
    const struct mw_flow *flows = building->endpoints->flows.at;
    size_t flow_count = building->endpoints->flows.count, f = 0, p = 0;
    struct mw_pair *pairs = mw_alloc(tally->pairs.count, sizeof(*pairs));
    if (tally->pairs.count)
        memcpy(pairs, tally->pairs.at, tally->pairs.count * sizeof(*pairs));
    qsort(pairs, tally->pairs.count, sizeof(*pairs), pair_compare);
    while (p < tally->pairs.count || f < flow_count) {
        int order = p == tally->pairs.count ? 1
                    : f == flow_count
                        ? -1
                        : order_of(pairs[p].src, pairs[p].dst, flows[f].src, flows[f].dst);
        int64_t src = order <= 0 ? pairs[p].src : flows[f].src;
        int64_t dst = order <= 0 ? pairs[p].dst : flows[f].dst;
        size_t end = f;
        while (end < flow_count && flows[end].src == src && flows[end].dst == dst)
            end++;
        add_pair(building, src, dst, order <= 0 ? &pairs[p] : NULL, flows ? flows + f : NULL,
                 end - f);
        p += order <= 0;
        f = end;
    }
    free(pairs);
}

static void note_job(struct mw_building *building)
{
    for (size_t i = 0; i < building->model->process_count; i++)
        building->any_records |= building->endpoints->owners[i].recorded != 0;
    for (int i = 0; i < MW_SIZE_CLASSES; i++)
        building->collectives += building->tally->sizes[i].collectives;
}

struct mw_transports *mw_transports_create(const struct mw_tally *tally)
{
    struct mw_building building = {.tally = tally, .model = tally->model};
    struct mw_transports *out = mw_alloc(1, sizeof(*out));
    out->tally = tally;
    out->texts = mw_alloc(1, sizeof(*out->texts));
    building.out = out;
    building.endpoints = mw_endpoints_create(tally->model);
    note_job(&building);
    mw_choices_read(&building);
    mw_coverage_read(&building);
    mw_port_rates_read(&building);
    merge_pairs(&building);
    mw_failures_read(&building);
    mw_idle_read(&building);
    mw_index_free(&building.way_index);
    mw_index_free(&building.rate_index);
    free(building.rates.at);
    free(building.port_readers);
    free(building.stacks);
    mw_endpoints_free(building.endpoints);
    return out;
}

void mw_transports_free(struct mw_transports *transports)
{
    if (!transports)
        return;
    for (size_t i = 0; i < transports->pairs.count; i++)
        free(transports->pairs.at[i].routes.at);
    for (size_t i = 0; i < transports->failures.count; i++) {
        free(transports->failures.at[i].processes.at);
        free(transports->failures.at[i].log.at);
    }
    for (size_t i = 0; i < transports->idle.count; i++)
        free(transports->idle.at[i].processes.at);
    for (size_t i = 0; i < transports->coverage.count; i++)
        free(transports->coverage.at[i].processes.at);
    for (size_t i = 0; transports->choices && i < transports->tally->model->process_count; i++)
        free(transports->choices[i].btls);
    free(transports->pairs.at);
    free(transports->failures.at);
    free(transports->idle.at);
    free(transports->coverage.at);
    free(transports->ways.at);
    free(transports->choices);
    mw_kept_texts_free(transports->texts);
    free(transports);
}

const struct mw_pair_transport *mw_transports_pair(const struct mw_transports *transports,
                                                   int64_t src, int64_t dst)
{
    size_t low = 0, high = transports->pairs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mw_pair_transport *at = &transports->pairs.at[middle];
        int order = order_of(at->src, at->dst, src, dst);
        if (!order)
            return at;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The least size of a class: "0 B", "1 B", "4 KiB". */
static char *class_text(unsigned class)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned power = class ? class - 1 : 0;
    return mw_format("%u %s", class ? 1u << power % 10 : 0, units[power / 10]);
}

static char *append(char *text, char *more)
{
    char *longer = mw_format("%s%s", text, more);
    free(text);
    free(more);
    return longer;
}

const char *mw_buffer_word(enum mw_memory_kind kind)
{
    return kind == MW_MEMORY_HOST ? "host" : mw_memory_kind_word(kind);
}

/* What a route adds to the words for those before it, of which it is the first or not. Consumes
 * `text`. */
static char *label_add(char *text, const struct mw_route *route, const struct mw_way *way)
{
    int device = way->kind == MW_WAY_NETWORK && *way->device;
    char *name = mw_format("%s%s%s%s", way->name, device ? " (" : "", device ? way->device : "",
                           device ? ")" : "");
    if (!*text)
        return append(text, name);
    char *size = class_text(route->first_class);
    char *more = route->messages ? mw_format(", from %s on %s", size, name)
                                 : mw_format(", also %s", name);
    free(size);
    free(name);
    return append(text, more);
}

/* Of the routes of one kind of buffer that have messages, or of those that have none. */
static char *label_of(const struct mw_transports *transports, const struct mw_pair_transport *pair,
                      char *text, int messages, enum mw_memory_kind buffer)
{
    for (size_t i = 0; i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        if ((route->messages != 0) == messages && route->buffer == buffer)
            text = label_add(text, route, &transports->ways.at[route->way]);
    }
    return text;
}

/* Whether messages out of one kind of buffer went as those of their size out of another. */
static int ways_agree(const struct mw_pair_transport *pair, enum mw_memory_kind one,
                      enum mw_memory_kind other)
{
    for (size_t i = 0; i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        int same = 0;
        if (!route->messages || route->buffer != one)
            continue;
        for (size_t k = 0; k < pair->routes.count; k++) {
            const struct mw_route *with = &pair->routes.at[k];
            if (!with->messages || with->buffer != other)
                continue;
            same |= with->way == route->way;
            if (with->way != route->way && with->first_class <= route->last_class &&
                with->last_class >= route->first_class)
                return 0;
        }
        if (!same)
            return 0;
    }
    return 1;
}

char *mw_transports_label(const struct mw_transports *transports,
                          const struct mw_pair_transport *pair)
{
    char *text = mw_text_copy("");
    int named = -1;
    for (int kind = MW_MEMORY_HOST; kind <= MW_MEMORY_UNKNOWN; kind++) {
        char *own = label_of(transports, pair, mw_text_copy(""), 1, kind);
        if (*own && named < 0) {
            named = kind;
            text = append(text, own);
            continue;
        }
        if (*own && !ways_agree(pair, kind, named))
            text = append(text, mw_format("; %s memory: %s", mw_buffer_word(kind), own));
        free(own);
    }
    text = label_of(transports, pair, text, 0, MW_MEMORY_HOST);
    return *text ? text : append(text, mw_text_copy("unknown"));
}
