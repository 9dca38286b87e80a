/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories as JSON (history.h): runs, what changed between them, trends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/regression/trends.h"
#include "analyzer/render/compare.h"
#include "analyzer/render/history.h"
#include "analyzer/render/json.h"

json_t *mw_doc_history_run(const struct mw_store_run *run)
{
    json_t *tags = json_object(), *object = mw_doc_run(run->digest);
    for (size_t i = 0; i < run->tags.count; i++) {
        json_t *key = mw_json_text(run->tags.at[i].key);
        json_object_set_new(tags, json_string_value(key), mw_json_text(run->tags.at[i].value));
        json_decref(key);
    }
    json_object_set_new(object, "id", json_integer(run->id));
    json_object_set_new(object, "added", mw_json_time((double)run->added));
    json_object_set_new(object, "benchmark", mw_json_text(run->benchmark));
    json_object_set_new(object, "stack", mw_json_text(run->stack));
    json_object_set_new(object, "in_trends", json_boolean(mw_trends_take(run->digest)));
    json_object_set_new(object, "tags", tags);
    return object;
}

json_t *mw_doc_history_list(const struct mw_store_runs *runs)
{
    json_t *document = mw_json_document("history-list"), *list = json_array();
    for (size_t i = 0; i < runs->all.count; i++)
        json_array_append_new(list, mw_doc_history_run(&runs->all.at[i]));
    json_object_set_new(document, "runs", list);
    return document;
}

/* --- what changed between two runs ------------------------------------------------------------ */

/* {before, run, identity, suspects}: the ways that messages took, and the facts that differ. */
static json_t *difference_json(const struct mw_store_run *before, const struct mw_store_run *run)
{
    const struct mw_digest *old = before->digest, *new = run->digest;
    struct mw_compare_options options = {
        .threshold = MW_CHANGEPOINT_LEAST, .parts = MW_COMPARE_TRANSPORTS, .force = 1, .looks = 1};
    struct mw_comparison *comparison =
        mw_comparison_create((struct mw_runs){&old, 1}, (struct mw_runs){&new, 1}, &options);
    json_t *whole = mw_doc_compare(comparison, 0, SIZE_MAX);
    json_t *difference = json_pack(
        "{s:I, s:I, s:O, s:O, s:b}", "before", (json_int_t)before->id, "run", (json_int_t)run->id,
        "identity", json_object_get(whole, "identity"), "suspects",
        json_object_get(whole, "suspects"), "same_stack", !strcmp(before->stack, run->stack));
    json_decref(whole);
    mw_comparison_free(comparison);
    return difference;
}

/* --- one run ---------------------------------------------------------------------------------- */

static json_t *facts_json(const struct mw_digest *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->stack.count; i++) {
        const struct mw_digest_fact *fact = &run->stack.at[i];
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", mw_fact_kind_word(fact->kind), "name",
                      mw_json_text(fact->name), "value", mw_json_text(fact->value), "detail",
                      mw_json_known(fact->detail), "ranks", mw_json_number(fact->ranks, 0)));
    }
    return list;
}

static void put_sizes(json_t *object, unsigned first_class, unsigned last_class)
{
    json_object_set_new(object, "from", mw_json_count(mw_class_from(first_class)));
    json_object_set_new(object, "to", mw_json_count(mw_class_to(last_class)));
}

static json_t *ways_json(const struct mw_digest *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->ways.count; i++) {
        const struct mw_digest_way *way = &run->ways.at[i];
        json_t *entry =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "distance",
                      mw_json_known(way->distance), "buffer", mw_json_known(way->buffer),
                      "transport", mw_json_text(way->transport), "layer", mw_json_known(way->layer),
                      "device", mw_json_known(way->device), "pairs", mw_json_count(way->pairs),
                      "messages", mw_json_count(way->messages), "bytes", mw_json_count(way->bytes));
        put_sizes(entry, way->first_class, way->last_class);
        json_array_append_new(list, entry);
    }
    return list;
}

/* What a figure is about, with nothing in it yet. */
static json_t *figure_json(const struct mw_figure *figure)
{
    enum mw_figure_scope scope = figure->scope;
    int sized = scope == MW_SCOPE_CLASS || scope == MW_SCOPE_COLLECTIVE;
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "scope", mw_scope_word(scope),
                  "metric", mw_metric_word(figure->metric), "unit", mw_metric_unit(figure->metric),
                  "more_is_better", mw_metric_more_is_better(figure->metric), "distance",
                  mw_json_known(figure->distance), "transport", mw_json_known(figure->transport),
                  "buffer", mw_json_known(figure->buffer), "name", mw_json_known(figure->name));
    if (sized) {
        put_sizes(entry, figure->size_class, figure->size_class);
    } else {
        json_object_set_new(entry, "from", json_null());
        json_object_set_new(entry, "to", json_null());
    }
    return entry;
}

static json_t *figures_json(const struct mw_digest *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->figures.count; i++) {
        json_t *entry = figure_json(&run->figures.at[i]);
        json_object_set_new(entry, "value", mw_json_real(run->figures.at[i].value));
        json_object_set_new(entry, "samples", mw_json_count(run->figures.at[i].samples));
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *mw_doc_history_show(const struct mw_store_run *run, const struct mw_store_run *before)
{
    json_t *document = mw_json_document("history-show");
    json_object_set_new(document, "run", mw_doc_history_run(run));
    json_object_set_new(document, "difference",
                        before ? difference_json(before, run) : json_null());
    json_object_set_new(document, "facts", facts_json(run->digest));
    json_object_set_new(document, "ways", ways_json(run->digest));
    json_object_set_new(document, "figures", figures_json(run->digest));
    return document;
}

/* --- a benchmark ------------------------------------------------------------------------------ */

static json_t *change_json(const struct mw_store_run *runs, const struct mw_trend *trend,
                           const struct mw_changepoint *change)
{
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "before_run",
                     (json_int_t)runs[trend->points.at[change->at - 1].run].id, "run",
                     (json_int_t)runs[trend->points.at[change->at].run].id, "before",
                     mw_json_real(change->before), "after", mw_json_real(change->after), "ratio",
                     mw_json_real(change->after / change->before), "p", mw_json_real(change->p),
                     "worse", mw_trend_worse(trend, change));
}

static json_t *trend_json(const struct mw_store_run *runs, const struct mw_trend *trend)
{
    json_t *points = json_array(), *changes = json_array(), *entry = figure_json(trend->about);
    for (size_t i = 0; i < trend->points.count; i++)
        json_array_append_new(points, json_pack("{s:I, s:o}", "run",
                                                (json_int_t)runs[trend->points.at[i].run].id,
                                                "value", mw_json_real(trend->points.at[i].value)));
    for (size_t i = 0; i < trend->change_count; i++)
        json_array_append_new(changes, change_json(runs, trend, &trend->changes[i]));
    json_object_set_new(entry, "points", points);
    json_object_set_new(entry, "changes", changes);
    return entry;
}

/* The change points of all trends at one run, each with what it is about. */
static json_t *changes_at(const json_t *trends, int64_t run)
{
    static const char *const names[] = {"metric",    "unit",   "more_is_better", "distance",
                                        "transport", "buffer", "from",           "to"};
    json_t *list = json_array(), *trend, *change;
    size_t i, k;
    json_array_foreach(trends, i, trend) {
        json_array_foreach(json_object_get(trend, "changes"), k, change) {
            if (json_integer_value(json_object_get(change, "run")) != run)
                continue;
            json_t *entry = json_copy(change);
            for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
                json_object_set(entry, names[n], json_object_get(trend, names[n]));
            json_array_append_new(list, entry);
        }
    }
    return list;
}

/* Each run before which something changed that can be seen: a speed, or the way of messages. */
static json_t *steps_json(const struct mw_store_run *runs, size_t count, const json_t *trends)
{
    const struct mw_store_run *before = NULL;
    json_t *steps = json_array();
    for (size_t i = 0; i < count; i++) {
        if (!mw_trends_take(runs[i].digest))
            continue;
        json_t *step = before ? difference_json(before, &runs[i]) : NULL;
        json_t *changes = before ? changes_at(trends, runs[i].id) : NULL;
        int seen = json_array_size(changes) || json_array_size(json_object_get(step, "identity"));
        if (seen) {
            json_object_set(step, "changes", changes);
            json_array_append(steps, step);
        }
        json_decref(step);
        json_decref(changes);
        before = &runs[i];
    }
    return steps;
}

json_t *mw_doc_history_benchmark(const struct mw_store_run *runs, size_t count)
{
    json_t *document = mw_json_document("history-benchmark");
    json_t *list = json_array(), *all = json_array();
    const struct mw_digest **digests = mw_alloc(count, sizeof(*digests));
    for (size_t i = 0; i < count; i++) {
        digests[i] = runs[i].digest;
        json_array_append_new(list, mw_doc_history_run(&runs[i]));
    }
    struct mw_trends *trends = mw_trends_create((struct mw_runs){digests, count});
    for (size_t i = 0; i < trends->all.count; i++)
        json_array_append_new(all, trend_json(runs, &trends->all.at[i]));
    json_object_set_new(document, "benchmark", mw_json_text(runs[0].benchmark));
    json_object_set_new(document, "runs", list);
    json_object_set_new(document, "steps", steps_json(runs, count, all));
    json_object_set_new(document, "trends", all);
    mw_trends_free(trends);
    free(digests);
    return document;
}
