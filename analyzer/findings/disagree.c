/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "transports-disagree": ranks of one job chose differently, or pairs of the same kind (within
 * nodes among themselves, between nodes among themselves) use different ways for messages of the
 * same size. The fewer are named. Copying once or twice is one way here, as is any device of one
 * provider: other rules look at those.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/used.h"
#include "analyzer/findings/words.h"

#define PAIRS_SHOWN 6
#define KINDS_SHOWN 6
#define KINDS       2 /* within nodes, between nodes */

/* --- what the ranks chose --- */

struct choice {
    char *words;
    struct mw_crowd crowd;
};

struct choices {
    const struct mw_finding_input *in;
    struct mw_index index; /* by hash of the words */
    MW_VECTOR(struct choice) list;
};

/* What must be equal. BTLs may differ between nodes, the PML over them may not. */
static char *chosen(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_process_choice *choice = &in->transports->choices[process];
    if (choice->pml[0] && !strcmp(choice->pml, "cm") && choice->mtl[0])
        return mw_format("PML cm with MTL %s", choice->mtl);
    if (choice->pml[0])
        return mw_format("PML %s", choice->pml);
    return choice->netmod[0] ? mw_format("netmod %s", choice->netmod) : NULL;
}

static int larger_crowd(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    return (a->crowd.count < b->crowd.count) - (a->crowd.count > b->crowd.count);
}

static void look_at_choices(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct choices choices = {.in = in};
    for (uint32_t i = 0; i < in->model->process_count; i++) {
        char *words = chosen(in, i);
        if (!words)
            continue;
        size_t at = mw_index_put(&choices.index, mw_hash_text(1, words));
        if (at == choices.list.count) {
            struct choice *added = mw_vector_add(&choices.list);
            added->words = words;
            mw_crowd_begin(&added->crowd, in->model);
        } else {
            free(words);
        }
        mw_crowd_add(&choices.list.at[at].crowd, i);
    }
    if (choices.list.count > 1) {
        qsort(choices.list.at, choices.list.count, sizeof(choices.list.at[0]), larger_crowd);
        const struct choice *most = &choices.list.at[0], *few = &choices.list.at[1];
        char *names = mw_crowd_names(&few->crowd), *others = mw_crowd_names(&most->crowd);
        struct mw_finding *finding = mw_finding_add(
            out, "transports-disagree", MW_WARNING,
            mw_format("Ranks chose differently: %s %s, %s %s", names, few->words, others,
                      most->words));
        for (size_t i = 0; i < choices.list.count && i < KINDS_SHOWN; i++) {
            char *whom = mw_crowd_names(&choices.list.at[i].crowd);
            mw_finding_evidence(finding, mw_format("%s: %s", choices.list.at[i].words, whom));
            free(whom);
        }
        finding->advice = mw_text_copy(
            "Compare the libraries, parameters and devices of these ranks: something fails, is "
            "missing or is set on some of them only.");
        struct mw_crowd minority;
        mw_crowd_begin(&minority, in->model);
        for (uint32_t i = 0; i < in->model->process_count; i++)
            for (size_t c = 1; c < choices.list.count; c++)
                if (mw_crowd_has(&choices.list.at[c].crowd, i))
                    mw_crowd_add(&minority, i);
        mw_crowd_give(&minority, finding);
        mw_crowd_end(&minority);
        free(names);
        free(others);
    }
    for (size_t i = 0; i < choices.list.count; i++) {
        free(choices.list.at[i].words);
        mw_crowd_end(&choices.list.at[i].crowd);
    }
    free(choices.list.at);
    mw_index_free(&choices.index);
}

/* --- what the pairs used --- */

/* Ways that count as the same have the same number. */
struct same_ways {
    struct mw_index index;
    uint32_t *number; /* by way */
    MW_VECTOR(const char *) names;
};

struct comparison {
    const struct mw_finding_input *in;
    struct same_ways same;
    uint32_t *count;      /* pairs by [kind][class][same way] */
    unsigned char *usual; /* ways that are usual in a class or next to it, likewise */
};

struct dissent { /* pairs that use another way than the usual one */
    uint32_t way;
    unsigned kind;
    MW_VECTOR(uint32_t) pairs;
    struct mw_crowd crowd;
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

static int kind_of(const struct mw_pair_transport *pair)
{
    if (pair->src == pair->dst)
        return -1;
    return pair->where == MW_WHERE_NODE ? 0 : pair->where == MW_WHERE_NETWORK ? 1 : -1;
}

static size_t cell(const struct comparison *comparison, unsigned kind, unsigned class,
                   uint32_t way)
{
    return (kind * (size_t)MW_SIZE_CLASSES + class) * comparison->same.names.count + way;
}

/* The main route of a class: routes are sorted, the main one of a class first. */
static const struct mw_route *route_of(const struct mw_pair_transport *pair, unsigned class)
{
    const struct mw_route *main = NULL;
    for (size_t r = 0; r < pair->routes.count; r++) {
        const struct mw_route *route = &pair->routes.at[r];
        if (route->messages && route->first_class <= class && class <= route->last_class && !main)
            main = route;
    }
    return main;
}

static void count_pair(struct comparison *comparison, const struct mw_pair_transport *pair)
{
    int kind = kind_of(pair);
    size_t classes;
    const struct mw_pair_class *class =
        mw_tally_classes(comparison->in->tally, pair->src, pair->dst, &classes);
    for (size_t i = 0; kind >= 0 && i < classes; i++) {
        const struct mw_route *route = route_of(pair, class[i].class);
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
        for (unsigned class = 0; class < MW_SIZE_CLASSES; class++) {
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
    int kind = kind_of(pair);
    size_t classes;
    const struct mw_pair_class *class =
        mw_tally_classes(comparison->in->tally, pair->src, pair->dst, &classes);
    for (size_t i = 0; kind >= 0 && i < classes; i++) {
        const struct mw_route *route = route_of(pair, class[i].class);
        if (route && !comparison->usual[cell(comparison, (unsigned)kind, class[i].class,
                                             comparison->same.number[route->way])])
            return comparison->same.number[route->way];
    }
    return -1;
}

/* The way that most pairs of a kind use, over all classes. */
static const char *usual_name(const struct comparison *comparison, unsigned kind, uint32_t but)
{
    uint64_t most = 0;
    const char *name = "others";
    for (uint32_t way = 0; way < comparison->same.names.count; way++) {
        uint64_t pairs = 0;
        for (unsigned class = 0; class < MW_SIZE_CLASSES; class++)
            pairs += comparison->count[cell(comparison, kind, class, way)];
        if (way != but && pairs > most) {
            most = pairs;
            name = comparison->same.names.at[way];
        }
    }
    return name;
}

static char *pair_words(const struct mw_pair_transport *pair)
{
    return mw_format("%" PRId64 " -> %" PRId64, pair->src, pair->dst);
}

static void report(const struct comparison *comparison, const struct dissent *dissent,
                   struct mw_findings *out)
{
    const struct mw_transports *transports = comparison->in->transports;
    const char *kind = dissent->kind ? "between nodes" : "within nodes";
    const char *name = comparison->same.names.at[dissent->way];
    const char *usual = usual_name(comparison, dissent->kind, dissent->way);
    char *pairs = NULL;
    for (size_t i = 0; i < dissent->pairs.count && i < PAIRS_SHOWN; i++)
        pairs = mw_list_add(pairs, ", ", pair_words(&transports->pairs.at[dissent->pairs.at[i]]));
    if (dissent->pairs.count > PAIRS_SHOWN)
        pairs = mw_list_add(pairs, " and ",
                            mw_format("%zu more", dissent->pairs.count - PAIRS_SHOWN));
    struct mw_finding *finding = mw_finding_add(
        out, "transports-disagree", MW_WARNING,
        mw_format("%zu pair%s %s use%s %s, the others %s: %s", dissent->pairs.count,
                  dissent->pairs.count == 1 ? "" : "s", kind,
                  dissent->pairs.count == 1 ? "s" : "", name, usual, pairs));
    size_t back = 0;
    for (size_t i = 0; i < dissent->pairs.count && i < PAIRS_SHOWN; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[dissent->pairs.at[i]];
        const struct mw_pair_transport *other =
            mw_transports_pair(transports, pair->dst, pair->src);
        char *words = pair_words(pair), *label = mw_transports_label(transports, pair);
        mw_finding_evidence(finding, mw_format("pair %s: %s", words, label));
        free(label);
        if (other && other->routes.count && unusual(comparison, other) != dissent->way) {
            label = mw_transports_label(transports, other);
            mw_finding_evidence(finding, mw_format("the other way round: %s", label));
            free(label);
            back++;
        }
        free(words);
    }
    finding->advice = mw_format(
        "Compare the libraries, parameters and devices of these ranks with those of the others: "
        "something fails, is missing or is set on some of them only.%s",
        back ? " Where only one direction differs, look at the sender first." : "");
    mw_crowd_give(&dissent->crowd, finding);
    free(pairs);
}

static void find_dissent(const struct comparison *comparison, struct mw_findings *out)
{
    const struct mw_transports *transports = comparison->in->transports;
    size_t ways = comparison->same.names.count;
    struct dissent *found = mw_alloc(KINDS * ways + 1, sizeof(*found));
    for (uint32_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        int64_t way = unusual(comparison, pair);
        if (way < 0)
            continue;
        unsigned kind = (unsigned)kind_of(pair);
        struct dissent *dissent = &found[kind * ways + (size_t)way];
        if (!dissent->pairs.count)
            mw_crowd_begin(&dissent->crowd, comparison->in->model);
        dissent->kind = kind;
        dissent->way = (uint32_t)way;
        *mw_vector_add(&dissent->pairs) = i;
        mw_crowd_add_rank(&dissent->crowd, pair->src);
        mw_crowd_add_rank(&dissent->crowd, pair->dst);
    }
    for (size_t i = 0; i < KINDS * ways; i++) {
        if (!found[i].pairs.count)
            continue;
        report(comparison, &found[i], out);
        free(found[i].pairs.at);
        mw_crowd_end(&found[i].crowd);
    }
    free(found);
}

static void look_at_pairs(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct comparison comparison = {.in = in};
    find_same_ways(&comparison);
    size_t cells = KINDS * (size_t)MW_SIZE_CLASSES * comparison.same.names.count + 1;
    comparison.count = mw_alloc(cells, sizeof(*comparison.count));
    comparison.usual = mw_alloc(cells, 1);
    for (size_t i = 0; i < in->transports->pairs.count; i++)
        count_pair(&comparison, &in->transports->pairs.at[i]);
    find_usual(&comparison);
    find_dissent(&comparison, out);
    mw_index_free(&comparison.same.index);
    free(comparison.same.names.at);
    free(comparison.same.number);
    free(comparison.count);
    free(comparison.usual);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    look_at_choices(in, out);
    look_at_pairs(in, out);
}

const struct mw_rule mw_rule_transports_disagree = {
    "transports-disagree", "ranks or pairs of the same kind do not use the same transport", find};
