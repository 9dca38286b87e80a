/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits as JSON (speeds.h). */
#include <stdlib.h>

#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/speeds.h"

static json_t *doc_kinds(const struct mw_wait_amount by[MW_WAIT_KINDS])
{
    json_t *kinds = json_object();
    for (int i = 0; i < MW_WAIT_KINDS; i++)
        json_object_set_new(kinds, mw_wait_name((enum mw_wait_kind)i),
                            json_pack("{s:o, s:o}", "count", mw_json_count(by[i].count), "time_s",
                                      mw_json_ns(by[i].time)));
    return kinds;
}

struct sorted {
    size_t process;
    uint64_t time, caused;
};

static int sorted_compare(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    uint64_t first = a->time + a->caused, second = b->time + b->caused;
    if (first != second)
        return first > second ? -1 : 1;
    return (a->process > b->process) - (a->process < b->process);
}

static json_t *doc_rank(const struct mw_waits *waits, const struct sorted *at)
{
    const struct mw_rank_waits *rank = &waits->processes[at->process];
    const struct mw_process *process = mw_trace_process(waits->model->trace, at->process);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rank",
                     mw_rank_json(waits->model, mw_model_place(waits->model, at->process)), "host",
                     mw_json_text(process->host), "time_s", mw_json_ns(at->time), "by_kind",
                     doc_kinds(rank->by), "caused_s", mw_json_ns(rank->caused), "last",
                     mw_json_count(rank->last));
}

/* Ranks that waited or let others wait, those with most of both first. */
static json_t *doc_ranks(const struct mw_waits *waits, size_t top)
{
    size_t count = waits->model->process_count, some = 0;
    struct sorted *sorted = mw_alloc(count, sizeof(*sorted));
    json_t *listed = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct mw_rank_waits *rank = &waits->processes[i];
        uint64_t time = mw_wait_sum(rank->by);
        if (time + rank->caused)
            sorted[some++] = (struct sorted){i, time, rank->caused};
    }
    qsort(sorted, some, sizeof(sorted[0]), sorted_compare);
    for (size_t i = 0; i < some && i < top; i++)
        json_array_append_new(listed, doc_rank(waits, &sorted[i]));
    free(sorted);
    return json_pack("{s:o, s:o}", "total", mw_json_count(some), "listed", listed);
}

static json_t *doc_site(const struct mw_waits *waits, const struct mw_site_waits *site,
                        struct mw_symbols *symbols)
{
    const struct mw_process *process = mw_trace_process(waits->model->trace, site->process);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "function", mw_json_text(site->name),
                     "caller", mw_caller_json(symbols, process, site->site), "time_s",
                     mw_json_ns(site->time), "by_kind", doc_kinds(site->by), "max_s",
                     mw_json_ns(site->most), "max_rank",
                     mw_rank_json(waits->model, mw_model_place(waits->model, site->most_process)));
}

json_t *mw_doc_waits(const struct mw_exchange *exchange, struct mw_symbols *symbols, size_t top)
{
    const struct mw_waits *waits = exchange->waits;
    json_t *sites = json_array();
    for (size_t i = 0; i < waits->sites.count && i < top; i++)
        json_array_append_new(sites, doc_site(waits, &waits->sites.at[i], symbols));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}}", "time_s",
                     mw_json_ns(mw_wait_sum(waits->total)), "by_kind", doc_kinds(waits->total),
                     "collectives", mw_json_count(waits->instances), "too_short",
                     mw_json_count(waits->too_short), "ranks", doc_ranks(waits, top), "sites",
                     "total", mw_json_count(waits->sites.count), "listed", sites);
}
