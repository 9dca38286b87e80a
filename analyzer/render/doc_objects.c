/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication and files: totals, windows, pairs (doc.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/flows.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

static int window_compare(const void *left, const void *right)
{
    const struct mw_window_total *a = *(const struct mw_window_total *const *)left;
    const struct mw_window_total *b = *(const struct mw_window_total *const *)right;
    uint64_t x = a->sent + a->fetched, y = b->sent + b->fetched;
    if (x != y)
        return x > y ? -1 : 1;
    if (a->accesses != b->accesses)
        return a->accesses > b->accesses ? -1 : 1;
    return (a > b) - (a < b); /* as they were made */
}

static json_t *doc_window(const struct mw_doc_input *in, const struct mw_window_total *window)
{
    json_t *label =
        window->comm < 0 ? json_null() : mw_json_take(mw_comm_label(in->comms, window->comm, -1));
    json_t *entry = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", mw_json_text(window->name), "flavour",
        mw_window_flavour_word(window->flavour), "communicator", label, "number",
        mw_json_count(window->number), "processes", mw_json_count(window->holders), "freed",
        mw_json_count(window->freed), "exposed_bytes", mw_json_count(window->size));
    json_object_set_new(entry, "accesses", mw_json_count(window->accesses));
    json_object_set_new(entry, "sent_bytes", mw_json_count(window->sent));
    json_object_set_new(entry, "fetched_bytes", mw_json_count(window->fetched));
    json_object_set_new(entry, "epoch_calls", mw_json_count(window->epochs));
    json_object_set_new(entry, "time_s", mw_json_ns(window->time));
    return entry;
}

static json_t *doc_windows(const struct mw_doc_input *in)
{
    const struct mw_flows *flows = in->tally->flows;
    size_t count = flows->windows.count;
    const struct mw_window_total **sorted = mw_alloc(count, sizeof(*sorted));
    json_t *listed = json_array();
    for (size_t i = 0; i < count; i++)
        sorted[i] = &flows->windows.at[i];
    qsort(sorted, count, sizeof(*sorted), window_compare);
    for (size_t i = 0; i < count && i < in->top; i++)
        json_array_append_new(listed, doc_window(in, sorted[i]));
    free(sorted);
    return json_pack("{s:I, s:o}", "total", (json_int_t)count, "listed", listed);
}

static int pair_compare(const void *left, const void *right)
{
    const struct mw_pair *a = *(const struct mw_pair *const *)left;
    const struct mw_pair *b = *(const struct mw_pair *const *)right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->messages != b->messages)
        return a->messages > b->messages ? -1 : 1;
    return (a > b) - (a < b); /* by source, then destination */
}

static json_t *doc_pairs(const struct mw_doc_input *in)
{
    const struct mw_flows *flows = in->tally->flows;
    const struct mw_pair **sorted = mw_alloc(flows->rma.count, sizeof(*sorted));
    json_t *listed = json_array();
    size_t kept = 0;
    for (size_t i = 0; i < flows->rma.count; i++)
        if (flows->rma.at[i].messages)
            sorted[kept++] = &flows->rma.at[i];
    qsort(sorted, kept, sizeof(*sorted), pair_compare);
    for (size_t i = 0; i < kept && i < in->top; i++)
        json_array_append_new(listed, json_pack("{s:o, s:o, s:o, s:o, s:o}", "src",
                                                mw_rank_json(in->model, sorted[i]->src), "dst",
                                                mw_rank_json(in->model, sorted[i]->dst), "accesses",
                                                mw_json_count(sorted[i]->messages), "bytes",
                                                mw_json_count(sorted[i]->bytes), "time_s",
                                                mw_json_ns(sorted[i]->time)));
    free(sorted);
    return json_pack("{s:I, s:o}", "total", (json_int_t)kept, "listed", listed);
}

json_t *mw_doc_object_amounts(const struct mw_object_amounts *amounts, int files)
{
    if (files)
        return json_pack("{s:o, s:o, s:o, s:o}", "reads", mw_json_count(amounts->reads),
                         "read_bytes", mw_json_count(amounts->read), "writes",
                         mw_json_count(amounts->writes), "written_bytes",
                         mw_json_count(amounts->written));
    return json_pack("{s:o, s:o, s:o}", "accesses", mw_json_count(amounts->accesses), "sent_bytes",
                     mw_json_count(amounts->sent), "fetched_bytes",
                     mw_json_count(amounts->fetched));
}

static struct mw_object_amounts sum_of(const struct mw_doc_input *in)
{
    struct mw_object_amounts sum = {0};
    for (size_t i = 0; i < in->model->process_count; i++) {
        const struct mw_object_amounts *one = &in->tally->flows->by_process[i];
        sum.accesses += one->accesses;
        sum.sent += one->sent;
        sum.fetched += one->fetched;
        sum.reads += one->reads;
        sum.read += one->read;
        sum.writes += one->writes;
        sum.written += one->written;
    }
    return sum;
}

json_t *mw_doc_one_sided(const struct mw_doc_input *in)
{
    const struct mw_flows *flows = in->tally->flows;
    struct mw_object_amounts sum = sum_of(in);
    json_t *section = mw_doc_object_amounts(&sum, 0);
    json_object_set_new(section, "unknown_target",
                        json_pack("{s:o, s:o}", "messages",
                                  mw_json_count(flows->rma_elsewhere.messages), "bytes",
                                  mw_json_count(flows->rma_elsewhere.bytes)));
    json_object_set_new(section, "windows", doc_windows(in));
    json_object_set_new(section, "pairs", doc_pairs(in));
    return section;
}

static int file_compare(const void *left, const void *right)
{
    const struct mw_file_total *a = *(const struct mw_file_total *const *)left;
    const struct mw_file_total *b = *(const struct mw_file_total *const *)right;
    uint64_t x = a->read + a->written, y = b->read + b->written;
    if (x != y)
        return x > y ? -1 : 1;
    return strcmp(a->name, b->name);
}

static json_t *doc_file(const struct mw_file_total *file)
{
    json_t *entry =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", mw_json_text(file->name), "opens",
                  mw_json_count(file->opens), "reads", mw_json_count(file->reads), "read_bytes",
                  mw_json_count(file->read), "writes", mw_json_count(file->writes), "written_bytes",
                  mw_json_count(file->written));
    json_object_set_new(entry, "reads_of_unknown_size", mw_json_count(file->unknown));
    json_object_set_new(entry, "collective", mw_json_count(file->collective));
    json_object_set_new(entry, "time_s", mw_json_ns(file->time));
    return entry;
}

json_t *mw_doc_files(const struct mw_doc_input *in)
{
    const struct mw_flows *flows = in->tally->flows;
    size_t count = flows->files.count;
    const struct mw_file_total **sorted = mw_alloc(count, sizeof(*sorted));
    struct mw_object_amounts sum = sum_of(in);
    json_t *section = mw_doc_object_amounts(&sum, 1), *listed = json_array();
    for (size_t i = 0; i < count; i++)
        sorted[i] = &flows->files.at[i];
    qsort(sorted, count, sizeof(*sorted), file_compare);
    for (size_t i = 0; i < count && i < in->top; i++)
        json_array_append_new(listed, doc_file(sorted[i]));
    free(sorted);
    json_object_set_new(section, "on_unknown_files", mw_json_count(flows->io_elsewhere));
    json_object_set_new(section, "total", json_integer((json_int_t)count));
    json_object_set_new(section, "listed", listed);
    return section;
}
