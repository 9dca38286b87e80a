/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins starts and completions of requests (operation.h). The table holds outstanding requests
 * only; a completion takes its start out again. Open addressing with backward-shift deletion.
 */
#include "analyzer/model/operation.h"

#include <stdlib.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"

struct request {
    uint64_t number, thread;
    int used, collective;
    enum mw_operation_kind kind;
    int64_t peer, comm, object;
    unsigned space;
    uint64_t bytes, received, function, site, start, note;
};

struct mw_requests {
    struct request *slots;
    size_t size, used; /* size: a power of two */
};

struct mw_requests *mw_requests_create(void)
{
    struct mw_requests *requests = mw_alloc(1, sizeof(*requests));
    requests->size = 16;
    requests->slots = mw_alloc(requests->size, sizeof(requests->slots[0]));
    return requests;
}

void mw_requests_free(struct mw_requests *requests)
{
    free(requests->slots);
    free(requests);
}

uint64_t mw_event_part(const struct mw_event *event)
{
    if (event->flags & MW_EVENT_ERROR || !(event->flags & MW_EVENT_PERSISTENT))
        return 0;
    if (event->kind == MW_EVENT_SEND)
        return event->bytes_in;
    return event->kind == MW_EVENT_RECV ? event->bytes : 0;
}

static size_t request_home(const struct mw_requests *requests, uint64_t thread, uint64_t number)
{
    return mw_mix(number ^ thread << 48) & (requests->size - 1);
}

static struct request *request_slot(struct mw_requests *requests, uint64_t thread, uint64_t number)
{
    size_t slot = request_home(requests, thread, number);
    struct request *at = &requests->slots[slot];
    while (at->used && (at->number != number || at->thread != thread)) {
        slot = (slot + 1) & (requests->size - 1);
        at = &requests->slots[slot];
    }
    return at;
}

static void requests_double(struct mw_requests *requests)
{
    struct request *old = requests->slots;
    size_t old_size = requests->size;
    requests->size *= 2;
    requests->slots = mw_alloc(requests->size, sizeof(requests->slots[0]));
    for (size_t i = 0; i < old_size; i++)
        if (old[i].used)
            *request_slot(requests, old[i].thread, old[i].number) = old[i];
    free(old);
}

static struct request *request_put(struct mw_requests *requests, uint64_t thread, uint64_t number)
{
    if (requests->used + 1 > requests->size / 2)
        requests_double(requests);
    struct request *slot = request_slot(requests, thread, number);
    requests->used += !slot->used;
    *slot = (struct request){.number = number, .thread = thread, .used = 1};
    return slot;
}

/* Whether `home` lies cyclically in (hole, at]: then the entry at `at` must stay. */
static int request_stays(size_t hole, size_t home, size_t at)
{
    return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

static int request_take(struct mw_requests *requests, uint64_t thread, uint64_t number,
                        struct request *out)
{
    struct request *slot = request_slot(requests, thread, number);
    if (!slot->used)
        return 0;
    *out = *slot;
    size_t mask = requests->size - 1, hole = (size_t)(slot - requests->slots);
    for (size_t at = (hole + 1) & mask; requests->slots[at].used; at = (at + 1) & mask) {
        const struct request *entry = &requests->slots[at];
        if (request_stays(hole, request_home(requests, entry->thread, entry->number), at))
            continue;
        requests->slots[hole] = *entry;
        hole = at;
    }
    requests->slots[hole].used = 0;
    requests->used--;
    return 1;
}

void mw_requests_note(struct mw_requests *requests, uint64_t thread, uint64_t number, uint64_t note)
{
    struct request *slot = request_slot(requests, thread, number);
    if (slot->used)
        slot->note = note;
}

static void operation_complete(struct mw_requests *requests, uint64_t thread,
                               const struct mw_event *event, struct mw_operation *operation)
{
    struct request start = {0};
    int flags = (int)event->flags;
    uint64_t origin = flags & MW_EVENT_FOREIGN ? event->origin : thread;
    if (flags & MW_EVENT_REQUEST && request_take(requests, origin, event->request, &start)) {
        operation->kind = start.kind;
        operation->function = start.function;
        operation->site = start.site;
        operation->start = start.start;
        operation->received = start.received;
        operation->object = start.object;
        operation->collective = start.collective;
        operation->note = start.note;
    } else if (flags & (MW_EVENT_STATUS | MW_EVENT_MATCHED)) {
        operation->kind = MW_OPERATION_RECV;
        start.comm = event->comm;
        start.peer = MW_PEER_UNKNOWN;
    }
    operation->ends = 1;
    operation->cancelled = (flags & MW_EVENT_CANCELLED) != 0;
    operation->freed = (flags & MW_EVENT_FREED) != 0;
    operation->peer = flags & MW_EVENT_MATCHED ? event->peer : start.peer;
    operation->comm = start.comm;
    operation->bytes = start.bytes;
    operation->space = start.space;
    int reads = operation->kind == MW_OPERATION_RECV || operation->kind == MW_OPERATION_READ;
    operation->known = !reads;
    if (reads && flags & MW_EVENT_STATUS) {
        operation->bytes = event->bytes_in;
        operation->known = 1;
    }
}

static void operation_begin(struct mw_requests *requests, uint64_t thread, uint64_t site,
                            const struct mw_event *event, struct mw_operation *operation)
{
    static const enum mw_operation_kind kinds[] = {
        [MW_EVENT_SEND] = MW_OPERATION_SEND, [MW_EVENT_RECV] = MW_OPERATION_RECV,
        [MW_EVENT_COLL] = MW_OPERATION_COLL, [MW_EVENT_RMA] = MW_OPERATION_RMA,
        [MW_EVENT_READ] = MW_OPERATION_READ, [MW_EVENT_WRITE] = MW_OPERATION_WRITE};
    int takes = event->kind == MW_EVENT_RECV || event->kind == MW_EVENT_READ;
    int both = event->kind == MW_EVENT_COLL || event->kind == MW_EVENT_RMA;
    int receive = event->kind == MW_EVENT_RECV, request = (event->flags & MW_EVENT_REQUEST) != 0;
    operation->kind = event->kind <= MW_EVENT_WRITE ? kinds[event->kind] : MW_OPERATION_NONE;
    operation->starts = 1;
    operation->ends = !request;
    operation->peer = event->peer;
    operation->comm = event->comm;
    operation->bytes = receive ? event->bytes_in : event->bytes;
    operation->known = !takes || (!request && event->flags & MW_EVENT_STATUS);
    operation->space =
        receive ? MW_EVENT_SPACE_RECEIVE(event->flags) : MW_EVENT_SPACE_SEND(event->flags);
    operation->received = both ? event->bytes_in : 0;
    operation->object = event->kind >= MW_EVENT_RMA ? event->tag : -1;
    operation->function = event->function;
    operation->site = site;
    operation->start = event->start;
    operation->collective = (event->flags & MW_EVENT_COLLECTIVE) != 0;
    if (!request)
        return;
    struct request *slot = request_put(requests, thread, event->request);
    slot->kind = operation->kind;
    slot->peer = operation->peer;
    slot->comm = operation->comm;
    slot->bytes = operation->bytes;
    slot->space = operation->space;
    slot->received = operation->received;
    slot->object = operation->object;
    slot->collective = operation->collective;
    slot->function = event->function;
    slot->site = site;
    slot->start = event->start;
}

void mw_operation_resolve(struct mw_requests *requests, uint64_t thread, uint64_t site,
                          const struct mw_event *event, struct mw_operation *operation)
{
    *operation = (struct mw_operation){.peer = MW_PEER_NONE, .comm = -1, .object = -1};
    operation->failed = (event->flags & MW_EVENT_ERROR) != 0;
    if (event->kind == MW_EVENT_DONE)
        operation_complete(requests, thread, event, operation);
    else if (event->kind != MW_EVENT_POLL)
        operation_begin(requests, thread, site, event, operation);
}
