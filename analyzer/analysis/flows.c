/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to windows, files and collectives of all processes (flows.h): what each one's meter has
 * counted is joined, under the tally's lock, in ns.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/flows_meter.h"

static int name_compare(const void *left, const void *right)
{
    return strcmp(((const struct mw_file_total *)left)->name,
                  ((const struct mw_file_total *)right)->name);
}

/* Every name once, in order. */
static void files_list(struct mw_flows *flows, const struct mw_model *model)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        for (size_t f = 0; f < process->iofile_count; f++)
            mw_vector_add(&flows->files)->name = process->iofiles[f].name;
    }
    if (flows->files.count)
        qsort(flows->files.at, flows->files.count, sizeof(flows->files.at[0]), name_compare);
    for (size_t i = 0; i < flows->files.count; i++)
        if (!kept || strcmp(flows->files.at[kept - 1].name, flows->files.at[i].name))
            flows->files.at[kept++] = flows->files.at[i];
    flows->files.count = kept;
}

static void files_number(struct mw_flows *flows, const struct mw_process *process, size_t number)
{
    flows->file_of[number] = mw_alloc(process->iofile_count, sizeof(uint32_t));
    for (size_t f = 0; f < process->iofile_count; f++) {
        struct mw_file_total key = {.name = process->iofiles[f].name};
        struct mw_file_total *file =
            bsearch(&key, flows->files.at, flows->files.count, sizeof(key), name_compare);
        file->opens++;
        flows->file_of[number][f] = (uint32_t)(file - flows->files.at);
    }
}

static void windows_number(struct mw_flows *flows, struct mw_index *index,
                           const struct mw_comms *comms, const struct mw_process *process,
                           size_t number)
{
    flows->window_of[number] = mw_alloc(process->window_count, sizeof(uint32_t));
    for (size_t w = 0; w < process->window_count; w++) {
        const struct mw_rma_window *window = &process->windows[w];
        int64_t comm = mw_comms_find(comms, number, window->comm);
        /* What was made on a communicator that is not known is nobody else's. */
        uint64_t key = comm >= 0 ? mw_mix((uint64_t)comm) ^ window->number
                                 : mw_mix(process->key ^ mw_mix(window->id + 1));
        size_t at = mw_index_put(index, key);
        if (at == flows->windows.count)
            *mw_vector_add(&flows->windows) = (struct mw_window_total){
                .comm = comm, .number = window->number, .flavour = window->flavour, .name = ""};
        struct mw_window_total *total = &flows->windows.at[at];
        if (!total->name[0])
            total->name = window->name;
        total->holders++;
        total->freed += window->freed != 0;
        total->size += window->size;
        flows->window_of[number][w] = (uint32_t)at;
    }
}

struct mw_flows *mw_flows_create(const struct mw_model *model, const struct mw_comms *comms)
{
    struct mw_flows *flows = mw_alloc(1, sizeof(*flows));
    struct mw_index index = {0};
    flows->window_of = mw_alloc(model->process_count + 1, sizeof(flows->window_of[0]));
    flows->file_of = mw_alloc(model->process_count + 1, sizeof(flows->file_of[0]));
    flows->by_process = mw_alloc(model->process_count, sizeof(flows->by_process[0]));
    files_list(flows, model);
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        files_number(flows, process, i);
        windows_number(flows, &index, comms, process, i);
    }
    mw_index_free(&index);
    return flows;
}

void mw_flows_free(struct mw_flows *flows)
{
    if (!flows)
        return;
    for (size_t i = 0; flows->window_of[i]; i++) {
        free(flows->window_of[i]);
        free(flows->file_of[i]);
    }
    free(flows->by_process);
    free(flows->window_of);
    free(flows->file_of);
    mw_index_free(&flows->rma_index);
    mw_index_free(&flows->io_index);
    free(flows->windows.at);
    free(flows->files.at);
    free(flows->rma.at);
    free(flows->io.at);
    free(flows->colls.at);
    free(flows);
}

static uint64_t to_ns(const struct mw_flow_meter *meter, uint64_t ticks)
{
    double ns = ticks ? mw_process_span_ns(meter->process, ticks) : 0;
    return ns > 0 && ns < 1.8e19 ? (uint64_t)(ns + 0.5) : 0;
}

static void merge_rma(struct mw_flows *flows, const struct mw_flow_meter *meter, int64_t own)
{
    for (size_t i = 0; i < meter->rma.count && own >= 0; i++) {
        const struct mw_flow_rma *local = &meter->rma.at[i];
        int64_t src = local->fetched ? local->peer : own, dst = local->fetched ? own : local->peer;
        size_t at = mw_index_put(&flows->rma_index, (uint64_t)src << 32 | (uint64_t)dst);
        if (at == flows->rma.count)
            *mw_vector_add(&flows->rma) = (struct mw_pair){.src = src, .dst = dst};
        struct mw_pair *pair = &flows->rma.at[at];
        pair->messages += local->operations;
        pair->bytes += local->bytes;
        pair->time += to_ns(meter, local->ticks);
    }
    flows->rma_elsewhere.messages += meter->elsewhere.messages;
    flows->rma_elsewhere.bytes += meter->elsewhere.bytes;
}

static void merge_windows(struct mw_flows *flows, const struct mw_flow_meter *meter, size_t number)
{
    for (size_t i = 0; i < meter->windows.count; i++) {
        const struct mw_flow_window *local = &meter->windows.at[i];
        const struct mw_rma_window *window =
            local->id < 0 ? NULL : mw_process_window(meter->process, (uint64_t)local->id);
        struct mw_object_amounts *own = &flows->by_process[number];
        own->accesses += local->accesses;
        own->sent += local->sent;
        own->fetched += local->fetched;
        if (!window)
            continue;
        struct mw_window_total *total =
            &flows->windows.at[flows->window_of[number][window - meter->process->windows]];
        total->accesses += local->accesses;
        total->sent += local->sent;
        total->fetched += local->fetched;
        total->epochs += local->epochs;
        total->time += to_ns(meter, local->ticks);
    }
}

static void io_add(struct mw_flows *flows, const struct mw_flow_meter *meter, uint32_t file,
                   const struct mw_flow_file *local, int64_t own)
{
    size_t at = mw_index_put(&flows->io_index, (uint64_t)own << 32 | file);
    if (at == flows->io.count)
        *mw_vector_add(&flows->io) = (struct mw_io_pair){.rank = own, .file = file};
    struct mw_io_pair *pair = &flows->io.at[at];
    pair->reads += local->reads;
    pair->read += local->read;
    pair->writes += local->writes;
    pair->written += local->written;
    pair->time_read += to_ns(meter, local->ticks_read);
    pair->time_written += to_ns(meter, local->ticks_written);
}

static void merge_files(struct mw_flows *flows, const struct mw_flow_meter *meter, size_t number,
                        int64_t own)
{
    for (size_t i = 0; i < meter->files.count; i++) {
        const struct mw_flow_file *local = &meter->files.at[i];
        const struct mw_iofile *opened =
            local->id < 0 ? NULL : mw_process_iofile(meter->process, (uint64_t)local->id);
        struct mw_object_amounts *amounts = &flows->by_process[number];
        amounts->reads += local->reads;
        amounts->read += local->read;
        amounts->writes += local->writes;
        amounts->written += local->written;
        if (!opened) {
            flows->io_elsewhere += local->reads + local->writes;
            continue;
        }
        uint32_t file = flows->file_of[number][opened - meter->process->iofiles];
        struct mw_file_total *total = &flows->files.at[file];
        total->reads += local->reads;
        total->read += local->read;
        total->writes += local->writes;
        total->written += local->written;
        total->unknown += local->unknown;
        total->collective += local->collective;
        total->time += to_ns(meter, local->ticks);
        if (own >= 0)
            io_add(flows, meter, file, local, own);
    }
}

static void merge_collectives(struct mw_flows *flows, const struct mw_flow_meter *meter,
                              size_t number, const struct mw_comms *comms)
{
    uint64_t known = 0;
    for (size_t i = 0; i < meter->colls.count; i++) {
        struct mw_coll_row *row = mw_vector_add(&flows->colls);
        *row = meter->colls.at[i];
        row->process = number;
    }
    for (size_t i = 0; i < meter->process->flow_count; i++) {
        const struct mw_coll_flow *flow = &meter->process->flows[i];
        int64_t peer = mw_comms_peer(comms, number, flow->comm, flow->peer);
        known += flow->bytes;
        *mw_vector_add(&flows->colls) = (struct mw_coll_row){.process = number,
                                                             .comm = flow->comm,
                                                             .way = MW_COLL_BY_PEER,
                                                             .root = peer,
                                                             .calls = flow->messages,
                                                             .bytes = flow->bytes};
    }
    if (meter->by_peer > known)
        flows->peers_lost += meter->by_peer - known;
}

void mw_flows_merge(struct mw_flows *flows, const struct mw_flow_meter *meter, size_t number,
                    const struct mw_comms *comms)
{
    int64_t own = mw_model_place(comms->model, number);
    merge_rma(flows, meter, own);
    merge_windows(flows, meter, number);
    merge_files(flows, meter, number, own);
    merge_collectives(flows, meter, number, comms);
}

static int row_compare(const void *left, const void *right)
{
    const struct mw_coll_row *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    return (a->root > b->root) - (a->root < b->root);
}

static int io_compare(const void *left, const void *right)
{
    const struct mw_io_pair *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

static int rma_compare(const void *left, const void *right)
{
    const struct mw_pair *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

void mw_flows_finish(struct mw_flows *flows)
{
    if (flows->colls.count)
        qsort(flows->colls.at, flows->colls.count, sizeof(flows->colls.at[0]), row_compare);
    if (flows->io.count)
        qsort(flows->io.at, flows->io.count, sizeof(flows->io.at[0]), io_compare);
    if (flows->rma.count)
        qsort(flows->rma.at, flows->rma.count, sizeof(flows->rma.at[0]), rma_compare);
}
