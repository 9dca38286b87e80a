/* SPDX-License-Identifier: BSD-3-Clause */
/* The section "placement" of documents (placement.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/placement.h"

#define DEVICES_MAX 64 /* of a kind and node: paths are their square */

/* The number that the kernel gives a part, null where it is not known. */
static json_t *part_number(const struct mw_hardware *hardware, enum mw_level level, int64_t part)
{
    return part < 0 ? json_null() : mw_json_count(hardware->parts[level].at[part].number);
}

static json_t *cpus_json(const struct mw_cpus *cpus)
{
    char *text = mw_cpus_text(cpus);
    json_t *value = mw_json_known(text);
    free(text);
    return value;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static json_t *numa_json(const struct mw_hardware *hardware, size_t number)
{
    const mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    const struct mw_part *node = &nodes->at[number];
    json_t *distances = json_array();
    for (size_t to = 0; hardware->slit && to < nodes->count; to++)
        json_array_append_new(distances,
                              mw_json_known_count(mw_slit(hardware, (int64_t)number, (int64_t)to)));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "number", mw_json_count(node->number), "package",
        part_number(hardware, MW_LEVEL_PACKAGE, mw_numa_package(hardware, (int64_t)number)), "cpus",
        cpus_json(&node->cpus), "memory", mw_json_known_count(node->memory), "distances",
        distances);
}

static json_t *device_json(const struct mw_hardware *hardware, const struct mw_hw_device *device)
{
    int64_t package = mw_part_around(hardware, MW_LEVEL_PACKAGE, &device->cpus);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "address",
        mw_json_take(mw_pci_text(device->address)), "name", mw_json_take(mw_device_label(device)),
        "names", mw_json_text(device->names), "driver", mw_json_known(device->driver), "numa",
        part_number(hardware, MW_LEVEL_NUMA, device->numa), "package",
        part_number(hardware, MW_LEVEL_PACKAGE, package), "speed_mts",
        mw_json_known_count(device->speed), "speed_max_mts", mw_json_known_count(device->speed_max),
        "width", mw_json_known_count(device->width), "width_max",
        mw_json_known_count(device->width_max));
}

/* Numbers of the devices of a kind; at most DEVICES_MAX. */
static size_t devices_of(const struct mw_hardware *hardware, enum mw_device_kind kind,
                         int64_t numbers[DEVICES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < hardware->devices.count && count < DEVICES_MAX; i++)
        if (hardware->devices.at[i].kind == kind)
            numbers[count++] = (int64_t)i;
    return count;
}

static json_t *devices_json(const struct mw_hardware *hardware, enum mw_device_kind kind)
{
    int64_t numbers[DEVICES_MAX];
    size_t count = devices_of(hardware, kind, numbers);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, device_json(hardware, &hardware->devices.at[numbers[i]]));
    return list;
}

static json_t *path_json(const struct mw_hardware *hardware, int64_t from, int64_t to)
{
    struct mw_path path = mw_path_between(hardware, from, to);
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "from",
                     mw_json_take(mw_pci_text(hardware->devices.at[from].address)), "to",
                     mw_json_take(mw_pci_text(hardware->devices.at[to].address)), "kind",
                     mw_path_word(path.kind), "title", mw_json_take(mw_path_title(&path)), "links",
                     mw_json_known_count(path.links), "hops", mw_json_known_count(path.hops),
                     "bandwidth_mbs", mw_json_known_count(path.bandwidth));
}

static json_t *paths_json(const struct mw_hardware *hardware, enum mw_device_kind to_kind)
{
    int64_t gpus[DEVICES_MAX], others[DEVICES_MAX];
    size_t gpu_count = devices_of(hardware, MW_DEVICE_GPU, gpus);
    size_t other_count = devices_of(hardware, to_kind, others);
    json_t *list = json_array();
    for (size_t i = 0; i < gpu_count; i++)
        for (size_t j = 0; j < other_count; j++)
            if (gpus[i] != others[j])
                json_array_append_new(list, path_json(hardware, gpus[i], others[j]));
    return list;
}

static json_t *packages_json(const struct mw_hardware *hardware)
{
    const mw_parts *packages = &hardware->parts[MW_LEVEL_PACKAGE];
    json_t *list = json_array();
    for (size_t i = 0; i < packages->count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "number",
                                              mw_json_count(packages->at[i].number), "cpus",
                                              cpus_json(&packages->at[i].cpus)));
    return list;
}

/* What the firmware's table is worth: null without one, or where there is nothing to tell. */
static json_t *tells_json(const struct mw_hardware *hardware)
{
    return hardware->slit && hardware->parts[MW_LEVEL_NUMA].count > 2
               ? json_boolean(mw_slit_tells(hardware))
               : json_null();
}

static json_t *ranks_of_node(const struct mw_placements *placements, size_t node)
{
    struct mw_rank_set set = {0};
    for (size_t p = 0; p < placements->model->process_count; p++)
        if (placements->model->process_node[p] == node)
            mw_rank_set_add_process(&set, placements->model, p);
    return mw_json_take(mw_rank_set_take(&set));
}

static json_t *node_json(const struct mw_placements *placements, size_t number)
{
    const struct mw_hardware *hardware = placements->hardware[number];
    json_t *numa = json_array();
    for (size_t i = 0; i < hardware->parts[MW_LEVEL_NUMA].count; i++)
        json_array_append_new(numa, numa_json(hardware, i));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "host", mw_json_text(placements->model->nodes[number].host), "ranks",
                     ranks_of_node(placements, number), "source",
                     hardware->source ? mw_json_known(hardware->source->source) : json_null(),
                     "problem", mw_json_text(hardware->problem), "cpus", cpus_json(&hardware->cpus),
                     "cores", mw_json_known_count(hardware->parts[MW_LEVEL_CORE].count),
                     "l3_caches", mw_json_known_count(hardware->parts[MW_LEVEL_L3].count),
                     "packages", packages_json(hardware), "numa", numa, "distances_tell",
                     tells_json(hardware), "nics", devices_json(hardware, MW_DEVICE_NIC), "gpus",
                     devices_json(hardware, MW_DEVICE_GPU), "gpu_paths",
                     paths_json(hardware, MW_DEVICE_GPU), "gpu_nics",
                     paths_json(hardware, MW_DEVICE_NIC));
}

/* --- ranks ------------------------------------------------------------------------------------ */

static json_t *near_json(const struct mw_hardware *hardware, const struct mw_near *near)
{
    const struct mw_hw_device *device =
        near->device < 0 ? NULL : &hardware->devices.at[near->device];
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o}", "name",
                     mw_json_take(mw_near_label(hardware, near)), "address",
                     device ? mw_json_take(mw_pci_text(device->address)) : json_null(), "numa",
                     part_number(hardware, MW_LEVEL_NUMA, device ? device->numa : MW_NO_PART),
                     "bytes", mw_json_known_count(near->bytes), "nearest",
                     mw_locality_word(near->reach.nearest), "farthest",
                     mw_locality_word(near->reach.farthest), "slit_least",
                     mw_json_known_count(near->reach.slit_least), "slit_most",
                     mw_json_known_count(near->reach.slit_most));
}

static json_t *rank_json(const struct mw_placements *placements, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(placements->model->trace, number);
    const struct mw_rank_place *place = &placements->places[number];
    const struct mw_hardware *hardware = mw_place_hardware(placements, number);
    const struct mw_placement *last = place->last;
    json_t *nics = json_array(), *gpus = json_array();
    for (size_t i = 0; i < place->nics.count; i++)
        json_array_append_new(nics, near_json(hardware, &place->nics.at[i]));
    for (size_t i = 0; i < place->gpus.count; i++) {
        json_t *gpu = near_json(hardware, &place->gpus.at[i]);
        json_object_set_new(gpu, "index", mw_json_count(process->devices[i].index));
        json_object_set_new(gpu, "used", json_boolean((int64_t)i == place->gpu));
        json_array_append_new(gpus, gpu);
    }
    return json_pack(
        "{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank",
        mw_rank_json(placements->model, mw_model_place(placements->model, number)), "host", mw_json_text(process->host), "pid",
        mw_json_count(process->pid), "recorded", last != NULL, "cpus", cpus_json(&place->seat.cpus),
        "cpu_count", mw_json_known_count(mw_cpus_count(&place->seat.cpus)), "numa",
        part_number(hardware, MW_LEVEL_NUMA, mw_place_numa(placements, number)), "package",
        part_number(hardware, MW_LEVEL_PACKAGE, mw_place_package(placements, number)), "origin",
        mw_mask_origin_word(place->origin), "parent",
        last ? mw_json_known(last->parent) : json_null(), "policy",
        last ? mw_json_known(last->policy) : json_null(), "numa_seen", cpus_json(&place->numa_seen),
        "migrations", last ? mw_json_number(last->migrations, -1) : json_null(),
        "involuntary_switches", last ? mw_json_count(last->involuntary) : json_null(), "nics", nics,
        "gpus", gpus);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Ranks of one node that sit in the same place and use the same card: what is shown of many. */
struct group {
    uint32_t process; /* one of them */
    struct mw_rank_set ranks;
};

static uint64_t group_key(const struct mw_placements *placements, uint32_t process)
{
    const struct mw_rank_place *place = &placements->places[process];
    const struct mw_near *nic = mw_place_nic(placements, process);
    int64_t parts[] = {placements->model->process_node[process],
                       mw_place_numa(placements, process),
                       mw_place_package(placements, process),
                       place->last ? (int64_t)place->origin : -1,
                       nic ? nic->device : -1,
                       nic ? (int64_t)nic->reach.farthest : -1};
    return mw_hash_bytes(7, parts, sizeof(parts));
}

static json_t *group_json(const struct mw_placements *placements, struct group *group)
{
    const struct mw_hardware *hardware = mw_place_hardware(placements, group->process);
    const struct mw_rank_place *place = &placements->places[group->process];
    const struct mw_near *nic = mw_place_nic(placements, group->process);
    return json_pack(
        "{s:o, s:o, s:b, s:o, s:o, s:s, s:o}", "host",
        mw_json_text(mw_trace_process(placements->model->trace, group->process)->host), "ranks",
        mw_rank_set_json(&group->ranks), "recorded", place->last != NULL, "numa",
        part_number(hardware, MW_LEVEL_NUMA, mw_place_numa(placements, group->process)), "package",
        part_number(hardware, MW_LEVEL_PACKAGE, mw_place_package(placements, group->process)),
        "origin", mw_mask_origin_word(place->origin), "nic",
        nic ? near_json(hardware, nic) : json_null());
}

static json_t *groups_json(const struct mw_placements *placements)
{
    const struct mw_model *model = placements->model;
    struct mw_index index = {0};
    MW_VECTOR(struct group) groups = {0};
    json_t *list = json_array();
    for (uint32_t p = 0; p < model->process_count; p++) {
        size_t at = mw_index_put(&index, group_key(placements, p));
        if (at == groups.count)
            mw_vector_add(&groups)->process = p;
        mw_rank_set_add_process(&groups.at[at].ranks, model, p);
    }
    for (size_t i = 0; i < groups.count; i++)
        json_array_append_new(list, group_json(placements, &groups.at[i]));
    free(groups.at);
    mw_index_free(&index);
    return list;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* What ranks sent each other, by how far they are apart. Where they may move, by the farthest. */
static json_t *distances_json(const struct mw_placements *placements, const struct mw_tally *tally)
{
    struct {
        uint64_t pairs, messages, bytes;
    } sums[MW_LOCALITIES] = {{0}};
    json_t *list = json_array();
    for (size_t i = 0; tally && i < tally->pairs.count; i++) {
        const struct mw_pair *pair = &tally->pairs.at[i];
        int64_t src = mw_model_rank(placements->model, pair->src);
        int64_t dst = mw_model_rank(placements->model, pair->dst);
        enum mw_locality locality = MW_LOCALITY_UNKNOWN;
        if (src == dst || !pair->messages)
            continue;
        if (src >= 0 && dst >= 0)
            locality = mw_place_reach(placements, (uint32_t)src, (uint32_t)dst).farthest;
        sums[locality].pairs++;
        sums[locality].messages += pair->messages;
        sums[locality].bytes += pair->bytes;
    }
    for (int l = 0; l < MW_LOCALITIES; l++)
        if (sums[l].pairs)
            json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "distance",
                                                  mw_locality_word((enum mw_locality)l), "title",
                                                  mw_locality_title((enum mw_locality)l), "pairs",
                                                  mw_json_count(sums[l].pairs), "messages",
                                                  mw_json_count(sums[l].messages), "bytes",
                                                  mw_json_count(sums[l].bytes)));
    return list;
}

/* Processes by rank; the trace has them in that order. */
json_t *mw_doc_placement(const struct mw_placements *placements, const struct mw_tally *tally,
                         size_t top)
{
    const struct mw_model *model = placements->model;
    json_t *nodes = json_array(), *ranks = json_array();
    for (size_t n = 0; n < model->node_count; n++)
        json_array_append_new(nodes, node_json(placements, n));
    for (size_t p = 0; p < model->process_count && p < top; p++)
        json_array_append_new(ranks, rank_json(placements, (uint32_t)p));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "recorded",
                     mw_json_count(placements->recorded), "nodes", nodes, "groups",
                     groups_json(placements), "ranks", ranks, "ranks_left_out",
                     mw_json_count(model->process_count > top ? model->process_count - top : 0),
                     "distances", distances_json(placements, tally));
}
