/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns which row a call and what it did count in; see aggregate.h. Calls count where they are,
 * operations where they were started; an operation of the call itself and the call share a row
 * where it has only that. Runs on the thread that calls MPI, inside its calls: no lock, no
 * allocation but of a first row's memory.
 */
#include "record/aggregate.h"

#include "output/output.h"
#include "record/objects.h"
#include "record/regions.h"
#include "record/sites.h"
#include "record/sums.h"

int mw_aggregate_begin(struct mw_call *call, uint32_t reduced)
{
    if (!mw_sums_start(call->thread)) {
        mw_health("sums", "no memory to sum calls up: they are recorded one by one");
        return 0;
    }
    call->reduced = reduced & MW_REDUCED_SUMMARY  ? MW_WHY_SUMMARY
                    : reduced & MW_REDUCED_BUDGET ? MW_WHY_BUDGET
                                                  : MW_WHY_PCONTROL;
    call->parts = (struct mw_call_parts){.kind = MW_EVENT_CALL};
    call->thread->poll_open = 0;
    return 1;
}

/* waiting: bytes that will come of what is not written yet. */
static void budget_check(uint64_t waiting)
{
    uint64_t budget = mw_recorder.config.budget, bytes = mw_output_bytes() + waiting;
    if (budget && bytes >= budget - budget / 8)
        atomic_fetch_or_explicit(&mw_recorder.reduced, MW_REDUCED_BUDGET, memory_order_relaxed);
    if (budget && bytes >= budget)
        mw_sites_close();
}

void mw_budget_check(void)
{
    budget_check(mw_output_waiting());
}

#define EVENT_BYTES 8u /* of an event on something new, encoded */

/* Between two writings: a small budget may be used up by what the ring holds. */
static int budget_is_used(void)
{
    const struct mw_thread_state *thread = mw_self.thread;
    uint64_t events = thread ? thread->next - thread->flushed : 0;
    budget_check(mw_output_waiting() + events * EVENT_BYTES);
    return (atomic_load_explicit(&mw_recorder.reduced, memory_order_relaxed) & MW_REDUCED_BUDGET) != 0;
}

int mw_budget_allows_name(void)
{
    static _Atomic uint32_t names;
    if (atomic_fetch_add_explicit(&names, 1, memory_order_relaxed) < MW_LISTED_ALWAYS ||
        !budget_is_used())
        return 1;
    mw_health("unlisted-names",
              "the budget is used up: names that things were given later, and who later threads were, are left out");
    return 0;
}

int mw_listed_new(struct mw_listed *listed, uint32_t id)
{
    uint32_t none = 0;
    if (id < MW_LISTED_ALWAYS || (mw_is_listed(listed, id) && !budget_is_used()))
        return 1;
    atomic_compare_exchange_strong(&listed->least_unlisted, &none, id + 1);
    mw_health("unlisted", "the budget is used up: communicators, windows and files that were made later are not listed, "
                          "calls on them are added up together");
    return 0;
}

/* As rows name them: those that are not listed have no name. */
static uint32_t row_comm(uint32_t comm)
{
    return comm && mw_is_listed(&mw_comms_listed, comm - 1) ? comm : 0;
}

static int32_t row_object(int kind, int32_t id)
{
    const struct mw_listed *listed =
        &mw_objects_listed[kind == MW_EVENT_RMA || kind == MW_EVENT_EPOCH ? MW_WINDOWS : MW_FILES];
    return id >= 0 && !mw_is_listed(listed, (uint32_t)id) ? MW_OBJECT_UNKNOWN : id;
}

static int is_message(int kind)
{
    return kind == MW_EVENT_SEND || kind == MW_EVENT_RECV;
}

static uint8_t size_class(uint64_t bytes)
{
    return bytes ? (uint8_t)(64 - __builtin_clzll(bytes)) : 0;
}

/* Whether an event is an operation that counts: what only its completion tells counts there. */
static int is_counted(int kind, uint32_t flags)
{
    int later = kind == MW_EVENT_RECV || kind == MW_EVENT_READ;
    return kind != MW_EVENT_CALL && !(flags & MW_EVENT_ERROR) &&
           !(later && flags & MW_EVENT_REQUEST);
}

/* Of events with an offset that is what stands in bytes_in; of partitioned messages the number of their initialisation
 * stands in the amount that their kind does not have. */
static uint64_t bytes_in_of(int kind, uint32_t flags, const struct mw_raw_event *detail)
{
    return flags & MW_EVENT_OFFSET || kind == MW_EVENT_SEND ? 0 : detail->bytes_in;
}

static uint64_t bytes_of(int kind, const struct mw_raw_event *detail)
{
    return kind == MW_EVENT_RECV ? 0 : detail->bytes;
}

static uint32_t directions(int kind, uint64_t bytes, uint64_t bytes_in)
{
    if (kind != MW_EVENT_COLL && kind != MW_EVENT_RMA)
        return 0;
    return (bytes ? MW_ROW_SENT : 0) | (bytes_in ? MW_ROW_RECEIVED : 0);
}

/* What operations of a kind are told apart by, beside peer and communicator. */
static void key_amounts(struct mw_map_key *key, uint32_t flags, uint64_t bytes, uint64_t bytes_in)
{
    static const uint32_t kept[] = {
        [MW_EVENT_RECV] = MW_EVENT_STATUS,
        [MW_EVENT_COLL] = MW_EVENT_INTER | MW_EVENT_PERSISTENT,
        [MW_EVENT_READ] = MW_EVENT_STATUS | MW_EVENT_COLLECTIVE,
        [MW_EVENT_WRITE] = MW_EVENT_COLLECTIVE,
        [MW_EVENT_FILE] = 0,
    };
    int kind = key->kind;
    key->flags |= (flags & kept[kind]) | directions(kind, bytes, bytes_in);
    key->size_class = size_class(kind == MW_EVENT_RECV  ? bytes_in
                                 : kind == MW_EVENT_RMA ? bytes + bytes_in
                                                        : bytes);
}

static int32_t object_of(int kind, uint32_t flags, int32_t tag)
{
    if (kind > MW_EVENT_POLL)
        return row_object(kind, tag);
    return kind == MW_EVENT_COLL && flags & MW_EVENT_PERSISTENT ? tag : 0;
}

static struct mw_map_key key_of(const struct mw_call *call, int kind, uint32_t flags,
                                const struct mw_raw_event *detail)
{
    struct mw_map_key key = {.comm = row_comm(detail->comm),
                             .peer = kind == MW_EVENT_CALL ? MW_PEER_NONE : detail->peer,
                             .site = call->site,
                             .function = call->function,
                             .kind = (uint8_t)kind,
                             .region = mw_region_current(),
                             .object = object_of(kind, flags, detail->tag)};
    if (is_counted(kind, flags)) {
        key.spaces = MW_ROW_SPACES(flags);
        key_amounts(&key, flags, bytes_of(kind, detail), bytes_in_of(kind, flags, detail));
    }
    return key;
}

static void row_add_operation(struct mw_map_row *row, int kind, uint32_t flags,
                              const struct mw_raw_event *detail)
{
    row->operations++;
    row->bytes += bytes_of(kind, detail);
    row->bytes_in += bytes_in_of(kind, flags, detail);
    if (kind == MW_EVENT_COLL && flags & MW_EVENT_COUNTED && detail->ordinal >= row->next)
        row->next = (uint64_t)detail->ordinal + 1;
}

static void row_add_call(struct mw_map_row *row, uint64_t ticks, uint32_t flags)
{
    if (!row->calls || ticks < row->least)
        row->least = ticks;
    if (ticks > row->most)
        row->most = ticks;
    row->calls++;
    row->time += ticks;
    row->errors += (flags & MW_EVENT_ERROR) != 0;
}

/* The call has ended: its time, in the row of this key. Returns the row. */
static struct mw_map_row *end_call(struct mw_call *call, uint64_t end, uint32_t flags,
                                   struct mw_map_key *key)
{
    key->flags |= (flags & MW_EVENT_ERROR) | (call->nested ? MW_EVENT_NESTED : 0);
    struct mw_map_row *row = mw_sums_row(call, key);
    row_add_call(row, end > call->start ? end - call->start : 0, flags);
    if (!call->nested) {
        struct mw_map_thread *area = call->thread->area;
        area->last_function = call->function;
        area->last_site = call->site;
        area->last_end = end;
    }
    return row;
}

/* What the time of a call with several operations belongs to: messages before collectives before
 * accesses before files. */
static unsigned weight_of(int kind)
{
    return is_message(kind)                                  ? 4
           : kind == MW_EVENT_COLL                           ? 3
           : kind == MW_EVENT_RMA                            ? 2
           : kind == MW_EVENT_READ || kind == MW_EVENT_WRITE ? 1
                                                             : 0;
}

/* Messages all with one peer in one direction, or collectives: else they are several. */
static void parts_add(struct mw_call_parts *parts, int kind, int32_t peer, uint32_t comm)
{
    if (parts->count++ == 0)
        *parts = (struct mw_call_parts){.count = 1, .peer = peer, .kind = (uint8_t)kind};
    parts->several |= parts->kind != kind || (is_message(kind) && parts->peer != peer);
    if (weight_of(kind) > weight_of(parts->kind))
        parts->kind = (uint8_t)kind;
    if (kind == MW_EVENT_COLL)
        parts->comm = comm;
}

/* A call with parts: what its time belongs to. */
static void end_with_parts(struct mw_call *call, uint64_t end, uint32_t flags)
{
    const struct mw_call_parts *parts = &call->parts;
    int kind = parts->kind;
    struct mw_map_key key = {.comm = kind == MW_EVENT_COLL && !parts->several ? row_comm(parts->comm) : 0,
                             .peer =
                                 is_message(kind) && !parts->several ? parts->peer : MW_PEER_NONE,
                             .site = call->site,
                             .function = call->function,
                             .kind = (uint8_t)kind,
                             .flags = kind > MW_EVENT_POLL ? MW_EVENT_REQUEST : 0,
                             .region = mw_region_current(),
                             .object = kind > MW_EVENT_POLL ? MW_OBJECT_UNKNOWN : 0};
    end_call(call, end, flags, &key);
    mw_sums_work(call->thread, end);
}

void mw_aggregate_part(struct mw_call *call, int kind, uint32_t flags,
                       const struct mw_raw_event *detail)
{
    if (!weight_of(kind)) /* members of a group that an epoch is for */
        return;
    if (is_counted(kind, flags)) {
        struct mw_map_key key = key_of(call, kind, flags, detail);
        row_add_operation(mw_sums_row(call, &key), kind, flags, detail);
    }
    parts_add(&call->parts, kind, detail->peer, detail->comm);
}

void mw_aggregate_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags,
                        const struct mw_raw_event *detail)
{
    if (call->parts.count) {
        mw_aggregate_part(call, kind, flags, detail);
        end_with_parts(call, end, flags);
        return;
    }
    struct mw_map_key key = key_of(call, kind, flags, detail);
    struct mw_map_row *row = end_call(call, end, flags, &key);
    if (is_counted(kind, flags))
        row_add_operation(row, kind, flags, detail);
    mw_sums_work(call->thread, end);
}

/* The operation of a request, where it was started. */
static struct mw_map_key key_of_request(const struct mw_request *request, int32_t peer)
{
    return (struct mw_map_key){.comm = row_comm(request->comm),
                               .peer = peer,
                               .site = request->site,
                               .function = request->function,
                               .kind = request->kind,
                               .region = mw_region_current(),
                               .object = object_of(request->kind, request->flags, request->tag)};
}

/* Of a receive or a read that has ended its completion tells what moved; a send that was taken back
 * is counted again, as that. */
static void count_done(struct mw_call *call, const struct mw_request *request, uint32_t flags,
                       int32_t peer, const struct mw_raw_event *detail)
{
    struct mw_raw_event amount = {0};
    uint32_t cancelled = flags & MW_EVENT_CANCELLED;
    uint64_t moved = flags & MW_EVENT_STATUS ? detail->bytes_in : request->bytes_in;
    if (flags & (MW_EVENT_ERROR | MW_EVENT_FREED))
        return;
    if (request->kind == MW_EVENT_READ && !cancelled)
        amount.bytes = flags & MW_EVENT_STATUS ? moved : request->bytes;
    else if (request->kind == MW_EVENT_SEND && cancelled)
        amount.bytes = request->bytes;
    else if (request->kind == MW_EVENT_RECV)
        amount.bytes_in = cancelled ? 0 : moved;
    else
        return;
    struct mw_map_key key = key_of_request(request, peer);
    key.flags = cancelled;
    key.spaces = MW_ROW_SPACES(request->flags);
    key_amounts(&key, (flags & MW_EVENT_STATUS) | (request->flags & MW_EVENT_COLLECTIVE),
                amount.bytes, amount.bytes_in);
    row_add_operation(mw_sums_row(call, &key), request->kind, 0, &amount);
}

/* A persistent request to or from MPI_PROC_NULL moves nothing. */
static int is_void(const struct mw_request *request)
{
    return is_message(request->kind) && request->peer == MW_PEER_NONE;
}

static int32_t peer_of(const struct mw_request *request, uint32_t flags,
                       const struct mw_raw_event *detail)
{
    return flags & MW_EVENT_MATCHED ? detail->peer : request->peer;
}

void mw_aggregate_done_part(struct mw_call *call, const struct mw_request *request, uint32_t flags,
                            const struct mw_raw_event *detail)
{
    int32_t peer = peer_of(request, flags, detail);
    if (is_void(request))
        return;
    count_done(call, request, flags, peer, detail);
    parts_add(&call->parts, request->kind, peer, request->comm);
}

void mw_aggregate_done(struct mw_call *call, uint64_t end, const struct mw_request *request,
                       uint32_t flags, const struct mw_raw_event *detail)
{
    int kind = is_void(request) ? MW_EVENT_CALL : request->kind;
    int32_t peer = peer_of(request, flags, detail);
    if (kind != MW_EVENT_CALL)
        count_done(call, request, flags, peer, detail);
    struct mw_map_key key = key_of_request(request, kind == MW_EVENT_CALL ? MW_PEER_NONE : peer);
    key.kind = (uint8_t)kind;
    key.function = call->function;
    key.site = call->site;
    if (kind > MW_EVENT_POLL)
        key.flags = MW_EVENT_REQUEST | directions(kind, request->bytes, request->bytes_in);
    if (kind != MW_EVENT_COLL && kind <= MW_EVENT_POLL)
        key.comm = 0;
    end_call(call, end, flags, &key);
    mw_sums_work(call->thread, end);
}

void mw_aggregate_poll(struct mw_call *call, uint64_t end)
{
    struct mw_map_key key = {.comm = row_comm(call->comm),
                             .peer = MW_PEER_NONE,
                             .site = call->site,
                             .function = call->function,
                             .kind = MW_EVENT_POLL,
                             .region = mw_region_current()};
    end_call(call, end, 0, &key);
    mw_sums_work(call->thread, end);
}
