/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs that go another way than most of their kind (disagree.h). Compared by size class: copying
 * once or twice is one way here, as is any device of one provider: other rules look at those.
 */
#include "analyzer/analysis/transport_totals.h"
#include "analyzer/findings/disagree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/spaces.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

#define PAIRS_SHOWN 6
#define KINDS       3 /* within nodes, between nodes, within nodes without sharing memory */

static const char *const kinds[KINDS] = {"within nodes", "between nodes",
                                         "within nodes, in different namespaces"};

/* Ways that count as the same have the same number. */
struct same_ways {
    struct mw_index index;
    uint32_t *number; /* by way */
    MW_VECTOR(const char *) names;
};

struct comparison {
    const struct mw_finding_input *in;
    struct mw_spaces *spaces; /* by process */
    struct same_ways same;
    uint32_t *count;      /* pairs by [kind][class][same way] */
    unsigned char *usual; /* ways that are usual in a class or next to it, likewise */
};

static const char *same_name(const struct mw_way *way)
{
    if (way->kind == MW_WAY_SHARED || way->kind == MW_WAY_SINGLE_COPY)
        return "shared memory";
    return way->name;
}

static void find_same_ways(struct comparison *comparison)
{
    const struct mw_transports *transports = comparison->in->transports;
    struct same_ways *same = &comparison->same;
    same->number = mw_alloc(transports->ways.count + 1, sizeof(*same->number));
    for (size_t i = 0; i < transports->ways.count; i++) {
        const char *name = same_name(&transports->ways.at[i]);
        size_t at = mw_index_put(&same->index, mw_hash_text(1, name));
        if (at == same->names.count)
            *mw_vector_add(&same->names) = name;
        same->number[i] = (uint32_t)at;
    }
}

static int kind_of(const struct comparison *comparison, const struct mw_pair_transport *pair)
{
    const struct mw_model *model = comparison->in->model;
    int64_t a = mw_model_rank(model, pair->src), b = mw_model_rank(model, pair->dst);
    if (pair->src == pair->dst || pair->where == MW_WHERE_UNKNOWN)
        return -1;
    if (pair->where != MW_WHERE_NODE)
        return 1;
    return a < 0 || b < 0 || mw_spaces_share(&comparison->spaces[a], &comparison->spaces[b]) ? 0
                                                                                             : 2;
}

static size_t cell(const struct comparison *comparison, unsigned kind, unsigned class, uint32_t way)
{
    return (kind * (size_t)MW_SIZE_CLASSES + class) * comparison->same.names.count + way;
}

static void count_pair(struct comparison *comparison, const struct mw_pair_transport *pair)
{
    int kind = kind_of(comparison, pair);
    size_t classes;
    const struct mw_pair_class *class =
        mw_tally_classes(comparison->in->tally, pair->src, pair->dst, &classes);
    for (size_t i = 0; kind >= 0 && i < classes; i++) {
        const struct mw_route *route = mw_pair_route(pair, class[i].class);
        if (route)
            comparison->count[cell(comparison, (unsigned)kind, class[i].class,
                                   comparison->same.number[route->way])]++;
    }
}

/* A way is usual in a class when no other one is used by more pairs; one class further on either
 * side it may still be in use, as thresholds lie within classes. */
static void find_usual(struct comparison *comparison)
{
    size_t ways = comparison->same.names.count;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned class = 0; class < MW_SIZE_CLASSES; class ++) {
            const uint32_t *count = &comparison->count[cell(comparison, kind, class, 0)];
            size_t best = 0;
            for (size_t w = 1; w < ways; w++)
                if (count[w] > count[best])
                    best = w;
            if (!count[best])
                continue;
            unsigned from = class ? class - 1 : 0;
            unsigned to = class + 1 < MW_SIZE_CLASSES ? class + 1 : class;
            for (unsigned near = from; near <= to; near++)
                comparison->usual[cell(comparison, kind, near, (uint32_t)best)] = 1;
        }
}

/* The unusual way of a pair; -1 when all is usual. */
static int64_t unusual(const struct comparison *comparison, const struct mw_pair_transport *pair)
{
    int kind = kind_of(comparison, pair);
    size_t classes;
    const struct mw_pair_class *class =
        mw_tally_classes(comparison->in->tally, pair->src, pair->dst, &classes);
    for (size_t i = 0; kind >= 0 && i < classes; i++) {
        const struct mw_route *route = mw_pair_route(pair, class[i].class);
        if (route && !comparison->usual[cell(comparison, (unsigned)kind, class[i].class,
                                             comparison->same.number[route->way])])
            return comparison->same.number[route->way];
    }
    return -1;
}

static char *pair_words(const struct mw_finding_input *in, const struct mw_pair_transport *pair)
{
    return mw_pair_label(in->model, pair->src, pair->dst);
}

/* Pairs are sorted, and so are those of a dissent. */
static int is_among(const struct mw_finding_input *in, const struct mw_dissent *dissent,
                    const struct mw_pair_transport *pair)
{
    uint32_t number = (uint32_t)(pair - in->transports->pairs.at);
    size_t low = 0, high = dissent->pairs.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (dissent->pairs.at[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < dissent->pairs.count && dissent->pairs.at[low] == number;
}

/* The way that most pairs of a kind use, over all classes. */
static const char *usual_name(const struct comparison *comparison, unsigned kind, uint32_t but)
{
    uint64_t most = 0;
    const char *name = "others";
    for (uint32_t way = 0; way < comparison->same.names.count; way++) {
        uint64_t pairs = 0;
        for (unsigned class = 0; class < MW_SIZE_CLASSES; class ++)
            pairs += comparison->count[cell(comparison, kind, class, way)];
        if (way != but && pairs > most) {
            most = pairs;
            name = comparison->same.names.at[way];
        }
    }
    return name;
}

char *mw_dissent_title(const struct mw_finding_input *in, const struct mw_dissent *dissent)
{
    size_t count = dissent->pairs.count;
    char *pairs = NULL;
    for (size_t i = 0; i < count && i < PAIRS_SHOWN; i++)
        pairs = mw_list_add(pairs, ", ",
                            pair_words(in, &in->transports->pairs.at[dissent->pairs.at[i]]));
    if (count > PAIRS_SHOWN)
        pairs = mw_list_add(pairs, " and ", mw_format("%zu more", count - PAIRS_SHOWN));
    char *title =
        mw_format("%zu pair%s %s use%s %s, the others %s: %s", count, count == 1 ? "" : "s",
                  dissent->kind, count == 1 ? "s" : "", dissent->name, dissent->usual, pairs);
    free(pairs);
    return title;
}

int mw_dissent_say(const struct mw_finding_input *in, const struct mw_dissent *dissent,
                   struct mw_finding *finding)
{
    int one_way = 0;
    for (size_t i = 0; i < dissent->pairs.count && i < PAIRS_SHOWN; i++) {
        uint32_t number = dissent->pairs.at[i];
        const struct mw_pair_transport *pair = &in->transports->pairs.at[number];
        const struct mw_pair_transport *back =
            mw_transports_pair(in->transports, pair->dst, pair->src);
        char *words = pair_words(in, pair), *label = mw_transports_label(in->transports, pair);
        mw_finding_evidence(finding, mw_format("pair %s: %s", words, label));
        free(label);
        free(words);
        if (!back || !back->routes.count || is_among(in, dissent, back))
            continue;
        label = mw_transports_label(in->transports, back);
        mw_finding_evidence(finding, mw_format("the other way round: %s", label));
        free(label);
        one_way = 1;
    }
    return one_way;
}

static void collect(const struct comparison *comparison, struct mw_dissents *out)
{
    const struct mw_transports *transports = comparison->in->transports;
    struct mw_index index = {0};
    for (uint32_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        int64_t way = unusual(comparison, pair);
        if (way < 0)
            continue;
        unsigned kind = (unsigned)kind_of(comparison, pair);
        size_t at = mw_index_put(&index, (uint64_t)way * KINDS + kind);
        if (at == out->all.count) {
            struct mw_dissent *added = mw_vector_add(&out->all);
            mw_crowd_begin(&added->crowd, comparison->in->model);
            added->kind = kinds[kind];
            added->name = comparison->same.names.at[way];
            added->usual = usual_name(comparison, kind, (uint32_t)way);
        }
        struct mw_dissent *dissent = &out->all.at[at];
        *mw_vector_add(&dissent->pairs) = i;
        mw_crowd_add_rank(&dissent->crowd, pair->src);
        mw_crowd_add_rank(&dissent->crowd, pair->dst);
    }
    mw_index_free(&index);
}

void mw_dissents_find(const struct mw_finding_input *in, struct mw_dissents *out)
{
    struct comparison comparison = {.in = in};
    comparison.spaces = mw_spaces_read(in->model);
    find_same_ways(&comparison);
    size_t cells = KINDS * (size_t)MW_SIZE_CLASSES * comparison.same.names.count + 1;
    comparison.count = mw_alloc(cells, sizeof(*comparison.count));
    comparison.usual = mw_alloc(cells, 1);
    for (size_t i = 0; i < in->transports->pairs.count; i++)
        count_pair(&comparison, &in->transports->pairs.at[i]);
    find_usual(&comparison);
    *out = (struct mw_dissents){0};
    collect(&comparison, out);
    free(comparison.spaces);
    mw_index_free(&comparison.same.index);
    free(comparison.same.names.at);
    free(comparison.same.number);
    free(comparison.count);
    free(comparison.usual);
}

void mw_dissents_free(struct mw_dissents *dissents)
{
    for (size_t i = 0; i < dissents->all.count; i++) {
        mw_crowd_end(&dissents->all.at[i].crowd);
        free(dissents->all.at[i].pairs.at);
    }
    free(dissents->all.at);
    *dissents = (struct mw_dissents){0};
}
