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

int mw_comm_has_parent(const struct mw_comm *comm)
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
    if (mw_comm_has_parent(comm) && depth < COMM_DEPTH) {
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
    for (size_t i = 0; i < comms->side_count; i++) {
        free(comms->sides[i].starts);
        free(comms->sides[i].place_starts);
    }
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

/* The number that stands `at` places from the start of a list of runs; -1 nothing, or a negative one.
 * starts: of each run. */
static int64_t run_member(const struct mw_run *runs, size_t count, const uint64_t *starts, uint64_t at)
{
    size_t low = 0, high = count; /* the run is in [low, high) */
    if (!high)
        return -1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    uint64_t within = at - starts[low];
    if (at < starts[low] || within >= runs[low].count)
        return -1;
    int64_t member = (int64_t)((uint64_t)runs[low].start + within * (uint64_t)runs[low].stride);
    return member < 0 ? -1 : member;
}

/* Whether the group that a process's calls mean is the own one of this side. That of an inter-communicator is the remote
 * one, which those who made it together do not have: several worlds may stand on one side. */
static int is_meant(const struct mw_joined_comm *joined, const struct mw_comm *own,
                    const struct mw_comm_side *side)
{
    if (!own->remote_size)
        return 1;
    return joined->side_count == 2 ? side->comm->place_hash == 0 || side->comm->how != own->how
                                   : side->comm->how != own->how;
}

/* The place of the member of this rank, as the sides of other worlds tell; -1 none of them. */
static int64_t told_by_sides(const struct mw_comms *comms, const struct mw_joined_comm *joined,
                             const struct mw_comm *own, uint32_t world, uint64_t rank)
{
    const struct mw_model *model = comms->model;
    for (size_t i = joined->side; i < joined->side + joined->side_count; i++) {
        const struct mw_comm_side *side = &comms->sides[i];
        if (side->world == world || !is_meant(joined, own, side))
            continue;
        int64_t member =
            run_member(side->comm->members, side->comm->member_runs, side->starts, rank);
        if (member >= 0 && member < model->worlds[side->world].size)
            return model->worlds[side->world].first + member;
    }
    return -1;
}

/* The rank in the parent of the member of this rank: all sides know that; -1 none has written it. */
static int64_t rank_in_parent(const struct mw_comms *comms, const struct mw_joined_comm *joined,
                              uint64_t rank)
{
    for (size_t i = joined->side; i < joined->side + joined->side_count; i++) {
        const struct mw_comm_side *side = &comms->sides[i];
        int64_t place = run_member(side->placed->places, side->placed->place_runs,
                                   side->place_starts, rank);
        if (place >= 0)
            return place;
    }
    return -1;
}

/* A stranger is the rank that it has in the group; whose world it is of has written who that is. Where
 * nobody of that world has, the communicator that this one was made of may tell. */
int64_t mw_comms_peer(const struct mw_comms *comms, size_t process, int64_t id, int64_t peer)
{
    const struct mw_model *model = comms->model;
    if (peer > MW_PEER_OUTSIDE(0))
        return mw_model_peer(model, process, peer);
    const struct mw_process *holder = mw_trace_process(model->trace, process);
    const struct mw_comm *own =
        model->world_count > 1 && id >= 0 ? mw_process_comm(holder, (uint64_t)id) : NULL;
    int64_t rank = MW_PEER_OUTSIDE(peer);
    for (int depth = 0; own && rank >= 0 && depth < COMM_DEPTH; depth++) {
        const struct mw_joined_comm *joined = &comms->joined.at[mw_comms_find(comms, process, id)];
        int64_t place =
            told_by_sides(comms, joined, own, model->process_world[process], (uint64_t)rank);
        if (place >= 0 || own->remote_size)
            return place >= 0 ? place : peer;
        rank = rank_in_parent(comms, joined, (uint64_t)rank);
        id = own->parent;
        own = id >= 0 ? mw_process_comm(holder, (uint64_t)id) : NULL;
    }
    return peer;
}
