/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, matching and speeds as JSON (speeds.h). docs/metrics.md defines each figure. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/analysis/placement.h"
#include "analyzer/analysis/speed_groups.h"
#include "analyzer/analysis/tally.h"
#include "analyzer/analysis/transports.h"
#include "analyzer/model/labels.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/speeds.h"

/* Half-way between its knots: what a typical message has to reckon with. */
static double domain_error(const struct mw_clock_domain *domain)
{
    return domain->error[MW_CLOCK_KNOTS / 2] * 1e-9;
}

static json_t *doc_clock(const struct mw_clock_domain *domain)
{
    return json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o}", "host", mw_json_text(domain->host),
                     "processes", mw_json_count(domain->processes), "timed", domain->timed,
                     "synchronised", domain->synchronised, "correction_s",
                     mw_json_real(domain->synchronised ? domain->correction[0] * 1e-9 : NAN),
                     "error_s", mw_json_real(domain->synchronised ? domain_error(domain) : NAN),
                     "bounds", mw_json_count(domain->bounds), "pieces",
                     mw_json_count(domain->pieces));
}

json_t *mw_doc_clocks(const struct mw_exchange *exchange)
{
    const struct mw_matching_counts *counts = &exchange->counts;
    json_t *nodes = json_array();
    for (size_t i = 0; i < mw_clock_domain_count(exchange->clock); i++)
        json_array_append_new(nodes, doc_clock(mw_clock_domain(exchange->clock, i)));
    return json_pack(
        "{s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:o, s:o}", "nodes", nodes,
        "matching", "messages", mw_json_count(counts->messages), "sends_alone",
        mw_json_count(counts->sends), "receives_alone", mw_json_count(counts->receives),
        "unfinished", mw_json_count(counts->unfinished), "outside", mw_json_count(counts->outside),
        "uncounted", mw_json_count(counts->uncounted), "ambiguous",
        mw_json_count(counts->ambiguous), "collectives", mw_json_count(counts->instances),
        "collectives_partial", mw_json_count(counts->instances_partial), "processes_without_clock",
        mw_json_count(counts->untimed), "violations", mw_json_count(exchange->speeds->violations),
        "unsynchronised", mw_json_count(exchange->speeds->unsynchronised));
}

static json_t *rate_json(double value)
{
    return mw_json_real(value > 0 ? value : NAN);
}

static json_t *latency_json(uint64_t ns)
{
    return ns ? mw_json_ns(ns) : json_null();
}

static void object_add_class(json_t *object, unsigned class)
{
    json_object_set_new(object, "from", mw_json_count(mw_class_from(class)));
    json_object_set_new(object, "to", mw_json_count(mw_class_to(class)));
}

/* In flight by slices of the job's time; null where nothing certain moved. */
static json_t *doc_slices(const struct mw_speed *speed)
{
    json_t *list = json_array();
    for (int i = 0; speed->slices && i < MW_SPEED_SLICES; i++)
        json_array_append_new(list, rate_json(mw_rate_value(&speed->slices[i])));
    return list;
}

/* One pair and size class. */
static json_t *doc_speed(const struct mw_model *model, const struct mw_speed *speed)
{
    int bound;
    double in_flight = mw_speed_in_flight(speed, &bound);
    json_t *entry = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "src",
        mw_rank_json(model, speed->src), "dst", mw_rank_json(model, speed->dst), "messages",
        mw_json_count(speed->messages), "bytes", mw_json_count(speed->bytes), "warm_up_messages",
        mw_json_count(speed->warm_messages), "certain", mw_json_count(speed->certain), "bounded",
        mw_json_count(speed->bounded), "in_flight_bytes_s", rate_json(bound ? 0 : in_flight),
        "at_least_bytes_s", rate_json(mw_rate_value(&speed->at_least)), "throughput_bytes_s",
        rate_json(mw_rate_value(&speed->throughput)), "best_window_bytes_s",
        rate_json(mw_rate_value(&speed->best)), "latency_samples", mw_json_count(speed->latencies),
        "latency_min_s", latency_json(speed->latency_min), "latency_s",
        latency_json(speed->latency_median));
    object_add_class(entry, speed->class);
    json_object_set_new(entry, "bursts", mw_json_count(speed->bursts));
    json_object_set_new(entry, "largest_burst_bytes_s", rate_json(mw_rate_value(&speed->largest)));
    json_object_set_new(entry, "fastest_tenth_bytes_s", rate_json(speed->brisk));
    json_object_set_new(entry, "slices_bytes_s", doc_slices(speed));
    json_object_set_new(entry, "latency_p99_s", latency_json(speed->latency_p99));
    json_object_set_new(entry, "clock_error_s", mw_json_real(speed->error * 1e-9));
    json_object_set_new(entry, "warm_up_bytes_s", rate_json(mw_rate_value(&speed->warm)));
    return entry;
}

/* Slowest and fastest of a group; null where none can be judged. */
static json_t *group_end(const struct mw_model *model, const struct mw_speed_group *group,
                         int slowest)
{
    if (!group->judged)
        return json_null();
    const struct mw_speed *speed = group->members[slowest ? group->judged - 1 : 0];
    return json_pack("{s:o, s:o, s:o}", "src", mw_rank_json(model, speed->src), "dst",
                     mw_rank_json(model, speed->dst), "in_flight_bytes_s",
                     rate_json(mw_speed_judged(speed)));
}

static json_t *doc_group(const struct mw_model *model, const struct mw_speed_group *group,
                         const struct mw_transports *transports)
{
    uint64_t rate = group->way < 0 ? 0 : transports->ways.at[group->way].speed;
    json_t *entry =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "distance",
                  mw_distance_word(group->distance), "transport",
                  mw_json_text(mw_speed_way_name(transports, group->way)), "pairs",
                  mw_json_count(group->count), "judged_pairs", mw_json_count(group->judged),
                  "messages", mw_json_count(group->messages), "bytes", mw_json_count(group->bytes),
                  "in_flight_bytes_s", rate_json(group->median), "latency_s",
                  latency_json(group->latency), "line_rate_bits_s", mw_json_known_count(rate),
                  "best", group_end(model, group, 0), "worst", group_end(model, group, 1));
    object_add_class(entry, group->class);
    return entry;
}

static json_t *doc_joint(const struct mw_joint *joint)
{
    double seconds = (double)joint->time * 1e-9;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "messages", mw_json_count(joint->messages),
                     "bytes", mw_json_count(joint->bytes), "at_least_bytes_s",
                     mw_json_real(seconds > 0 ? (double)joint->bytes / seconds : NAN),
                     "messages_per_s",
                     mw_json_real(seconds > 0 ? (double)joint->messages / seconds : NAN),
                     "concurrency", rate_json(mw_joint_concurrency(joint)));
}

static json_t *doc_node_pair(const struct mw_model *model, const struct mw_node_speed *speed)
{
    json_t *entry = doc_joint(&speed->joint);
    json_object_set_new(entry, "src", mw_json_text(model->nodes[speed->src].host));
    json_object_set_new(entry, "dst", mw_json_text(model->nodes[speed->dst].host));
    return entry;
}

static json_t *doc_place(const struct mw_placements *placements, const struct mw_place_speed *place)
{
    const struct mw_hardware *hardware = placements->hardware[place->node];
    json_t *entry = json_pack("{s:o, s:o, s:o, s:o}", "host",
                              mw_json_text(placements->model->nodes[place->node].host), "processes",
                              mw_json_count(place->processes), "sent", doc_joint(&place->sent),
                              "received", doc_joint(&place->received));
    if (place->kind == MW_PLACE_NUMA) {
        json_object_set_new(entry, "numa",
                            mw_json_count(hardware->parts[MW_LEVEL_NUMA].at[place->part].number));
        return entry;
    }
    json_object_set_new(entry, "nic", mw_json_take(mw_near_label(hardware, place->nic)));
    json_object_set_new(entry, "line_rate_bits_s",
                        mw_json_known_count(place->nic->way ? place->nic->way->speed : 0));
    return entry;
}

static json_t *doc_collective(const struct mw_exchange *exchange, const struct mw_coll_speed *speed)
{
    double algorithm = mw_rate_value(&speed->algorithm);
    char *label = mw_comm_label(exchange->comms, speed->comm, -1);
    json_t *entry = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "communicator", mw_json_take(label), "function",
        speed->name, "ranks", mw_json_count(speed->ranks), "collectives",
        mw_json_count(speed->instances), "min_s", mw_json_ns(speed->least), "algorithm_bytes_s",
        rate_json(algorithm), "bus_bytes_s", rate_json(algorithm * speed->bus));
    object_add_class(entry, speed->class);
    return entry;
}

static json_t *listed_json(size_t total, json_t *listed)
{
    return json_pack("{s:o, s:o}", "total", mw_json_count(total), "listed", listed);
}

static int bytes_compare(const void *left, const void *right)
{
    const struct mw_speed *a = *(const struct mw_speed *const *)left;
    const struct mw_speed *b = *(const struct mw_speed *const *)right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a < b ? -1 : 1; /* by src, dst, class */
}

/* Pairs and size classes, those with most bytes first. */
static json_t *doc_pairs(const struct mw_speeds *speeds, size_t top)
{
    size_t count = speeds->all.count;
    const struct mw_speed **sorted = mw_alloc(count, sizeof(*sorted));
    json_t *listed = json_array();
    for (size_t i = 0; i < count; i++)
        sorted[i] = &speeds->all.at[i];
    qsort(sorted, count, sizeof(*sorted), bytes_compare);
    for (size_t i = 0; i < count && i < top; i++)
        json_array_append_new(listed, doc_speed(speeds->model, sorted[i]));
    free(sorted);
    return listed_json(count, listed);
}

static json_t *doc_nodes(const struct mw_speeds *speeds, size_t top)
{
    json_t *listed = json_array();
    for (size_t i = 0; i < speeds->nodes.count && i < top; i++)
        json_array_append_new(listed, doc_node_pair(speeds->model, &speeds->nodes.at[i]));
    return listed_json(speeds->nodes.count, listed);
}

static json_t *doc_places(const struct mw_place_speeds *places, enum mw_place_kind kind, size_t top)
{
    size_t total = 0;
    json_t *listed = json_array();
    for (size_t i = 0; i < places->all.count; i++) {
        const struct mw_place_speed *place = &places->all.at[i];
        if (place->kind == kind && total++ < top)
            json_array_append_new(listed, doc_place(places->placements, place));
    }
    return listed_json(total, listed);
}

static json_t *doc_collectives(const struct mw_exchange *exchange, size_t top)
{
    const struct mw_coll_speeds *speeds = exchange->collectives;
    json_t *listed = json_array();
    for (size_t i = 0; i < speeds->all.count && i < top; i++)
        json_array_append_new(listed, doc_collective(exchange, &speeds->all.at[i]));
    return listed_json(speeds->all.count, listed);
}

json_t *mw_doc_speeds(const struct mw_exchange *exchange, const struct mw_transports *transports,
                      size_t top)
{
    struct mw_speed_groups *groups = mw_speed_groups_create(exchange->speeds, transports);
    json_t *classes = json_array();
    for (size_t i = 0; i < groups->all.count; i++)
        json_array_append_new(classes, doc_group(exchange->model, &groups->all.at[i], transports));
    mw_speed_groups_free(groups);
    const struct mw_speeds *speeds = exchange->speeds;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "classes", classes, "pairs",
                     doc_pairs(speeds, top), "nodes", doc_nodes(speeds, top), "numa_nodes",
                     doc_places(speeds->places, MW_PLACE_NUMA, top), "nics",
                     doc_places(speeds->places, MW_PLACE_NIC, top), "accesses",
                     doc_pairs(exchange->accesses, top), "collectives",
                     doc_collectives(exchange, top));
}
