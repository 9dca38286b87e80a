/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins looks at processes with the hardware of their nodes (placement.h). */
#include "analyzer/analysis/placement.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/analysis/transports.h"
#include "analyzer/model/endpoints.h"
#include "analyzer/model/seats.h"
#include "trace/launchers.h"

const char *mw_mask_origin_word(enum mw_mask_origin origin)
{
    static const char *const words[] = {
        [MW_MASK_UNKNOWN] = "unknown",     [MW_MASK_NONE] = "none",
        [MW_MASK_LAUNCHER] = "launcher",   [MW_MASK_NARROWED] = "narrowed",
        [MW_MASK_INHERITED] = "inherited", [MW_MASK_CGROUP] = "cgroup",
        [MW_MASK_PROGRAM] = "program"};
    return words[origin];
}

/* --- masks ------------------------------------------------------------------------------------ */

static struct mw_cpus cpus_of(const struct mw_cpu_run *runs, size_t count)
{
    struct mw_cpus cpus = {0};
    for (size_t i = 0; i < count; i++)
        mw_cpus_add(&cpus, runs[i].first, runs[i].count);
    return cpus;
}

static enum mw_mask_origin origin_of(const struct mw_cpus *all, const struct mw_cpus *mask,
                                     const struct mw_cpus *parent, const struct mw_cpus *group)
{
    int all_known = mw_cpus_count(all) > 0;
    if (!mw_cpus_count(mask))
        return MW_MASK_UNKNOWN;
    if (all_known && mw_cpus_within(all, mask))
        return MW_MASK_NONE;
    if (mw_cpus_count(group) && mw_cpus_equal(mask, group))
        return all_known ? MW_MASK_CGROUP : MW_MASK_UNKNOWN;
    if (!mw_cpus_count(parent))
        return MW_MASK_UNKNOWN;
    if (!mw_cpus_equal(mask, parent))
        return MW_MASK_NARROWED;
    return all_known ? MW_MASK_INHERITED : MW_MASK_UNKNOWN;
}

const char *mw_mask_variable(const struct mw_process *process, const char **value)
{
    static const char *const names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                        "KMP_AFFINITY"};
    static const char *const off[] = {"", "false", "disabled", "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t o = 0, count = sizeof off / sizeof *off;
        *value = mw_process_fact(process, "env", names[i]);
        while (o < count && strcasecmp(*value, off[o]) != 0)
            o++;
        if (o == count)
            return names[i];
    }
    return NULL;
}

/* The mask that Slurm says it gave to this task, of the list of all on the node, is the one that it
 * was found with. */
static int slurm_bound(const struct mw_process *process, const struct mw_cpus *mask)
{
    const char *at = mw_process_fact(process, "env", "SLURM_CPU_BIND_LIST");
    const char *type = mw_process_fact(process, "env", "SLURM_CPU_BIND_TYPE");
    const char *task = mw_process_fact(process, "env", "SLURM_LOCALID");
    struct mw_cpus said = {0};
    if (strncmp(type, "mask_cpu:", 9) != 0 || *task < '0' || *task > '9')
        return 0;
    for (unsigned long skip = strtoul(task, NULL, 10); skip && *at; skip--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    char *entry = mw_format("%.*s", (int)strcspn(at, ","), at);
    int same = *entry && mw_cpus_add_mask(&said, entry) == 0 && mw_cpus_equal(&said, mask);
    free(entry);
    mw_cpus_free(&said);
    return same;
}

/* Did the launcher set what a process was found with, and nobody else? Open MPI 4 and MPICH's Hydra
 * say that they bound, Slurm says how; PRRTE (Open MPI 5) says nothing. */
static int launcher_bound(const struct mw_process *process, const struct mw_placement *first,
                          const struct mw_cpus *mask)
{
    const char *value;
    if (!mw_is_launcher(first->parent) || mw_mask_variable(process, &value))
        return 0;
    return !strcmp(mw_process_fact(process, "env", "OMPI_MCA_orte_bound_at_launch"), "1") ||
           !strcmp(mw_process_fact(process, "env", "HYDRA_USER_PROVIDED_BINDING"), "1") ||
           slurm_bound(process, mask);
}

/* What was first seen tells who set it; what came later was the program. */
static enum mw_mask_origin place_origin(const struct mw_hardware *hardware,
                                        const struct mw_process *process,
                                        const struct mw_placement *first,
                                        const struct mw_placement *last)
{
    struct mw_cpus mask = cpus_of(first->cpus, first->cpu_runs);
    struct mw_cpus later = cpus_of(last->cpus, last->cpu_runs);
    struct mw_cpus parent = cpus_of(first->parent_cpus, first->parent_cpu_runs);
    struct mw_cpus group = cpus_of(first->cgroup_cpus, first->cgroup_cpu_runs);
    enum mw_mask_origin origin = mw_cpus_equal(&mask, &later)
                                     ? origin_of(&hardware->cpus, &mask, &parent, &group)
                                     : MW_MASK_PROGRAM;
    if (origin == MW_MASK_NARROWED && launcher_bound(process, first, &mask))
        origin = MW_MASK_LAUNCHER;
    mw_cpus_free(&mask);
    mw_cpus_free(&later);
    mw_cpus_free(&parent);
    mw_cpus_free(&group);
    return origin;
}

static void place_looks(struct mw_rank_place *place, const struct mw_hardware *hardware,
                        const struct mw_process *process)
{
    if (!process->placement_count)
        return;
    place->first = &process->placements[0];
    place->last = &process->placements[process->placement_count - 1];
    place->origin = place_origin(hardware, process, place->first, place->last);
    for (size_t i = 0; i < process->placement_count; i++)
        if (process->placements[i].node >= 0)
            mw_cpus_add(&place->numa_seen, (uint64_t)process->placements[i].node, 1);
}

/* --- network cards ---------------------------------------------------------------------------- */

static void nic_add(struct mw_rank_place *place, const struct mw_hardware *hardware,
                    const char *name, uint64_t bytes, const struct mw_way *way)
{
    int64_t device = mw_device_named(hardware, name);
    for (size_t i = 0; i < place->nics.count; i++) {
        struct mw_near *near = &place->nics.at[i];
        if (near->device == device && (device >= 0 || !strcmp(near->name, name))) {
            near->bytes += bytes;
            return;
        }
    }
    *mw_vector_add(&place->nics) =
        (struct mw_near){.name = name,
                         .device = device,
                         .bytes = bytes,
                         .way = way,
                         .reach = mw_reach_device(hardware, &place->seat, device)};
}

/* A way may use several devices, "mlx5_0:1, mlx5_1:1"; which bytes took which is not known, so that
 * each has its share. */
static void nics_of_way(struct mw_rank_place *place, const struct mw_hardware *hardware,
                        const struct mw_way *way, uint64_t bytes)
{
    size_t devices = 1;
    for (const char *at = way->device; (at = strstr(at, ", ")); at += 2)
        devices++;
    for (const char *at = way->device; at; at = strstr(at, ", ")) {
        at += at == way->device ? 0 : 2;
        nic_add(place, hardware, at, bytes / devices, way);
    }
}

static int near_compare(const void *left, const void *right)
{
    const struct mw_near *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

/* Who only received, or of whose bytes nothing is known, still opened an endpoint on a card. */
static void nics_of_endpoints(struct mw_rank_place *place, const struct mw_hardware *hardware,
                              const struct mw_process *process)
{
    for (size_t i = 0; i < process->endpoint_count; i++) {
        const struct mw_endpoint *endpoint = &process->endpoints[i];
        const char *device = *endpoint->device ? endpoint->device : endpoint->domain;
        if (!endpoint->inner && *device && mw_device_named(hardware, device) >= 0)
            nic_add(place, hardware, device, 0, NULL);
    }
}

static void place_nics(struct mw_placements *placements, const struct mw_transports *transports)
{
    const struct mw_model *model = placements->model;
    for (size_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        int64_t process = mw_model_rank(model, pair->src);
        for (size_t r = 0; process >= 0 && r < pair->routes.count; r++) {
            const struct mw_route *route = &pair->routes.at[r];
            const struct mw_way *way = &transports->ways.at[route->way];
            if (way->kind == MW_WAY_NETWORK && *way->device && strcmp(way->device, "lo"))
                nics_of_way(&placements->places[process],
                            mw_place_hardware(placements, (uint32_t)process), way,
                            route->carried > route->bytes ? route->carried : route->bytes);
        }
    }
    for (uint32_t p = 0; p < model->process_count; p++) {
        struct mw_rank_place *place = &placements->places[p];
        if (!place->nics.count)
            nics_of_endpoints(place, mw_place_hardware(placements, p),
                              mw_trace_process(model->trace, p));
        if (place->nics.count)
            qsort(place->nics.at, place->nics.count, sizeof(place->nics.at[0]), near_compare);
    }
}

/* --- GPUs ------------------------------------------------------------------------------------- */

/* Bytes of messages that came from or went to a device's memory. */
static uint64_t gpu_bytes(const struct mw_process *process, const struct mw_device *device)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < process->space_count; i++) {
        const struct mw_memory_space *space = &process->spaces[i];
        if (space->device >= 0 && (uint64_t)space->device == device->index &&
            !strcmp(space->runtime, device->runtime))
            bytes += space->bytes;
    }
    return bytes;
}

/* The one that messages came from, else the one that was selected, else the only one. */
static int64_t gpu_used(const struct mw_rank_place *place, const struct mw_process *process)
{
    int64_t best = place->gpus.count == 1 ? 0 : -1;
    for (size_t i = 0; i < place->gpus.count; i++)
        if (process->devices[i].current)
            best = (int64_t)i;
    uint64_t bytes = 0;
    for (size_t i = 0; i < place->gpus.count; i++)
        if (place->gpus.at[i].bytes > bytes) {
            bytes = place->gpus.at[i].bytes;
            best = (int64_t)i;
        }
    return best;
}

static void place_gpus(struct mw_rank_place *place, const struct mw_hardware *hardware,
                       const struct mw_process *process)
{
    uint64_t address;
    for (size_t i = 0; i < process->device_count; i++) {
        const struct mw_device *device = &process->devices[i];
        int64_t number =
            mw_pci_address(device->pci, &address) ? MW_NO_PART : mw_device_at(hardware, address);
        *mw_vector_add(&place->gpus) =
            (struct mw_near){.name = *device->name ? device->name : device->runtime,
                             .device = number,
                             .bytes = gpu_bytes(process, device),
                             .reach = mw_reach_device(hardware, &place->seat, number)};
    }
    place->gpu = gpu_used(place, process);
}

/* --- all of it -------------------------------------------------------------------------------- */

struct mw_placements *mw_placements_create(struct mw_model *model,
                                           const struct mw_transports *transports)
{
    const struct mw_seats *seats = mw_model_sit(model);
    struct mw_placements *placements = mw_alloc(1, sizeof(*placements));
    placements->model = model;
    placements->hardware = seats->hardware;
    placements->places = mw_alloc(model->process_count, sizeof(placements->places[0]));
    for (uint32_t p = 0; p < model->process_count; p++) {
        const struct mw_process *process = mw_trace_process(model->trace, p);
        struct mw_rank_place *place = &placements->places[p];
        place->seat = seats->at[p];
        place_looks(place, mw_place_hardware(placements, p), process);
        place_gpus(place, mw_place_hardware(placements, p), process);
        placements->recorded += place->last != NULL;
    }
    if (transports)
        place_nics(placements, transports);
    return placements;
}

void mw_placements_free(struct mw_placements *placements)
{
    if (!placements)
        return;
    for (size_t p = 0; p < placements->model->process_count; p++) {
        mw_cpus_free(&placements->places[p].numa_seen);
        free(placements->places[p].nics.at);
        free(placements->places[p].gpus.at);
    }
    free(placements->places);
    free(placements);
}

const struct mw_hardware *mw_place_hardware(const struct mw_placements *placements,
                                            uint32_t process)
{
    return placements->hardware[placements->model->process_node[process]];
}

int64_t mw_place_numa(const struct mw_placements *placements, uint32_t process)
{
    const struct mw_rank_place *place = &placements->places[process];
    return place->last ? place->seat.around[MW_LEVEL_NUMA] : MW_NO_PART;
}

int64_t mw_place_package(const struct mw_placements *placements, uint32_t process)
{
    const struct mw_rank_place *place = &placements->places[process];
    return place->last ? place->seat.around[MW_LEVEL_PACKAGE] : MW_NO_PART;
}

const struct mw_near *mw_place_nic(const struct mw_placements *placements, uint32_t process)
{
    const struct mw_rank_place *place = &placements->places[process];
    for (size_t i = 0; i < place->nics.count; i++)
        if (place->nics.at[i].device >= 0)
            return &place->nics.at[i];
    return NULL;
}

const struct mw_near *mw_place_gpu(const struct mw_placements *placements, uint32_t process)
{
    const struct mw_rank_place *place = &placements->places[process];
    return place->gpu >= 0 ? &place->gpus.at[place->gpu] : NULL;
}

char *mw_near_label(const struct mw_hardware *hardware, const struct mw_near *near)
{
    return near->device >= 0 ? mw_device_label(&hardware->devices.at[near->device])
                             : mw_format("%.*s", (int)strcspn(near->name, ","), near->name);
}

struct mw_reach mw_place_reach(const struct mw_placements *placements, uint32_t a, uint32_t b)
{
    const struct mw_model *model = placements->model;
    if (model->process_node[a] != model->process_node[b])
        return (struct mw_reach){MW_LOCALITY_NETWORK, MW_LOCALITY_NETWORK, 0, 0};
    return mw_reach_seats(mw_place_hardware(placements, a), &placements->places[a].seat,
                          &placements->places[b].seat);
}
