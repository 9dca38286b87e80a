/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node that a job runs on: NUMA nodes with the firmware's distances, network cards and GPUs
 * with what they hang on, and hwloc's view of all of it. Once a node; see topology.h. Pages of our
 * own for the time being.
 */
#include "probe/topology.h"

#include <string.h>
#include <sys/mman.h>

#include "mpiwatch/format.h"
#include "output/output.h"
#include "probe/cpus.h"
#include "probe/env_store.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "record/record.h"

#define RECORDS_ROOM (512u << 10)

struct room {
    struct mw_cpus cpus;
    char text[16384], folder[256];
    uint8_t records[RECORDS_ROOM];
};

/* "Node 0 MemTotal:  131072 kB" */
static uint64_t memory_of(const char *text)
{
    const char *total = strstr(text, "MemTotal:");
    return total ? mw_number(total + strlen("MemTotal:"), 10, NULL) * 1024 : 0;
}

static const char *below(struct room *room, const char *name, char *path, size_t capacity)
{
    return mw_join(path, capacity, room->folder, "/", name, NULL);
}

/* Distances are numbers with blanks between, one for each online node. */
static void distances_put(struct mw_buffer *buffer, const char *text)
{
    const char *at = text, *end;
    size_t mark = mw_put_begin(buffer, MW_F_SLIT_distance);
    for (uint64_t value = mw_number(at, 10, &end); end != at; value = mw_number(at, 10, &end)) {
        mw_buffer_varint(buffer, value);
        at = end;
    }
    mw_put_end(buffer, mark);
}

static void node_put(struct mw_buffer *buffer, struct room *room, uint64_t node)
{
    char path[320];
    size_t mark = mw_put_begin(buffer, MW_F_TOPOLOGY_slit);
    mw_put_u64(buffer, MW_F_SLIT_node, node);
    if (mw_sys_line(below(room, "distance", path, sizeof path), room->text, sizeof room->text) > 0)
        distances_put(buffer, room->text);
    if (mw_sys_line(below(room, "cpulist", path, sizeof path), room->text, sizeof room->text) > 0) {
        mw_cpus_of_list(&room->cpus, room->text);
        mw_cpus_put(buffer, MW_F_SLIT_cpus, &room->cpus);
    }
    if (mw_sys_slurp(below(room, "meminfo", path, sizeof path), room->text, sizeof room->text) > 0)
        mw_put_u64(buffer, MW_F_SLIT_memory, memory_of(room->text));
    mw_put_end(buffer, mark);
}

static void *pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void mw_topology_slit(struct mw_buffer *buffer, const char *root)
{
    struct mw_dir nodes;
    struct room *room = pages(sizeof *room);
    if (!room)
        return;
    mw_join(room->folder, sizeof room->folder, root, "/sys/devices/system/node", NULL);
    if (mw_dir_open(&nodes, room->folder) == 0) {
        for (const char *name; (name = mw_dir_next(&nodes)) && !mw_probe_late();) {
            const char *end;
            uint64_t node = strncmp(name, "node", 4) ? 0 : mw_number(name + 4, 10, &end);
            if (strncmp(name, "node", 4) || end == name + 4 || *end)
                continue;
            mw_join(room->folder, sizeof room->folder, root, "/sys/devices/system/node/", name,
                    NULL);
            node_put(buffer, room, node);
        }
        mw_dir_close(&nodes);
    }
    munmap(room, sizeof *room);
}

/* What the kernel says, in one chunk. */
static unsigned records_write(const char *root)
{
    struct mw_buffer buffer;
    struct room *room = pages(sizeof *room);
    if (!room)
        return 0;
    mw_buffer_init(&buffer, room->records, sizeof room->records);
    mw_topology_slit(&buffer, root);
    unsigned devices = mw_topology_pci(&buffer, root);
    mw_topology_kfd(&buffer, root);
    if (buffer.overflow || mw_probe_late())
        mw_choice("probe", "topology", "partly", "not all devices of the node were read");
    mw_output_packed(MW_CHUNK_TOPOLOGY, buffer.data, buffer.size);
    munmap(room, sizeof *room);
    return devices;
}

static void hwloc_write(const struct mw_hwloc *hwloc)
{
    struct mw_buffer buffer;
    size_t capacity = hwloc->size + sizeof *hwloc + 64;
    uint8_t *memory = pages(capacity);
    if (!memory)
        return;
    mw_buffer_init(&buffer, memory, capacity);
    mw_put_text(&buffer, MW_F_TOPOLOGY_source, hwloc->source);
    mw_put_u64(&buffer, MW_F_TOPOLOGY_took, hwloc->took_ns);
    mw_put_text(&buffer, MW_F_TOPOLOGY_failure, hwloc->failure);
    if (hwloc->xml)
        mw_put_bytes(&buffer, MW_F_TOPOLOGY_xml, hwloc->xml, hwloc->size);
    mw_output_packed(MW_CHUNK_TOPOLOGY, buffer.data, buffer.size);
    munmap(memory, capacity);
}

void mw_topology_write(const char *root, const char *xml)
{
    struct mw_hwloc hwloc = {0};
    unsigned devices = records_write(root);
    if (xml)
        mw_hwloc_file(&hwloc, xml);
    else
        mw_hwloc_ask(&hwloc, devices);
    hwloc_write(&hwloc);
    mw_hwloc_free(&hwloc);
}

static void ready(void)
{
    if (mw_env_is_writer())
        mw_topology_write("", mw_recorder.config.hwloc_xml);
}

const struct mw_probe mw_probe_topology = {.name = "topology", .limit_us = 20000, .ready = ready};
