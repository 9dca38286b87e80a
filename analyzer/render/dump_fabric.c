/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process saw of fabrics and of the kernel, a line each (dump.h). */
#include "analyzer/render/dump.h"

#include "analyzer/render/address.h"
#include "analyzer/render/dump_members.h"
#include "analyzer/render/json.h"

/* The module that called: its id and its path. */
static void set_caller(json_t *object, const struct mw_process *process, uint64_t caller)
{
    const struct mw_module *module = caller ? mw_process_module(process, caller) : NULL;
    json_object_set_new(object, "caller", mw_json_count(caller));
    json_object_set_new(object, "caller_path", mw_json_text(module ? module->path : NULL));
}

/* In words, and the bytes: words leave out what does not tell addresses apart. */
static void set_address(json_t *object, const struct mw_endpoint *endpoint, const uint8_t *address,
                        size_t size)
{
    json_object_set_new(
        object, "address",
        mw_json_take(mw_fabric_address_text(endpoint->library, endpoint->format, address, size)));
    json_object_set_new(object, "address_bytes", mw_json_build_id(address, size));
}

static json_t *offers_json(const struct mw_attempt *attempt)
{
    json_t *array = json_array();
    for (size_t i = 0; i < attempt->offer_count; i++) {
        const struct mw_offer *offer = &attempt->offers[i];
        json_t *object = json_object();
        SET_TEXTS(object, {"provider", offer->provider}, {"domain", offer->domain},
                  {"fabric", offer->fabric}, {"device", offer->device}, {"state", offer->state},
                  {"driver", offer->driver});
        json_object_set_new(object, "speed", mw_json_count(offer->speed));
        json_array_append_new(array, object);
    }
    return array;
}

static void dump_attempts(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->attempt_count; i++) {
        const struct mw_attempt *attempt = &process->attempts[i];
        json_t *object = json_object();
        json_object_set_new(object, "id", mw_json_count(attempt->id));
        SET_TEXTS(object, {"library", attempt->library}, {"call", attempt->call});
        json_object_set_new(object, "result", json_integer(attempt->result));
        SET_TEXTS(object, {"words", attempt->words}, {"asked", attempt->asked},
                  {"provider", attempt->provider}, {"domain", attempt->domain},
                  {"fabric", attempt->fabric}, {"device", attempt->device},
                  {"driver", attempt->driver});
        SET_COUNTS(object, {"speed", attempt->speed}, {"start", attempt->start},
                   {"end", attempt->end}, {"endpoint", attempt->endpoint});
        json_object_set_new(object, "inner", json_boolean(attempt->inner));
        set_caller(object, process, attempt->caller);
        json_object_set_new(object, "offers", offers_json(attempt));
        mw_dump_line(dump, "attempt", process, object);
    }
}

static void dump_peer(const struct mw_dump *dump, const struct mw_process *process,
                      const struct mw_endpoint *endpoint, const struct mw_peer *peer)
{
    json_t *object = json_object(), *lanes = json_array();
    json_object_set_new(object, "endpoint", mw_json_count(endpoint->id));
    set_address(object, endpoint, peer->address, peer->address_size);
    SET_COUNTS(object, {"sends", peer->sends}, {"sent", peer->sent}, {"puts", peer->puts},
               {"put", peer->put}, {"gets", peer->gets}, {"got", peer->got},
               {"unsized", peer->unsized});
    for (size_t i = 0; i < peer->lane_count; i++) {
        const struct mw_lane *lane = &peer->lanes[i];
        json_t *item = json_object();
        SET_TEXTS(item, {"use", lane->use}, {"transport", lane->transport},
                  {"device", lane->device});
        json_array_append_new(lanes, item);
    }
    json_object_set_new(object, "lanes", lanes);
    mw_dump_line(dump, "peer", process, object);
}

static void dump_endpoints(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->endpoint_count; i++) {
        const struct mw_endpoint *endpoint = &process->endpoints[i];
        json_t *object = json_object();
        json_object_set_new(object, "id", mw_json_count(endpoint->id));
        SET_TEXTS(object, {"library", endpoint->library}, {"provider", endpoint->provider},
                  {"domain", endpoint->domain}, {"device", endpoint->device});
        SET_COUNTS(object, {"speed", endpoint->speed}, {"format", endpoint->format},
                   {"time", endpoint->time}, {"peers", endpoint->peer_count},
                   {"unlisted", endpoint->unlisted});
        set_address(object, endpoint, endpoint->address, endpoint->address_size);
        json_object_set_new(object, "inner", json_boolean(endpoint->inner));
        set_caller(object, process, endpoint->caller);
        mw_dump_line(dump, "endpoint", process, object);
        for (size_t p = 0; p < endpoint->peer_count; p++)
            dump_peer(dump, process, endpoint, &endpoint->peers[p]);
    }
}

static void dump_log(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->log_count; i++) {
        const struct mw_log_line *line = &process->log[i];
        json_t *object = json_object();
        json_object_set_new(object, "id", mw_json_count(line->id));
        SET_TEXTS(object, {"library", line->library}, {"level", line->level},
                  {"subsystem", line->subsystem}, {"provider", line->provider},
                  {"function", line->function});
        SET_COUNTS(object, {"line", line->line}, {"count", line->count}, {"time", line->time});
        json_object_set_new(object, "text", mw_json_text(line->text));
        mw_dump_line(dump, "log", process, object);
    }
    if (process->log_lost)
        mw_dump_line(dump, "log_lost", process,
                     json_pack("{s:o}", "count", mw_json_count(process->log_lost)));
}

static void dump_sockets(const struct mw_dump *dump, const struct mw_process *process,
                         const struct mw_sockets *look)
{
    json_t *head = json_object();
    SET_COUNTS(head, {"when", look->when}, {"time", look->time},
               {"connections", look->connection_count}, {"unseen", look->unseen});
    mw_dump_line(dump, "sockets", process, head);
    for (size_t i = 0; i < look->connection_count; i++) {
        const struct mw_connection *seen = &look->connections[i];
        json_t *object = json_object();
        SET_COUNTS(object, {"time", look->time}, {"fd", seen->fd});
        json_object_set_new(object, "local",
                            mw_json_take(mw_socket_address_text(seen->local, seen->local_size)));
        json_object_set_new(object, "remote",
                            mw_json_take(mw_socket_address_text(seen->remote, seen->remote_size)));
        json_object_set_new(object, "interface", mw_json_text(seen->interface));
        SET_COUNTS(object, {"sent", seen->sent}, {"received", seen->received},
                   {"waiting", seen->waiting}, {"rtt_us", seen->rtt_us},
                   {"min_rtt_us", seen->min_rtt_us}, {"retransmits", seen->retransmits},
                   {"state", seen->state}, {"cookie", seen->cookie});
        mw_dump_line(dump, "connection", process, object);
    }
}

static void dump_ports(const struct mw_dump *dump, const struct mw_process *process,
                       const struct mw_ports *look)
{
    for (size_t i = 0; i < look->port_count; i++) {
        const struct mw_port *port = &look->ports[i];
        json_t *object = json_object();
        SET_COUNTS(object, {"when", look->when}, {"time", look->time});
        SET_TEXTS(object, {"name", port->name}, {"kind", port->kind}, {"state", port->state},
                  {"address", port->address});
        SET_COUNTS(object, {"number", port->number}, {"rate", port->rate},
                   {"received", port->received}, {"sent", port->sent}, {"errors", port->errors});
        mw_dump_line(dump, "port", process, object);
    }
}

static void dump_kernel(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->sockets_count; i++)
        dump_sockets(dump, process, &process->sockets[i]);
    for (size_t i = 0; i < process->ports_count; i++)
        dump_ports(dump, process, &process->ports[i]);
    for (size_t i = 0; i < process->cma_count; i++) {
        const struct mw_cma_peer *peer = &process->cma[i];
        json_t *object = json_object();
        SET_COUNTS(object, {"pid", peer->pid}, {"reads", peer->reads}, {"read", peer->read},
                   {"writes", peer->writes}, {"written", peer->written}, {"refused", peer->refused},
                   {"error", peer->error}, {"error_time", peer->error_time},
                   {"time", process->cma_time});
        mw_dump_line(dump, "cma", process, object);
    }
    for (size_t i = 0; i < process->choice_count; i++) {
        const struct mw_choice *choice = &process->choices[i];
        json_t *object = json_object();
        SET_TEXTS(object, {"what", choice->what}, {"name", choice->name}, {"how", choice->how},
                  {"source", choice->source});
        mw_dump_line(dump, "choice", process, object);
    }
}

void mw_dump_fabric(const struct mw_dump *dump, const struct mw_process *process)
{
    dump_attempts(dump, process);
    dump_endpoints(dump, process);
    dump_log(dump, process);
    dump_kernel(dump, process);
}
