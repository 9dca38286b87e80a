/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the calls of one process of which only sums are known (tally_process.h): a row counts
 * where its calls and operations would have counted, had they had events. The thread that counts
 * the process.
 */
#include "analyzer/analysis/flows.h"
#include "analyzer/analysis/tally_process.h"
#include "analyzer/model/stream.h"

static void amounts_calls(struct mw_amounts *amounts, const struct mw_aggregate_row *row)
{
    if (row->flags & MW_EVENT_NESTED) {
        amounts->nested += row->calls;
        amounts->nested_time += row->time;
    } else {
        amounts->calls += row->calls;
        amounts->time += row->time;
    }
    amounts->errors += row->errors;
}

static int is_file_access(const struct mw_aggregate_row *row)
{
    return row->kind == MW_EVENT_READ || row->kind == MW_EVENT_WRITE;
}

static void amounts_operations(struct mw_amounts *amounts, const struct mw_aggregate_row *row)
{
    uint64_t taken = row->kind == MW_EVENT_READ ? row->bytes : row->bytes_in;
    if (row->flags & MW_EVENT_CANCELLED) {
        amounts->sent -= row->bytes;
    } else if (row->kind != MW_EVENT_RECV && row->kind != MW_EVENT_READ) {
        amounts->sent += row->bytes;
        amounts->received += row->bytes_in;
    } else if (row->flags & MW_EVENT_STATUS) {
        amounts->received += taken;
    } else {
        amounts->received_room += taken;
        amounts->unknown += row->operations;
    }
}

/* Of a row's messages. Before they told spaces apart, sums of a process that used several did not
 * know. */
static enum mw_memory_kind row_memory(const struct mw_process_tally *tally,
                                      const struct mw_aggregate *slice,
                                      const struct mw_aggregate_row *row)
{
    unsigned space = row->kind == MW_EVENT_RECV ? MW_ROW_SPACE_RECEIVE((unsigned)row->spaces)
                                                : MW_ROW_SPACE_SEND((unsigned)row->spaces);
    if (!slice->spaces && tally->process->space_count)
        return MW_MEMORY_UNKNOWN;
    return mw_local_memory(tally, space);
}

/* Messages to or from one peer; `messages` and `bytes` are negative where they were taken back. */
static void row_messages(struct mw_process_tally *tally, const struct mw_aggregate_row *row,
                         unsigned class, enum mw_memory_kind memory, uint64_t messages,
                         uint64_t bytes)
{
    int receives = row->kind == MW_EVENT_RECV;
    if (mw_is_rank(row->peer)) {
        struct mw_local_pair *pair =
            mw_local_pair_add(tally, row->peer, receives, class, memory, messages, bytes);
        if (receives && !(row->flags & MW_EVENT_STATUS))
            pair->upper += messages;
    } else if (!receives) {
        struct mw_pair *pair = row->peer <= MW_PEER_OUTSIDE(0) ? &tally->outside : &tally->unknown;
        pair->messages += messages;
        pair->bytes += bytes;
    }
    if (receives)
        return;
    struct mw_comm_total *comm = &mw_local_comm(tally, row->comm)->total;
    comm->messages += messages;
    comm->bytes += bytes;
    tally->sizes[class].messages += messages;
    tally->sizes[class].bytes += bytes;
}

static void row_collectives(struct mw_process_tally *tally, const struct mw_aggregate_row *row,
                            unsigned class)
{
    struct mw_local_comm *comm = mw_local_comm(tally, row->comm);
    comm->total.collectives += row->operations;
    comm->total.collective_bytes += row->bytes;
    if (row->next > comm->next)
        comm->next = row->next;
    tally->sizes[class].collectives += row->operations;
    tally->sizes[class].collective_bytes += row->bytes;
}

static void row_operations(struct mw_process_tally *tally, const struct mw_aggregate *slice,
                           const struct mw_aggregate_row *row)
{
    enum mw_memory_kind memory = row_memory(tally, slice, row);
    unsigned class = row->size_class < MW_SIZE_CLASSES ? (unsigned)row->size_class
                                                       : mw_size_class(row->bytes | row->bytes_in);
    int cancelled = (row->flags & MW_EVENT_CANCELLED) != 0;
    if (cancelled)
        tally->cancelled += row->operations;
    if (row->kind == MW_EVENT_SEND)
        row_messages(tally, row, class, memory, cancelled ? -row->operations : row->operations,
                     cancelled ? -row->bytes : row->bytes);
    else if (row->kind == MW_EVENT_RECV && !cancelled)
        row_messages(tally, row, class, memory, row->operations, row->bytes_in);
    else if (row->kind == MW_EVENT_COLL)
        row_collectives(tally, row, class);
}

static void row_time(struct mw_process_tally *tally, const struct mw_aggregate_row *row)
{
    enum mw_time_class class = MW_TIME_OTHER;
    int message = row->kind == MW_EVENT_SEND || row->kind == MW_EVENT_RECV;
    if (row->flags & MW_EVENT_NESTED)
        return;
    if (row->kind == MW_EVENT_POLL)
        class = MW_TIME_POLL;
    else if (message)
        class = MW_TIME_P2P;
    else if (row->kind == MW_EVENT_COLL)
        class = MW_TIME_COLL;
    else if (row->kind == MW_EVENT_RMA || row->kind == MW_EVENT_EPOCH)
        class = MW_TIME_RMA;
    else if (is_file_access(row) || row->kind == MW_EVENT_FILE)
        class = MW_TIME_IO;
    else if (mw_local_function(tally, row->function)->lifecycle)
        class = MW_TIME_LIFE;
    tally->total.time_by[class] += row->time;
    if (class == MW_TIME_COLL)
        mw_local_comm(tally, row->comm)->total.time += row->time;
    if (class == MW_TIME_P2P)
        tally->p2p_ticks += row->time;
    if (class == MW_TIME_P2P && mw_is_rank(row->peer)) {
        tally->pair_ticks += row->time;
        mw_local_pair(tally, row->peer, row->kind == MW_EVENT_RECV)->ticks += row->time;
    }
    mw_local_region_add(tally, row->region, row->calls, row->time);
}

static void count_row(struct mw_process_tally *tally, const struct mw_aggregate *slice,
                      const struct mw_aggregate_row *row)
{
    struct mw_amounts *all[] = {mw_local_function_amounts(tally, row->function),
                                mw_local_site_amounts(tally, row->function, row->site),
                                &tally->total.amounts};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        amounts_calls(all[i], row);
        if (all[i] != &tally->total.amounts || !is_file_access(row)) /* files are no traffic */
            amounts_operations(all[i], row);
    }
    if (row->operations)
        row_operations(tally, slice, row);
    if (row->calls)
        row_time(tally, row);
    mw_flow_row(tally->flow, row);
}

/* What is known of a process in sums only. */
static void count_slice(struct mw_process_tally *tally, const struct mw_aggregate *slice)
{
    struct mw_process_total *total = &tally->total;
    struct mw_summed *summed = &total->summed[slice->why < MW_WHYS ? slice->why : 0];
    for (size_t i = 0; i < slice->row_count; i++) {
        struct mw_aggregate_row row = slice->rows[i];
        row.peer = mw_comms_peer(tally->all_comms, tally->number, row.comm, row.peer);
        count_row(tally, slice, &row);
        summed->calls += slice->rows[i].calls;
    }
    if (slice->row_count && (!summed->from || slice->start < summed->from))
        summed->from = slice->start;
    if (slice->last_end >= total->last_end && slice->last_end) {
        total->last_end = slice->last_end;
        total->last_function = slice->last_function;
        total->last_site = slice->last_site;
    }
}

void mw_tally_sums(struct mw_process_tally *tally, const struct mw_stream *stream)
{
    const struct mw_process *process = tally->process;
    for (size_t i = 0; i < process->aggregate_count; i++) {
        const struct mw_aggregate *slice = &process->aggregates[i];
        count_slice(tally, slice);
        if ((i == 0 || slice->thread != process->aggregates[i - 1].thread) &&
            !mw_stream_has(stream, slice->thread))
            tally->total.threads++;
    }
}
