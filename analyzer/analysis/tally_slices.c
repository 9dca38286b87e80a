/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When messages were sent and received of which only sums are known (tally_speed.h): by slices of
 * time, as late as a round trip needs them to be. Filled by the thread that counts a process.
 */
#include <stdlib.h>

#include "analyzer/analysis/tally_speed.h"

/* The slices of a process by the time at which they begin and end: what is fed to the speed meter.
 */
struct mw_slices {
    const struct mw_comms *comms;
    size_t number; /* of the process */
    const struct mw_aggregate **by_start, **by_end;
    size_t count, started, ended;
};

static int start_compare(const void *left, const void *right)
{
    const struct mw_aggregate *a = *(const struct mw_aggregate *const *)left;
    const struct mw_aggregate *b = *(const struct mw_aggregate *const *)right;
    return (a->start > b->start) - (a->start < b->start);
}

static int end_compare(const void *left, const void *right)
{
    const struct mw_aggregate *a = *(const struct mw_aggregate *const *)left;
    const struct mw_aggregate *b = *(const struct mw_aggregate *const *)right;
    return (a->end > b->end) - (a->end < b->end);
}

struct mw_slices *mw_slices_create(const struct mw_comms *comms, size_t number)
{
    const struct mw_process *process = mw_trace_process(comms->model->trace, number);
    struct mw_slices *slices = mw_alloc(1, sizeof(*slices));
    slices->comms = comms;
    slices->number = number;
    slices->count = process->aggregate_count;
    if (!slices->count)
        return slices;
    slices->by_start = mw_alloc(slices->count, sizeof(*slices->by_start));
    slices->by_end = mw_alloc(slices->count, sizeof(*slices->by_end));
    for (size_t i = 0; i < slices->count; i++)
        slices->by_start[i] = slices->by_end[i] = &process->aggregates[i];
    qsort(slices->by_start, slices->count, sizeof(*slices->by_start), start_compare);
    qsort(slices->by_end, slices->count, sizeof(*slices->by_end), end_compare);
    return slices;
}

void mw_slices_free(struct mw_slices *slices)
{
    free(slices->by_start);
    free(slices->by_end);
    free(slices);
}

static void slice_skip(const struct mw_slices *slices, struct mw_speed_meter *meter,
                       const struct mw_aggregate *slice, int kind)
{
    for (size_t i = 0; i < slice->row_count; i++) {
        const struct mw_aggregate_row *row = &slice->rows[i];
        int64_t peer = mw_comms_peer(slices->comms, slices->number, row->comm, row->peer);
        if (row->kind == (uint64_t)kind && mw_is_rank(peer) && row->operations &&
            !(row->flags & MW_EVENT_CANCELLED))
            mw_speed_skip(meter, peer, kind == MW_EVENT_SEND ? row->operations : 0,
                          kind == MW_EVENT_RECV ? row->operations : 0);
    }
}

void mw_slices_skip(struct mw_slices *slices, struct mw_speed_meter *meter, uint64_t start,
                    uint64_t end)
{
    while (slices->started < slices->count && slices->by_start[slices->started]->start <= end)
        slice_skip(slices, meter, slices->by_start[slices->started++], MW_EVENT_SEND);
    while (slices->ended < slices->count && slices->by_end[slices->ended]->end <= start)
        slice_skip(slices, meter, slices->by_end[slices->ended++], MW_EVENT_RECV);
}
