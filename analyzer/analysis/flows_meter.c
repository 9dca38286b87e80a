/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts accesses to windows, files and collectives of one process (flows.h), in ticks: by its
 * events, and by the rows of sums of those that have none. The thread that reads the process's
 * events.
 */
#include "analyzer/analysis/flows_meter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct mw_flow_meter *mw_flow_meter_create(const struct mw_process *process)
{
    struct mw_flow_meter *meter = mw_alloc(1, sizeof(*meter));
    meter->process = process;
    return meter;
}

void mw_flow_meter_free(struct mw_flow_meter *meter)
{
    if (!meter)
        return;
    mw_index_free(&meter->rma_index);
    mw_index_free(&meter->window_index);
    mw_index_free(&meter->file_index);
    mw_index_free(&meter->coll_index);
    mw_index_free(&meter->way_index);
    free(meter->rma.at);
    free(meter->windows.at);
    free(meter->files.at);
    free(meter->colls.at);
    free(meter->ways.at);
    free(meter);
}

/* "MPI_Iallgather_init_c" and its kin: whether the name is that of `base` in any form. */
static int is_form_of(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (!strncasecmp(name, "MPI_I", 5) && !strncasecmp(name + 5, base, length))
        name += 5;
    else if (!strncmp(name, "MPI_", 4) && !strncasecmp(name + 4, base, length))
        name += 4;
    else
        return 0;
    name += length;
    if (!strncmp(name, "_init", 5))
        name += 5;
    return !*name || !strcmp(name, "_c");
}

enum mw_coll_way mw_coll_way_of(const char *function)
{
    static const struct {
        const char *base;
        enum mw_coll_way way;
    } ways[] = {
        {"bcast", MW_COLL_FROM_ROOT},
        {"scatter", MW_COLL_FROM_ROOT},
        {"scatterv", MW_COLL_FROM_ROOT},
        {"gather", MW_COLL_TO_ROOT},
        {"gatherv", MW_COLL_TO_ROOT},
        {"reduce", MW_COLL_TO_ROOT},
        {"allgather", MW_COLL_TO_EACH},
        {"allgatherv", MW_COLL_TO_EACH},
        {"allreduce", MW_COLL_TO_EACH},
        {"alltoall", MW_COLL_DEALT},
        {"reduce_scatter", MW_COLL_FROM_EACH},
        {"reduce_scatter_block", MW_COLL_FROM_EACH},
        {"scan", MW_COLL_TO_LATER},
        {"exscan", MW_COLL_TO_LATER},
        {"alltoallv", MW_COLL_BY_PEER},
        {"alltoallw", MW_COLL_BY_PEER},
        {"neighbor_alltoall", MW_COLL_BY_PEER},
        {"neighbor_alltoallv", MW_COLL_BY_PEER},
        {"neighbor_alltoallw", MW_COLL_BY_PEER},
        {"neighbor_allgather", MW_COLL_ALONG},
        {"neighbor_allgatherv", MW_COLL_ALONG},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (is_form_of(function, ways[i].base))
            return ways[i].way;
    return MW_COLL_NONE;
}

static enum mw_coll_way way_of(struct mw_flow_meter *meter, uint64_t function)
{
    size_t at = mw_index_put(&meter->way_index, function);
    if (at == meter->ways.count)
        *mw_vector_add(&meter->ways) = (struct mw_flow_function){
            function, mw_coll_way_of(mw_process_function_name(meter->process, function))};
    return meter->ways.at[at].way;
}

static struct mw_flow_window *local_window(struct mw_flow_meter *meter, int64_t id)
{
    size_t at = mw_index_put(&meter->window_index, (uint64_t)id);
    if (at == meter->windows.count)
        mw_vector_add(&meter->windows)->id = id;
    return &meter->windows.at[at];
}

static struct mw_flow_file *local_file(struct mw_flow_meter *meter, int64_t id)
{
    size_t at = mw_index_put(&meter->file_index, (uint64_t)id);
    if (at == meter->files.count)
        mw_vector_add(&meter->files)->id = id;
    return &meter->files.at[at];
}

static struct mw_flow_rma *local_rma(struct mw_flow_meter *meter, int64_t peer, int fetched)
{
    size_t at = mw_index_put(&meter->rma_index, (uint64_t)peer << 1 | (unsigned)fetched);
    if (at == meter->rma.count) {
        struct mw_flow_rma *added = mw_vector_add(&meter->rma);
        added->peer = peer;
        added->fetched = fetched;
    }
    return &meter->rma.at[at];
}

/* Accesses that are alike; those of one call, which took `ticks`, or of many. */
struct accesses {
    int64_t object, peer;
    uint64_t count, out, in;
    int sent, fetched; /* each of them has bytes that way */
    uint64_t ticks;
};

static struct mw_flow_rma *access_pair(struct mw_flow_meter *meter, const struct accesses *accesses)
{
    return local_rma(meter, accesses->peer, accesses->fetched && !accesses->sent);
}

/* To the pair of the one direction that they have; time of such with both belongs to that to the
 * target. */
static void meter_accesses(struct mw_flow_meter *meter, const struct accesses *accesses)
{
    struct mw_flow_window *window = local_window(meter, accesses->object);
    if (accesses->peer == MW_PEER_NONE)
        return;
    window->accesses += accesses->count;
    window->sent += accesses->out;
    window->fetched += accesses->in;
    if (!mw_is_rank(accesses->peer)) {
        meter->elsewhere.messages += accesses->count;
        meter->elsewhere.bytes += accesses->out + accesses->in;
        return;
    }
    access_pair(meter, accesses)->ticks += accesses->ticks;
    if (accesses->sent || !accesses->fetched) {
        struct mw_flow_rma *pair = local_rma(meter, accesses->peer, 0);
        pair->operations += accesses->count;
        pair->bytes += accesses->out;
    }
    if (accesses->fetched) {
        struct mw_flow_rma *pair = local_rma(meter, accesses->peer, 1);
        pair->operations += accesses->count;
        pair->bytes += accesses->in;
    }
}

static void file_add(struct mw_flow_file *file, int read, uint64_t count, uint64_t bytes, int known,
                     int collective)
{
    if (read) {
        file->reads += count;
        file->read += bytes;
        file->unknown += known ? 0 : count;
    } else {
        file->writes += count;
        file->written += bytes;
    }
    file->collective += collective ? count : 0;
}

static void file_time(struct mw_flow_file *file, int read, uint64_t ticks)
{
    if (read)
        file->ticks_read += ticks;
    else
        file->ticks_written += ticks;
}

static void meter_file(struct mw_flow_meter *meter, const struct mw_operation *operation,
                       uint64_t ticks)
{
    struct mw_flow_file *file = local_file(meter, operation->object);
    int read = operation->kind == MW_OPERATION_READ;
    int counts =
        read ? operation->ends && !operation->cancelled && !operation->freed : operation->starts;
    file_time(file, read, ticks);
    if (counts)
        file_add(file, read, 1, operation->bytes, operation->known, operation->collective);
}

/* Collectives that are alike. */
struct collectives {
    int64_t comm, root;
    uint64_t function; /* of a persistent one that which prepared it */
    int inter;
    uint64_t count, out, in;
};

static void meter_collectives(struct mw_flow_meter *meter, const struct collectives *colls)
{
    enum mw_coll_way way = way_of(meter, colls->function);
    int rooted = way == MW_COLL_FROM_ROOT || way == MW_COLL_TO_ROOT;
    uint64_t bytes = way == MW_COLL_FROM_ROOT || way == MW_COLL_FROM_EACH ? colls->in : colls->out;
    if (way == MW_COLL_BY_PEER)
        meter->by_peer += bytes;
    if (way == MW_COLL_NONE || way == MW_COLL_BY_PEER || way == MW_COLL_ALONG || !bytes)
        return;
    int64_t root = rooted ? colls->root : -1;
    uint64_t key = mw_mix((uint64_t)colls->comm + 1) ^ mw_mix(mw_mix((uint64_t)root) + way);
    size_t at = mw_index_put(&meter->coll_index, key);
    if (at == meter->colls.count)
        *mw_vector_add(&meter->colls) = (struct mw_coll_row){
            .comm = colls->comm, .way = way, .root = root, .inter = colls->inter};
    meter->colls.at[at].calls += colls->count;
    meter->colls.at[at].bytes += bytes;
}

static void meter_collective(struct mw_flow_meter *meter, const struct mw_operation *operation,
                             const struct mw_event *event)
{
    /* A persistent one says in its tag who prepared it. */
    int prepared = event->flags & MW_EVENT_PERSISTENT && event->tag > 0;
    struct collectives one = {
        .comm = operation->comm,
        .root = operation->peer,
        .function = prepared ? (uint64_t)event->tag : operation->function,
        .inter = (event->flags & MW_EVENT_INTER) != 0,
        .count = 1,
        .out = operation->bytes,
        .in = operation->received,
    };
    meter_collectives(meter, &one);
}

void mw_flow_operation(struct mw_flow_meter *meter, const struct mw_operation *operation,
                       const struct mw_event *event, uint64_t ticks)
{
    struct accesses one = {operation->object,
                           operation->peer,
                           1,
                           operation->bytes,
                           operation->received,
                           operation->bytes != 0,
                           operation->received != 0,
                           ticks};
    if (operation->failed)
        return;
    if (operation->kind == MW_OPERATION_RMA && operation->starts)
        meter_accesses(meter, &one);
    else if (operation->kind == MW_OPERATION_RMA && ticks && mw_is_rank(operation->peer))
        access_pair(meter, &one)->ticks += ticks;
    else if (operation->kind == MW_OPERATION_READ || operation->kind == MW_OPERATION_WRITE)
        meter_file(meter, operation, ticks);
    else if (operation->kind == MW_OPERATION_COLL && operation->starts)
        meter_collective(meter, operation, event);
}

void mw_flow_call(struct mw_flow_meter *meter, const struct mw_event *call, int64_t peer,
                  uint64_t ticks)
{
    switch (call->kind) {
    case MW_EVENT_EPOCH:
        local_window(meter, call->tag)->epochs += !(call->flags & MW_EVENT_ERROR);
        if (mw_is_rank(peer))
            local_rma(meter, peer, 0)->ticks += ticks;
        /* fall through */
    case MW_EVENT_RMA:
        local_window(meter, call->tag)->ticks += ticks;
        break;
    case MW_EVENT_READ:
    case MW_EVENT_WRITE:
    case MW_EVENT_FILE:
        local_file(meter, call->tag)->ticks += ticks;
        break;
    default:
        break;
    }
}

static void row_accesses(struct mw_flow_meter *meter, const struct mw_aggregate_row *row,
                         uint64_t ticks)
{
    struct accesses all = {row->object,
                           row->peer,
                           row->operations,
                           row->bytes,
                           row->bytes_in,
                           (row->flags & MW_ROW_SENT) != 0,
                           (row->flags & MW_ROW_RECEIVED) != 0,
                           ticks};
    if (row->operations)
        meter_accesses(meter, &all);
    else if (row->flags & MW_EVENT_REQUEST && !(row->flags & MW_EVENT_ERROR) && ticks &&
             mw_is_rank(row->peer))
        access_pair(meter, &all)->ticks += ticks;
    if (!(row->flags & MW_EVENT_REQUEST))
        local_window(meter, row->object)->ticks += ticks;
}

static void row_epochs(struct mw_flow_meter *meter, const struct mw_aggregate_row *row,
                       uint64_t ticks)
{
    struct mw_flow_window *window = local_window(meter, row->object);
    window->epochs += row->operations;
    window->ticks += ticks;
    if (mw_is_rank(row->peer))
        local_rma(meter, row->peer, 0)->ticks += ticks;
}

static void row_file(struct mw_flow_meter *meter, const struct mw_aggregate_row *row,
                     uint64_t ticks)
{
    struct mw_flow_file *file = local_file(meter, row->object);
    int read = row->kind == MW_EVENT_READ;
    if (row->kind != MW_EVENT_FILE) {
        file_add(file, read, row->operations, row->bytes, (row->flags & MW_EVENT_STATUS) != 0,
                 (row->flags & MW_EVENT_COLLECTIVE) != 0);
        file_time(file, read, row->flags & MW_EVENT_ERROR ? 0 : ticks);
    }
    if (!(row->flags & MW_EVENT_REQUEST))
        file->ticks += ticks;
}

static void row_collectives(struct mw_flow_meter *meter, const struct mw_aggregate_row *row)
{
    int prepared = row->flags & MW_EVENT_PERSISTENT && row->object > 0;
    struct collectives all = {
        .comm = row->comm,
        .root = row->peer,
        .function = prepared ? (uint64_t)row->object : row->function,
        .inter = (row->flags & MW_EVENT_INTER) != 0,
        .count = row->operations,
        .out = row->bytes,
        .in = row->bytes_in,
    };
    if (row->operations)
        meter_collectives(meter, &all);
}

void mw_flow_row(struct mw_flow_meter *meter, const struct mw_aggregate_row *row)
{
    uint64_t ticks = row->flags & MW_EVENT_NESTED ? 0 : row->time;
    switch (row->kind) {
    case MW_EVENT_COLL:
        row_collectives(meter, row);
        break;
    case MW_EVENT_RMA:
        row_accesses(meter, row, ticks);
        break;
    case MW_EVENT_EPOCH:
        row_epochs(meter, row, ticks);
        break;
    case MW_EVENT_READ:
    case MW_EVENT_WRITE:
    case MW_EVENT_FILE:
        row_file(meter, row, ticks);
        break;
    default:
        break;
    }
}
