/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node is, where its processes sit, GPUs and kinds of memory, a line each (dump.h). */
#include "analyzer/render/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/render/dump_members.h"

/* "0-3,64-67" */
static void set_cpus(json_t *object, const char *name, const struct mw_cpu_run *runs, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < count; i++) {
        fprintf(out, "%s%" PRIu64, i ? "," : "", runs[i].first);
        if (runs[i].count != 1)
            fprintf(out, "-%" PRIu64, runs[i].first + runs[i].count - 1);
    }
    if (out)
        fclose(out);
    json_object_set_new(object, name, mw_json_text(text));
    free(text);
}

/* A number, or null where it is not known. */
static void set_known(json_t *object, const char *name, int64_t number)
{
    json_object_set_new(object, name, number < 0 ? json_null() : json_integer(number));
}

static void dump_nodes(const struct mw_dump *dump, const struct mw_process *process,
                       const struct mw_topology *topology)
{
    for (size_t i = 0; i < topology->slit_count; i++) {
        const struct mw_slit *slit = &topology->slit[i];
        json_t *object = json_object(), *distances = json_array();
        for (size_t d = 0; d < slit->distance_count; d++)
            json_array_append_new(distances, mw_json_count(slit->distances[d]));
        SET_COUNTS(object, {"node", slit->node}, {"memory", slit->memory});
        set_cpus(object, "cpus", slit->cpus, slit->cpu_runs);
        json_object_set_new(object, "distances", distances);
        mw_dump_line(dump, "numa_node", process, object);
    }
}

static void dump_pci(const struct mw_dump *dump, const struct mw_process *process,
                     const struct mw_pci *pci)
{
    json_t *object = json_object();
    SET_TEXTS(object, {"address", pci->address}, {"parent", pci->parent}, {"names", pci->names},
              {"driver", pci->driver});
    SET_COUNTS(object, {"class", pci->class_code}, {"vendor", pci->vendor},
               {"device", pci->device});
    set_known(object, "node", pci->node);
    SET_COUNTS(object, {"speed", pci->speed}, {"speed_max", pci->speed_max}, {"width", pci->width},
               {"width_max", pci->width_max});
    set_cpus(object, "cpus", pci->cpus, pci->cpu_runs);
    mw_dump_line(dump, "pci", process, object);
}

static void dump_gpus(const struct mw_dump *dump, const struct mw_process *process,
                      const struct mw_topology *topology)
{
    for (size_t i = 0; i < topology->gpu_count; i++) {
        const struct mw_gpu *gpu = &topology->gpus[i];
        json_t *object = json_object();
        SET_COUNTS(object, {"node", gpu->node}, {"gpu_id", gpu->gpu_id},
                   {"unique_id", gpu->unique_id}, {"hive", gpu->hive});
        SET_TEXTS(object, {"pci", gpu->pci}, {"name", gpu->name});
        mw_dump_line(dump, "gpu", process, object);
    }
    for (size_t i = 0; i < topology->link_count; i++) {
        const struct mw_gpu_link *link = &topology->links[i];
        json_t *object = json_object();
        SET_COUNTS(object, {"from", link->from}, {"to", link->to}, {"link_type", link->type},
                   {"weight", link->weight}, {"min_bandwidth", link->min_bandwidth},
                   {"max_bandwidth", link->max_bandwidth});
        mw_dump_line(dump, "gpu_link", process, object);
    }
}

static void dump_topology(const struct mw_dump *dump, const struct mw_process *process)
{
    const struct mw_topology *topology = process->topology;
    json_t *object = json_object();
    SET_TEXTS(object, {"source", topology->source}, {"failure", topology->failure});
    SET_COUNTS(object, {"xml_bytes", topology->xml_size}, {"took_ns", topology->took_ns});
    mw_dump_line(dump, "topology", process, object);
    dump_nodes(dump, process, topology);
    for (size_t i = 0; i < topology->pci_count; i++)
        dump_pci(dump, process, &topology->pci[i]);
    dump_gpus(dump, process, topology);
}

static void dump_placement(const struct mw_dump *dump, const struct mw_process *process,
                           const struct mw_placement *look)
{
    json_t *object = json_object();
    SET_COUNTS(object, {"when", look->when}, {"time", look->time});
    set_cpus(object, "cpus", look->cpus, look->cpu_runs);
    set_cpus(object, "process_cpus", look->process_cpus, look->process_cpu_runs);
    set_cpus(object, "parent_cpus", look->parent_cpus, look->parent_cpu_runs);
    set_cpus(object, "cgroup_cpus", look->cgroup_cpus, look->cgroup_cpu_runs);
    set_cpus(object, "memory_nodes", look->mems, look->mem_runs);
    SET_TEXTS(object, {"parent", look->parent}, {"policy", look->policy});
    set_known(object, "cpu", look->cpu);
    set_known(object, "node", look->node);
    set_known(object, "migrations", look->migrations);
    SET_COUNTS(object, {"voluntary", look->voluntary}, {"involuntary", look->involuntary},
               {"threads", look->thread_total}, {"watched_ns", look->watched_ns},
               {"unwatched", look->unwatched});
    mw_dump_line(dump, "placement", process, object);
    for (size_t i = 0; i < look->thread_count; i++) {
        const struct mw_placed_thread *thread = &look->threads[i];
        json_t *line = json_object();
        SET_COUNTS(line, {"time", look->time}, {"tid", thread->tid}, {"ticks", thread->ticks},
                   {"mpi", (uint64_t)thread->mpi});
        SET_TEXTS(line, {"name", thread->name});
        set_known(line, "cpu", thread->cpu);
        set_cpus(line, "cpus", thread->cpus, thread->cpu_runs);
        mw_dump_line(dump, "placed_thread", process, line);
    }
    for (size_t i = 0; i < look->foreign_count; i++) {
        const struct mw_foreign *foreign = &look->foreign[i];
        json_t *line = json_object();
        SET_COUNTS(line, {"time", look->time}, {"pid", foreign->pid}, {"parent", foreign->parent},
                   {"busy_percent", foreign->busy}, {"same_user", (uint64_t)foreign->same_user});
        SET_TEXTS(line, {"name", foreign->name});
        set_known(line, "cpu", foreign->cpu);
        set_cpus(line, "cpus", foreign->cpus, foreign->cpu_runs);
        mw_dump_line(dump, "foreign", process, line);
    }
}

static void dump_device(const struct mw_dump *dump, const struct mw_process *process,
                        const struct mw_device *device)
{
    json_t *object = json_object(), *peers = json_array();
    for (size_t i = 0; i < device->peer_count; i++) {
        const struct mw_device_peer *peer = &device->peers[i];
        json_t *entry = json_object();
        SET_COUNTS(entry, {"index", peer->index}, {"access", peer->access}, {"hops", peer->hops});
        SET_TEXTS(entry, {"link", peer->link});
        json_array_append_new(peers, entry);
    }
    SET_TEXTS(object, {"runtime", device->runtime}, {"pci", device->pci}, {"name", device->name},
              {"uuid", device->uuid}, {"visible", process->devices_visible});
    SET_COUNTS(object, {"index", device->index}, {"memory", device->memory},
               {"current", (uint64_t)device->current});
    json_object_set_new(object, "peers", peers);
    mw_dump_line(dump, "device", process, object);
}

void mw_dump_placement(const struct mw_dump *dump, const struct mw_process *process)
{
    if (process->topology)
        dump_topology(dump, process);
    for (size_t i = 0; i < process->placement_count; i++)
        dump_placement(dump, process, &process->placements[i]);
    for (size_t i = 0; i < process->device_count; i++)
        dump_device(dump, process, &process->devices[i]);
    for (size_t i = 0; i < process->space_count; i++) {
        const struct mw_memory_space *space = &process->spaces[i];
        json_t *object = json_object();
        SET_COUNTS(object, {"id", space->id}, {"calls", space->calls}, {"bytes", space->bytes});
        SET_TEXTS(object, {"kind", mw_memory_kind_word(space->kind)}, {"runtime", space->runtime},
                  {"note", space->note});
        set_known(object, "device", space->device);
        mw_dump_line(dump, "space", process, object);
    }
}
