/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds the processes of a job up (tally.h). Workers take processes from a queue, read them without
 * a lock and add the result to the whole under one. All sums are integers, so that the order does
 * not show.
 */
#include "analyzer/analysis/tally.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/analysis/flows.h"
#include "analyzer/analysis/tally_process.h"

#define WORKERS_MAX 32

struct work {
    struct mw_tally *tally;
    pthread_mutex_t lock;
    size_t next;
    void (*progress)(uint64_t events);
    unsigned char *open_comms; /* by number: a call was open on it */
};

/* Ticks of a process in ns; 0 where the clock's rate is not known. */
static uint64_t to_ns(const struct mw_process_tally *from, uint64_t ticks)
{
    double ns = ticks ? mw_process_span_ns(from->process, ticks) : 0;
    return ns > 0 && ns < 1.8e19 ? (uint64_t)(ns + 0.5) : 0;
}

static void amounts_add(struct mw_amounts *to, const struct mw_amounts *from,
                        const struct mw_process_tally *process)
{
    to->calls += from->calls;
    to->nested += from->nested;
    to->errors += from->errors;
    to->time += to_ns(process, from->time);
    to->nested_time += to_ns(process, from->nested_time);
    to->sent += from->sent;
    to->received += from->received;
    to->received_room += from->received_room;
    to->unknown += from->unknown;
}

static struct mw_function_total *tally_function(struct mw_tally *tally,
                                                const struct mw_process *process, uint64_t function)
{
    size_t at = mw_index_put(&tally->function_index, function);
    if (at == tally->functions.count) {
        struct mw_function_total *added = mw_vector_add(&tally->functions);
        added->function = function;
        added->name = mw_process_function_name(process, function);
        added->least = UINT64_MAX;
    }
    return &tally->functions.at[at];
}

static void note_most(uint64_t time, size_t process, uint64_t *most, size_t *most_process)
{
    if (time > *most || (time == *most && process < *most_process)) {
        *most = time;
        *most_process = process;
    }
}

static void add_functions(struct mw_tally *tally, const struct mw_process_tally *from)
{
    for (size_t i = 0; i < from->functions.count; i++) {
        const struct mw_local_function *local = &from->functions.at[i];
        struct mw_function_total *to = tally_function(tally, from->process, local->function);
        uint64_t time = to_ns(from, local->amounts.time);
        amounts_add(&to->amounts, &local->amounts, from);
        if (!local->amounts.calls && !local->amounts.nested)
            continue;
        if (!to->ranks++)
            to->most_process = from->number;
        if (time < to->least)
            to->least = time;
        note_most(time, from->number, &to->most, &to->most_process);
    }
}

/* COUNTS has every call, also those without events of their own. */
static void add_counts(struct mw_tally *tally, const struct mw_process_tally *from)
{
    struct mw_process_total *total = &tally->processes[from->number];
    for (size_t i = 0; i < from->process->count_count; i++) {
        const struct mw_count *count = &from->process->counts[i];
        tally_function(tally, from->process, count->function)->counted += count->calls;
        size_t at = mw_index_find(&from->function_index, count->function);
        if (at == MW_INDEX_NONE)
            continue;
        const struct mw_amounts *seen = &from->functions.at[at].amounts;
        if (seen->calls + seen->nested && count->calls > seen->calls + seen->nested)
            total->calls_missing += count->calls - seen->calls - seen->nested;
    }
}

static void add_sites(struct mw_tally *tally, const struct mw_process_tally *from)
{
    for (size_t i = 0; i < from->sites.count; i++) {
        const struct mw_local_site *local = &from->sites.at[i];
        uint64_t key = mw_site_key(from->process, local->site);
        size_t at = mw_index_put(&tally->site_index, mw_mix(key) ^ local->function);
        if (at == tally->sites.count) {
            struct mw_site_total *added = mw_vector_add(&tally->sites);
            added->key = key;
            added->function = local->function;
            added->name = mw_process_function_name(from->process, local->function);
            added->process = added->most_process = from->number;
            added->site = local->site;
        }
        struct mw_site_total *to = &tally->sites.at[at];
        amounts_add(&to->amounts, &local->amounts, from);
        to->ranks += local->amounts.calls + local->amounts.nested > 0;
        note_most(to_ns(from, local->amounts.time), from->number, &to->most, &to->most_process);
        if (from->number < to->process) {
            to->process = from->number;
            to->site = local->site;
        }
    }
}

static void add_pair(struct mw_tally *tally, const struct mw_process_tally *from, int64_t own,
                     const struct mw_local_pair *local)
{
    int64_t src = local->receives ? local->peer : own, dst = local->receives ? own : local->peer;
    size_t at = mw_index_put(&tally->pair_index, (uint64_t)src << 32 | (uint64_t)dst);
    if (at == tally->pairs.count) {
        struct mw_pair *added = mw_vector_add(&tally->pairs);
        added->src = src;
        added->dst = dst;
    }
    struct mw_pair *pair = &tally->pairs.at[at];
    pair->time += to_ns(from, local->ticks);
    if (local->receives && mw_model_rank(tally->model, src) >= 0)
        return; /* the sender counts its messages itself */
    pair->messages += local->messages;
    pair->bytes += local->bytes;
    pair->upper += local->upper;
    pair->memory.device_messages += local->memory.device_messages;
    pair->memory.device_bytes += local->memory.device_bytes;
    pair->memory.unsure_messages += local->memory.unsure_messages;
    pair->memory.unsure_bytes += local->memory.unsure_bytes;
    tally->upper += local->upper;
    if (local->receives)
        tally->receiver_side += local->messages;
}

/* 0: another counts these. */
static int class_of(const struct mw_tally *tally, const struct mw_process_tally *from, int64_t own,
                    const struct mw_local_class *local, struct mw_pair_class *class)
{
    const struct mw_local_pair *pair = &from->pairs.at[local->pair];
    *class = (struct mw_pair_class){pair->receives ? pair->peer : own,
                                    pair->receives ? own : pair->peer,
                                    local->class,
                                    local->kind,
                                    local->messages,
                                    local->bytes};
    return !pair->receives || mw_model_rank(tally->model, pair->peer) < 0;
}

static void add_classes(struct mw_tally *tally, const struct mw_process_tally *from, int64_t own)
{
    struct mw_pair_class class;
    for (size_t i = 0; i < from->classes.count; i++)
        if (class_of(tally, from, own, &from->classes.at[i], &class))
            *mw_vector_add(&tally->classes) = class;
    for (size_t i = 0; i < from->buffers.count; i++)
        if (class_of(tally, from, own, &from->buffers.at[i], &class))
            *mw_vector_add(&tally->buffers) = class;
}

static void add_comms(struct mw_tally *tally, const struct mw_process_tally *from,
                      const unsigned char *open_comms)
{
    for (size_t i = 0; i < from->comms.count; i++) {
        const struct mw_local_comm *local = &from->comms.at[i];
        int64_t number = mw_comms_find(tally->comms, from->number, local->id);
        if (number < 0)
            continue;
        struct mw_comm_total *to = &tally->comm_totals[number];
        to->collectives += local->total.collectives;
        to->messages += local->total.messages;
        to->bytes += local->total.bytes;
        to->collective_bytes += local->total.collective_bytes;
        to->time += to_ns(from, local->total.time);
        if (!open_comms[number] || !local->next)
            continue;
        uint64_t key = (uint64_t)from->number << 32 | (uint64_t)number;
        if (mw_index_put(&tally->progress_index, key) == tally->progress.count)
            *mw_vector_add(&tally->progress) =
                (struct mw_progress_entry){(uint32_t)from->number, (uint32_t)number, local->next};
    }
}

static void add_process_total(struct mw_tally *tally, const struct mw_process_tally *from)
{
    struct mw_process_total *to = &tally->processes[from->number];
    *to = from->total;
    to->amounts = (struct mw_amounts){0};
    amounts_add(&to->amounts, &from->total.amounts, from);
    for (int i = 0; i < MW_TIME_CLASSES; i++)
        to->time_by[i] = to_ns(from, from->total.time_by[i]);
    to->wall = to_ns(from, from->total.wall);
    to->timed = !isnan(mw_process_span_ns(from->process, 1000000));
    tally->timed += to->timed != 0;
    to->last_name = mw_process_function_name(from->process, from->total.last_function);
}

static void tally_merge(struct mw_tally *tally, const struct mw_process_tally *from,
                        const unsigned char *open_comms)
{
    int64_t own = mw_model_place(tally->model, from->number);
    add_process_total(tally, from);
    add_functions(tally, from);
    add_counts(tally, from);
    add_sites(tally, from);
    for (size_t i = 0; own >= 0 && i < from->pairs.count; i++)
        add_pair(tally, from, own, &from->pairs.at[i]);
    if (own >= 0)
        add_classes(tally, from, own);
    add_comms(tally, from, open_comms);
    mw_flows_merge(tally->flows, from->flow, from->number, tally->comms);
    mw_tally_add_regions(tally, from);
    for (int i = 0; i < MW_SIZE_CLASSES; i++) {
        tally->sizes[i].messages += from->sizes[i].messages;
        tally->sizes[i].bytes += from->sizes[i].bytes;
        tally->sizes[i].collectives += from->sizes[i].collectives;
        tally->sizes[i].collective_bytes += from->sizes[i].collective_bytes;
    }
    tally->outside.messages += from->outside.messages;
    tally->outside.bytes += from->outside.bytes;
    tally->unknown.messages += from->unknown.messages;
    tally->unknown.bytes += from->unknown.bytes;
    tally->p2p_time += to_ns(from, from->p2p_ticks);
    tally->pair_time += to_ns(from, from->pair_ticks);
    tally->cancelled += from->cancelled;
    tally->events += from->events;
    for (size_t i = 0; i < from->damage.count; i++)
        *mw_vector_add(&tally->damage) = from->damage.at[i];
}

static void *tally_work(void *context)
{
    struct work *work = context;
    for (;;) {
        pthread_mutex_lock(&work->lock);
        size_t number = work->next++;
        pthread_mutex_unlock(&work->lock);
        if (number >= work->tally->model->process_count)
            return NULL;
        struct mw_process_tally *process =
            mw_process_tally_create(work->tally->comms, number, work->progress);
        pthread_mutex_lock(&work->lock);
        tally_merge(work->tally, process, work->open_comms);
        pthread_mutex_unlock(&work->lock);
        mw_process_tally_free(process);
    }
}

static void run_workers(struct work *work)
{
    pthread_t workers[WORKERS_MAX];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cores > WORKERS_MAX ? WORKERS_MAX : cores < 1 ? 1 : (size_t)cores, started = 0;
    if (wanted > work->tally->model->process_count)
        wanted = work->tally->model->process_count;
    while (started + 1 < wanted && !pthread_create(&workers[started], NULL, tally_work, work))
        started++;
    tally_work(work);
    while (started > 0)
        pthread_join(workers[--started], NULL);
}

static void mark_open_comms(const struct mw_tally *tally, unsigned char *open_comms)
{
    for (size_t i = 0; i < tally->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(tally->model->trace, i);
        for (size_t c = 0; c < process->open_call_count; c++) {
            int64_t comm = mw_comms_find(tally->comms, i, process->open_calls[c].comm);
            if (comm >= 0 && process->open_calls[c].instance >= 0)
                open_comms[comm] = 1;
        }
    }
}

static int damage_compare(const void *left, const void *right)
{
    const struct mw_event_damage *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

struct mw_tally *mw_tally_create(const struct mw_model *model, const struct mw_comms *comms,
                                 void (*progress)(uint64_t events))
{
    struct mw_tally *tally = mw_alloc(1, sizeof(*tally));
    struct work work = {.tally = tally, .progress = progress};
    tally->model = model;
    tally->comms = comms;
    tally->flows = mw_flows_create(model, comms);
    tally->processes = mw_alloc(model->process_count, sizeof(tally->processes[0]));
    tally->comm_totals = mw_alloc(comms->joined.count, sizeof(tally->comm_totals[0]));
    work.open_comms = mw_alloc(comms->joined.count, 1);
    mark_open_comms(tally, work.open_comms);
    pthread_mutex_init(&work.lock, NULL);
    run_workers(&work);
    mw_tally_join_regions(tally);
    mw_tally_sort_classes(tally);
    mw_flows_finish(tally->flows);
    if (tally->damage.count)
        qsort(tally->damage.at, tally->damage.count, sizeof(tally->damage.at[0]), damage_compare);
    pthread_mutex_destroy(&work.lock);
    free(work.open_comms);
    return tally;
}

const struct mw_pair *mw_tally_pair(const struct mw_tally *tally, int64_t src, int64_t dst)
{
    size_t at = mw_index_find(&tally->pair_index, (uint64_t)src << 32 | (uint64_t)dst);
    return at == MW_INDEX_NONE ? NULL : &tally->pairs.at[at];
}

void mw_tally_free(struct mw_tally *tally)
{
    if (!tally)
        return;
    mw_index_free(&tally->function_index);
    mw_index_free(&tally->site_index);
    mw_index_free(&tally->pair_index);
    mw_index_free(&tally->progress_index);
    mw_index_free(&tally->region_index);
    free(tally->functions.at);
    free(tally->sites.at);
    free(tally->pairs.at);
    free(tally->classes.at);
    free(tally->buffers.at);
    free(tally->progress.at);
    free(tally->regions.at);
    for (size_t i = 0; i < tally->damage.count; i++) {
        free(tally->damage.at[i].file);
        free(tally->damage.at[i].text);
    }
    free(tally->damage.at);
    mw_flows_free(tally->flows);
    free(tally->processes);
    free(tally->comm_totals);
    free(tally);
}

uint64_t mw_tally_progress(const struct mw_tally *tally, size_t process, size_t comm)
{
    size_t at = mw_index_find(&tally->progress_index, (uint64_t)process << 32 | (uint64_t)comm);
    return at == MW_INDEX_NONE ? 0 : tally->progress.at[at].next;
}
