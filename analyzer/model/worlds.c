/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the worlds of a trace apart (worlds.h). */
#include "analyzer/model/worlds.h"

#include <math.h>
#include <stdlib.h>

#define PLACES_MOST ((int64_t)INT32_MAX) /* pairs are keyed by two of 32 bits; files stand above   \
                                          */

/* The rank in its own world; -1 unknown. */
static int64_t own_rank(const struct mw_process *process)
{
    int64_t rank = process->has_rank ? process->rank : process->rank_hint;
    return rank >= 0 && rank <= INT32_MAX ? rank : -1;
}

/* What the launcher said tells worlds apart. Without a word of it there is one world of all, but
 * for processes that are alone in theirs. */
static uint64_t world_key(const struct mw_process *process)
{
    if (process->world)
        return mw_mix(process->world);
    return process->has_rank && process->size == 1 ? mw_mix(process->key ^ 1) : 0;
}

static double began_at(const struct mw_process *process)
{
    return process->began ? mw_process_time_ns(process, process->began, MW_TIME_REAL) / 1e9 : NAN;
}

static void world_add(struct mw_world *world, const struct mw_process *process, uint32_t number)
{
    int64_t size = process->has_rank ? process->size : process->size_hint;
    int64_t rank = own_rank(process);
    double began = began_at(process);
    if (!world->processes++ || began < world->began || (isnan(world->began) && !isnan(began))) {
        world->sample = number;
        world->began = began;
    }
    if (size > world->size && size <= INT32_MAX)
        world->size = size;
    if (rank >= world->size)
        world->size = rank + 1;
}

static int world_compare(const void *left, const void *right)
{
    const struct mw_world *a = left, *b = right;
    if (isnan(a->began) != isnan(b->began))
        return isnan(a->began) - isnan(b->began);
    if (a->began < b->began || a->began > b->began)
        return a->began < b->began ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

/* Brings the worlds into their order; process_world follows. */
static void worlds_sort(struct mw_model *model)
{
    struct mw_index order = {0};
    uint64_t *keys = mw_alloc(model->world_count, sizeof(*keys));
    for (size_t i = 0; i < model->world_count; i++)
        keys[i] = model->worlds[i].key;
    qsort(model->worlds, model->world_count, sizeof(model->worlds[0]), world_compare);
    for (size_t i = 0; i < model->world_count; i++)
        mw_index_put(&order, model->worlds[i].key);
    for (size_t i = 0; i < model->process_count; i++) {
        uint32_t *world = &model->process_world[i];
        *world = (uint32_t)mw_index_find(&order, keys[*world]);
    }
    mw_index_free(&order);
    free(keys);
}

/* A world that claims more ranks than there are places left gets none. */
static void worlds_place(struct mw_model *model)
{
    int64_t next = 0;
    for (size_t i = 0; i < model->world_count; i++) {
        struct mw_world *world = &model->worlds[i];
        if (world->size > PLACES_MOST - next + (i == 0))
            world->size = 0;
        world->first = next;
        next += world->size;
    }
    model->rank_total = next ? next : -1;
}

static void processes_order(struct mw_model *model)
{
    size_t *next = mw_alloc(model->world_count + 1, sizeof(*next));
    model->in_order = mw_alloc(model->process_count, sizeof(model->in_order[0]));
    for (size_t i = 0; i < model->world_count; i++)
        next[i + 1] = next[i] + model->worlds[i].processes;
    for (uint32_t i = 0; i < model->process_count; i++)
        model->in_order[next[model->process_world[i]]++] = i;
    free(next);
}

void mw_worlds_find(struct mw_model *model)
{
    struct mw_index keys = {0};
    model->worlds = mw_alloc(model->process_count, sizeof(model->worlds[0]));
    model->process_world = mw_alloc(model->process_count, sizeof(model->process_world[0]));
    model->process_place = mw_alloc(model->process_count, sizeof(model->process_place[0]));
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        size_t world = mw_index_put(&keys, world_key(process));
        model->worlds[world].key = world_key(process);
        model->process_world[i] = (uint32_t)world;
        world_add(&model->worlds[world], process, i);
    }
    model->world_count = keys.count;
    mw_index_free(&keys);
    worlds_sort(model);
    worlds_place(model);
    processes_order(model);
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_world *world = &model->worlds[model->process_world[i]];
        int64_t rank = own_rank(mw_trace_process(model->trace, i));
        model->process_place[i] = rank >= 0 && rank < world->size ? world->first + rank : -1;
    }
}
