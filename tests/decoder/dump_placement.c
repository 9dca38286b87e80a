/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node is made of, where its processes sit, their GPUs and the memory of messages (dump.h). */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"

static void put_numbers(const char *name, const uint64_t *numbers, size_t count)
{
    list_begin(name);
    for (size_t i = 0; i < count; i++) {
        list_separate();
        printf("%" PRIu64, numbers[i]);
    }
    putchar(']');
}

static void put_cpus(const char *name, const struct mw_cpu_run *runs, size_t count)
{
    list_begin(name);
    for (size_t i = 0; i < count; i++) {
        list_separate();
        printf("[%" PRIu64 ",%" PRIu64 "]", runs[i].first, runs[i].count);
    }
    putchar(']');
}

static void dump_pci(const struct mw_pci *pci)
{
    record_begin("pci");
    put_text("address", pci->address);
    put_text("parent", pci->parent);
    put_u64("class", pci->class_code);
    put_u64("vendor", pci->vendor);
    put_u64("device", pci->device);
    put_i64("node", pci->node);
    put_u64("speed", pci->speed);
    put_u64("speed_max", pci->speed_max);
    put_u64("width", pci->width);
    put_u64("width_max", pci->width_max);
    put_text("driver", pci->driver);
    put_text("names", pci->names);
    put_cpus("cpus", pci->cpus, pci->cpu_runs);
    record_end();
}

static void dump_gpus(const struct mw_topology *topology)
{
    for (size_t i = 0; i < topology->gpu_count; i++) {
        const struct mw_gpu *gpu = &topology->gpus[i];
        record_begin("gpu");
        put_u64("node", gpu->node);
        put_text("pci", gpu->pci);
        put_u64("gpu_id", gpu->gpu_id);
        put_text("name", gpu->name);
        put_u64("unique_id", gpu->unique_id);
        put_u64("hive", gpu->hive);
        record_end();
    }
    for (size_t i = 0; i < topology->link_count; i++) {
        const struct mw_gpu_link *link = &topology->links[i];
        record_begin("link");
        put_u64("from", link->from);
        put_u64("to", link->to);
        put_u64("type", link->type);
        put_u64("weight", link->weight);
        put_u64("min_bandwidth", link->min_bandwidth);
        put_u64("max_bandwidth", link->max_bandwidth);
        record_end();
    }
}

void dump_topology(const struct mw_topology *topology)
{
    if (!topology)
        return;
    record_begin("topology");
    put_hex("xml", topology->xml, topology->xml_size);
    put_text("source", topology->source);
    put_u64("took", topology->took_ns);
    put_text("failure", topology->failure);
    record_end();
    for (size_t i = 0; i < topology->slit_count; i++) {
        const struct mw_slit *slit = &topology->slit[i];
        record_begin("slit");
        put_u64("node", slit->node);
        put_u64("memory", slit->memory);
        put_numbers("distance", slit->distances, slit->distance_count);
        put_cpus("cpus", slit->cpus, slit->cpu_runs);
        record_end();
    }
    for (size_t i = 0; i < topology->pci_count; i++)
        dump_pci(&topology->pci[i]);
    dump_gpus(topology);
}

static void dump_placed(const struct mw_placement *look)
{
    for (size_t i = 0; i < look->thread_count; i++) {
        const struct mw_placed_thread *thread = &look->threads[i];
        record_begin("placed_thread");
        put_u64("tid", thread->tid);
        put_i64("cpu", thread->cpu);
        put_cpus("cpus", thread->cpus, thread->cpu_runs);
        put_u64("ticks", thread->ticks);
        put_text("name", thread->name);
        put_i64("mpi", thread->mpi);
        record_end();
    }
    for (size_t i = 0; i < look->foreign_count; i++) {
        const struct mw_foreign *foreign = &look->foreign[i];
        record_begin("foreign");
        put_u64("pid", foreign->pid);
        put_u64("parent", foreign->parent);
        put_text("name", foreign->name);
        put_u64("busy", foreign->busy);
        put_i64("cpu", foreign->cpu);
        put_i64("same_user", foreign->same_user);
        put_cpus("cpus", foreign->cpus, foreign->cpu_runs);
        record_end();
    }
}

void dump_placement(const struct mw_placement *look)
{
    record_begin("placement");
    put_i64("when", look->when);
    put_u64("time", look->time);
    put_cpus("cpus", look->cpus, look->cpu_runs);
    put_cpus("process_cpus", look->process_cpus, look->process_cpu_runs);
    put_cpus("parent_cpus", look->parent_cpus, look->parent_cpu_runs);
    put_cpus("cgroup_cpus", look->cgroup_cpus, look->cgroup_cpu_runs);
    put_cpus("mems", look->mems, look->mem_runs);
    put_text("parent", look->parent);
    put_text("policy", look->policy);
    put_i64("cpu", look->cpu);
    put_i64("node", look->node);
    put_i64("migrations", look->migrations);
    put_u64("involuntary", look->involuntary);
    put_u64("voluntary", look->voluntary);
    put_u64("threads", look->thread_total);
    put_u64("watched", look->watched_ns);
    put_u64("unwatched", look->unwatched);
    record_end();
    dump_placed(look);
}

void dump_devices(const struct mw_process *process)
{
    if (process->device_count) {
        record_begin("devices");
        put_u64("time", process->device_time);
        put_text("visible", process->devices_visible);
        record_end();
    }
    for (size_t i = 0; i < process->device_count; i++) {
        const struct mw_device *device = &process->devices[i];
        record_begin("device");
        put_text("runtime", device->runtime);
        put_u64("index", device->index);
        put_text("pci", device->pci);
        put_text("name", device->name);
        put_u64("memory", device->memory);
        put_text("uuid", device->uuid);
        put_i64("current", device->current);
        record_end();
        for (size_t p = 0; p < device->peer_count; p++) {
            record_begin("device_peer");
            put_u64("index", device->peers[p].index);
            put_u64("access", device->peers[p].access);
            put_text("link", device->peers[p].link);
            put_u64("hops", device->peers[p].hops);
            record_end();
        }
    }
    for (size_t i = 0; i < process->space_count; i++) {
        const struct mw_memory_space *space = &process->spaces[i];
        record_begin("space");
        put_u64("id", space->id);
        put_i64("kind", space->kind);
        put_text("runtime", space->runtime);
        put_i64("device", space->device);
        put_text("note", space->note);
        put_u64("calls", space->calls);
        put_u64("bytes", space->bytes);
        record_end();
    }
}
