/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of the nodes and TCP connections of the ranks, before and after (transports.h). */
#include <stdlib.h>

#include "analyzer/analysis/ports.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/transports.h"

static json_t *mean_rate(int64_t bytes, double seconds)
{
    return bytes >= 0 ? mw_json_share((double)bytes, seconds) : json_null();
}

static json_t *port_json(const struct mw_model *model, const struct mw_port_change *change)
{
    const struct mw_port *port = change->port;
    const struct mw_process *process = mw_trace_process(model->trace, change->process);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host",
        mw_json_text(process->host), "port", mw_json_text(port->name), "kind",
        mw_json_text(port->kind), "number", mw_json_count(port->number), "address",
        mw_json_known(port->address), "state", mw_json_known(port->state), "line_rate_bits_s",
        mw_json_known_count(port->rate), "received_bytes", mw_json_number(change->received, -1),
        "sent_bytes", mw_json_number(change->sent, -1), "seconds", mw_json_real(change->seconds),
        "received_bytes_s", mean_rate(change->received, change->seconds), "sent_bytes_s",
        mean_rate(change->sent, change->seconds), "errors", mw_json_number(change->errors, -1));
}

static json_t *tcp_json(const struct mw_model *model, const struct mw_tcp_total *total)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "interface",
        mw_json_known(total->interface), "connections", mw_json_count(total->connections),
        "sent_bytes", mw_json_count(total->sent), "received_bytes", mw_json_count(total->received),
        "retransmitted_segments", mw_json_count(total->retransmits), "most_retransmits_of",
        mw_processes_json(model, &total->most_process, total->most_retransmits != 0),
        "min_round_trip_s", total->min_rtt_us ? mw_json_ns(total->min_rtt_us * 1000) : json_null(),
        "max_round_trip_s", total->max_rtt_us ? mw_json_ns(total->max_rtt_us * 1000) : json_null(),
        "processes", (json_int_t)total->processes.count, "ranks",
        mw_processes_json(model, total->processes.at, total->processes.count));
}

json_t *mw_doc_ports(const struct mw_model *model, size_t top)
{
    struct mw_port_changes *changes = mw_port_changes_create(model);
    json_t *ports = json_array(), *interfaces = json_array();
    for (size_t i = 0; i < changes->ports.count && i < top; i++)
        json_array_append_new(ports, port_json(model, &changes->ports.at[i]));
    for (size_t i = 0; i < changes->tcp.count; i++)
        json_array_append_new(interfaces, tcp_json(model, &changes->tcp.at[i]));
    json_t *doc =
        json_pack("{s:{s:I, s:o}, s:{s:o, s:o}}", "ports", "total",
                  (json_int_t)changes->ports.count, "listed", ports, "tcp", "unseen_descriptors",
                  mw_json_count(changes->unseen), "interfaces", interfaces);
    mw_port_changes_free(changes);
    return doc;
}
