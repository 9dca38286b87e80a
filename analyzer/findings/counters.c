/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's counters beside slow pairs (counters.h). */
#include "analyzer/findings/counters.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/analysis/ports.h"
#include "analyzer/base/number.h"

#define PORTS_SHOWN 4

void mw_slow_pairs_begin(struct mw_slow_pairs *pairs, const struct mw_model *model)
{
    pairs->senders = mw_alloc(model->process_count, 1);
    pairs->nodes = mw_alloc(model->node_count, 1);
}

void mw_slow_pairs_add(struct mw_slow_pairs *pairs, const struct mw_model *model, int64_t src,
                       int64_t dst)
{
    int64_t ends[2] = {mw_model_rank(model, src), mw_model_rank(model, dst)};
    if (ends[0] >= 0)
        pairs->senders[ends[0]] = 1;
    for (size_t i = 0; i < 2; i++)
        if (ends[i] >= 0)
            pairs->nodes[model->process_node[ends[i]]] = 1;
}

/* Segments that the slow senders sent again, and the most of another process. */
static void retransmits_say(const struct mw_slow_pairs *pairs, const struct mw_model *model,
                            const struct mw_port_changes *changes, struct mw_finding *finding)
{
    uint64_t slow = 0, others = 0, connections = 0, other_connections = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_tcp_process *process = &changes->by_process[i];
        if (pairs->senders[i]) {
            slow = process->retransmits > slow ? process->retransmits : slow;
            connections += process->connections;
        } else {
            others = process->retransmits > others ? process->retransmits : others;
            other_connections += process->connections;
        }
    }
    if (!connections)
        return;
    char *beside = other_connections ? mw_format("; of the other ranks at most %" PRIu64, others)
                                     : mw_text_copy("");
    mw_finding_evidence(
        finding, mw_format("TCP segments that a slow sender sent again: at most %" PRIu64 "%s",
                           slow, beside));
    free(beside);
}

static void ports_say(const struct mw_slow_pairs *pairs, const struct mw_model *model,
                      const struct mw_port_changes *changes, struct mw_finding *finding)
{
    size_t shown = 0;
    for (size_t i = 0; i < changes->ports.count && shown < PORTS_SHOWN; i++) {
        const struct mw_port_change *change = &changes->ports.at[i];
        uint32_t node = model->process_node[change->process];
        if (!pairs->nodes[node] || change->sent <= 0 || change->errors < 0)
            continue;
        char *sent = mw_number_bytes((double)change->sent);
        mw_finding_evidence(finding, mw_format("port %s of %s: %" PRId64 " errors more, %s sent",
                                               change->port->name, model->nodes[node].host,
                                               change->errors, sent));
        free(sent);
        shown++;
    }
}

void mw_slow_pairs_evidence(struct mw_slow_pairs *pairs, const struct mw_model *model,
                            struct mw_finding *finding)
{
    struct mw_port_changes *changes = mw_port_changes_create(model);
    retransmits_say(pairs, model, changes, finding);
    ports_say(pairs, model, changes, finding);
    mw_port_changes_free(changes);
    free(pairs->senders);
    free(pairs->nodes);
}
