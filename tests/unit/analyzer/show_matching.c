/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what the matching of a trace gives as JSON, message by message, for the tests beside it;
 * times are ns after the first CLOCK_REALTIME of build_trace.py. Usage: show_matching TRACE...
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/model/clock_build.h"
#include "analyzer/model/matching.h"

#define EPOCH INT64_C(1700000000000000000)

struct shown {
    const struct mw_clock *clock;
    json_t *messages, *instances;
};

static json_t *show_end(const struct mw_end *end)
{
    return json_pack("{sI sI sI sI sI si sI sI}", "rank", (json_int_t)end->rank, "start",
                     (json_int_t)(end->start - EPOCH), "wait", (json_int_t)(end->wait - EPOCH),
                     "done", (json_int_t)(end->done - EPOCH), "flags", (json_int_t)end->flags,
                     "mates", (int)end->mates, "site", (json_int_t)end->site, "outside",
                     (json_int_t)end->outside);
}

static void show_message(void *context, const struct mw_message *message)
{
    struct shown *shown = context;
    double error = mw_clock_error(shown->clock, message->send.process, message->recv.process,
                                  message->recv.done);
    json_array_append_new(shown->messages,
                          json_pack("{si sI sI so so so}", "comm", (int)message->comm, "tag",
                                    (json_int_t)message->tag, "bytes", (json_int_t)message->bytes,
                                    "send", show_end(&message->send), "recv",
                                    show_end(&message->recv), "error",
                                    isfinite(error) ? json_real(error) : json_null()));
}

static void show_instance(void *context, const struct mw_instance *instance)
{
    struct shown *shown = context;
    json_t *members = json_array();
    for (size_t i = 0; i < instance->count; i++)
        json_array_append_new(members, json_pack("[i I I]", (int)instance->members[i].process,
                                                 (json_int_t)(instance->members[i].start - EPOCH),
                                                 (json_int_t)(instance->members[i].end - EPOCH)));
    json_array_append_new(shown->instances,
                          json_pack("{si sI ss sI sb sb so}", "comm", (int)instance->comm, "number",
                                    (json_int_t)instance->number, "name", instance->name, "root",
                                    (json_int_t)instance->root, "whole", instance->whole, "mixed",
                                    instance->mixed, "members", members));
}

static json_t *show_counts(const struct mw_matching_counts *counts)
{
    return json_pack(
        "{sI sI sI sI sI sI sI sI sI sI si}", "messages", (json_int_t)counts->messages, "sends",
        (json_int_t)counts->sends, "receives", (json_int_t)counts->receives, "unfinished",
        (json_int_t)counts->unfinished, "outside", (json_int_t)counts->outside, "uncounted",
        (json_int_t)counts->uncounted, "ambiguous", (json_int_t)counts->ambiguous, "instances",
        (json_int_t)counts->instances, "partial", (json_int_t)counts->instances_partial, "events",
        (json_int_t)counts->events, "untimed", (int)counts->untimed);
}

static json_t *show_clocks(const struct mw_clock *clock)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mw_clock_domain_count(clock); i++) {
        const struct mw_clock_domain *domain = mw_clock_domain(clock, i);
        json_array_append_new(
            list, json_pack("{ss si sb sb sf sf sf sI si}", "host", domain->host, "processes",
                            (int)domain->processes, "timed", domain->timed, "synchronised",
                            domain->synchronised, "first", domain->correction[0], "last",
                            domain->correction[MW_CLOCK_KNOTS - 1], "error",
                            domain->error[MW_CLOCK_KNOTS / 2], "bounds", (json_int_t)domain->bounds,
                            "pieces", (int)domain->pieces));
    }
    return list;
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
    struct mw_clock *clock = mw_clock_build(model, comms, NULL);
    struct shown shown = {clock, json_array(), json_array()};
    struct mw_matching_sink sink = {
        .context = &shown, .message = show_message, .collective = show_instance};
    struct mw_matching_counts counts;
    mw_matching_run(model, comms, clock, &sink, &counts, NULL);
    json_t *all =
        json_pack("{so so so so}", "messages", shown.messages, "instances", shown.instances,
                  "counts", show_counts(&counts), "clocks", show_clocks(clock));
    json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    mw_clock_free(clock);
    mw_comms_free(comms);
    mw_model_free(model);
    mw_trace_close(trace);
    return 0;
}
