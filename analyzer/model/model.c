/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the model of a job (model.h) from a trace's metadata and the heads of its event chunks.
 * Runs once, on the main thread. Trusts no number in the trace: arrays grow with what is there.
 */
#include "analyzer/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/seats.h"
#include "analyzer/model/worlds.h"

static void model_add_node(struct mw_model *model, struct mw_index *hosts, size_t number)
{
    const struct mw_process *process = mw_trace_process(model->trace, number);
    size_t node = mw_index_put(hosts, mw_hash_text(1, process->host));
    if (node == model->node_count)
        model->nodes[model->node_count++].host = process->host;
    model->nodes[node].process_count++;
    model->process_node[number] = (uint32_t)node;
}

static int place_compare(const void *left, const void *right)
{
    const struct mw_place_entry *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->process > b->process) - (a->process < b->process);
}

/* Who speaks for each place: of several the first. */
static void model_find_ranks(struct mw_model *model)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        if (model->process_place[i] < 0)
            model->rankless++;
        else
            model->ranks[model->rank_count++] =
                (struct mw_place_entry){model->process_place[i], (uint32_t)i};
    }
    qsort(model->ranks, model->rank_count, sizeof(model->ranks[0]), place_compare);
    for (size_t i = 0; i < model->rank_count; i++) {
        if (kept && model->ranks[kept - 1].place == model->ranks[i].place)
            model->duplicate_ranks++;
        else
            model->ranks[kept++] = model->ranks[i];
    }
    model->rank_count = kept;
}

/* The head of an EVENTS payload starts with the thread, the first number and the count
 * (docs/format.md). */
static int varint_read(const uint8_t **next, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *next < end; shift += 7) {
        uint8_t byte = *(*next)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return 1;
    }
    return 0;
}

static uint64_t thread_key(uint64_t process, uint64_t thread)
{
    return mw_mix(process) ^ mw_mix(thread + 1);
}

static struct mw_thread_events *model_thread_entry(struct mw_model *model, uint64_t process,
                                                   uint64_t thread)
{
    size_t number = mw_index_put(&model->thread_index, thread_key(process, thread));
    if (number == model->threads.count) {
        struct mw_thread_events *added = mw_vector_add(&model->threads);
        added->process = process;
        added->thread = thread;
    }
    return &model->threads.at[number];
}

static void model_add_events(struct mw_model *model, const struct mw_chunk_view *chunk)
{
    const uint8_t *next = chunk->payload, *end = next + chunk->length;
    uint64_t thread, first, count;
    if (!varint_read(&next, end, &thread) || !varint_read(&next, end, &first) ||
        !varint_read(&next, end, &count))
        return;
    struct mw_thread_events *entry = model_thread_entry(model, chunk->process, thread);
    if (first + count >= first && first + count > entry->next)
        entry->next = first + count;
    entry->chunks++;
    entry->stored += chunk->length;
}

static enum mw_status model_visit(void *context, const struct mw_chunk_view *chunk)
{
    struct mw_model *model = context;
    struct mw_type_total *total = &model->types[chunk->type < 256 ? chunk->type : 0];
    total->chunks++;
    total->stored += chunk->length + MW_CHUNK_HEADER_SIZE;
    if (chunk->type == MW_CHUNK_EVENTS && chunk->version <= MW_FORMAT_VERSION)
        model_add_events(model, chunk);
    return MW_OK;
}

static int thread_compare(const void *left, const void *right)
{
    const struct mw_thread_events *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Threads of one process stand together, by index. */
static void model_sort_threads(struct mw_model *model)
{
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        for (size_t t = 0; t < process->thread_count; t++)
            model_thread_entry(model, process->key, process->threads[t].index);
    }
    if (model->threads.count)
        qsort(model->threads.at, model->threads.count, sizeof(model->threads.at[0]),
              thread_compare);
    mw_index_free(&model->thread_index);
    for (size_t i = 0; i < model->threads.count; i++)
        mw_index_put(&model->thread_index,
                     thread_key(model->threads.at[i].process, model->threads.at[i].thread));
}

struct mw_model *mw_model_create(const mw_trace *trace)
{
    struct mw_model *model = mw_alloc(1, sizeof(*model));
    struct mw_index hosts = {0};
    model->trace = trace;
    model->process_count = mw_trace_process_count(trace);
    model->nodes = mw_alloc(model->process_count, sizeof(model->nodes[0]));
    model->ranks = mw_alloc(model->process_count, sizeof(model->ranks[0]));
    model->process_node = mw_alloc(model->process_count, sizeof(model->process_node[0]));
    for (size_t i = 0; i < model->process_count; i++) {
        model_add_node(model, &hosts, i);
        mw_index_put(&model->process_index, mw_trace_process(trace, i)->key);
    }
    mw_index_free(&hosts);
    mw_worlds_find(model);
    model_find_ranks(model);
    mw_trace_visit(trace, model_visit, model);
    model_sort_threads(model);
    return model;
}

void mw_model_free(struct mw_model *model)
{
    if (!model)
        return;
    free(model->nodes);
    free(model->ranks);
    free(model->process_node);
    free(model->worlds);
    free(model->process_world);
    free(model->process_place);
    free(model->in_order);
    free(model->threads.at);
    mw_index_free(&model->thread_index);
    mw_index_free(&model->process_index);
    mw_seats_free(model->seats, model);
    free(model);
}

int64_t mw_model_place(const struct mw_model *model, size_t process)
{
    return model->process_place[process];
}

int64_t mw_model_place_of(const struct mw_model *model, const struct mw_process *process)
{
    return model->process_place[mw_index_find(&model->process_index, process->key)];
}

int64_t mw_model_rank(const struct mw_model *model, int64_t place)
{
    size_t low = 0, high = model->rank_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->ranks[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == model->rank_count || model->ranks[low].place != place)
        return -1;
    return model->ranks[low].process;
}

int64_t mw_model_rank_node(const struct mw_model *model, int64_t place)
{
    int64_t process = mw_model_rank(model, place);
    return process < 0 ? -1 : (int64_t)model->process_node[process];
}

struct mw_rank_id mw_model_rank_id(const struct mw_model *model, int64_t place)
{
    size_t low = 0, high = model->world_count; /* the world is in [low, high) */
    if (model->world_count < 2 || place < 0)
        return (struct mw_rank_id){0, place < 0 ? -1 : place};
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (model->worlds[middle].first <= place)
            low = middle;
        else
            high = middle;
    }
    return (struct mw_rank_id){(uint32_t)low + 1, place - model->worlds[low].first};
}

int64_t mw_model_find_rank(const struct mw_model *model, struct mw_rank_id id)
{
    int several = model->world_count > 1;
    if (id.rank < 0 || several != (id.world > 0) || id.world > model->world_count)
        return -1;
    const struct mw_world *world = several ? &model->worlds[id.world - 1] : NULL;
    if (!several)
        return id.rank;
    return id.rank < world->size ? world->first + id.rank : -1;
}

int64_t mw_model_peer(const struct mw_model *model, size_t process, int64_t peer)
{
    const struct mw_world *world = &model->worlds[model->process_world[process]];
    if (peer < 0 || model->world_count < 2)
        return peer;
    return peer < world->size ? world->first + peer : MW_PEER_UNKNOWN;
}

/* Where the threads of a process begin in the sorted array. */
static size_t model_first_thread(const struct mw_model *model, uint64_t key)
{
    size_t low = 0, high = model->threads.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->threads.at[middle].process < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t mw_model_events(const struct mw_model *model, const struct mw_process *process)
{
    uint64_t events = 0;
    for (size_t i = model_first_thread(model, process->key);
         i < model->threads.count && model->threads.at[i].process == process->key; i++)
        events += model->threads.at[i].next;
    return events;
}

enum mw_status mw_model_thread(const struct mw_model *model, const struct mw_process *process,
                               size_t n, uint64_t *thread)
{
    size_t at = model_first_thread(model, process->key) + n;
    if (at >= model->threads.count || model->threads.at[at].process != process->key)
        return MW_END;
    *thread = model->threads.at[at].thread;
    return MW_OK;
}
