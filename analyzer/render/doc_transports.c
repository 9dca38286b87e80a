/* SPDX-License-Identifier: BSD-3-Clause */
/* Which transport, by way and by groups of pairs (transports.h). */
#include <math.h>
#include <stdlib.h>

#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/transports.h"

static const char *kind_word(enum mw_way_kind kind)
{
    static const char *const words[] = {"unknown", "self", "shared memory", "single copy",
                                        "network"};
    return (unsigned)kind < sizeof(words) / sizeof(words[0]) ? words[kind] : words[0];
}

const char *mw_where_word(enum mw_where where)
{
    static const char *const words[] = {"unknown", "self", "node", "network"};
    return (unsigned)where < sizeof(words) / sizeof(words[0]) ? words[where] : words[0];
}

json_t *mw_doc_way(const struct mw_way *way)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:b}", "transport", mw_json_text(way->name), "kind",
                     kind_word(way->kind), "layer", mw_json_known(way->layer), "device",
                     mw_json_known(way->device), "line_rate_bits_s",
                     mw_json_known_count(way->speed), "software", way->software);
}

static json_t *sizes_json(const struct mw_route_sizes *sizes)
{
    if (!sizes->any)
        return json_null();
    return json_pack("{s:o, s:o}", "from", mw_json_count(mw_class_from(sizes->first_class)), "to",
                     mw_json_count(mw_class_to(sizes->last_class)));
}

static json_t *reached_json(const struct mw_model *model, const struct mw_way_total *total,
                            uint64_t speed)
{
    if (!total->rate_pairs)
        return json_null();
    return json_pack(
        "{s:f, s:b, s:o, s:o, s:o, s:o}", "bytes_s", total->best_rate, "bound", total->best_bound,
        "share_of_line_rate", mw_json_share(total->best_rate, (double)speed / 8), "src",
        mw_rank_json(model, total->best_src), "dst", mw_rank_json(model, total->best_dst), "pairs",
        mw_json_count(total->rate_pairs));
}

static int group_takes(const struct mw_pair_group *group, uint32_t way)
{
    for (size_t i = 0; i < group->routes.count; i++)
        if (group->routes.at[i].way == way)
            return 1;
    return 0;
}

/* The ranks that a way served, from the groups of pairs that took it. Sources first: they come in
 * their order, and so stay few ranges. */
static json_t *way_ranks(const struct mw_transport_totals *totals, uint32_t way)
{
    const struct mw_pair_transport *pairs = totals->transports->pairs.at;
    struct mw_rank_set ranks = {0};
    for (int destination = 0; destination < 2; destination++)
        for (size_t i = 0; i < totals->groups.count; i++) {
            const struct mw_pair_group *group = &totals->groups.at[i];
            for (size_t p = 0; group_takes(group, way) && p < group->pairs.count; p++) {
                const struct mw_pair_transport *pair = &pairs[group->pairs.at[p]];
                mw_rank_set_add_place(&ranks, totals->transports->tally->model,
                                      destination ? pair->dst : pair->src);
            }
        }
    return mw_rank_set_json(&ranks);
}

/* Bytes by kind of buffer, of those that there were. */
static json_t *buffers_json(const struct mw_way_total *total)
{
    json_t *buffers = json_object();
    for (unsigned kind = MW_MEMORY_HOST; kind <= MW_MEMORY_UNKNOWN; kind++)
        if (total->bytes_of[kind])
            json_object_set_new(buffers, mw_buffer_word(kind),
                                mw_json_count(total->bytes_of[kind]));
    return buffers;
}

static json_t *doc_way_total(const struct mw_transport_totals *totals,
                             const struct mw_way_total *total)
{
    const struct mw_way *way = &totals->transports->ways.at[total->way];
    json_t *entry = mw_doc_way(way);
    json_object_set_new(entry, "pairs", mw_json_count(total->pairs));
    json_object_set_new(entry, "ranks", way_ranks(totals, total->way));
    json_object_set_new(entry, "messages", mw_json_count(total->messages));
    json_object_set_new(entry, "bytes", mw_json_count(total->bytes));
    json_object_set_new(entry, "share", mw_json_share((double)total->bytes, (double)totals->bytes));
    json_object_set_new(
        entry, "bytes_within_nodes",
        mw_json_count(total->bytes_where[MW_WHERE_NODE] + total->bytes_where[MW_WHERE_SELF]));
    json_object_set_new(entry, "bytes_between_nodes",
                        mw_json_count(total->bytes_where[MW_WHERE_NETWORK]));
    json_object_set_new(entry, "bytes_by_buffer", buffers_json(total));
    json_object_set_new(entry, "bytes_seen", mw_json_count(total->seen));
    json_object_set_new(entry, "bytes_concluded", mw_json_count(total->concluded));
    json_object_set_new(entry, "carried_bytes", mw_json_count(total->carried));
    json_object_set_new(entry, "sizes", sizes_json(&total->sizes));
    json_object_set_new(entry, "reached",
                        reached_json(totals->transports->tally->model, total, way->speed));
    json_object_set_new(entry, "latency_s",
                        total->latency ? mw_json_real((double)total->latency / 1e9) : json_null());
    return entry;
}

static json_t *doc_ways(const struct mw_transport_totals *totals)
{
    json_t *list = json_array();
    for (size_t i = 0; i < totals->ways.count; i++)
        json_array_append_new(list, doc_way_total(totals, &totals->ways.at[i]));
    return list;
}

static json_t *route_json(const struct mw_transports *transports,
                          const struct mw_route_total *route)
{
    json_t *entry = mw_doc_way(&transports->ways.at[route->way]);
    json_object_set_new(entry, "buffer", json_string(mw_buffer_word(route->buffer)));
    json_object_set_new(entry, "sizes", sizes_json(&route->sizes));
    json_object_set_new(entry, "messages", mw_json_count(route->messages));
    json_object_set_new(entry, "bytes", mw_json_count(route->bytes));
    json_object_set_new(entry, "carried_bytes", mw_json_count(route->carried));
    json_object_set_new(entry, "certainty",
                        json_string(route->certainty == MW_SEEN ? "seen" : "concluded"));
    json_object_set_new(entry, "evidence", mw_json_text(route->evidence));
    json_object_set_new(entry, "evidence_differs", json_boolean(route->evidence_differs));
    return entry;
}

static json_t *ranks_json(const struct mw_model *model, const int64_t *ranks, size_t count)
{
    struct mw_rank_set set = {0};
    for (size_t i = 0; i < count; i++)
        mw_rank_set_add_place(&set, model, ranks[i]);
    return mw_rank_set_json(&set);
}

static const char *shape_word(enum mw_shape shape)
{
    static const char *const words[] = {
        [MW_SHAPE_SOME] = "some",
        [MW_SHAPE_SELF] = "each to itself",
        [MW_SHAPE_EACH_OTHER] = "with each other",
        [MW_SHAPE_ALL_TO_ALL] = "all to all",
        [MW_SHAPE_WITHIN_NODES] = "with each other within nodes",
        [MW_SHAPE_ACROSS_NODES] = "with each other across nodes",
    };
    return words[shape];
}

static json_t *doc_group(const struct mw_transport_totals *totals,
                         const struct mw_pair_group *group)
{
    const struct mw_model *model = totals->transports->tally->model;
    struct mw_group_members members;
    json_t *routes = json_array();
    mw_pair_group_members(totals, group, &members);
    for (size_t i = 0; i < group->routes.count; i++)
        json_array_append_new(routes, route_json(totals->transports, &group->routes.at[i]));
    json_t *entry = json_pack(
        "{s:I, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "pairs",
        (json_int_t)group->pairs.count, "shape", shape_word(members.shape), "sources",
        ranks_json(model, members.sources.at, members.sources.count), "destinations",
        ranks_json(model, members.destinations.at, members.destinations.count), "where",
        mw_where_word(group->where), "messages", mw_json_count(group->messages), "bytes",
        mw_json_count(group->bytes), "routes", routes, "unknown", mw_json_text(group->unknown),
        "carried_bytes", mw_json_count(group->carried), "remainder_bytes",
        (json_int_t)group->remainder, "remainder_is", mw_json_known(group->remainder_is));
    mw_group_members_free(&members);
    return entry;
}

static json_t *doc_groups(const struct mw_transport_totals *totals, size_t top)
{
    json_t *listed = json_array();
    for (size_t i = 0; i < totals->groups.count && i < top; i++)
        json_array_append_new(listed, doc_group(totals, &totals->groups.at[i]));
    return json_pack("{s:I, s:o}", "total", (json_int_t)totals->groups.count, "listed", listed);
}

/* Whether a process looked at its transports at all. */
static int process_looked(const struct mw_process *process)
{
    return process->attempt_count || process->endpoint_count || process->sockets_count ||
           process->ports_count || process->cma_count || process->choice_count;
}

static json_t *doc_recorded(const struct mw_model *model, size_t *processes)
{
    struct mw_rank_set ranks = {0};
    for (size_t i = 0; i < model->process_count; i++)
        if (process_looked(mw_trace_process(model->trace, i)))
            mw_rank_set_add_process(&ranks, model, i);
    *processes = ranks.count;
    return json_pack("{s:I, s:o}", "processes", (json_int_t)ranks.count, "ranks",
                     mw_rank_set_json(&ranks));
}

json_t *mw_doc_transports(const struct mw_transport_totals *totals, size_t top)
{
    const struct mw_transports *transports = totals->transports;
    const struct mw_model *model = transports->tally->model;
    json_t *section = json_object();
    size_t recorded = 0;
    json_object_set_new(section, "recorded", doc_recorded(model, &recorded));
    json_object_set_new(section, "missing",
                        recorded ? json_null()
                                 : json_string("the trace has no records of transports: it was "
                                               "written before there were any, or with all probes "
                                               "switched off (MPIWATCH_PROBES)"));
    json_object_set_new(section, "choices", mw_doc_choices(transports));
    json_object_set_new(section, "libraries",
                        mw_doc_chosen_items(model, "version", "library", "version"));
    json_object_set_new(section, "devices", mw_doc_chosen_items(model, "device", "path", "state"));
    json_object_set_new(section, "messages", mw_json_count(totals->messages));
    json_object_set_new(section, "bytes", mw_json_count(totals->bytes));
    json_object_set_new(section, "ways", doc_ways(totals));
    json_object_set_new(section, "unknown",
                        json_pack("{s:o, s:o, s:o, s:o}", "pairs",
                                  mw_json_count(totals->unknown_pairs), "messages",
                                  mw_json_count(totals->unknown_messages), "bytes",
                                  mw_json_count(totals->unknown_bytes), "partly_known_pairs",
                                  mw_json_count(totals->partly_pairs)));
    json_object_set_new(section, "groups", doc_groups(totals, top));
    json_object_set_new(section, "failures", mw_doc_failures(transports, top));
    json_object_set_new(section, "idle", mw_doc_idle(transports, top));
    json_object_set_new(section, "probes", mw_doc_probes(transports));
    json_object_set_new(section, "log", mw_doc_log(transports, top));
    json_t *ports = mw_doc_ports(model, top);
    json_object_update(section, ports);
    json_decref(ports);
    return section;
}

static json_t *pair_route_json(const struct mw_transports *transports, const struct mw_route *route)
{
    struct mw_route_total total = {
        .way = route->way,
        .buffer = route->buffer,
        .sizes = {route->first_class, route->last_class, route->messages != 0},
        .messages = route->messages,
        .bytes = route->bytes,
        .carried = route->carried,
        .certainty = route->certainty,
        .evidence = route->evidence ? route->evidence : "",
    };
    return route_json(transports, &total);
}

static json_t *pair_speed(const struct mw_speeds *speeds, const struct mw_pair_transport *pair)
{
    const struct mw_speed *small = mw_speeds_small(speeds, pair->src, pair->dst);
    const struct mw_speed *large = mw_speeds_large(speeds, pair->src, pair->dst);
    int bound = 0;
    double rate = large ? mw_speed_in_flight(large, &bound) : NAN;
    double latency = small ? (double)small->latency_median / 1e9 : NAN;
    return json_pack("{s:o, s:b, s:o}", "reached_bytes_s", mw_json_real(rate), "bound", bound,
                     "latency_s", mw_json_real(latency));
}

static json_t *doc_pair(const struct mw_transport_totals *totals,
                        const struct mw_pair_transport *pair)
{
    const struct mw_transports *transports = totals->transports;
    const struct mw_model *model = transports->tally->model;
    json_t *routes = json_array(), *speed = pair_speed(totals->speeds, pair);
    for (size_t i = 0; i < pair->routes.count; i++)
        json_array_append_new(routes, pair_route_json(transports, &pair->routes.at[i]));
    json_t *entry = json_pack(
        "{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "src", mw_rank_json(model, pair->src),
        "dst", mw_rank_json(model, pair->dst), "where", mw_where_word(pair->where), "messages",
        mw_json_count(pair->messages), "bytes", mw_json_count(pair->bytes), "routes", routes,
        "unknown", mw_json_text(pair->unknown), "carried_bytes", mw_json_count(pair->carried),
        "remainder_bytes", (json_int_t)pair->remainder, "remainder_is",
        mw_json_known(pair->remainder_is));
    json_object_update(entry, speed);
    json_decref(speed);
    return entry;
}

json_t *mw_doc_transport_pairs(const struct mw_transport_totals *totals, int64_t rank, size_t top)
{
    const struct mw_transports *transports = totals->transports;
    json_t *listed = json_array();
    size_t total = 0;
    for (size_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        if (pair->src != rank && pair->dst != rank)
            continue;
        if (total++ < top)
            json_array_append_new(listed, doc_pair(totals, pair));
    }
    return json_pack("{s:o, s:I, s:o}", "rank", mw_rank_json(transports->tally->model, rank),
                     "total", (json_int_t)total, "listed", listed);
}
