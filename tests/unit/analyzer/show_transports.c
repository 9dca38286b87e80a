/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what the analysis of transports says of a trace as JSON, field by field, for the tests
 * beside it. Usage: show_transports [--count] TRACE...; --count prints numbers of things only.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports.h"

static json_t *numbers(const uint32_t *at, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(at[i]));
    return list;
}

static json_t *show_routes(const struct mw_transports *in, const struct mw_pair_transport *pair)
{
    json_t *list = json_array();
    for (size_t i = 0; i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        const struct mw_way *way = &in->ways.at[route->way];
        json_array_append_new(
            list, json_pack("{ss ss ss si sI si ss si si sI sI sI sb ss}", "name", way->name,
                            "layer", way->layer, "device", way->device, "kind", way->kind, "speed",
                            (json_int_t)way->speed, "software", way->software, "buffer",
                            mw_buffer_word(route->buffer), "first", route->first_class, "last",
                            route->last_class, "messages", (json_int_t)route->messages, "bytes",
                            (json_int_t)route->bytes, "carried", (json_int_t)route->carried, "seen",
                            route->certainty == MW_SEEN, "evidence", route->evidence));
    }
    return list;
}

static json_t *show_pairs(const struct mw_transports *in)
{
    static const char *const where[] = {"unknown", "self", "node", "network"};
    json_t *list = json_array();
    for (size_t i = 0; i < in->pairs.count; i++) {
        const struct mw_pair_transport *pair = &in->pairs.at[i];
        char *label = mw_transports_label(in, pair);
        json_t *shown =
            json_pack("{sI sI ss sI sI so ss? sI sI ss ss}", "src", (json_int_t)pair->src, "dst",
                      (json_int_t)pair->dst, "where", where[pair->where], "messages",
                      (json_int_t)pair->messages, "bytes", (json_int_t)pair->bytes, "routes",
                      show_routes(in, pair), "unknown", pair->unknown, "carried",
                      (json_int_t)pair->carried, "remainder", (json_int_t)pair->remainder,
                      "remainder_is", pair->remainder_is, "label", label);
        if (mw_transports_pair(in, pair->src, pair->dst) != pair)
            json_object_set_new(shown, "lookup", json_false());
        json_array_append_new(list, shown);
        free(label);
    }
    return list;
}

static json_t *show_failures(const struct mw_transports *in)
{
    static const char *const weights[] = {"matters", "minor", "recovered", "layer", "nothing"};
    json_t *list = json_array();
    for (size_t i = 0; i < in->failures.count; i++) {
        const struct mw_failure *failure = &in->failures.at[i];
        json_t *log = json_array();
        for (size_t l = 0; l < failure->log.count; l++)
            json_array_append_new(log, json_string(failure->log.at[l]->text));
        json_array_append_new(
            list,
            json_pack("{ss ss ss ss ss ss ss sI sI sb sb sb sb ss so so}", "library",
                      failure->library, "call", failure->call, "words", failure->words, "provider",
                      failure->provider, "domain", failure->domain, "device", failure->device,
                      "opener", failure->opener, "result", (json_int_t)failure->result, "speed",
                      (json_int_t)failure->speed, "inner", failure->inner, "hangs", failure->hangs,
                      "native", failure->native, "silent", failure->silent, "weight",
                      weights[failure->weight], "processes",
                      numbers(failure->processes.at, failure->processes.count), "log", log));
    }
    return list;
}

static json_t *show_idle(const struct mw_transports *in)
{
    json_t *list = json_array();
    for (size_t i = 0; i < in->idle.count; i++) {
        const struct mw_idle *idle = &in->idle.at[i];
        json_array_append_new(
            list, json_pack("{ss ss ss ss ss sI sb sb so}", "library", idle->library, "provider",
                            idle->provider, "device", idle->device, "driver", idle->driver, "state",
                            idle->state, "speed", (json_int_t)idle->speed, "native", idle->native,
                            "tried", idle->tried, "processes",
                            numbers(idle->processes.at, idle->processes.count)));
    }
    return list;
}

static json_t *show_choices(const struct mw_transports *in)
{
    json_t *list = json_array();
    for (size_t i = 0; i < in->tally->model->process_count; i++) {
        const struct mw_process_choice *choice = &in->choices[i];
        json_array_append_new(list, json_pack("{ss ss ss ss ss}", "pml", choice->pml, "mtl",
                                              choice->mtl, "netmod", choice->netmod, "shm",
                                              choice->shm, "btls", choice->btls));
    }
    return list;
}

static json_t *show_coverage(const struct mw_transports *in)
{
    json_t *list = json_array();
    for (size_t i = 0; i < in->coverage.count; i++) {
        const struct mw_probe_coverage *at = &in->coverage.at[i];
        json_array_append_new(list, json_pack("{ss ss ss so}", "probe", at->probe, "how", at->how,
                                              "why", at->why, "processes",
                                              numbers(at->processes.at, at->processes.count)));
    }
    return list;
}

static json_t *show_classes(const struct mw_tally *tally)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tally->classes.count; i++) {
        const struct mw_pair_class *at = &tally->classes.at[i];
        json_array_append_new(list, json_pack("[I I i I I]", (json_int_t)at->src,
                                              (json_int_t)at->dst, at->class,
                                              (json_int_t)at->messages, (json_int_t)at->bytes));
    }
    return list;
}

static json_t *show_counts(const struct mw_transports *in)
{
    size_t unknown = 0, seen = 0;
    for (size_t i = 0; i < in->pairs.count; i++) {
        unknown += in->pairs.at[i].unknown != NULL;
        for (size_t r = 0; r < in->pairs.at[i].routes.count; r++)
            seen += in->pairs.at[i].routes.at[r].certainty == MW_SEEN;
    }
    return json_pack("{sI sI sI sI sI sI}", "pairs", (json_int_t)in->pairs.count, "ways",
                     (json_int_t)in->ways.count, "unknown", (json_int_t)unknown, "seen",
                     (json_int_t)seen, "failures", (json_int_t)in->failures.count, "classes",
                     (json_int_t)in->tally->classes.count);
}

int main(int argc, char **argv)
{
    mw_trace *trace;
    size_t failed;
    int count = argc > 1 && !strcmp(argv[1], "--count");
    enum mw_status status = mw_trace_open((const char *const *)argv + 1 + count,
                                          (size_t)(argc - 1 - count), 0, &trace, &failed);
    if (status) {
        fprintf(stderr, "cannot open: %d\n", (int)status);
        return 1;
    }
    struct mw_model *model = mw_model_create(trace);
    struct mw_comms *comms = mw_comms_create(model);
    struct mw_tally *tally = mw_tally_create(model, comms, NULL);
    struct mw_transports *transports = mw_transports_create(tally);
    json_t *all =
        count ? show_counts(transports)
              : json_pack("{so so so so so so}", "pairs", show_pairs(transports), "failures",
                          show_failures(transports), "idle", show_idle(transports), "choices",
                          show_choices(transports), "coverage", show_coverage(transports),
                          "classes", show_classes(tally));
    json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    mw_transports_free(transports);
    mw_tally_free(tally);
    mw_comms_free(comms);
    mw_model_free(model);
    mw_trace_close(trace);
    return 0;
}
