/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pairs of collectives (flows.h): what was counted by communicator is dealt out to its members.
 * What a rank passes to itself is no pair.
 */
#include "analyzer/analysis/flows.h"

#include <stdlib.h>

#define PAIRS_MOST (UINT64_C(1) << 24) /* that are dealt out; beyond, dense ones are left out */

struct dealer {
    const struct mw_flows *flows;
    const struct mw_comms *comms;
    void (*pair)(void *context, int64_t src, int64_t dst, uint64_t messages, uint64_t bytes);
    void *context;
    uint64_t visited, *left_out;
};

static void deal(struct dealer *dealer, int64_t src, int64_t dst, uint64_t messages, uint64_t bytes)
{
    if (src == dst || src < 0 || dst < 0 || src > INT32_MAX || dst > INT32_MAX || !bytes)
        return;
    dealer->pair(dealer->context, src, dst, messages, bytes);
}

struct members {
    const struct mw_run *runs;
    size_t count;
    uint64_t size; /* as the communicator says */
};

/* Those whom a rank exchanges with: of an inter-communicator the remote group, which each process
 * has written as it sees it. */
static struct members members_of(const struct dealer *dealer, const struct mw_process *process,
                                 const struct mw_coll_row *row)
{
    const struct mw_comm *comm =
        row->comm < 0 ? NULL : mw_process_comm(process, (uint64_t)row->comm);
    if (!comm)
        return (struct members){0};
    if (row->inter)
        return (struct members){comm->remote_members, comm->remote_member_runs, comm->remote_size};
    if (!comm->member_runs) { /* a long list is written by one rank */
        int64_t number = mw_comms_find(dealer->comms, row->process, row->comm);
        if (number >= 0 && dealer->comms->joined.at[number].sample)
            comm = dealer->comms->joined.at[number].sample;
    }
    return (struct members){comm->members, comm->member_runs, comm->size};
}

/* Deals a row out to all members of its communicator. */
static void deal_to_all(struct dealer *dealer, const struct mw_coll_row *row,
                        const struct mw_process *process, int64_t own)
{
    struct members members = members_of(dealer, process, row);
    const struct mw_comm *comm =
        row->comm < 0 ? NULL : mw_process_comm(process, (uint64_t)row->comm);
    uint64_t first = row->way == MW_COLL_TO_LATER && comm ? comm->rank + 1 : 0, rank = 0;
    uint64_t share = row->bytes;
    if (!members.count || members.size > PAIRS_MOST - dealer->visited) {
        *dealer->left_out += row->bytes;
        return;
    }
    dealer->visited += members.size;
    if (row->way == MW_COLL_DEALT)
        share = members.size ? row->bytes / members.size : 0;
    for (size_t i = 0; i < members.count; i++)
        for (uint64_t k = 0; k < members.runs[i].count && rank < members.size; k++, rank++) {
            int64_t peer =
                (int64_t)((uint64_t)members.runs[i].start + k * (uint64_t)members.runs[i].stride);
            if (rank < first)
                continue;
            peer = mw_comms_peer(dealer->comms, row->process, row->comm, peer);
            if (row->way == MW_COLL_FROM_EACH)
                deal(dealer, peer, own, row->calls, share);
            else
                deal(dealer, own, peer, row->calls, share);
        }
}

static void deal_row(struct dealer *dealer, const struct mw_coll_row *row)
{
    const struct mw_process *process = mw_trace_process(dealer->comms->model->trace, row->process);
    int64_t own = mw_model_place(dealer->comms->model, row->process);
    int one_peer =
        row->way == MW_COLL_FROM_ROOT || row->way == MW_COLL_TO_ROOT || row->way == MW_COLL_BY_PEER;
    if (own < 0 || (one_peer && row->root < 0)) {
        *dealer->left_out += row->bytes;
        return;
    }
    switch (row->way) {
    case MW_COLL_FROM_ROOT:
        deal(dealer, row->root, own, row->calls, row->bytes);
        break;
    case MW_COLL_TO_ROOT:
    case MW_COLL_BY_PEER:
        deal(dealer, own, row->root, row->calls, row->bytes);
        break;
    default:
        deal_to_all(dealer, row, process, own);
        break;
    }
}

void mw_flows_collectives(const struct mw_flows *flows, const struct mw_comms *comms,
                          void (*pair)(void *context, int64_t src, int64_t dst, uint64_t messages,
                                       uint64_t bytes),
                          void *context, uint64_t *left_out)
{
    struct dealer dealer = {flows, comms, pair, context, 0, left_out};
    for (size_t i = 0; i < flows->colls.count; i++)
        deal_row(&dealer, &flows->colls.at[i]);
}
