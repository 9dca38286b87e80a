/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware of nodes and seats of processes (seats.h). */
#include "analyzer/model/seats.h"

#include <stdlib.h>

/* Of the looks at each node's hardware the one with most in it. */
static const struct mw_topology **topologies(const struct mw_model *model)
{
    const struct mw_topology **best = mw_alloc(model->node_count, sizeof(best[0]));
    for (size_t p = 0; p < model->process_count; p++) {
        const struct mw_topology *topology = mw_trace_process(model->trace, p)->topology;
        const struct mw_topology **of = &best[model->process_node[p]];
        if (topology && (!*of || (topology->xml_size && !(*of)->xml_size)))
            *of = topology;
    }
    return best;
}

const struct mw_seats *mw_model_sit(struct mw_model *model)
{
    if (model->seats)
        return model->seats;
    struct mw_seats *seats = mw_alloc(1, sizeof(*seats));
    const struct mw_topology **best = topologies(model);
    seats->hardware = mw_alloc(model->node_count, sizeof(seats->hardware[0]));
    seats->at = mw_alloc(model->process_count, sizeof(seats->at[0]));
    for (size_t n = 0; n < model->node_count; n++)
        seats->hardware[n] = mw_hardware_create(best[n]);
    for (size_t p = 0; p < model->process_count; p++)
        mw_hardware_add_gpus(seats->hardware[model->process_node[p]],
                             mw_trace_process(model->trace, p));
    for (size_t p = 0; p < model->process_count; p++) {
        const struct mw_process *process = mw_trace_process(model->trace, p);
        if (!process->placement_count)
            continue;
        const struct mw_placement *last = &process->placements[process->placement_count - 1];
        seats->at[p] = mw_seat_of(seats->hardware[model->process_node[p]], last->cpus,
                                  last->cpu_runs);
    }
    free(best);
    model->seats = seats;
    return seats;
}

void mw_seats_free(struct mw_seats *seats, const struct mw_model *model)
{
    if (!seats)
        return;
    for (size_t n = 0; n < model->node_count; n++)
        mw_hardware_free(seats->hardware[n]);
    for (size_t p = 0; p < model->process_count; p++)
        mw_seat_free(&seats->at[p]);
    free(seats->hardware);
    free(seats->at);
    free(seats);
}
