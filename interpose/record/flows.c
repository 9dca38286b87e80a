/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What went to whom in collectives whose events have only the sum: an array of amounts for each
 * communicator that such a collective was called on, by rank. Written as FLOW chunks now and then,
 * when the communicator is freed and at the end. Counting: the thread that calls, which is alone on
 * its communicator; the list of arrays has a lock.
 */
#include <string.h>
#include <sys/mman.h>

#include "output/output.h"
#include "record/aggregate.h"
#include "record/coll.h"
#include "record/pace.h"
#include "trace/fields.h"

#define MEMORY_MOST ((size_t)64 << 20) /* of all arrays */
#define EVERY_NS    UINT64_C(1000000000)
#define PREPARED_LEAST 4096u /* bytes for what a persistent collective prepares */
#define STEP        4096 /* ranks that are looked at in one call of the program */

struct mw_flow_table {
    struct mw_flow_table *next;
    struct mw_comm_entry *comm;
    int size, at; /* at: where the next step goes on */
    struct {
        _Atomic uint64_t messages, bytes;
    } amount[];
};

static struct mw_flow_table *tables;   /* the newest first */
static struct mw_flow_table *position; /* of the step; NULL: the first */
static _Atomic(struct mw_flow_table *) unlisted;
static size_t memory_used;
static _Atomic int changed;
static _Atomic uint64_t due; /* the next step */
static struct mw_pace pace = {.period = EVERY_NS};
static struct mw_lock lock;

static void no_room(void)
{
    mw_health("collective-amounts", "no room for what went to whom in collectives on a "
                                    "communicator: only the sums are known");
}

/* comm: NULL for the one by world ranks. */
static struct mw_flow_table *table_new(struct mw_comm_entry *comm)
{
    int size = !comm ? mw_recorder.size : comm->inter ? comm->remote_size : comm->size;
    size_t bytes = sizeof(struct mw_flow_table) +
                   (size_t)size * sizeof(((struct mw_flow_table *)0)->amount[0]);
    struct mw_flow_table *table = NULL;
    bytes = (bytes + 4095) & ~(size_t)4095;
    mw_lock_take(&lock);
    if (memory_used + bytes <= MEMORY_MOST && (table = mw_pages(bytes)) != NULL) {
        memory_used += bytes;
        table->comm = comm;
        table->size = size;
        table->next = tables;
        tables = table;
        if (comm) {
            comm->flow_pages = bytes;
            comm->flow = table;
        }
    }
    mw_lock_drop(&lock);
    if (!table)
        no_room();
    return table;
}

/* Of all communicators that are not listed (listed.h) together, by world ranks. */
static struct mw_flow_table *unlisted_table(void)
{
    struct mw_flow_table *table = atomic_load_explicit(&unlisted, memory_order_acquire), *none = NULL;
    if (table)
        return table;
    table = table_new(NULL); /* of two threads that make one, one is left empty */
    return table && atomic_compare_exchange_strong(&unlisted, &none, table) ? table : none;
}

static void count_now(struct mw_comm_entry *comm, int rank, uint64_t bytes)
{
    struct mw_flow_table *table = comm->listed ? comm->flow : unlisted_table();
    if (!comm->listed)
        rank = mw_comm_peer(comm, rank);
    else if (!table)
        table = table_new(comm);
    if (!table || rank < 0 || rank >= table->size)
        return;
    atomic_fetch_add_explicit(&table->amount[rank].messages, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&table->amount[rank].bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&changed, 1, memory_order_relaxed);
}

/* A copy: the standard lets the program change its arrays once the collective is prepared. */
struct mw_flow_prepared {
    size_t mapped; /* bytes */
    size_t count, capacity;
    struct {
        uint64_t bytes;
        int rank;
    } amount[];
};

static struct mw_flow_prepared *prepared_new(size_t mapped)
{
    struct mw_flow_prepared *prepared = mw_pages(mapped);
    if (!prepared)
        return NULL;
    prepared->mapped = mapped;
    prepared->capacity = (mapped - sizeof *prepared) / sizeof prepared->amount[0];
    return prepared;
}

/* Twice the room, with what there is. The old one stays where there is no memory. */
static struct mw_flow_prepared *prepared_grow(struct mw_flow_prepared *old)
{
    struct mw_flow_prepared *larger = prepared_new(2 * old->mapped);
    if (!larger)
        return old;
    larger->count = old->count;
    memcpy(larger->amount, old->amount, old->count * sizeof old->amount[0]);
    mw_flow_forget(old);
    return larger;
}

static void keep_for_starts(struct mw_coll_role *role, int rank, uint64_t bytes)
{
    struct mw_flow_prepared *prepared =
        role->prepared ? role->prepared : prepared_new(PREPARED_LEAST);
    if (prepared && prepared->count == prepared->capacity)
        prepared = prepared_grow(prepared);
    role->prepared = prepared;
    if (!prepared || prepared->count == prepared->capacity) {
        no_room();
        return;
    }
    prepared->amount[prepared->count].rank = rank;
    prepared->amount[prepared->count++].bytes = bytes;
}

void mw_flow_add(struct mw_coll_role *role, int rank, uint64_t bytes)
{
    if (!role->comm || !bytes)
        return;
    if (role->prepares)
        keep_for_starts(role, rank, bytes);
    else
        count_now(role->comm, rank, bytes);
}

void mw_flow_start(struct mw_comm_entry *comm, const struct mw_flow_prepared *prepared)
{
    for (size_t i = 0; prepared && i < prepared->count; i++)
        count_now(comm, prepared->amount[i].rank, prepared->amount[i].bytes);
    if (prepared)
        mw_flows_flush();
}

void mw_flow_forget(struct mw_flow_prepared *prepared)
{
    if (prepared)
        munmap(prepared, prepared->mapped);
}

/* Ranks [from, to) in one chunk. Under the lock. */
static void write_ranks(const struct mw_flow_table *table, int from, int to)
{
    static uint8_t memory[STEP * 3 * 10 + 64];
    struct mw_buffer buffer;
    int any = 0;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_FLOW_comm, mw_comm_id(table->comm));
    mw_put_u64(&buffer, MW_F_FLOW_time, mw_now());
    size_t mark = mw_put_begin(&buffer, MW_F_FLOW_peers);
    for (int rank = from; rank < to; rank++) {
        uint64_t messages =
            atomic_load_explicit(&table->amount[rank].messages, memory_order_relaxed);
        if (!messages)
            continue;
        any = 1;
        mw_buffer_signed(&buffer, table->comm ? mw_comm_peer(table->comm, rank) : rank);
        mw_buffer_varint(&buffer, messages);
        mw_buffer_varint(&buffer,
                         atomic_load_explicit(&table->amount[rank].bytes, memory_order_relaxed));
    }
    mw_put_end(&buffer, mark);
    if (any)
        mw_output_chunk(MW_CHUNK_FLOW, buffer.data, buffer.size);
}

static void write_table(const struct mw_flow_table *table)
{
    for (int from = 0; from < table->size; from += STEP)
        write_ranks(table, from, table->size - from < STEP ? table->size : from + STEP);
}

void mw_flows_flush(void)
{
    if (!atomic_load_explicit(&changed, memory_order_relaxed))
        return;
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC);
    if (now < atomic_load_explicit(&due, memory_order_relaxed))
        return;
    mw_lock_take(&lock);
    if (!position) {
        atomic_store_explicit(&changed, 0, memory_order_relaxed);
        position = tables;
    }
    int left = STEP;
    while (position && left > 0) {
        int to = position->size - position->at < left ? position->size : position->at + left;
        write_ranks(position, position->at, to);
        left -= to - position->at + 1;
        position->at = to < position->size ? to : 0;
        if (!position->at)
            position = position->next;
    }
    if (position) { /* the next call goes on */
        atomic_store_explicit(&changed, 1, memory_order_relaxed);
    } else {
        mw_pace_next(&pace, now, atomic_load(&mw_recorder.reduced) & MW_REDUCED_BUDGET);
        atomic_store_explicit(&due, pace.due, memory_order_relaxed);
    }
    mw_lock_drop(&lock);
}

void mw_flows_finish(void)
{
    mw_lock_take(&lock);
    for (const struct mw_flow_table *table = tables; table; table = table->next)
        write_table(table);
    mw_lock_drop(&lock);
}

void mw_flow_end(struct mw_comm_entry *comm)
{
    struct mw_flow_table **link = &tables;
    if (!comm->flow)
        return;
    mw_lock_take(&lock);
    write_table(comm->flow);
    while (*link && *link != comm->flow)
        link = &(*link)->next;
    if (*link)
        *link = comm->flow->next;
    if (position == comm->flow)
        position = comm->flow->next;
    memory_used -= comm->flow_pages;
    mw_lock_drop(&lock);
}
