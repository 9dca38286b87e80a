/* SPDX-License-Identifier: BSD-3-Clause */
/* What was moved: sizes, pairs of ranks, communicators (doc.h). */
#include <stdlib.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

json_t *mw_doc_sizes(const struct mw_doc_input *in)
{
    json_t *sizes = json_array();
    for (unsigned i = 0; i < MW_SIZE_CLASSES; i++) {
        const struct mw_size_total *size = &in->tally->sizes[i];
        if (!size->messages && !size->collectives)
            continue;
        uint64_t from = i ? (uint64_t)1 << (i - 1) : 0, to = i ? from * 2 - 1 : 0;
        json_array_append_new(sizes, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "from",
                                               mw_json_count(from), "to", mw_json_count(to),
                                               "messages", mw_json_count(size->messages), "bytes",
                                               mw_json_count(size->bytes), "collectives",
                                               mw_json_count(size->collectives), "collective_bytes",
                                               mw_json_count(size->collective_bytes)));
    }
    return sizes;
}

static int pair_compare(const void *left, const void *right)
{
    const struct mw_pair *a = *(const struct mw_pair *const *)left;
    const struct mw_pair *b = *(const struct mw_pair *const *)right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->messages != b->messages)
        return a->messages > b->messages ? -1 : 1;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

struct sums {
    uint64_t pairs, messages, bytes;
};

static json_t *top_pairs(const struct mw_doc_input *in, struct sums *sums)
{
    size_t count = in->tally->pairs.count, kept = 0;
    const struct mw_pair **sorted = mw_alloc(count, sizeof(*sorted));
    json_t *listed = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct mw_pair *pair = &in->tally->pairs.at[i];
        if (!pair->messages)
            continue;
        sorted[kept++] = pair;
        sums->messages += pair->messages;
        sums->bytes += pair->bytes;
    }
    sums->pairs = kept;
    qsort(sorted, kept, sizeof(*sorted), pair_compare);
    for (size_t i = 0; i < kept && i < in->top; i++)
        json_array_append_new(listed, json_pack("{s:o, s:o, s:o, s:o, s:o}", "src",
                                                mw_rank_json(in->model, sorted[i]->src), "dst",
                                                mw_rank_json(in->model, sorted[i]->dst), "messages",
                                                mw_json_count(sorted[i]->messages), "bytes",
                                                mw_json_count(sorted[i]->bytes), "time_s",
                                                mw_json_ns(sorted[i]->time)));
    free(sorted);
    return listed;
}

static json_t *other_messages(const struct mw_pair *pair)
{
    return json_pack("{s:o, s:o}", "messages", mw_json_count(pair->messages), "bytes",
                     mw_json_count(pair->bytes));
}

json_t *mw_doc_messages(const struct mw_doc_input *in)
{
    const struct mw_tally *tally = in->tally;
    struct sums sums = {0};
    json_t *listed = top_pairs(in, &sums);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pairs",
                     mw_json_count(sums.pairs), "messages", mw_json_count(sums.messages), "bytes",
                     mw_json_count(sums.bytes), "time_s", mw_json_ns(tally->p2p_time),
                     "time_in_pairs_s", mw_json_ns(tally->pair_time), "counted_at_receiver",
                     mw_json_count(tally->receiver_side), "sizes_that_are_upper_bounds",
                     mw_json_count(tally->upper), "cancelled", mw_json_count(tally->cancelled),
                     "outside_world", other_messages(&tally->outside), "unknown_peer",
                     other_messages(&tally->unknown), "listed", listed);
}

struct comm_entry {
    size_t number;
    const struct mw_comm_total *total;
};

static int comm_compare(const void *left, const void *right)
{
    const struct comm_entry *a = left, *b = right;
    if (a->total->time != b->total->time)
        return a->total->time > b->total->time ? -1 : 1;
    if (a->total->bytes != b->total->bytes)
        return a->total->bytes > b->total->bytes ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static json_t *doc_comm(const struct mw_doc_input *in, const struct comm_entry *entry)
{
    const struct mw_joined_comm *comm = &in->comms->joined.at[entry->number];
    json_t *object =
        json_pack("{s:o, s:s, s:o, s:o, s:I, s:o}", "communicator",
                  mw_json_take(mw_comm_label(in->comms, (int64_t)entry->number, -1)), "how",
                  mw_comm_how_word(comm->how), "size", mw_json_count(comm->size), "remote_size",
                  mw_json_count(comm->remote_size), "processes", (json_int_t)comm->holders, "freed",
                  mw_json_count(comm->freed));
    json_object_set_new(object, "collectives", mw_json_count(entry->total->collectives));
    json_object_set_new(object, "collective_bytes", mw_json_count(entry->total->collective_bytes));
    json_object_set_new(object, "collective_s", mw_json_ns(entry->total->time));
    json_object_set_new(object, "messages", mw_json_count(entry->total->messages));
    json_object_set_new(object, "bytes", mw_json_count(entry->total->bytes));
    return object;
}

json_t *mw_doc_comms(const struct mw_doc_input *in)
{
    size_t count = in->comms->joined.count;
    struct comm_entry *sorted = mw_alloc(count, sizeof(*sorted));
    json_t *listed = json_array();
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct comm_entry){i, &in->tally->comm_totals[i]};
    qsort(sorted, count, sizeof(*sorted), comm_compare);
    for (size_t i = 0; i < count && i < in->top; i++)
        json_array_append_new(listed, doc_comm(in, &sorted[i]));
    free(sorted);
    return json_pack("{s:I, s:o}", "total", (json_int_t)count, "listed", listed);
}
