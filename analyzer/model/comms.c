/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the communicators of all processes (comms.h). MPI_COMM_SELF of every rank counts as one
 * communicator, so that a big job does not show as many as it has ranks.
 */
#include "analyzer/model/comms.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/bridges.h"

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

static uint64_t comm_key(const struct mw_process *process, uint32_t world,
                         const struct mw_comm *comm, int depth)
{
    uint64_t parent = world;
    if (comm->how == MW_COMM_SELF)
        return mw_mix(MW_COMM_SELF);
    if (has_parent(comm) && depth < COMM_DEPTH) {
        const struct mw_comm *up = mw_process_comm(process, (uint64_t)comm->parent);
        /* with the world once more, as all worlds share MPI_COMM_SELF */
        parent = mw_mix(world) ^ (up ? comm_key(process, world, up, depth + 1) : 1);
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
        uint64_t key = comm_key(process, comms->model->process_world[number], comm, 0);
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
    if (model->world_count > 1)
        mw_comms_bridge(comms);
    return comms;
}

void mw_comms_free(struct mw_comms *comms)
{
    if (!comms)
        return;
    for (size_t i = 0; i < comms->model->process_count; i++)
        free(comms->by_process[i]);
    free(comms->by_process);
    for (size_t i = 0; i < comms->side_count; i++)
        free(comms->sides[i].starts);
    free(comms->sides);
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

/* The member of this rank in a side's own group; -1 not known or of another world. */
static int64_t side_member(const struct mw_comm_side *side, uint64_t rank)
{
    const struct mw_run *runs = side->comm->members;
    size_t low = 0, high = side->comm->member_runs; /* the run is in [low, high) */
    if (!high)
        return -1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (side->starts[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    uint64_t at = rank - side->starts[low];
    if (rank < side->starts[low] || at >= runs[low].count)
        return -1;
    return (int64_t)((uint64_t)runs[low].start + at * (uint64_t)runs[low].stride);
}

/* A stranger is the rank that it has in the group; whose world it is of has written who that is. */
int64_t mw_comms_peer(const struct mw_comms *comms, size_t process, int64_t id, int64_t peer)
{
    const struct mw_model *model = comms->model;
    if (peer > MW_PEER_OUTSIDE(0))
        return mw_model_peer(model, process, peer);
    int64_t number = model->world_count > 1 ? mw_comms_find(comms, process, id) : -1;
    if (number < 0)
        return peer;
    const struct mw_joined_comm *joined = &comms->joined.at[number];
    for (size_t i = joined->side; i < joined->side + joined->side_count; i++) {
        const struct mw_comm_side *side = &comms->sides[i];
        if (side->world == model->process_world[process])
            continue;
        int64_t member = side_member(side, (uint64_t)MW_PEER_OUTSIDE(peer));
        if (member >= 0 && member < model->worlds[side->world].size)
            return model->worlds[side->world].first + member;
    }
    return peer;
}
