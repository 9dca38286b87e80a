/* SPDX-License-Identifier: BSD-3-Clause */
/* What was seen of fabrics, the kernel and MPI's choice (dump.h). */
#include <stdio.h>

#include "dump.h"

static void dump_attempt(const struct mw_attempt *attempt)
{
    record_begin("attempt");
    put_u64("id", attempt->id);
    put_text("library", attempt->library);
    put_text("call", attempt->call);
    put_i64("result", attempt->result);
    put_text("words", attempt->words);
    put_text("provider", attempt->provider);
    put_text("domain", attempt->domain);
    put_text("fabric", attempt->fabric);
    put_u64("caller", attempt->caller);
    put_u64("start", attempt->start);
    put_u64("end", attempt->end);
    put_i64("inner", attempt->inner);
    put_text("device", attempt->device);
    put_u64("speed", attempt->speed);
    put_text("driver", attempt->driver);
    put_text("asked", attempt->asked);
    put_u64("endpoint", attempt->endpoint);
    record_end();
    for (size_t i = 0; i < attempt->offer_count; i++) {
        const struct mw_offer *offer = &attempt->offers[i];
        record_begin("offer");
        put_text("provider", offer->provider);
        put_text("domain", offer->domain);
        put_text("fabric", offer->fabric);
        put_text("device", offer->device);
        put_u64("speed", offer->speed);
        put_text("state", offer->state);
        put_text("driver", offer->driver);
        record_end();
    }
}

static void dump_peer(const struct mw_peer *peer)
{
    record_begin("peer");
    put_hex("address", peer->address, peer->address_size);
    put_u64("sends", peer->sends);
    put_u64("sent", peer->sent);
    put_u64("puts", peer->puts);
    put_u64("put", peer->put);
    put_u64("gets", peer->gets);
    put_u64("got", peer->got);
    put_u64("unsized", peer->unsized);
    record_end();
    for (size_t i = 0; i < peer->lane_count; i++) {
        record_begin("lane");
        put_text("use", peer->lanes[i].use);
        put_text("transport", peer->lanes[i].transport);
        put_text("device", peer->lanes[i].device);
        record_end();
    }
}

static void dump_endpoint(const struct mw_endpoint *endpoint)
{
    record_begin("endpoint");
    put_u64("id", endpoint->id);
    put_text("library", endpoint->library);
    put_text("provider", endpoint->provider);
    put_text("domain", endpoint->domain);
    put_u64("caller", endpoint->caller);
    put_hex("address", endpoint->address, endpoint->address_size);
    put_u64("format", endpoint->format);
    put_text("device", endpoint->device);
    put_u64("speed", endpoint->speed);
    put_i64("inner", endpoint->inner);
    put_u64("time", endpoint->time);
    put_u64("unlisted", endpoint->unlisted);
    record_end();
    for (size_t i = 0; i < endpoint->peer_count; i++)
        dump_peer(&endpoint->peers[i]);
}

static void dump_log(const struct mw_process *process)
{
    for (size_t i = 0; i < process->log_count; i++) {
        const struct mw_log_line *line = &process->log[i];
        record_begin("log");
        put_u64("id", line->id);
        put_text("library", line->library);
        put_text("level", line->level);
        put_text("subsystem", line->subsystem);
        put_text("provider", line->provider);
        put_text("function", line->function);
        put_u64("line", line->line);
        put_text("text", line->text);
        put_u64("count", line->count);
        put_u64("time", line->time);
        record_end();
    }
    if (!process->log_lost)
        return;
    record_begin("log_lost");
    put_u64("count", process->log_lost);
    record_end();
}

static void dump_sockets(const struct mw_sockets *look)
{
    record_begin("sockets");
    put_i64("when", look->when);
    put_u64("time", look->time);
    put_u64("unseen", look->unseen);
    record_end();
    for (size_t i = 0; i < look->connection_count; i++) {
        const struct mw_connection *connection = &look->connections[i];
        record_begin("connection");
        put_hex("local", connection->local, connection->local_size);
        put_hex("remote", connection->remote, connection->remote_size);
        put_u64("sent", connection->sent);
        put_u64("received", connection->received);
        put_u64("rtt", connection->rtt_us);
        put_u64("retransmits", connection->retransmits);
        put_text("interface", connection->interface);
        put_u64("cookie", connection->cookie);
        put_u64("state", connection->state);
        put_u64("fd", connection->fd);
        put_u64("waiting", connection->waiting);
        put_u64("min_rtt", connection->min_rtt_us);
        record_end();
    }
}

static void dump_ports(const struct mw_ports *look)
{
    record_begin("ports");
    put_i64("when", look->when);
    put_u64("time", look->time);
    record_end();
    for (size_t i = 0; i < look->port_count; i++) {
        const struct mw_port *port = &look->ports[i];
        record_begin("port");
        put_text("name", port->name);
        put_text("kind", port->kind);
        put_u64("number", port->number);
        put_u64("received", port->received);
        put_u64("sent", port->sent);
        put_u64("rate", port->rate);
        put_text("state", port->state);
        put_u64("errors", port->errors);
        put_text("address", port->address);
        record_end();
    }
}

static void dump_cma_and_choices(const struct mw_process *process)
{
    if (process->cma_count) {
        record_begin("cma");
        put_u64("time", process->cma_time);
        record_end();
    }
    for (size_t i = 0; i < process->cma_count; i++) {
        const struct mw_cma_peer *peer = &process->cma[i];
        record_begin("cma_peer");
        put_u64("pid", peer->pid);
        put_u64("reads", peer->reads);
        put_u64("read", peer->read);
        put_u64("writes", peer->writes);
        put_u64("written", peer->written);
        put_u64("refused", peer->refused);
        put_u64("error", peer->error);
        put_u64("error_time", peer->error_time);
        record_end();
    }
    for (size_t i = 0; i < process->choice_count; i++) {
        record_begin("choice");
        put_text("what", process->choices[i].what);
        put_text("name", process->choices[i].name);
        put_text("how", process->choices[i].how);
        put_text("source", process->choices[i].source);
        record_end();
    }
}

void dump_fabric(const struct mw_process *process)
{
    for (size_t i = 0; i < process->attempt_count; i++)
        dump_attempt(&process->attempts[i]);
    for (size_t i = 0; i < process->endpoint_count; i++)
        dump_endpoint(&process->endpoints[i]);
    dump_log(process);
    for (size_t i = 0; i < process->sockets_count; i++)
        dump_sockets(&process->sockets[i]);
    for (size_t i = 0; i < process->ports_count; i++)
        dump_ports(&process->ports[i]);
    dump_cma_and_choices(process);
}
