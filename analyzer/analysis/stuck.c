/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins the open calls of all processes (stuck.h). Runs once, after the tally, on the main thread.
 */
#include "analyzer/analysis/stuck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void stuck_add_call(struct mw_stuck *stuck, const struct mw_tally *tally, size_t number,
                           size_t index)
{
    const struct mw_process *process = mw_trace_process(tally->model->trace, number);
    const struct mw_open_call *call = &process->open_calls[index];
    struct mw_stuck_call *added = mw_vector_add(&stuck->calls);
    added->process = (uint32_t)number;
    for (size_t i = 0; i < index; i++)
        added->nested |= process->open_calls[i].thread == call->thread;
    added->call = call;
    added->comm = mw_comms_find(tally->comms, number, call->comm);
    added->since_s = mw_process_time_ns(process, call->start, 0) / 1e9;
    added->held_s = NAN;
    if (process->open_taken_ns && !isnan(added->since_s))
        added->held_s = fmax(0, (double)process->open_taken_ns / 1e9 - added->since_s);
}

static void stuck_add_process(struct mw_stuck *stuck, const struct mw_tally *tally, size_t number)
{
    const struct mw_process *process = mw_trace_process(tally->model->trace, number);
    for (size_t i = 0; i < process->open_call_count; i++)
        stuck_add_call(stuck, tally, number, i);
    if (!process->open_call_count &&
        (process->end_reason == MW_END_COLLECTED || process->end_reason == MW_END_SNAPSHOT))
        *mw_vector_add(&stuck->idle) = (uint32_t)number;
}

static struct mw_stuck_instance *stuck_instance(struct mw_stuck *stuck, struct mw_index *index,
                                                const struct mw_stuck_call *call)
{
    uint64_t key = mw_mix((uint64_t)call->comm) ^ (uint64_t)call->call->instance;
    size_t at = mw_index_put(index, key);
    if (at == stuck->instances.count) {
        struct mw_stuck_instance *added = mw_vector_add(&stuck->instances);
        added->comm = (size_t)call->comm;
        added->instance = (uint64_t)call->call->instance;
    }
    return &stuck->instances.at[at];
}

static void instance_add_inside(struct mw_stuck_instance *instance,
                                const struct mw_stuck_call *call)
{
    struct mw_stuck_function *function = NULL;
    for (size_t i = 0; i < instance->inside.count; i++)
        if (!strcmp(instance->inside.at[i].name, call->call->name))
            function = &instance->inside.at[i];
    if (!function) {
        function = mw_vector_add(&instance->inside);
        function->name = call->call->name;
    }
    *mw_vector_add(&function->processes) = call->process;
    instance->inside_count++;
}

/* The first open call of a process: they stand in the order of the processes. */
static size_t first_call(const struct mw_stuck *stuck, uint32_t process)
{
    size_t low = 0, high = stuck->calls.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stuck->calls.at[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int process_is_inside(const struct mw_stuck *stuck, uint32_t process,
                             const struct mw_stuck_instance *instance)
{
    for (size_t i = first_call(stuck, process);
         i < stuck->calls.count && stuck->calls.at[i].process == process; i++)
        if (stuck->calls.at[i].comm == (int64_t)instance->comm &&
            stuck->calls.at[i].call->instance == (int64_t)instance->instance)
            return 1;
    return 0;
}

/* Sorts the members that the trace has into those that are past an instance and those that never
 * came. */
static void instance_add_member(const struct mw_tally *tally, struct mw_stuck_instance *instance,
                                uint32_t process)
{
    uint64_t next = mw_tally_progress(tally, process, instance->comm);
    if (next > instance->instance)
        instance->passed++;
    else
        *mw_vector_add(&instance->behind) = (struct mw_stuck_member){process, next};
}

/* Instances of one communicator in their order; the trace gives them in that of the ranks. */
static int instance_compare(const void *left, const void *right)
{
    const struct mw_stuck_instance *a = left, *b = right;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    return (a->instance > b->instance) - (a->instance < b->instance);
}

static void stuck_add_instances(struct mw_stuck *stuck, const struct mw_tally *tally)
{
    struct mw_index index = {0};
    for (size_t i = 0; i < stuck->calls.count; i++) {
        const struct mw_stuck_call *call = &stuck->calls.at[i];
        if (call->comm < 0 || call->call->instance < 0 ||
            tally->comms->joined.at[call->comm].how == MW_COMM_SELF)
            continue;
        instance_add_inside(stuck_instance(stuck, &index, call), call);
    }
    mw_index_free(&index);
    if (stuck->instances.count)
        qsort(stuck->instances.at, stuck->instances.count, sizeof(stuck->instances.at[0]),
              instance_compare);
}

/* The first instance of a communicator in the sorted array. */
static size_t first_instance(const struct mw_stuck *stuck, size_t comm)
{
    size_t low = 0, high = stuck->instances.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stuck->instances.at[middle].comm < comm)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void stuck_add_members(struct mw_stuck *stuck, const struct mw_tally *tally, size_t number)
{
    const struct mw_process *process = mw_trace_process(tally->model->trace, number);
    for (size_t c = 0; c < process->comm_count; c++) {
        size_t comm = tally->comms->by_process[number][c];
        for (size_t i = first_instance(stuck, comm);
             i < stuck->instances.count && stuck->instances.at[i].comm == comm; i++)
            if (!process_is_inside(stuck, (uint32_t)number, &stuck->instances.at[i]))
                instance_add_member(tally, &stuck->instances.at[i], (uint32_t)number);
    }
}

static void stuck_count_unrecorded(struct mw_stuck *stuck, const struct mw_tally *tally)
{
    for (size_t i = 0; i < stuck->instances.count; i++) {
        const struct mw_joined_comm *comm = &tally->comms->joined.at[stuck->instances.at[i].comm];
        uint64_t members = comm->size + comm->remote_size;
        stuck->instances.at[i].unrecorded = members > comm->holders ? members - comm->holders : 0;
    }
}

struct mw_stuck *mw_stuck_create(const struct mw_tally *tally)
{
    struct mw_stuck *stuck = mw_alloc(1, sizeof(*stuck));
    for (size_t i = 0; i < tally->model->process_count; i++)
        stuck_add_process(stuck, tally, i);
    stuck_add_instances(stuck, tally);
    for (size_t i = 0; stuck->instances.count && i < tally->model->process_count; i++)
        stuck_add_members(stuck, tally, i);
    stuck_count_unrecorded(stuck, tally);
    return stuck;
}

void mw_stuck_free(struct mw_stuck *stuck)
{
    if (!stuck)
        return;
    for (size_t i = 0; i < stuck->instances.count; i++) {
        struct mw_stuck_instance *instance = &stuck->instances.at[i];
        for (size_t f = 0; f < instance->inside.count; f++)
            free(instance->inside.at[f].processes.at);
        free(instance->inside.at);
        free(instance->behind.at);
    }
    free(stuck->instances.at);
    free(stuck->calls.at);
    free(stuck->idle.at);
    free(stuck);
}

const struct mw_stuck_call *mw_stuck_find(const struct mw_stuck *stuck, uint32_t process)
{
    size_t at = first_call(stuck, process);
    return at < stuck->calls.count && stuck->calls.at[at].process == process ? &stuck->calls.at[at]
                                                                             : NULL;
}
