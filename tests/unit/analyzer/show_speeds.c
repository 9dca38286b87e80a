/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the speeds and waits of a trace as JSON, for the tests beside it; times are ns. Usage:
 * show_speeds TRACE...
 */
#include <jansson.h>
#include <stdio.h>

#include "analyzer/analysis/exchange.h"

static json_t *show_rate(const struct mw_rate *rate)
{
    return json_pack("[I I]", (json_int_t)rate->bytes, (json_int_t)rate->time);
}

/* What is shown for the bandwidth in flight, bytes per second, and whether it is a bound. */
static json_t *show_in_flight(const struct mw_speed *speed)
{
    int bound;
    json_int_t value = (json_int_t)mw_speed_in_flight(speed, &bound);
    return json_pack("[I i]", value, bound);
}

static json_t *show_slices(const struct mw_speed *speed)
{
    json_t *list = json_array();
    for (int i = 0; speed->slices && i < MW_SPEED_SLICES; i++)
        json_array_append_new(list, show_rate(&speed->slices[i]));
    return list;
}

static json_t *show_speeds(const struct mw_speeds *speeds)
{
    json_t *list = json_array();
    for (size_t i = 0; i < speeds->all.count; i++) {
        const struct mw_speed *at = &speeds->all.at[i];
        json_array_append_new(
            list,
            json_pack("{sI sI si sI sI sI so sI sI so so so so sI so so sI sI sI sI sf so}", "src",
                      (json_int_t)at->src, "dst", (json_int_t)at->dst, "class", (int)at->class,
                      "messages", (json_int_t)at->messages, "bytes", (json_int_t)at->bytes,
                      "warm_messages", (json_int_t)at->warm_messages, "warm", show_rate(&at->warm),
                      "certain", (json_int_t)at->certain, "bounded", (json_int_t)at->bounded,
                      "in_flight", show_rate(&at->in_flight), "at_least", show_rate(&at->at_least),
                      "shown", show_in_flight(at), "throughput", show_rate(&at->throughput),
                      "bursts", (json_int_t)at->bursts, "largest", show_rate(&at->largest), "best",
                      show_rate(&at->best), "latencies", (json_int_t)at->latencies, "min",
                      (json_int_t)at->latency_min, "median", (json_int_t)at->latency_median, "p99",
                      (json_int_t)at->latency_p99, "error", at->error, "slices", show_slices(at)));
    }
    return list;
}

static json_t *show_nodes(const struct mw_speeds *speeds)
{
    json_t *list = json_array();
    for (size_t i = 0; i < speeds->nodes.count; i++) {
        const struct mw_node_speed *at = &speeds->nodes.at[i];
        json_array_append_new(list,
                              json_pack("[i i I I I I]", (int)at->src, (int)at->dst,
                                        (json_int_t)at->joint.messages, (json_int_t)at->joint.bytes,
                                        (json_int_t)at->joint.time, (json_int_t)at->joint.busy));
    }
    return list;
}

static json_t *show_collectives(const struct mw_coll_speeds *speeds)
{
    json_t *list = json_array();
    for (size_t i = 0; i < speeds->all.count; i++) {
        const struct mw_coll_speed *at = &speeds->all.at[i];
        json_array_append_new(list,
                              json_pack("[s i I I o f I]", at->name, (int)at->class,
                                        (json_int_t)at->instances, (json_int_t)at->ranks,
                                        show_rate(&at->algorithm), at->bus, (json_int_t)at->least));
    }
    return list;
}

static json_t *show_amounts(const struct mw_wait_amount by[MW_WAIT_KINDS])
{
    json_t *shown = json_object();
    for (int i = 0; i < MW_WAIT_KINDS; i++)
        if (by[i].count)
            json_object_set_new(
                shown, mw_wait_name((enum mw_wait_kind)i),
                json_pack("[I I]", (json_int_t)by[i].count, (json_int_t)by[i].time));
    return shown;
}

static json_t *show_waits(const struct mw_waits *waits)
{
    json_t *ranks = json_array(), *sites = json_array(), *pairs = json_array();
    for (size_t i = 0; i < waits->model->process_count; i++) {
        const struct mw_rank_waits *at = &waits->processes[i];
        json_array_append_new(ranks,
                              json_pack("{so sI sI}", "by", show_amounts(at->by), "caused",
                                        (json_int_t)at->caused, "last", (json_int_t)at->last));
    }
    for (size_t i = 0; i < waits->sites.count; i++)
        json_array_append_new(sites, json_pack("[s I I]", waits->sites.at[i].name,
                                               (json_int_t)waits->sites.at[i].site,
                                               (json_int_t)waits->sites.at[i].time));
    for (size_t i = 0; i < waits->pairs.count; i++)
        json_array_append_new(pairs, json_pack("[I I I I]", (json_int_t)waits->pairs.at[i].src,
                                               (json_int_t)waits->pairs.at[i].dst,
                                               (json_int_t)waits->pairs.at[i].late_sender,
                                               (json_int_t)waits->pairs.at[i].late_receiver));
    return json_pack("{so so so so sI sI}", "ranks", ranks, "sites", sites, "pairs", pairs, "total",
                     show_amounts(waits->total), "instances", (json_int_t)waits->instances,
                     "too_short", (json_int_t)waits->too_short);
}

int main(int argc, char **argv)
{
    mw_trace *trace;
    size_t failed;
    if (argc < 2 ||
        mw_trace_open((const char *const *)argv + 1, (size_t)argc - 1, 0, &trace, &failed))
        return 1;
    struct mw_model *model = mw_model_create(trace);
    struct mw_comms *comms = mw_comms_create(model);
    struct mw_exchange *exchange = mw_exchange_create(model, comms, NULL, NULL);
    const struct mw_speeds *speeds = exchange->speeds;
    json_t *all = json_pack(
        "{so so so so so sI sI sI sI}", "speeds", show_speeds(speeds), "accesses",
        show_speeds(exchange->accesses), "nodes", show_nodes(speeds),
        "collectives", show_collectives(exchange->collectives), "waits",
        show_waits(exchange->waits), "violations", (json_int_t)speeds->violations, "unsynchronised",
        (json_int_t)speeds->unsynchronised, "unusable", (json_int_t)speeds->unusable, "matched",
        (json_int_t)exchange->counts.messages);
    json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    mw_exchange_free(exchange);
    mw_comms_free(comms);
    mw_model_free(model);
    mw_trace_close(trace);
    return 0;
}
