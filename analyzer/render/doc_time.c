/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time went: by rank, by call and by call site (doc.h). Sorting has a total order, so
 * that the same trace gives the same report however many threads read it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/flows.h"
#include "analyzer/model/sites.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

static const struct mw_process *process_of(const struct mw_doc_input *in, size_t number)
{
    return mw_trace_process(in->model->trace, number);
}

static json_t *rank_of(const struct mw_doc_input *in, size_t number)
{
    return mw_rank_json(in->model, mw_model_place(in->model, number));
}

static uint64_t total_time(const struct mw_doc_input *in)
{
    uint64_t time = 0;
    for (size_t i = 0; i < in->model->process_count; i++)
        time += in->tally->processes[i].amounts.time;
    return time;
}

struct spread {
    size_t timed, least, most; /* numbers of processes */
    uint64_t time, wall, by[MW_TIME_CLASSES];
};

static struct spread time_spread(const struct mw_doc_input *in)
{
    struct spread spread = {0};
    for (size_t i = 0; i < in->model->process_count; i++) {
        const struct mw_process_total *total = &in->tally->processes[i];
        if (!total->timed)
            continue;
        if (!spread.timed++)
            spread.least = spread.most = i;
        if (total->amounts.time < in->tally->processes[spread.least].amounts.time)
            spread.least = i;
        if (total->amounts.time > in->tally->processes[spread.most].amounts.time)
            spread.most = i;
        spread.time += total->amounts.time;
        spread.wall += total->wall * (total->threads ? total->threads : 1);
        for (int c = 0; c < MW_TIME_CLASSES; c++)
            spread.by[c] += total->time_by[c];
    }
    return spread;
}

static void object_add_classes(json_t *object, const uint64_t time_by[MW_TIME_CLASSES], int timed)
{
    static const char *const names[MW_TIME_CLASSES] = {
        "point_to_point_s", "collective_s", "one_sided_s", "file_s", "polling_s", "init_and_finalize_s", "other_s"};
    for (int i = 0; i < MW_TIME_CLASSES; i++)
        json_object_set_new(object, names[i], timed ? mw_json_ns(time_by[i]) : json_null());
}

json_t *mw_doc_time(const struct mw_doc_input *in)
{
    struct spread spread = time_spread(in);
    const struct mw_process_total *processes = in->tally->processes;
    json_t *by = json_object();
    object_add_classes(by, spread.by, spread.timed > 0);
    json_t *per_rank = json_null();
    if (spread.timed)
        per_rank = json_pack("{s:o, s:o, s:o, s:o, s:o}", "min_s",
                             mw_json_ns(processes[spread.least].amounts.time), "mean_s",
                             mw_json_ns(spread.time / spread.timed), "max_s",
                             mw_json_ns(processes[spread.most].amounts.time), "min_rank",
                             rank_of(in, spread.least), "max_rank", rank_of(in, spread.most));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "mpi_s",
                     spread.timed ? mw_json_ns(spread.time) : json_null(), "wall_s",
                     spread.timed ? mw_json_ns(spread.wall) : json_null(), "share",
                     mw_json_share((double)spread.time, (double)spread.wall), "by_class", by,
                     "per_rank", per_rank, "processes_without_clock",
                     (json_int_t)(in->model->process_count - spread.timed), "events",
                     mw_json_count(in->tally->events));
}

static void object_add_amounts(json_t *object, const struct mw_amounts *amounts, int timed)
{
    json_object_set_new(object, "calls", mw_json_count(amounts->calls));
    json_object_set_new(object, "nested_calls", mw_json_count(amounts->nested));
    json_object_set_new(object, "errors", mw_json_count(amounts->errors));
    json_object_set_new(object, "time_s", timed ? mw_json_ns(amounts->time) : json_null());
    json_object_set_new(object, "nested_time_s",
                        timed ? mw_json_ns(amounts->nested_time) : json_null());
    json_object_set_new(object, "sent_bytes", mw_json_count(amounts->sent));
    json_object_set_new(object, "received_bytes", mw_json_count(amounts->received));
    json_object_set_new(object, "receives_of_unknown_size", mw_json_count(amounts->unknown));
    json_object_set_new(object, "receive_room_bytes", mw_json_count(amounts->received_room));
}

static json_t *last_call(const struct mw_doc_input *in, size_t number)
{
    const struct mw_process *process = process_of(in, number);
    const struct mw_process_total *total = &in->tally->processes[number];
    if (!total->last_end)
        return json_null();
    return json_pack("{s:o, s:o}", "function", mw_json_text(total->last_name), "ended",
                     mw_json_time(mw_process_time_ns(process, total->last_end, 0) / 1e9));
}

static json_t *doc_rank(const struct mw_doc_input *in, size_t number)
{
    const struct mw_process *process = process_of(in, number);
    const struct mw_process_total *total = &in->tally->processes[number];
    double wall = (double)total->wall * (double)(total->threads ? total->threads : 1);
    json_t *entry =
        json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "rank", rank_of(in, number), "host",
                  mw_json_text(process->host), "pid", mw_json_count(process->pid), "end",
                  mw_end_word(process), "threads", mw_json_count(total->threads), "wall_s",
                  total->timed && total->wall ? mw_json_ns(total->wall) : json_null(), "share",
                  mw_json_share((double)total->amounts.time, wall));
    object_add_amounts(entry, &total->amounts, total->timed);
    object_add_classes(entry, total->time_by, total->timed);
    json_object_set_new(entry, "events_missing", mw_json_count(total->events_missing));
    json_object_set_new(entry, "calls_missing", mw_json_count(total->calls_missing));
    json_object_set_new(entry, "operations_without_call", mw_json_count(total->incomplete));
    json_object_set_new(entry, "reduced_from_s", mw_doc_reduced_from(in, number));
    json_object_set_new(entry, "one_sided",
                        mw_doc_object_amounts(&in->tally->flows->by_process[number], 0));
    json_object_set_new(entry, "files",
                        mw_doc_object_amounts(&in->tally->flows->by_process[number], 1));
    json_object_set_new(entry, "last_call", last_call(in, number));
    return entry;
}

json_t *mw_doc_ranks(const struct mw_doc_input *in)
{
    json_t *ranks = json_array();
    for (size_t i = 0; i < in->model->process_count; i++)
        json_array_append_new(ranks, doc_rank(in, in->model->in_order[i]));
    return ranks;
}

static int function_compare(const void *left, const void *right)
{
    const struct mw_function_total *a = *(const struct mw_function_total *const *)left;
    const struct mw_function_total *b = *(const struct mw_function_total *const *)right;
    if (a->amounts.time != b->amounts.time)
        return a->amounts.time > b->amounts.time ? -1 : 1;
    if (a->amounts.calls != b->amounts.calls)
        return a->amounts.calls > b->amounts.calls ? -1 : 1;
    if (a->counted != b->counted)
        return a->counted > b->counted ? -1 : 1;
    return strcmp(a->name, b->name);
}

static json_t *doc_call(const struct mw_doc_input *in, const struct mw_function_total *function,
                        uint64_t whole)
{
    int seen = function->amounts.calls + function->amounts.nested > 0;
    json_t *entry =
        json_pack("{s:o, s:b}", "function", mw_json_text(function->name), "recorded", seen);
    object_add_amounts(entry, &function->amounts, seen && in->tally->timed);
    json_object_set_new(entry, "counted_calls", mw_json_count(function->counted));
    json_object_set_new(entry, "share",
                        mw_json_share((double)function->amounts.time, (double)whole));
    json_object_set_new(entry, "processes", mw_json_count(function->ranks));
    int timed = seen && in->tally->timed;
    json_object_set_new(entry, "min_s", timed ? mw_json_ns(function->least) : json_null());
    json_object_set_new(entry, "max_s", timed ? mw_json_ns(function->most) : json_null());
    json_object_set_new(entry, "max_rank",
                        timed ? rank_of(in, function->most_process) : json_null());
    return entry;
}

json_t *mw_doc_calls(const struct mw_doc_input *in)
{
    size_t count = in->tally->functions.count;
    const struct mw_function_total **sorted = mw_alloc(count, sizeof(*sorted));
    uint64_t whole = total_time(in);
    json_t *calls = json_array();
    for (size_t i = 0; i < count; i++)
        sorted[i] = &in->tally->functions.at[i];
    qsort(sorted, count, sizeof(*sorted), function_compare);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(calls, doc_call(in, sorted[i], whole));
    free(sorted);
    return calls;
}

static int site_compare(const void *left, const void *right)
{
    const struct mw_site_total *a = *(const struct mw_site_total *const *)left;
    const struct mw_site_total *b = *(const struct mw_site_total *const *)right;
    if (a->amounts.time != b->amounts.time)
        return a->amounts.time > b->amounts.time ? -1 : 1;
    if (a->amounts.calls != b->amounts.calls)
        return a->amounts.calls > b->amounts.calls ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->key > b->key) - (a->key < b->key);
}

static json_t *site_frames(const struct mw_doc_input *in, const struct mw_site_total *total,
                           const struct mw_site *site)
{
    json_t *frames = json_array();
    for (size_t i = 0; site && i < site->frame_count; i++)
        json_array_append_new(
            frames, mw_frame_json(in->symbols, process_of(in, total->process), &site->frames[i]));
    return frames;
}

static json_t *doc_site(const struct mw_doc_input *in, const struct mw_site_total *total,
                        uint64_t whole)
{
    const struct mw_process *process = process_of(in, total->process);
    const struct mw_site *site = total->key ? mw_process_site(process, total->site) : NULL;
    json_t *entry = json_pack("{s:o, s:o}", "function", mw_json_text(total->name), "frames",
                              site_frames(in, total, site));
    object_add_amounts(entry, &total->amounts, in->tally->timed > 0);
    json_object_set_new(entry, "caller",
                        site ? mw_json_count(mw_site_caller(process, site)) : json_null());
    json_object_set_new(entry, "truncated", json_boolean(site && site->truncated));
    json_object_set_new(entry, "share", mw_json_share((double)total->amounts.time, (double)whole));
    json_object_set_new(entry, "processes", mw_json_count(total->ranks));
    json_object_set_new(entry, "max_s", mw_json_ns(total->most));
    json_object_set_new(entry, "max_rank", rank_of(in, total->most_process));
    return entry;
}

json_t *mw_doc_sites(const struct mw_doc_input *in)
{
    size_t count = in->tally->sites.count;
    const struct mw_site_total **sorted = mw_alloc(count, sizeof(*sorted));
    uint64_t whole = total_time(in);
    json_t *listed = json_array();
    for (size_t i = 0; i < count; i++)
        sorted[i] = &in->tally->sites.at[i];
    qsort(sorted, count, sizeof(*sorted), site_compare);
    for (size_t i = 0; i < count && i < in->top; i++)
        json_array_append_new(listed, doc_site(in, sorted[i], whole));
    free(sorted);
    return json_pack("{s:I, s:o}", "total", (json_int_t)count, "listed", listed);
}
