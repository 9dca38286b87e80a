/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between looks at ports and connections (ports.h). */
#include "analyzer/analysis/ports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counters start anew when a driver is loaded again: then nothing is known. */
static int64_t grown(uint64_t before, uint64_t after)
{
    return after >= before && after - before <= INT64_MAX ? (int64_t)(after - before) : -1;
}

static const struct mw_port *port_find(const struct mw_ports *look, const struct mw_port *port)
{
    for (size_t i = 0; i < look->port_count; i++)
        if (look->ports[i].number == port->number && !strcmp(look->ports[i].name, port->name) &&
            !strcmp(look->ports[i].kind, port->kind))
            return &look->ports[i];
    return NULL;
}

static void ports_add(struct mw_port_changes *changes, const struct mw_process *process,
                      uint32_t number)
{
    if (!process->ports_count)
        return;
    const struct mw_ports *first = &process->ports[0];
    const struct mw_ports *last = &process->ports[process->ports_count - 1];
    for (size_t i = 0; i < last->port_count; i++) {
        const struct mw_port *after = &last->ports[i];
        const struct mw_port *before = first != last ? port_find(first, after) : NULL;
        struct mw_port_change *change = mw_vector_add(&changes->ports);
        *change = (struct mw_port_change){number, after, -1, -1, -1, NAN, process->ports_count};
        if (!before)
            continue;
        change->received = grown(before->received, after->received);
        change->sent = grown(before->sent, after->sent);
        change->errors = grown(before->errors, after->errors);
        change->seconds = mw_process_span_ns(process, last->time - first->time) / 1e9;
    }
}

/* The first and the last time that a connection of a process was seen. */
struct seen {
    const struct mw_connection *first, *last;
    int at_init; /* first was at the end of MPI_Init: what came before is not the job's */
};

static uint64_t less(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0;
}

static void tcp_add(struct mw_port_changes *changes, struct mw_index *by_interface,
                    const struct seen *seen, uint32_t process, uint64_t *retransmits)
{
    static const struct mw_connection nothing;
    const struct mw_connection *before = seen->at_init ? seen->first : &nothing;
    const struct mw_connection *after = seen->last;
    size_t at = mw_index_put(by_interface, mw_hash_text(1, after->interface));
    if (at == changes->tcp.count)
        mw_vector_add(&changes->tcp)->interface = after->interface;
    struct mw_tcp_total *total = &changes->tcp.at[at];
    total->connections++;
    changes->by_process[process].connections++;
    changes->by_process[process].retransmits += less(after->retransmits, before->retransmits);
    total->sent += less(after->sent, before->sent);
    total->received += less(after->received, before->received);
    total->retransmits += less(after->retransmits, before->retransmits);
    retransmits[at] += less(after->retransmits, before->retransmits);
    if (after->min_rtt_us && (!total->min_rtt_us || after->min_rtt_us < total->min_rtt_us))
        total->min_rtt_us = after->min_rtt_us;
    if (after->rtt_us > total->max_rtt_us)
        total->max_rtt_us = after->rtt_us;
    if (!total->processes.count || total->processes.at[total->processes.count - 1] != process)
        *mw_vector_add(&total->processes) = process;
    if (retransmits[at] > total->most_retransmits) {
        total->most_retransmits = retransmits[at];
        total->most_process = process;
    }
}

static uint64_t connection_key(const struct mw_connection *connection)
{
    uint64_t key = mw_hash_bytes(connection->cookie, connection->local, connection->local_size);
    return mw_hash_bytes(key, connection->remote, connection->remote_size);
}

static void sockets_add(struct mw_port_changes *changes, struct mw_index *by_interface,
                        const struct mw_process *process, uint32_t number)
{
    struct mw_index index = {0};
    MW_VECTOR(struct seen) all = {0};
    for (size_t i = 0; i < process->sockets_count; i++) {
        const struct mw_sockets *look = &process->sockets[i];
        for (size_t c = 0; c < look->connection_count; c++) {
            size_t at = mw_index_put(&index, connection_key(&look->connections[c]));
            if (at == all.count) {
                mw_vector_add(&all)->first = &look->connections[c];
                all.at[at].at_init = look->when == MW_WHEN_INIT;
            }
            all.at[at].last = &look->connections[c];
        }
    }
    /* Interfaces of this process: those that are there, and at most one more a connection. */
    uint64_t *retransmits = mw_alloc(changes->tcp.count + all.count + 1, sizeof(*retransmits));
    for (size_t i = 0; i < all.count; i++)
        tcp_add(changes, by_interface, &all.at[i], number, retransmits);
    if (process->sockets_count)
        changes->unseen += process->sockets[process->sockets_count - 1].unseen;
    free(retransmits);
    free(all.at);
    mw_index_free(&index);
}

static uint64_t moved(const struct mw_port_change *change)
{
    return (change->received > 0 ? (uint64_t)change->received : 0) +
           (change->sent > 0 ? (uint64_t)change->sent : 0);
}

static int port_compare(const void *left, const void *right)
{
    const struct mw_port_change *a = left, *b = right;
    if (moved(a) != moved(b))
        return moved(a) > moved(b) ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    int order = strcmp(a->port->name, b->port->name);
    return order ? order
                 : (a->port->number > b->port->number) - (a->port->number < b->port->number);
}

static int tcp_compare(const void *left, const void *right)
{
    const struct mw_tcp_total *a = left, *b = right;
    if (a->sent != b->sent)
        return a->sent > b->sent ? -1 : 1;
    return strcmp(a->interface, b->interface);
}

struct mw_port_changes *mw_port_changes_create(const struct mw_model *model)
{
    struct mw_port_changes *changes = mw_alloc(1, sizeof(*changes));
    struct mw_index by_interface = {0};
    changes->by_process = mw_alloc(model->process_count, sizeof(changes->by_process[0]));
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        ports_add(changes, process, (uint32_t)i);
        sockets_add(changes, &by_interface, process, (uint32_t)i);
    }
    mw_index_free(&by_interface);
    if (changes->ports.count)
        qsort(changes->ports.at, changes->ports.count, sizeof(changes->ports.at[0]), port_compare);
    if (changes->tcp.count)
        qsort(changes->tcp.at, changes->tcp.count, sizeof(changes->tcp.at[0]), tcp_compare);
    return changes;
}

void mw_port_changes_free(struct mw_port_changes *changes)
{
    if (!changes)
        return;
    for (size_t i = 0; i < changes->tcp.count; i++)
        free(changes->tcp.at[i].processes.at);
    free(changes->tcp.at);
    free(changes->ports.at);
    free(changes->by_process);
    free(changes);
}
