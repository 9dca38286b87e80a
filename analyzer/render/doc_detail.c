/* SPDX-License-Identifier: BSD-3-Clause */
/* Of which calls only sums are known and since when, and the regions that the program named
 * (doc.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

static const char *const why_words[MW_WHYS] = {"unknown", "summary", "budget", "MPI_Pcontrol"};

/* Seconds since the process began to initialise MPI. */
static double since_began(const struct mw_process *process, uint64_t time)
{
    return time > process->began ? mw_process_span_ns(process, time - process->began) / 1e9 : 0;
}

/* The processes whose calls were summed up for one reason; NULL where there are none. */
static json_t *doc_why(const struct mw_doc_input *in, unsigned why)
{
    struct mw_rank_set ranks = {0};
    uint64_t calls = 0;
    double first = 0, last = 0;
    size_t count = 0;
    for (size_t i = 0; i < in->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(in->model->trace, i);
        const struct mw_summed *summed = &in->tally->processes[i].summed[why];
        if (!summed->from)
            continue;
        double from = since_began(process, summed->from);
        first = count && first < from ? first : from;
        last = count && last > from ? last : from;
        calls += summed->calls;
        count++;
        mw_rank_set_add_process(&ranks, in->model, i);
    }
    if (!count)
        return NULL;
    return json_pack("{s:s, s:o, s:I, s:o, s:o, s:o}", "why", why_words[why], "ranks",
                     mw_rank_set_json(&ranks), "processes", (json_int_t)count, "calls",
                     mw_json_count(calls), "first_s", mw_json_real(first), "last_s",
                     mw_json_real(last));
}

json_t *mw_doc_detail(const struct mw_doc_input *in)
{
    json_t *reasons = json_array();
    uint64_t summed = 0, calls = 0;
    for (size_t i = 0; i < in->model->process_count; i++) {
        const struct mw_process_total *total = &in->tally->processes[i];
        calls += total->amounts.calls + total->amounts.nested;
        for (unsigned why = 0; why < MW_WHYS; why++)
            summed += total->summed[why].calls;
    }
    for (unsigned why = 0; why < MW_WHYS; why++) {
        json_t *reason = doc_why(in, why);
        if (reason)
            json_array_append_new(reasons, reason);
    }
    return json_pack("{s:o, s:o, s:o}", "calls", mw_json_count(calls), "summed_calls",
                     mw_json_count(summed), "reduced", reasons);
}

/* When the first of a process's calls was summed up. */
json_t *mw_doc_reduced_from(const struct mw_doc_input *in, size_t number)
{
    const struct mw_process_total *total = &in->tally->processes[number];
    uint64_t from = 0;
    for (unsigned why = 0; why < MW_WHYS; why++)
        if (total->summed[why].from && (!from || total->summed[why].from < from))
            from = total->summed[why].from;
    return from ? mw_json_real(since_began(mw_trace_process(in->model->trace, number), from))
                : json_null();
}

static const struct mw_tally *sorted_tally; /* for region_compare; the main thread's */

/* The longest first, by name where they are as long. */
static int region_compare(const void *left, const void *right)
{
    const struct mw_region_total *a = &sorted_tally->regions.at[*(const size_t *)left];
    const struct mw_region_total *b = &sorted_tally->regions.at[*(const size_t *)right];
    if (a->wall != b->wall)
        return a->wall > b->wall ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->level > b->level) - (a->level < b->level);
}

static json_t *doc_region(const struct mw_doc_input *in, const struct mw_region_total *region,
                          unsigned depth)
{
    int timed = in->tally->timed > 0;
    return json_pack("{s:o, s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "region",
                     mw_json_text(region->name), "level", (json_int_t)region->level, "depth",
                     (int)depth, "processes", mw_json_count(region->processes), "entries",
                     mw_json_count(region->entries), "never_ended", mw_json_count(region->open),
                     "time_s", timed ? mw_json_ns(region->wall) : json_null(), "min_s",
                     timed ? mw_json_ns(region->least) : json_null(), "max_s",
                     timed ? mw_json_ns(region->most) : json_null(), "max_rank",
                     mw_rank_json(in->model, mw_model_place(in->model, region->most_process)), "mpi_calls", mw_json_count(region->calls), "mpi_s",
                     timed ? mw_json_ns(region->time) : json_null(), "mpi_share",
                     mw_json_share((double)region->time, (double)region->wall));
}

/* Those around `parent` once; each is one step below the one around it, so that it ends. */
static void add_regions(const struct mw_doc_input *in, json_t *list, const size_t *order,
                        size_t parent, unsigned depth)
{
    const struct mw_tally *tally = in->tally;
    for (size_t i = 0; i < tally->regions.count && json_array_size(list) < in->top; i++) {
        const struct mw_region_total *region = &tally->regions.at[order[i]];
        if (region->parent != parent)
            continue;
        json_array_append_new(list, doc_region(in, region, depth));
        if (depth < 64)
            add_regions(in, list, order, order[i], depth + 1);
    }
}

json_t *mw_doc_regions(const struct mw_doc_input *in)
{
    size_t count = in->tally->regions.count;
    size_t *order = mw_alloc(count, sizeof(*order));
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    sorted_tally = in->tally;
    if (count)
        qsort(order, count, sizeof(*order), region_compare);
    add_regions(in, list, order, SIZE_MAX, 0);
    free(order);
    return json_pack("{s:I, s:o}", "total", (json_int_t)count, "listed", list);
}
