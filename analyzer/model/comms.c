/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the communicators of all processes (comms.h). MPI_COMM_SELF of every rank counts as one
 * communicator, so that a big job does not show as many as it has ranks.
 */
#include "analyzer/model/comms.h"

#include <stdlib.h>
#include <string.h>

#define COMM_DEPTH 64 /* of parents; a hostile trace may have cycles */

/* Kinds that are collective over their parent; the others are told apart by their members alone. */
static int has_parent(const struct mw_comm *comm)
{
    switch (comm->how) {
    case MW_COMM_DUP:
    case MW_COMM_CREATE:
    case MW_COMM_SPLIT:
    case MW_COMM_SPLIT_TYPE:
    case MW_COMM_CART:
    case MW_COMM_CART_SUB:
    case MW_COMM_GRAPH:
    case MW_COMM_DIST_GRAPH:
    case MW_COMM_MERGE:
        return comm->parent >= 0;
    default:
        return 0;
    }
}

static uint64_t comm_key(const struct mw_process *process, const struct mw_comm *comm, int depth)
{
    uint64_t parent = 0;
    if (comm->how == MW_COMM_SELF)
        return mw_mix(MW_COMM_SELF);
    if (has_parent(comm) && depth < COMM_DEPTH) {
        const struct mw_comm *up = mw_process_comm(process, (uint64_t)comm->parent);
        parent = up ? comm_key(process, up, depth + 1) : 1;
    }
    uint64_t key = mw_mix(parent ^ mw_mix((uint64_t)comm->how + 1));
    key = mw_mix(key ^ mw_mix(comm->number + 2));
    return mw_mix(key ^ comm->hash);
}

static void comm_join(struct mw_joined_comm *joined, const struct mw_comm *comm)
{
    if (!joined->sample || (!joined->sample->member_runs && comm->member_runs))
        joined->sample = comm;
    if (!joined->name || !joined->name[0])
        joined->name = comm->name;
    if (comm->size > joined->size)
        joined->size = comm->size;
    if (comm->remote_size > joined->remote_size)
        joined->remote_size = comm->remote_size;
    joined->how = comm->how;
    joined->holders++;
    joined->freed += comm->freed != 0;
}

static void comms_add_process(struct mw_comms *comms, size_t number)
{
    const struct mw_process *process = mw_trace_process(comms->model->trace, number);
    uint32_t *by = mw_alloc(process->comm_count, sizeof(*by));
    comms->by_process[number] = by;
    for (size_t i = 0; i < process->comm_count; i++) {
        const struct mw_comm *comm = &process->comms[i];
        uint64_t key = comm_key(process, comm, 0);
        by[i] = (uint32_t)mw_index_put(&comms->index, key);
        if (by[i] == comms->joined.count) {
            struct mw_joined_comm *added = mw_vector_add(&comms->joined);
            added->key = key;
            added->parent = -1;
        }
        comm_join(&comms->joined.at[by[i]], comm);
    }
}

static void comms_link_parents(struct mw_comms *comms, size_t number)
{
    const struct mw_process *process = mw_trace_process(comms->model->trace, number);
    for (size_t i = 0; i < process->comm_count; i++) {
        struct mw_joined_comm *joined = &comms->joined.at[comms->by_process[number][i]];
        if (joined->parent < 0 && joined->how != MW_COMM_SELF)
            joined->parent = mw_comms_find(comms, number, process->comms[i].parent);
    }
}

struct mw_comms *mw_comms_create(const struct mw_model *model)
{
    struct mw_comms *comms = mw_alloc(1, sizeof(*comms));
    comms->model = model;
    comms->by_process = mw_alloc(model->process_count, sizeof(comms->by_process[0]));
    for (size_t i = 0; i < model->process_count; i++)
        comms_add_process(comms, i);
    for (size_t i = 0; i < model->process_count; i++)
        comms_link_parents(comms, i);
    return comms;
}

void mw_comms_free(struct mw_comms *comms)
{
    if (!comms)
        return;
    for (size_t i = 0; i < comms->model->process_count; i++)
        free(comms->by_process[i]);
    free(comms->by_process);
    free(comms->joined.at);
    mw_index_free(&comms->index);
    free(comms);
}

int64_t mw_comms_find(const struct mw_comms *comms, size_t process, int64_t id)
{
    const struct mw_process *holder = mw_trace_process(comms->model->trace, process);
    if (id < 0)
        return -1;
    const struct mw_comm *comm = mw_process_comm(holder, (uint64_t)id);
    return comm ? (int64_t)comms->by_process[process][comm - holder->comms] : -1;
}
