/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pass over all calls (matching.h): takes each call apart into starts and completions of
 * messages and members of collectives, and hands them to the channels and instances. Main thread
 * only.
 */
#include "analyzer/model/matching.h"

#include <stdlib.h>

#include "analyzer/model/collective.h"
#include "analyzer/model/feed.h"
#include "analyzer/model/matching_private.h"
#include "analyzer/model/operation.h"

#define PROGRESS_STEP 65536 /* events */

/* A call that is being taken apart. */
struct call {
    struct mw_matching *matching;
    struct mw_party *party;
    uint32_t process;
    int64_t rank;
    uint64_t thread;
    const struct mw_call_record *record;
    int64_t start, end, wait; /* wait: start, or that of the unsuccessful tests before it */
    int64_t back;             /* end, and what recording took after it, as far as that is known */
    uint64_t group;
    unsigned completions; /* of messages and of anything else */
    int one_pair;         /* all are sends to, or receives from, one rank */
    int posts_receive;    /* one that goes on */
};

uint32_t mw_half_new(struct mw_matching *matching)
{
    uint32_t half = matching->free_half;
    if (half == MW_HALF_NONE) {
        half = (uint32_t)matching->halves.count;
        mw_vector_add(&matching->halves);
    } else {
        matching->free_half = mw_half_at(matching, half)->next;
    }
    *mw_half_at(matching, half) = (struct mw_half){
        .used = 1, .next = MW_HALF_NONE, .partner = MW_HALF_NONE, .channel = MW_HALF_NONE};
    return half;
}

void mw_half_free(struct mw_matching *matching, uint32_t half)
{
    struct mw_half *freed = mw_half_at(matching, half);
    freed->used = 0;
    freed->next = matching->free_half;
    matching->free_half = half;
}

void mw_half_settle(struct mw_matching *matching, uint32_t number)
{
    struct mw_half *half = mw_half_at(matching, number);
    if (!half->completed || half->partner == MW_HALF_NONE)
        return;
    struct mw_half *partner = mw_half_at(matching, half->partner);
    if (!partner->completed)
        return;
    const struct mw_half *send = half->receives ? partner : half;
    const struct mw_half *recv = half->receives ? half : partner;
    struct mw_message message = {send->comm, send->tag, send->bytes, send->end, recv->end};
    matching->counts->messages++;
    if (matching->sink->message)
        matching->sink->message(matching->sink->context, &message);
    mw_half_free(matching, half->partner);
    mw_half_free(matching, number);
}

static int is_rank(int64_t peer)
{
    return peer >= 0 && peer <= INT32_MAX;
}

static int is_message(const struct mw_operation *operation)
{
    return operation->kind == MW_OPERATION_SEND || operation->kind == MW_OPERATION_RECV;
}

/* Takes the call apart, and sees what it completed as a whole. */
static void call_resolve(struct call *call)
{
    const struct mw_call_record *record = call->record;
    struct mw_matching *matching = call->matching;
    const struct mw_operation *first = NULL;
    size_t count = record->part_count + !record->incomplete;
    matching->operations.count = 0;
    for (size_t i = 0; i < count; i++)
        mw_vector_add(&matching->operations);
    call->one_pair = 1;
    for (size_t i = 0; i < count; i++) {
        const struct mw_event *event = i < record->part_count ? &record->parts[i] : &record->call;
        struct mw_operation *operation = &matching->operations.at[i];
        mw_operation_resolve(call->party->requests, call->thread, record->call.site, event,
                             operation);
        call->posts_receive |= operation->kind == MW_OPERATION_RECV && !operation->ends;
        if (!operation->ends || operation->kind == MW_OPERATION_NONE)
            continue;
        call->completions++;
        first = first ? first : operation;
        call->one_pair &= is_message(operation) && operation->kind == first->kind &&
                          operation->peer == first->peer;
    }
}

/* The end of a message that this call completes. */
static void half_complete(const struct call *call, uint32_t number, unsigned flags)
{
    struct mw_half *half = mw_half_at(call->matching, number);
    half->end.wait = call->wait;
    half->end.done = call->end;
    half->end.back = call->back;
    half->end.group = call->group;
    half->end.mates = call->completions;
    half->end.function = call->record->call.function;
    half->end.site = call->record->call.site;
    half->end.flags |= flags | (call->completions == 1 ? MW_HALF_ALONE : 0) |
                       (call->one_pair ? MW_HALF_ONE_PAIR : 0);
    half->completed = 1;
    if (half->gone)
        mw_half_free(call->matching, number);
    else
        mw_half_settle(call->matching, number);
}

/* The place of an event's peer. */
static int64_t peer_of(const struct call *call, const struct mw_event *event)
{
    return mw_comms_peer(call->matching->comms, call->process, event->comm, event->peer);
}

/* Whether the other end can be in the trace; else it is counted, and no half is made of it. */
static int peer_is_there(const struct call *call, int64_t peer)
{
    int64_t process = is_rank(peer) ? mw_model_rank(call->matching->model, peer) : -1;
    if (process >= 0 && mw_clock_knows(call->matching->clock, (size_t)process))
        return 1;
    call->matching->counts->outside++;
    return 0;
}

/* A new half, as far as its start tells; MW_HALF_NONE where it can meet nobody. */
static uint32_t half_begin(const struct call *call, const struct mw_event *event, int receives)
{
    struct mw_matching *matching = call->matching;
    int wildcard = (event->flags & (MW_EVENT_ANY_SOURCE | MW_EVENT_ANY_TAG)) != 0;
    int open = wildcard && event->flags & MW_EVENT_REQUEST;
    int64_t comm = mw_comms_find(matching->comms, call->process, event->comm);
    int64_t peer = peer_of(call, event);
    if (!open && !peer_is_there(call, peer))
        return MW_HALF_NONE;
    if (comm < 0 || (!open && !(event->flags & MW_EVENT_COUNTED))) {
        matching->counts->uncounted++;
        return MW_HALF_NONE;
    }
    uint32_t number = mw_half_new(matching);
    struct mw_half *half = mw_half_at(matching, number);
    half->end = (struct mw_end){.process = call->process,
                                .rank = call->rank,
                                .start = call->start,
                                .started = call->end,
                                .outside = call->party->outside,
                                .barriers = call->party->barriers};
    half->end.flags = (event->flags & MW_EVENT_SYNC ? MW_HALF_SYNC : 0) |
                      (event->flags & MW_EVENT_ERROR ? MW_HALF_FAILED : 0);
    half->receives = receives;
    half->comm = (uint32_t)comm;
    half->peer = open && event->flags & MW_EVENT_ANY_SOURCE ? MW_PEER_ANY : peer;
    half->tag = open && event->flags & MW_EVENT_ANY_TAG ? MW_TAG_ANY : event->tag;
    half->bytes = receives ? 0 : event->bytes;
    half->part = receives ? event->bytes : event->bytes_in;
    half->number = open ? 0 : (uint64_t)event->ordinal;
    half->thread = call->thread;
    return number;
}

static void message_start(const struct call *call, const struct mw_event *event)
{
    int receives = event->kind == MW_EVENT_RECV, request = (event->flags & MW_EVENT_REQUEST) != 0;
    uint32_t half = half_begin(call, event, receives);
    if (half == MW_HALF_NONE)
        return;
    if (request)
        mw_requests_note(call->party->requests, call->thread, event->request, (uint64_t)half + 1);
    int open = request && event->flags & (MW_EVENT_ANY_SOURCE | MW_EVENT_ANY_TAG);
    if (receives)
        mw_posted_add(call->matching, call->party, half, open);
    else
        mw_channel_put(call->matching, half);
    if (!request) /* the send of MPI_Isendrecv goes on, and nobody sees when it ends */
        half_complete(call, half, !receives && call->posts_receive ? MW_HALF_UNKNOWN : 0);
}

/* A wildcard's message becomes known. 0: there is none, or it can meet nobody. */
static int wildcard_match(const struct call *call, uint32_t number, const struct mw_event *event)
{
    struct mw_half *half = mw_half_at(call->matching, number);
    int matched = (event->flags & MW_EVENT_MATCHED) != 0;
    int counted = (event->flags & MW_EVENT_COUNTED) != 0;
    half->gone = !matched || !counted || !peer_is_there(call, peer_of(call, event));
    if (matched && !counted)
        call->matching->counts->uncounted++;
    half->peer = peer_of(call, event);
    half->tag = event->tag;
    half->number = (uint64_t)event->ordinal;
    half->thread = call->thread;
    int gone = half->gone;
    mw_posted_resolve(call->matching, call->party, number);
    return !gone;
}

static void message_end(const struct call *call, const struct mw_operation *operation,
                        const struct mw_event *event)
{
    uint32_t number = (uint32_t)operation->note - 1;
    if (!operation->note)
        return;
    struct mw_half *half = mw_half_at(call->matching, number);
    unsigned flags =
        (operation->freed ? MW_HALF_UNKNOWN : 0) | (operation->failed ? MW_HALF_FAILED : 0);
    if (half->receives && (half->peer == MW_PEER_ANY || half->tag == MW_TAG_ANY)) {
        if (wildcard_match(call, number, event))
            half_complete(call, number, flags);
    } else if (operation->cancelled) {
        mw_posted_cancel(call->matching, call->party, number);
    } else {
        half_complete(call, number, flags);
    }
}

static int is_barrier(const struct call *call, const struct mw_event *event)
{
    const struct mw_process *process =
        mw_trace_process(call->matching->model->trace, call->process);
    const char *name = mw_process_function_name(process, event->function);
    return !(event->flags & MW_EVENT_REQUEST) &&
           mw_collective_of(name)->kind == MW_COLLECTIVE_BARRIER;
}

static void collective_join(const struct call *call, const struct mw_event *event)
{
    struct mw_matching *matching = call->matching;
    call->party->barriers += is_barrier(call, event);
    int64_t comm = mw_comms_find(matching->comms, call->process, event->comm);
    if (comm < 0 || !(event->flags & MW_EVENT_COUNTED))
        return;
    struct mw_member member = {.process = call->process,
                               .start = call->start,
                               .end = call->end,
                               .site = call->record->call.site,
                               .bytes = event->bytes,
                               .received = event->bytes_in,
                               .blocking = !(event->flags & MW_EVENT_REQUEST),
                               .failed = (event->flags & MW_EVENT_ERROR) != 0};
    mw_instances_add(matching, (uint32_t)comm, event, &member);
}

static struct mw_access_end access_end_of(const struct call *call)
{
    return (struct mw_access_end){.process = call->process,
                                  .rank = call->rank,
                                  .done = call->back,
                                  .away = call->party->away,
                                  .group = call->group};
}

/* One whose request tells when it is complete waits for that; of what it sends, nothing does. */
static void access_start(const struct call *call, const struct mw_event *event)
{
    const struct mw_party *party = call->party;
    int64_t peer = peer_of(call, event);
    if (!is_rank(peer) || event->flags & MW_EVENT_ERROR ||
        (event->flags & MW_EVENT_REQUEST && !event->bytes))
        return;
    struct mw_access access = {event->bytes,   event->bytes_in, call->start,
                               party->outside, party->away,     party->barriers};
    mw_accesses_start(call->matching, call->party, event->tag, peer, &access);
}

/* The end of a request: what it fetched is there, if that was all. */
static void access_end(const struct call *call, const struct mw_operation *operation)
{
    const struct mw_party *party = call->party;
    int64_t peer =
        mw_comms_peer(call->matching->comms, call->process, operation->comm, operation->peer);
    if (!is_rank(peer) || operation->failed || operation->freed || operation->bytes ||
        !operation->start)
        return;
    struct mw_access access = {0,
                               operation->received,
                               mw_clock_ns(call->matching->clock, call->process, operation->start),
                               party->outside,
                               party->away,
                               party->barriers};
    struct mw_access_end end = access_end_of(call);
    end.waits_only = call->completions == 1;
    end.mates = 1;
    end.away += call->start - access.start; /* that it was there all the time is not known */
    mw_access_complete(call->matching, &end, &access, peer);
}

static void window_call(const struct call *call, const struct mw_event *event)
{
    const struct mw_process *process =
        mw_trace_process(call->matching->model->trace, call->process);
    struct mw_access_end end = access_end_of(call);
    int64_t peer = peer_of(call, event);
    int known = is_rank(peer) || peer == MW_PEER_ANY || peer == MW_PEER_NONE;
    if (known && !(event->flags & (MW_EVENT_ERROR | MW_EVENT_PART)))
        mw_accesses_end(call->matching, call->party,
                        mw_process_function_name(process, event->function), event->tag, peer, &end);
}

static void call_dispatch(const struct call *call)
{
    const struct mw_call_record *record = call->record;
    for (size_t i = 0; i < call->matching->operations.count; i++) {
        const struct mw_event *event = i < record->part_count ? &record->parts[i] : &record->call;
        const struct mw_operation *operation = &call->matching->operations.at[i];
        if (event->kind == MW_EVENT_SEND || event->kind == MW_EVENT_RECV)
            message_start(call, event);
        else if (event->kind == MW_EVENT_DONE && operation->kind == MW_OPERATION_RMA)
            access_end(call, operation);
        else if (event->kind == MW_EVENT_DONE)
            message_end(call, operation, event);
        else if (event->kind == MW_EVENT_RMA)
            access_start(call, event);
        else if (event->kind == MW_EVENT_EPOCH)
            window_call(call, event);
        else if (event->kind == MW_EVENT_COLL)
            collective_join(call, event);
    }
}

/* Time outside MPI, and whether a completion follows unsuccessful tests. */
static void party_moves(struct call *call)
{
    struct mw_party *party = call->party;
    const struct mw_event *event = &call->record->call;
    int polls = event->kind == MW_EVENT_POLL;
    int same = party->polled_since && party->polled_thread == call->thread &&
               party->polled_function == event->function;
    if (same)
        call->wait = party->polled_since;
    if (event->flags & MW_EVENT_NESTED)
        return;
    if (party->last_end && call->start > party->last_end) {
        party->outside += call->start - party->last_end;
        party->away += call->start - party->last_end;
    }
    if (event->kind != MW_EVENT_RMA && event->kind != MW_EVENT_EPOCH)
        party->away += call->end - call->start;
    if (call->back > party->last_end)
        party->last_end = call->back;
    party->polled_since = polls ? call->start : 0;
    party->polled_thread = call->thread;
    party->polled_function = event->function;
}

/* When the program went on. */
static int64_t call_back(const struct call *call, const struct mw_event *event)
{
    if (event->kind != MW_EVENT_CALL || !(event->flags & MW_EVENT_HELD) || event->offset < 0)
        return call->end;
    int64_t back = mw_clock_ns(call->matching->clock, call->process,
                               event->end + (uint64_t)event->offset);
    return back > call->end ? back : call->end;
}

static void party_call(struct mw_matching *matching, uint32_t process, uint64_t thread,
                       const struct mw_call_record *record)
{
    struct call call = {.matching = matching,
                        .party = &matching->parties[process],
                        .process = process,
                        .thread = thread,
                        .record = record,
                        .rank = mw_model_place(matching->model, process),
                        .group = ++matching->groups};
    if (record->incomplete || call.rank < 0)
        return;
    call.start = mw_clock_ns(matching->clock, process, record->call.start);
    call.end = mw_clock_ns(matching->clock, process, record->call.end);
    call.wait = call.start;
    call.back = call_back(&call, &record->call);
    party_moves(&call);
    call_resolve(&call);
    call_dispatch(&call);
}

static void parties_begin(struct mw_matching *matching)
{
    matching->parties = mw_alloc(matching->model->process_count, sizeof(struct mw_party));
    for (size_t i = 0; i < matching->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(matching->model->trace, i);
        uint64_t ignored;
        matching->parties[i].requests = mw_requests_create();
        matching->parties[i].threads =
            mw_model_thread(matching->model, process, 1, &ignored) == MW_OK;
        matching->counts->untimed += !mw_clock_knows(matching->clock, i);
    }
}

/* What met nobody, or never came to its end. */
static void halves_finish(struct mw_matching *matching)
{
    for (size_t i = 0; i < matching->halves.count; i++) {
        const struct mw_half *half = &matching->halves.at[i];
        if (!half->used || half->gone)
            continue;
        if (half->partner != MW_HALF_NONE)
            matching->counts->unfinished += !half->receives;
        else if (half->receives)
            matching->counts->receives++;
        else
            matching->counts->sends++;
    }
}

static void matching_end(struct mw_matching *matching)
{
    mw_instances_finish(matching);
    for (size_t i = 0; i < matching->model->process_count; i++)
        mw_posted_finish(matching, &matching->parties[i]);
    halves_finish(matching);
    for (size_t i = 0; i < matching->model->process_count; i++) {
        mw_requests_free(matching->parties[i].requests);
        free(matching->parties[i].posted.at);
        mw_accesses_free(&matching->parties[i]);
    }
    mw_channels_free(matching);
    mw_instances_free(matching->instances);
    free(matching->operations.at);
    free(matching->halves.at);
    free(matching->parties);
}

void mw_matching_run(const struct mw_model *model, const struct mw_comms *comms,
                     const struct mw_clock *clock, const struct mw_matching_sink *sink,
                     struct mw_matching_counts *counts, void (*progress)(uint64_t events))
{
    struct mw_matching matching = {.model = model,
                                   .comms = comms,
                                   .clock = clock,
                                   .sink = sink,
                                   .counts = counts,
                                   .free_half = MW_HALF_NONE};
    const struct mw_call_record *record;
    uint32_t process;
    uint64_t thread, told = 0;
    *counts = (struct mw_matching_counts){0};
    matching.instances = mw_instances_create(comms, clock);
    parties_begin(&matching);
    struct mw_feed *feed = mw_feed_open(model, clock);
    while (mw_feed_next(feed, &process, &thread, &record) == MW_OK) {
        party_call(&matching, process, thread, record);
        counts->events += record->part_count + !record->incomplete;
        if (progress && counts->events - told >= PROGRESS_STEP) {
            progress(counts->events - told);
            told = counts->events;
        }
    }
    mw_feed_close(feed);
    matching_end(&matching);
}
