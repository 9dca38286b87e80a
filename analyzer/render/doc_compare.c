/* SPDX-License-Identifier: BSD-3-Clause */
/* A comparison as JSON (compare.h). Ratios are the new side over the base one, as the figures are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/render/compare.h"
#include "analyzer/render/json.h"

static json_t *texts_json(char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, mw_json_text(texts[i]));
    return list;
}

static json_t *listed_json(size_t total, json_t *listed)
{
    return json_pack("{s:o, s:o}", "total", mw_json_count(total), "listed", listed);
}

/* --- the runs --------------------------------------------------------------------------------- */

json_t *mw_doc_run(const struct mw_digest *run)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
        mw_json_text(run->path), "program", mw_json_text(run->program), "arguments",
        mw_json_text(run->arguments), "executable_id", mw_json_known(run->executable_id), "ranks",
        mw_json_number(run->ranks, -1), "recorded_ranks",
        mw_json_count((uint64_t)run->recorded_ranks), "nodes", mw_json_count((uint64_t)run->nodes),
        "began", mw_json_time(run->began ? (double)run->began : NAN), "crashed",
        mw_json_text(run->crashed), "incomplete", mw_json_text(run->incomplete), "disturbed",
        mw_json_text(run->disturbed), "messages", mw_json_count(run->messages), "bytes",
        mw_json_count(run->bytes), "calls", mw_json_count(run->calls), "collective_calls",
        mw_json_count(run->collective_calls));
}

static json_t *runs_json(const struct mw_runs *runs)
{
    json_t *list = json_array();
    for (size_t i = 0; i < runs->count; i++)
        json_array_append_new(list, mw_doc_run(runs->at[i]));
    return list;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* The new value over the base one: of what it costs the same, or its inverse. */
static double as_ratio(const struct mw_effect *effect, double cost)
{
    return mw_metric_more_is_better(effect->about->metric) ? 1 / cost : cost;
}

/* A number, or "2:3" where the run has several worlds; null of -1. */
static json_t *rank_json(const struct mw_digest *run, int64_t place)
{
    if (place >= 0 && (uint64_t)place < run->rank_names.count)
        return mw_json_take(mw_digest_rank(run, place));
    return mw_json_number(place, -1);
}

/* Ranks have the names of `run`. */
static json_t *effect_json(const struct mw_effect *effect, const struct mw_digest *run)
{
    const struct mw_figure *about = effect->about;
    const struct mw_change *change = &effect->change;
    int more = mw_metric_more_is_better(about->metric);
    int sized = about->scope == MW_SCOPE_CLASS || about->scope == MW_SCOPE_PAIR ||
                about->scope == MW_SCOPE_COLLECTIVE;
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "verdict",
                  mw_effect_word(effect->verdict), "scope", mw_scope_word(about->scope), "metric",
                  mw_metric_word(about->metric), "unit", mw_metric_unit(about->metric), "name",
                  mw_json_known(about->name), "distance", mw_json_known(about->distance),
                  "base_transport", mw_json_known(about->transport), "new_transport",
                  mw_json_known(effect->fresh_transport), "buffer", mw_json_known(about->buffer),
                  "src", rank_json(run, about->src), "dst", rank_json(run, about->dst));
    json_object_set_new(entry, "from",
                        sized ? mw_json_count(mw_class_from(about->size_class)) : json_null());
    json_object_set_new(entry, "to",
                        sized ? mw_json_count(mw_class_to(about->size_class)) : json_null());
    json_object_set_new(entry, "base", mw_json_real(effect->base));
    json_object_set_new(entry, "new", mw_json_real(effect->fresh));
    json_object_set_new(entry, "base_runs", mw_json_count(effect->base_runs));
    json_object_set_new(entry, "new_runs", mw_json_count(effect->fresh_runs));
    json_object_set_new(entry, "ratio", mw_json_real(as_ratio(effect, change->ratio)));
    json_object_set_new(entry, "ratio_low",
                        mw_json_real(as_ratio(effect, more ? change->high : change->low)));
    json_object_set_new(entry, "ratio_high",
                        mw_json_real(as_ratio(effect, more ? change->low : change->high)));
    json_object_set_new(entry, "slower_times", mw_json_real(change->ratio));
    json_object_set_new(entry, "p", mw_json_real(change->p));
    json_object_set_new(entry, "noise", mw_json_real(change->noise));
    json_object_set_new(entry, "counts", json_boolean(effect->counts));
    json_object_set_new(entry, "runs_needed", mw_json_known_count(effect->runs_needed));
    json_object_set_new(entry, "why", mw_json_text(effect->why));
    return entry;
}

/* What is the same is listed of classes and of the job only: there may be very many pairs. */
static int is_listed(const struct mw_effect *effect)
{
    enum mw_figure_scope scope = effect->about->scope;
    return effect->verdict < MW_EFFECT_SAME || scope == MW_SCOPE_CLASS || scope == MW_SCOPE_JOB ||
           scope == MW_SCOPE_COLLECTIVE;
}

static json_t *effects_json(const struct mw_comparison *comparison, size_t top)
{
    size_t counts[MW_EFFECT_UNJUDGED + 1] = {0};
    json_t *listed = json_array(), *verdicts = json_object();
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        counts[effect->verdict]++;
        if (is_listed(effect) && json_array_size(listed) < top)
            json_array_append_new(listed, effect_json(effect, comparison->fresh.at[0]));
    }
    for (int verdict = 0; verdict <= MW_EFFECT_UNJUDGED; verdict++)
        json_object_set_new(verdicts, mw_effect_word((enum mw_effect_verdict)verdict),
                            mw_json_count(counts[verdict]));
    json_t *figures = listed_json(comparison->effects.count, listed);
    json_object_set_new(figures, "verdicts", verdicts);
    json_object_set_new(figures, "too_few_samples", mw_json_count(comparison->too_few));
    json_object_set_new(figures, "judged_messages", mw_json_real(comparison->judged_messages));
    json_object_set_new(figures, "judged_bytes", mw_json_real(comparison->judged_bytes));
    return figures;
}

/* --- ways ------------------------------------------------------------------------------------- */

/* Changes that are the same for several pairs. */
struct group {
    const struct mw_identity *first;
    size_t count;
    json_t *pairs;
    const struct mw_effect *cost; /* the largest of them; NULL not measured */
};

struct costs {
    struct mw_index index;
    MW_VECTOR(const struct mw_effect *) largest; /* of each pair */
};

static uint64_t pair_key(int64_t src, int64_t dst)
{
    return (uint64_t)src << 32 | (uint64_t)dst;
}

static const struct mw_effect *larger(const struct mw_effect *a, const struct mw_effect *b)
{
    if (!a || !b)
        return a ? a : b;
    return fabs(log(b->change.ratio)) > fabs(log(a->change.ratio)) ? b : a;
}

static void costs_read(struct costs *costs, const struct mw_comparison *comparison)
{
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->about->scope != MW_SCOPE_PAIR || effect->about->metric == MW_METRIC_THROUGHPUT)
            continue;
        uint64_t key = pair_key(effect->about->src, effect->about->dst);
        size_t at = mw_index_put(&costs->index, key);
        if (at == costs->largest.count)
            *mw_vector_add(&costs->largest) = NULL;
        costs->largest.at[at] = larger(costs->largest.at[at], effect);
    }
}

static const struct mw_effect *costs_find(const struct costs *costs,
                                          const struct mw_identity *identity)
{
    if (identity->src < 0)
        return NULL;
    size_t at = mw_index_find(&costs->index, pair_key(identity->src, identity->dst));
    return at == MW_INDEX_NONE ? NULL : costs->largest.at[at];
}

static uint64_t identity_key(const struct mw_identity *identity)
{
    uint64_t key = mw_hash_text((uint64_t)identity->kind + 1, identity->base);
    key = mw_hash_text(mw_mix(key), identity->fresh);
    key = mw_hash_text(mw_mix(key), identity->distance);
    key = mw_hash_text(mw_mix(key), identity->name);
    return mw_mix(key ^
                  (uint64_t)(4 * identity->doubtful + 2 * identity->steady + identity->worse));
}

static json_t *group_json(struct group *group, const struct mw_digest *run)
{
    const struct mw_identity *first = group->first;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o}", "kind",
                     mw_identity_word(first->kind), "name", mw_json_known(first->name), "distance",
                     mw_json_known(first->distance), "base", mw_json_text(first->base), "new",
                     mw_json_text(first->fresh), "worse", first->worse, "doubtful", first->doubtful,
                     "steady", first->steady, "pairs",
                     mw_json_count(first->src < 0 ? 0 : group->count), "listed", group->pairs,
                     "largest_effect", group->cost ? effect_json(group->cost, run) : json_null());
}

static json_t *identities_json(const struct mw_comparison *comparison, size_t top)
{
    struct costs costs = {0};
    struct mw_index index = {0};
    MW_VECTOR(struct group) groups = {0};
    const struct mw_digest *run = comparison->fresh.at[0];
    json_t *list = json_array();
    costs_read(&costs, comparison);
    for (size_t i = 0; i < comparison->identities.count; i++) {
        const struct mw_identity *identity = &comparison->identities.at[i];
        size_t at = mw_index_put(&index, identity_key(identity));
        if (at == groups.count)
            *mw_vector_add(&groups) = (struct group){identity, 0, json_array(), NULL};
        struct group *group = &groups.at[at];
        group->count++;
        group->cost = larger(group->cost, costs_find(&costs, identity));
        if (identity->src >= 0 && json_array_size(group->pairs) < top)
            json_array_append_new(group->pairs, json_pack("{s:o, s:o, s:o, s:o}", "src",
                                                          rank_json(run, identity->src), "dst",
                                                          rank_json(run, identity->dst), "messages",
                                                          mw_json_count(identity->messages),
                                                          "bytes", mw_json_count(identity->bytes)));
    }
    for (size_t i = 0; i < groups.count; i++)
        json_array_append_new(list, group_json(&groups.at[i], run));
    mw_index_free(&index);
    mw_index_free(&costs.index);
    free(costs.largest.at);
    free(groups.at);
    return list;
}

/* --- suspects and the whole ------------------------------------------------------------------- */

static json_t *suspects_json(const struct mw_comparison *comparison, size_t top)
{
    json_t *listed = json_array();
    for (size_t i = 0; i < comparison->suspects.count && i < top; i++) {
        const struct mw_suspect *suspect = &comparison->suspects.at[i];
        json_array_append_new(
            listed,
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                      mw_fact_kind_word(suspect->kind), "name", mw_json_text(suspect->name), "base",
                      mw_json_known(suspect->base), "new", mw_json_known(suspect->fresh),
                      "base_detail", mw_json_known(suspect->base_detail), "new_detail",
                      mw_json_known(suspect->fresh_detail), "rank", mw_json_count(suspect->rank)));
    }
    return listed_json(comparison->suspects.count, listed);
}

json_t *mw_doc_compare(const struct mw_comparison *comparison, int exit_code, size_t top)
{
    json_t *document = mw_json_document("compare");
    json_object_set_new(document, "verdict", json_string(mw_outcome_word(comparison->outcome)));
    json_object_set_new(document, "exit_code", json_integer(exit_code));
    json_object_set_new(document, "runs_needed", mw_json_known_count(comparison->runs_needed));
    json_object_set_new(document, "threshold", mw_json_real(comparison->options.threshold));
    json_object_set_new(document, "looks", mw_json_count(comparison->options.looks));
    json_object_set_new(document, "forced", json_boolean(comparison->options.force));
    json_object_set_new(document, "obstacles",
                        texts_json(comparison->obstacles.at, comparison->obstacles.count));
    json_object_set_new(document, "notes",
                        texts_json(comparison->notes.at, comparison->notes.count));
    json_object_set_new(document, "identity", identities_json(comparison, top));
    json_object_set_new(document, "figures", effects_json(comparison, top));
    json_object_set_new(document, "suspects", suspects_json(comparison, top));
    json_object_set_new(document, "base", runs_json(&comparison->base));
    json_object_set_new(document, "new", runs_json(&comparison->fresh));
    return document;
}
