/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a trace: found by key while chunks are read, then put in order, their tables
 * sorted for look-up. Runs while a trace is opened, on one thread; the look-ups at the end are
 * pure.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>
#include <string.h>

static void process_init(struct mw_process_entry *entry, struct mw_trace *trace, uint64_t key)
{
    struct mw_process *process = &entry->process;
    entry->trace = trace;
    process->key = key;
    process->host = process->exe = process->cwd = process->boot_id = process->mpi_library = "";
    process->library_version = process->processor_name = process->devices_visible = "";
    process->rank_hint = process->size_hint = process->rank = process->size = -1;
    process->thread_level = process->thread_level_asked = -1;
    process->appnum = -1;
}

static enum mw_status table_grow(struct mw_trace *trace)
{
    size_t capacity = trace->table_capacity ? trace->table_capacity * 2 : 64;
    struct mw_process_entry **table = calloc(capacity, sizeof *table);
    if (!table)
        return MW_ERR_MEMORY;
    for (size_t i = 0; i < trace->table_capacity; i++) {
        struct mw_process_entry *entry = trace->table[i];
        if (!entry)
            continue;
        size_t slot = mw_hash_seeded(trace->pool.seed, &entry->process.key, sizeof(uint64_t)) &
                      (capacity - 1);
        while (table[slot])
            slot = (slot + 1) & (capacity - 1);
        table[slot] = entry;
    }
    free(trace->table);
    trace->table = table;
    trace->table_capacity = capacity;
    return MW_OK;
}

enum mw_status mw_trace_find_process(struct mw_trace *trace, uint64_t key,
                                     struct mw_process_entry **found)
{
    enum mw_status status = MW_OK;
    if (key == 0) {
        if (!trace->no_process.trace)
            process_init(&trace->no_process, trace, 0);
        *found = &trace->no_process;
        return MW_OK;
    }
    if (trace->processes.count * 2 >= trace->table_capacity)
        status = table_grow(trace);
    if (status != MW_OK)
        return status;
    size_t slot = mw_hash_seeded(trace->pool.seed, &key, sizeof key) & (trace->table_capacity - 1);
    for (; trace->table[slot]; slot = (slot + 1) & (trace->table_capacity - 1)) {
        if (trace->table[slot]->process.key == key) {
            *found = trace->table[slot];
            return MW_OK;
        }
    }
    void *memory;
    status = mw_pool_take(&trace->pool, sizeof(struct mw_process_entry), &memory);
    if (status != MW_OK)
        return status;
    struct mw_process_entry **added =
        mw_vector_add(&trace->account, &trace->processes, sizeof *added, &status);
    if (!added)
        return status;
    process_init(memory, trace, key);
    *added = trace->table[slot] = *found = memory;
    (*found)->order = (int64_t)trace->processes.count;
    return MW_OK;
}

void mw_process_entry_free(struct mw_process_entry *entry)
{
    struct mw_vector *vectors[] = {
        &entry->clocks,  &entry->modules,   &entry->sites,       &entry->comms,
        &entry->counts,  &entry->health,    &entry->open_calls,  &entry->facts,
        &entry->threads, &entry->own_facts, &entry->comm_chunks, &entry->event_chunks,
    };
    mw_counts_free(entry);
    mw_rows_free(entry);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        mw_vector_free(vectors[i]);
}

static enum mw_status thread_add(struct mw_process_entry *entry, uint64_t index)
{
    const struct mw_thread *known = entry->threads.items;
    size_t count = entry->threads.count;
    enum mw_status status = MW_OK;
    /* Chunks of one thread mostly come together; what is added twice is settled afterwards. */
    if (count && known[count - 1].index == index)
        return MW_OK;
    struct mw_thread *thread =
        mw_vector_add(&entry->trace->account, &entry->threads, sizeof *thread, &status);
    if (thread) {
        thread->index = index;
        thread->name = "";
    }
    return status;
}

/* Threads that have events or an open call but no THREAD chunk. Added in front of those that have
 * one, so that these count. */
static enum mw_status threads_complete(struct mw_process_entry *entry)
{
    struct mw_vector described = entry->threads;
    enum mw_status status = MW_OK;
    entry->threads = (struct mw_vector){0};
    const struct mw_event_chunk *chunks = entry->event_chunks.items;
    for (size_t i = 0; i < entry->event_chunks.count && status == MW_OK; i++)
        status = thread_add(entry, chunks[i].thread);
    const struct mw_aggregate *slices = entry->rows[MW_TABLE_AGGREGATES].vector.items;
    for (size_t i = 0; i < entry->rows[MW_TABLE_AGGREGATES].vector.count && status == MW_OK; i++)
        status = thread_add(entry, slices[i].thread);
    const struct mw_open_call *calls = entry->open_calls.items;
    for (size_t i = 0; i < entry->open_calls.count && status == MW_OK; i++)
        status = thread_add(entry, calls[i].thread);
    for (size_t i = 0; i < described.count && status == MW_OK; i++) {
        struct mw_thread *thread =
            mw_vector_add(&entry->trace->account, &entry->threads, sizeof *thread, &status);
        if (thread)
            *thread = ((struct mw_thread *)described.items)[i];
    }
    mw_vector_free(&described);
    return status;
}

#define PUBLISH(entry, vector, items_, count_)                                                     \
    ((entry)->process.items_ = (entry)->vector.items,                                              \
     (entry)->process.count_ = (entry)->vector.count)

static enum mw_status process_finish(struct mw_process_entry *entry)
{
    struct mw_process *process = &entry->process;
    /* A snapshot that was taken while the process still ran says nothing once it has ended. */
    if (process->open_alive && process->end_reason && process->end_reason != MW_END_SNAPSHOT) {
        entry->open_calls.count = 0;
        process->open_alive = 0;
        process->open_taken_ns = 0;
    }
    mw_index_finish(entry);
    enum mw_status status = threads_complete(entry);
    if (status == MW_OK)
        status = mw_tables_finish(entry);
    if (status == MW_OK)
        status = mw_comms_finish(entry);
    if (status == MW_OK)
        status = mw_counts_finish(entry);
    if (status == MW_OK)
        status = mw_rows_finish(entry);
    PUBLISH(entry, clocks, clocks, clock_count);
    PUBLISH(entry, modules, modules, module_count);
    PUBLISH(entry, sites, sites, site_count);
    PUBLISH(entry, comms, comms, comm_count);
    PUBLISH(entry, counts, counts, count_count);
    PUBLISH(entry, open_calls, open_calls, open_call_count);
    PUBLISH(entry, health, health, health_count);
    PUBLISH(entry, threads, threads, thread_count);
    return status;
}

static int compare(int64_t x, int64_t y)
{
    return x < y ? -1 : x > y;
}

/* Those with a rank first and by rank, then by what the launcher said, then by host and pid. */
static int process_order(const void *a, const void *b)
{
    const struct mw_process *x = &(*(struct mw_process_entry *const *)a)->process;
    const struct mw_process *y = &(*(struct mw_process_entry *const *)b)->process;
    int x_known = x->has_rank && x->rank >= 0, y_known = y->has_rank && y->rank >= 0;
    int order = y_known - x_known;
    if (!order)
        order = compare(x->rank, y->rank);
    if (!order)
        order = (y->rank_hint >= 0) - (x->rank_hint >= 0);
    if (!order)
        order = compare(x->rank_hint, y->rank_hint);
    if (!order)
        order = strcmp(x->host, y->host);
    if (!order)
        order = x->pid < y->pid ? -1 : x->pid > y->pid;
    if (!order)
        order = x->key < y->key ? -1 : x->key > y->key;
    return order;
}

enum mw_status mw_processes_finish(struct mw_trace *trace)
{
    struct mw_process_entry **processes = trace->processes.items;
    enum mw_status status = MW_OK;
    int limited = 0;
    for (size_t i = 0; i < trace->processes.count && status != MW_ERR_MEMORY; i++) {
        status = process_finish(processes[i]);
        limited |= status == MW_ERR_LIMIT;
    }
    if (status != MW_ERR_MEMORY)
        status = mw_facts_finish(trace);
    if ((limited || status == MW_ERR_LIMIT) && !trace->over_limit++)
        mw_damage_add(trace, 0, 0, 0, MW_ERR_LIMIT,
                      "more data than a trace of this size can hold: some tables are not whole");
    if (trace->processes.count > 1)
        qsort(processes, trace->processes.count, sizeof *processes, process_order);
    return status == MW_ERR_LIMIT ? MW_OK : status;
}

static const void *id_find(const void *items, size_t count, size_t item, uint64_t id)
{
    return count ? bsearch(&id, items, count, item, mw_id_order) : NULL;
}

const struct mw_module *mw_process_module(const struct mw_process *process, uint64_t id)
{
    return id_find(process->modules, process->module_count, sizeof *process->modules, id);
}

const struct mw_site *mw_process_site(const struct mw_process *process, uint64_t id)
{
    return id_find(process->sites, process->site_count, sizeof *process->sites, id);
}

const struct mw_comm *mw_process_comm(const struct mw_process *process, uint64_t id)
{
    return id_find(process->comms, process->comm_count, sizeof *process->comms, id);
}

const struct mw_rma_window *mw_process_window(const struct mw_process *process, uint64_t id)
{
    return id_find(process->windows, process->window_count, sizeof *process->windows, id);
}

const struct mw_iofile *mw_process_iofile(const struct mw_process *process, uint64_t id)
{
    return id_find(process->iofiles, process->iofile_count, sizeof *process->iofiles, id);
}
