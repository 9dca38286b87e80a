/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives: the members of an instance on a communicator, collected until all that were recorded
 * are there. Main thread only.
 */
#include "analyzer/model/matching_private.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MAX    4096              /* instances of one communicator that may be open */
#define MEMBERS_MAX ((size_t)1 << 21) /* members of all that are open */

struct open_instance {
    int done;
    uint64_t function;
    int64_t root;
    const char *name;
    int mixed;
    MW_VECTOR(struct mw_member) members;
};

/* The open instances of a communicator: numbers from `base` on, at[head] first. */
struct ring {
    uint64_t base;
    size_t head, expected;
    MW_VECTOR(struct open_instance) open;
};

struct mw_instances {
    struct ring *rings; /* by number of the communicator */
    size_t count, members;
};

struct mw_instances *mw_instances_create(const struct mw_comms *comms, const struct mw_clock *clock)
{
    struct mw_instances *instances = mw_alloc(1, sizeof(*instances));
    instances->count = comms->joined.count;
    instances->rings = mw_alloc(instances->count, sizeof(instances->rings[0]));
    for (size_t i = 0; i < comms->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(comms->model->trace, i);
        int there = mw_clock_knows(clock, i) && mw_model_place(comms->model, i) >= 0;
        for (size_t c = 0; there && c < process->comm_count; c++)
            instances->rings[comms->by_process[i][c]].expected++;
    }
    return instances;
}

void mw_instances_free(struct mw_instances *instances)
{
    for (size_t i = 0; i < instances->count; i++)
        free(instances->rings[i].open.at);
    free(instances->rings);
    free(instances);
}

static void instance_emit(struct mw_matching *matching, uint32_t comm, size_t at)
{
    struct ring *ring = &matching->instances->rings[comm];
    struct open_instance *open = &ring->open.at[at];
    struct mw_instance instance = {.comm = comm,
                                   .number = ring->base + (at - ring->head),
                                   .function = open->function,
                                   .root = open->root,
                                   .name = open->name,
                                   .members = open->members.at,
                                   .count = open->members.count,
                                   .mixed = open->mixed,
                                   .whole = open->members.count >=
                                            matching->comms->joined.at[comm].size};
    if (!open->members.count)
        return;
    matching->counts->instances++;
    matching->counts->instances_partial += !instance.whole;
    if (matching->sink->collective)
        matching->sink->collective(matching->sink->context, &instance);
    matching->instances->members -= open->members.count;
    free(open->members.at);
    memset(&open->members, 0, sizeof(open->members));
    open->done = 1;
}

/* Drops what is done at the front, and moves the rest down now and then. */
static void ring_advance(struct ring *ring)
{
    while (ring->head < ring->open.count && ring->open.at[ring->head].done) {
        ring->head++;
        ring->base++;
    }
    if (ring->head < 64 || ring->head * 2 < ring->open.count)
        return;
    ring->open.count -= ring->head;
    memmove(ring->open.at, ring->open.at + ring->head, ring->open.count * sizeof(ring->open.at[0]));
    ring->head = 0;
}

/* Gives the first one out as it is. */
static void ring_flush_first(struct mw_matching *matching, uint32_t comm)
{
    struct ring *ring = &matching->instances->rings[comm];
    instance_emit(matching, comm, ring->head);
    ring->open.at[ring->head].done = 1;
    ring_advance(ring);
}

/* The place of an instance; NULL where it is gone already. */
static struct open_instance *ring_at(struct mw_matching *matching, uint32_t comm, uint64_t number)
{
    struct ring *ring = &matching->instances->rings[comm];
    while (number >= ring->base && number - ring->base >= OPEN_MAX && ring->head < ring->open.count)
        ring_flush_first(matching, comm);
    if (number >= ring->base && number - ring->base >= OPEN_MAX)
        ring->base = number; /* all before were not recorded */
    if (number < ring->base)
        return NULL;
    while (ring->open.count - ring->head <= number - ring->base) {
        struct open_instance *added = mw_vector_add(&ring->open);
        memset(added, 0, sizeof(*added));
    }
    return &ring->open.at[ring->head + (number - ring->base)];
}

void mw_instances_add(struct mw_matching *matching, uint32_t comm, const struct mw_event *event,
                      const struct mw_member *member)
{
    struct mw_instances *instances = matching->instances;
    struct ring *ring = &instances->rings[comm];
    while (instances->members > MEMBERS_MAX && ring->head < ring->open.count)
        ring_flush_first(matching, comm);
    struct open_instance *open = ring_at(matching, comm, (uint64_t)event->ordinal);
    if (!open || open->done)
        return;
    if (!open->members.count) {
        const struct mw_process *process =
            mw_trace_process(matching->model->trace, member->process);
        open->function = event->function;
        open->name = mw_process_function_name(process, event->function);
        open->root = mw_comms_peer(matching->comms, member->process, event->comm, event->peer);
    }
    open->mixed |= open->function != event->function || event->flags & MW_EVENT_INTER;
    *mw_vector_add(&open->members) = *member;
    instances->members++;
    if (open->members.count < ring->expected)
        return;
    instance_emit(matching, comm, (size_t)(open - ring->open.at));
    ring_advance(ring);
}

void mw_instances_finish(struct mw_matching *matching)
{
    for (uint32_t i = 0; i < matching->instances->count; i++)
        while (matching->instances->rings[i].head < matching->instances->rings[i].open.count)
            ring_flush_first(matching, i);
}
