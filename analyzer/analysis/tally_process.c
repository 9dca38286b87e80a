/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the calls of one process (tally_process.h). Each call is taken apart into operations;
 * messages go to their pair, time to the call. docs/metrics.md says what counts where.
 */
#include "analyzer/analysis/tally_process.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/flows.h"
#include "analyzer/model/operation.h"
#include "analyzer/model/stream.h"

#define PROGRESS_STEP 65536 /* events */

/* Whether all operations of a call belong to one ordered pair. */
struct call_pair {
    int operations, several;
    int64_t peer;
    int receives;
};

static struct mw_local_pair *pair_count(struct mw_process_tally *tally,
                                        const struct mw_operation *operation, int receives,
                                        uint64_t messages)
{
    return mw_local_pair_add(tally, operation->peer, receives, mw_size_class(operation->bytes),
                             mw_local_memory(tally, operation->space), messages,
                             messages * operation->bytes);
}

static void count_send(struct mw_process_tally *tally, const struct mw_operation *operation)
{
    struct mw_local_comm *comm = mw_local_comm(tally, operation->comm);
    struct mw_size_total *size = &tally->sizes[mw_size_class(operation->bytes)];
    uint64_t messages = operation->starts ? 1 : (uint64_t)-1; /* a cancelled one is taken back */
    uint64_t bytes = messages * operation->bytes;
    comm->total.messages += messages;
    comm->total.bytes += bytes;
    size->messages += messages;
    size->bytes += bytes;
    if (mw_is_rank(operation->peer)) {
        pair_count(tally, operation, 0, messages);
    } else {
        int outside = operation->peer <= MW_PEER_OUTSIDE(0);
        struct mw_pair *pair = outside ? &tally->outside : &tally->unknown;
        pair->messages += messages;
        pair->bytes += bytes;
    }
    mw_local_function_amounts(tally, operation->function)->sent += bytes;
    mw_local_site_amounts(tally, operation->function, operation->site)->sent += bytes;
    tally->total.amounts.sent += bytes;
}

static void amounts_receive(struct mw_amounts *amounts, const struct mw_operation *operation)
{
    if (operation->known) {
        amounts->received += operation->bytes;
    } else {
        amounts->received_room += operation->bytes;
        amounts->unknown++;
    }
}

static void count_receive(struct mw_process_tally *tally, const struct mw_operation *operation)
{
    if (mw_is_rank(operation->peer))
        pair_count(tally, operation, 1, 1)->upper += !operation->known;
    amounts_receive(mw_local_function_amounts(tally, operation->function), operation);
    amounts_receive(mw_local_site_amounts(tally, operation->function, operation->site), operation);
    amounts_receive(&tally->total.amounts, operation);
}

static void count_collective(struct mw_process_tally *tally, const struct mw_operation *operation,
                             const struct mw_event *event)
{
    struct mw_local_comm *comm = mw_local_comm(tally, operation->comm);
    struct mw_size_total *size = &tally->sizes[mw_size_class(operation->bytes)];
    struct mw_amounts *function = mw_local_function_amounts(tally, operation->function);
    struct mw_amounts *site = mw_local_site_amounts(tally, operation->function, operation->site);
    comm->total.collectives++;
    comm->total.collective_bytes += operation->bytes;
    size->collectives++;
    size->collective_bytes += operation->bytes;
    function->sent += operation->bytes;
    function->received += operation->received;
    site->sent += operation->bytes;
    site->received += operation->received;
    tally->total.amounts.sent += operation->bytes;
    tally->total.amounts.received += operation->received;
    if (event->flags & MW_EVENT_COUNTED && event->ordinal >= 0 &&
        (uint64_t)event->ordinal + 1 > comm->next)
        comm->next = (uint64_t)event->ordinal + 1;
}

/* Accesses and files: a call's and a call site's amounts; those of files are no traffic of the
 * rank. */
static void count_object(struct mw_process_tally *tally, const struct mw_operation *operation)
{
    struct mw_amounts *amounts[] = {
        mw_local_function_amounts(tally, operation->function),
        mw_local_site_amounts(tally, operation->function, operation->site), &tally->total.amounts};
    size_t count = operation->kind == MW_OPERATION_RMA ? 3 : 2;
    for (size_t i = 0; i < count; i++) {
        if (operation->kind == MW_OPERATION_READ) {
            amounts_receive(amounts[i], operation);
            continue;
        }
        amounts[i]->sent += operation->bytes;
        amounts[i]->received += operation->received;
    }
}

/* At the start, but for reads: only their end tells how much there was. */
static int counts_now(const struct mw_operation *operation)
{
    if (operation->kind == MW_OPERATION_READ)
        return operation->ends && !operation->cancelled && !operation->freed;
    return operation->starts &&
           (operation->kind == MW_OPERATION_RMA || operation->kind == MW_OPERATION_WRITE);
}

static void count_operation(struct mw_process_tally *tally, const struct mw_operation *operation,
                            const struct mw_event *event)
{
    if (operation->failed)
        return;
    if (operation->kind == MW_OPERATION_SEND) {
        if (operation->starts || operation->cancelled)
            count_send(tally, operation);
    } else if (operation->kind == MW_OPERATION_RECV) {
        if (operation->ends && !operation->cancelled && !operation->freed)
            count_receive(tally, operation);
    } else if (operation->kind == MW_OPERATION_COLL && operation->starts) {
        count_collective(tally, operation, event);
    } else if (counts_now(operation)) {
        count_object(tally, operation);
    }
    tally->cancelled += operation->cancelled;
}

static void pair_add(struct call_pair *pair, const struct mw_operation *operation)
{
    int receives = operation->kind == MW_OPERATION_RECV;
    int message = receives || operation->kind == MW_OPERATION_SEND;
    if (!pair->operations++) {
        pair->peer = operation->peer;
        pair->receives = receives;
    }
    pair->several |= !message || !mw_is_rank(operation->peer) || pair->peer != operation->peer ||
                     pair->receives != receives;
}

static void amounts_call(struct mw_amounts *amounts, const struct mw_event *call, uint64_t ticks)
{
    uint64_t calls = call->kind == MW_EVENT_POLL ? call->polls : 1;
    if (call->flags & MW_EVENT_NESTED) {
        amounts->nested += calls;
        amounts->nested_time += ticks;
    } else {
        amounts->calls += calls;
        amounts->time += ticks;
    }
    amounts->errors += (call->flags & MW_EVENT_ERROR) != 0;
}

static void count_time(struct mw_process_tally *tally, const struct mw_event *call, uint64_t ticks,
                       unsigned kinds, const struct call_pair *pair)
{
    enum mw_time_class class = MW_TIME_OTHER;
    unsigned messages = 1u << MW_OPERATION_SEND | 1u << MW_OPERATION_RECV;
    unsigned files = 1u << MW_OPERATION_READ | 1u << MW_OPERATION_WRITE;
    if (call->kind == MW_EVENT_POLL)
        class = MW_TIME_POLL;
    else if (kinds & messages)
        class = MW_TIME_P2P;
    else if (kinds & 1u << MW_OPERATION_COLL)
        class = MW_TIME_COLL;
    else if (kinds & 1u << MW_OPERATION_RMA || call->kind == MW_EVENT_EPOCH)
        class = MW_TIME_RMA;
    else if (kinds & files || call->kind == MW_EVENT_FILE)
        class = MW_TIME_IO;
    else if (mw_local_function(tally, call->function)->lifecycle)
        class = MW_TIME_LIFE;
    if (call->flags & MW_EVENT_NESTED)
        return;
    tally->total.time_by[class] += ticks;
    if (class != MW_TIME_P2P)
        return;
    tally->p2p_ticks += ticks;
    if (!pair->several) {
        tally->pair_ticks += ticks;
        mw_local_pair(tally, pair->peer, pair->receives)->ticks += ticks;
    }
}

static uint64_t call_ticks(const struct mw_call_record *record)
{
    if (record->incomplete)
        return 0;
    if (record->call.kind == MW_EVENT_POLL)
        return record->call.busy;
    return record->call.end > record->call.start ? record->call.end - record->call.start : 0;
}

static void note_last(struct mw_process_total *total, const struct mw_event *call)
{
    if (call->flags & MW_EVENT_NESTED || call->end < total->last_end)
        return;
    total->last_end = call->end;
    total->last_function = call->function;
    total->last_site = call->site;
}

static void count_call_region(struct mw_process_tally *tally, const struct mw_event *call,
                              uint64_t ticks)
{
    if (tally->process->region_count == 0)
        return;
    if (mw_local_function(tally, call->function)->marks)
        tally->region = call->tag > 0 ? (uint64_t)call->tag : 0;
    if (!(call->flags & MW_EVENT_NESTED))
        mw_local_region_add(tally, tally->region, call->kind == MW_EVENT_POLL ? call->polls : 1,
                            ticks);
}

static void count_call(struct mw_process_tally *tally, struct mw_requests *requests,
                       uint64_t thread, const struct mw_call_record *record)
{
    const struct mw_event *call = &record->call;
    struct call_pair pair = {0};
    uint64_t ticks = call_ticks(record);
    uint64_t own_ticks = record->part_count || call->flags & MW_EVENT_NESTED ? 0 : ticks;
    int64_t collective_comm = -1;
    unsigned kinds = 0;
    for (size_t i = 0; i < record->part_count + !record->incomplete; i++) {
        const struct mw_event *event = i < record->part_count ? &record->parts[i] : call;
        struct mw_operation operation;
        mw_operation_resolve(requests, thread, call->site, event, &operation);
        if (operation.kind == MW_OPERATION_NONE)
            continue;
        operation.peer =
            mw_comms_peer(tally->all_comms, tally->number, operation.comm, operation.peer);
        if (!operation.function) {
            operation.function = call->function;
            operation.site = call->site;
        }
        kinds |= 1u << operation.kind;
        if (operation.kind == MW_OPERATION_COLL)
            collective_comm = operation.comm;
        pair_add(&pair, &operation);
        count_operation(tally, &operation, event);
        mw_flow_operation(tally->flow, &operation, event, event == call ? own_ticks : 0);
    }
    tally->events += record->part_count + !record->incomplete;
    if (record->incomplete) {
        tally->total.incomplete += record->part_count;
        return;
    }
    if (kinds == 1u << MW_OPERATION_COLL && !(call->flags & MW_EVENT_NESTED))
        mw_local_comm(tally, collective_comm)->total.time += ticks;
    amounts_call(mw_local_function_amounts(tally, call->function), call, ticks);
    amounts_call(mw_local_site_amounts(tally, call->function, call->site), call, ticks);
    amounts_call(&tally->total.amounts, call, ticks);
    count_time(tally, call, ticks, kinds, &pair);
    mw_flow_call(tally->flow, call,
                 mw_comms_peer(tally->all_comms, tally->number, call->comm, call->peer),
                 call->flags & MW_EVENT_NESTED ? 0 : ticks);
    count_call_region(tally, call, ticks);
    note_last(&tally->total, call);
}

/* From the initialising call to the end of recording, as far as that is known. */
static uint64_t wall_ticks(const struct mw_process *process, uint64_t last_end)
{
    uint64_t end = 0;
    if (process->end_reason && process->end_reason != MW_END_COLLECTED)
        end = process->finalize_end ? process->finalize_end : process->end_time;
    if (!end) {
        end = last_end;
        for (size_t i = 0; i < process->open_call_count; i++)
            if (process->open_calls[i].start > end)
                end = process->open_calls[i].start;
    }
    return process->began && end > process->began ? end - process->began : 0;
}

static void keep_damage(struct mw_process_tally *tally, const struct mw_stream *stream)
{
    for (size_t i = 0; i < mw_stream_damage_count(stream); i++) {
        const struct mw_damage *damage = mw_stream_damage(stream, i);
        *mw_vector_add(&tally->damage) = (struct mw_event_damage){
            mw_text_copy(damage->file), mw_text_copy(damage->text), damage->offset, damage->length};
    }
}

struct mw_process_tally *mw_process_tally_create(const struct mw_comms *comms, size_t number,
                                                 void (*progress)(uint64_t events))
{
    struct mw_process_tally *tally = mw_alloc(1, sizeof(*tally));
    struct mw_requests *requests = mw_requests_create();
    const struct mw_call_record *record;
    uint64_t thread, told = 0;
    const struct mw_model *model = comms->model;
    tally->number = number;
    tally->all_comms = comms;
    tally->process = mw_trace_process(model->trace, number);
    tally->flow = mw_flow_meter_create(tally->process);
    struct mw_stream *stream = mw_stream_open(model, tally->process);
    while (mw_stream_next(stream, &thread, &record) == MW_OK) {
        count_call(tally, requests, thread, record);
        if (progress && tally->events - told >= PROGRESS_STEP) {
            progress(tally->events - told);
            told = tally->events;
        }
    }
    if (progress)
        progress(tally->events - told);
    tally->total.threads = mw_stream_threads(stream);
    mw_tally_sums(tally, stream);
    tally->total.events_missing = mw_stream_missing(stream);
    tally->total.status = mw_stream_status(stream);
    keep_damage(tally, stream);
    tally->total.wall = wall_ticks(tally->process, tally->total.last_end);
    mw_stream_close(stream);
    mw_requests_free(requests);
    return tally;
}

void mw_process_tally_free(struct mw_process_tally *tally)
{
    mw_index_free(&tally->function_index);
    mw_index_free(&tally->site_index);
    mw_index_free(&tally->pair_index);
    mw_index_free(&tally->class_index);
    mw_index_free(&tally->buffer_index);
    mw_index_free(&tally->comm_index);
    mw_index_free(&tally->region_index);
    mw_flow_meter_free(tally->flow);
    free(tally->functions.at);
    free(tally->sites.at);
    free(tally->pairs.at);
    free(tally->classes.at);
    free(tally->buffers.at);
    free(tally->comms.at);
    free(tally->regions.at);
    free(tally->damage.at);
    free(tally);
}
