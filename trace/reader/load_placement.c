/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a node is, where its processes sit, the GPUs that they see and the kinds of memory that
 * their messages came from. Runs while a trace is opened, on one thread. Lists are checked before
 * they come here; rows of the same key are joined by rows.c.
 */
#include "trace/reader/reader.h"

#include <string.h>

#define SLIT(member, kind, of, counted)                                                            \
    {                                                                                              \
        MW_F_SLIT_##member, MW_MEMBER_##kind, offsetof(struct mw_slit, of),                        \
            offsetof(struct mw_slit, counted)                                                      \
    }
static const struct mw_member slit_table[] = {
    MW_MEMBER(SLIT, mw_slit, node, NUMBER),
    MW_MEMBER(SLIT, mw_slit, memory, NUMBER),
    SLIT(distance, NUMBERS, distances, distance_count),
    SLIT(cpus, RUNS, cpus, cpu_runs),
};
static const struct mw_members slit_members = MW_MEMBERS(slit_table, mw_slit);

#define PCI(id, kind) MW_MEMBER(PCI, mw_pci, id, kind)
static const struct mw_member pci_table[] = {
    PCI(address, TEXT),
    PCI(parent, TEXT),
    PCI(vendor, NUMBER),
    PCI(device, NUMBER),
    PCI(node, LESS_ONE),
    PCI(speed, NUMBER),
    PCI(width, NUMBER),
    PCI(speed_max, NUMBER),
    PCI(driver, TEXT),
    PCI(width_max, NUMBER),
    PCI(names, TEXT),
    {MW_F_PCI_class, MW_MEMBER_NUMBER, offsetof(struct mw_pci, class_code), 0},
    MW_MEMBER_COUNTED(PCI, mw_pci, cpus, RUNS, cpu_runs),
};
static const struct mw_members pci_members = MW_MEMBERS(pci_table, mw_pci);

#define GPU(id, kind) MW_MEMBER(GPU, mw_gpu, id, kind)
static const struct mw_member gpu_table[] = {
    GPU(node, NUMBER), GPU(pci, TEXT),         GPU(name, TEXT),
    GPU(hive, NUMBER), GPU(unique_id, NUMBER), GPU(gpu_id, NUMBER),
};
static const struct mw_members gpu_members = MW_MEMBERS(gpu_table, mw_gpu);

#define LINK(id) MW_MEMBER(GPULINK, mw_gpu_link, id, NUMBER)
static const struct mw_member link_table[] = {
    LINK(from), LINK(to), LINK(type), LINK(weight), LINK(min_bandwidth), LINK(max_bandwidth)};
static const struct mw_members link_members = MW_MEMBERS(link_table, mw_gpu_link);

static const struct mw_member topology_table[] = {
    MW_MEMBER_COUNTED(TOPOLOGY, mw_topology, xml, BYTES, xml_size),
    MW_MEMBER(TOPOLOGY, mw_topology, source, TEXT),
    MW_MEMBER(TOPOLOGY, mw_topology, failure, TEXT),
    {MW_F_TOPOLOGY_took, MW_MEMBER_NUMBER, offsetof(struct mw_topology, took_ns), 0},
};
static const struct mw_members topology_members = MW_MEMBERS(topology_table, mw_topology);

#define CPUS(id, count) MW_MEMBER_COUNTED(PLACEMENT, mw_placement, id, RUNS, count)
#define PLACEMENT(id, member, kind)                                                                \
    {                                                                                              \
        MW_F_PLACEMENT_##id, MW_MEMBER_##kind, offsetof(struct mw_placement, member), 0            \
    }
static const struct mw_member placement_table[] = {
    CPUS(cpus, cpu_runs),
    CPUS(process_cpus, process_cpu_runs),
    CPUS(parent_cpus, parent_cpu_runs),
    CPUS(cgroup_cpus, cgroup_cpu_runs),
    CPUS(mems, mem_runs),
    PLACEMENT(when, when, WHEN),
    PLACEMENT(time, time, NUMBER),
    PLACEMENT(parent, parent, TEXT),
    PLACEMENT(policy, policy, TEXT),
    PLACEMENT(cpu, cpu, LESS_ONE),
    PLACEMENT(node, node, LESS_ONE),
    PLACEMENT(migrations, migrations, LESS_ONE),
    PLACEMENT(involuntary, involuntary, NUMBER),
    PLACEMENT(voluntary, voluntary, NUMBER),
    PLACEMENT(threads, thread_total, NUMBER),
    PLACEMENT(watched, watched_ns, NUMBER),
    PLACEMENT(unwatched, unwatched, NUMBER),
};
const struct mw_members mw_placement_members = MW_MEMBERS(placement_table, mw_placement);

#define THREAD(id, kind) MW_MEMBER(PLACEDTHREAD, mw_placed_thread, id, kind)
static const struct mw_member thread_table[] = {
    THREAD(tid, NUMBER),   THREAD(cpu, LESS_ONE),
    THREAD(ticks, NUMBER), THREAD(name, TEXT),
    THREAD(mpi, FLAG),     MW_MEMBER_COUNTED(PLACEDTHREAD, mw_placed_thread, cpus, RUNS, cpu_runs),
};
static const struct mw_members thread_members = MW_MEMBERS(thread_table, mw_placed_thread);

#define FOREIGN(id, kind) MW_MEMBER(FOREIGN, mw_foreign, id, kind)
static const struct mw_member foreign_table[] = {
    FOREIGN(pid, NUMBER),
    FOREIGN(name, TEXT),
    FOREIGN(cpu, LESS_ONE),
    FOREIGN(busy, NUMBER),
    FOREIGN(same_user, FLAG),
    FOREIGN(parent, NUMBER),
    MW_MEMBER_COUNTED(FOREIGN, mw_foreign, cpus, RUNS, cpu_runs),
};
static const struct mw_members foreign_members = MW_MEMBERS(foreign_table, mw_foreign);

#define DEVICEPEER(id, kind) MW_MEMBER(DEVICEPEER, mw_device_peer, id, kind)
static const struct mw_member peer_table[] = {DEVICEPEER(index, NUMBER), DEVICEPEER(access, NUMBER),
                                              DEVICEPEER(link, TEXT), DEVICEPEER(hops, NUMBER)};
static const struct mw_members peer_members = MW_MEMBERS(peer_table, mw_device_peer);

#define DEVICE(id, kind) MW_MEMBER(GPUDEVICE, mw_device, id, kind)
static const struct mw_member device_table[] = {
    DEVICE(runtime, TEXT),  DEVICE(index, NUMBER), DEVICE(pci, TEXT),     DEVICE(name, TEXT),
    DEVICE(memory, NUMBER), DEVICE(uuid, TEXT),    DEVICE(current, FLAG),
};
static const struct mw_members device_members = MW_MEMBERS(device_table, mw_device);

#define SPACE(id, kind) MW_MEMBER(SPACE, mw_memory_space, id, kind)
static const struct mw_member space_table[] = {
    SPACE(id, NUMBER), SPACE(kind, WHEN),    SPACE(runtime, TEXT), SPACE(device, LESS_ONE),
    SPACE(note, TEXT), SPACE(calls, NUMBER), SPACE(bytes, NUMBER),
};
static const struct mw_members space_members = MW_MEMBERS(space_table, mw_memory_space);
_Static_assert(sizeof(enum mw_memory_kind) == sizeof(enum mw_when), "read by MW_MEMBER_WHEN");

/* A record as a new row of a table: `key` bytes that it begins with, then the structure. */
static enum mw_status record_add(struct mw_load *load, const struct mw_field *field,
                                 enum mw_table table, const struct mw_members *members,
                                 const void *key, size_t key_size)
{
    enum mw_status status;
    uint8_t *row = mw_rows_add(load->entry, table, &status);
    if (!row)
        return status;
    if (key_size)
        memcpy(row, key, key_size);
    return mw_members_read(load->trace, mw_field_reader(field), members, row + key_size, NULL);
}

enum mw_status mw_load_topology(struct mw_load *load)
{
    static const struct {
        unsigned field;
        enum mw_table table;
        const struct mw_members *members;
    } records[] = {
        {MW_F_TOPOLOGY_slit, MW_TABLE_SLIT, &slit_members},
        {MW_F_TOPOLOGY_pci, MW_TABLE_PCI, &pci_members},
        {MW_F_TOPOLOGY_gpu, MW_TABLE_GPUS, &gpu_members},
        {MW_F_TOPOLOGY_link, MW_TABLE_LINKS, &link_members},
    };
    struct mw_topology topology, *known = &load->entry->topology;
    struct mw_field field;
    uint32_t given = 0;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &topology_members, &topology, &given);
    if (status == MW_OK) {
        if (load->entry->process.topology)
            mw_members_fill(&topology_members, &topology, given, known);
        *known = topology;
        load->entry->process.topology = known;
    }
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK)
        for (size_t i = 0; i < sizeof records / sizeof *records && status == MW_OK; i++)
            if (field.id == records[i].field && field.is_bytes)
                status = record_add(load, &field, records[i].table, records[i].members, NULL, 0);
    return status;
}

enum mw_status mw_load_placement(struct mw_load *load)
{
    struct mw_placement_row row = {0};
    struct mw_field field;
    enum mw_status status = mw_members_read(load->trace, load->reader, &mw_placement_members,
                                            &row.placement, &row.given);
    if (status != MW_OK)
        return status;
    struct mw_placement_row *look = mw_rows_add(load->entry, MW_TABLE_PLACEMENTS, &status);
    if (look)
        *look = row;
    struct mw_look key = {row.placement.when, row.placement.time};
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_PLACEMENT_thread && field.is_bytes)
            status = record_add(load, &field, MW_TABLE_PLACED_THREADS, &thread_members, &key,
                                sizeof key);
        else if (field.id == MW_F_PLACEMENT_foreign && field.is_bytes)
            status = record_add(load, &field, MW_TABLE_FOREIGN, &foreign_members, &key, sizeof key);
    }
    return status;
}
_Static_assert(offsetof(struct mw_placed_thread_row, thread) == sizeof(struct mw_look) &&
                   offsetof(struct mw_foreign_row, foreign) == sizeof(struct mw_look),
               "record_add writes one behind the other");

enum mw_status mw_load_device(struct mw_load *load)
{
    struct mw_process *process = &load->entry->process;
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_DEVICE_time)
            process->device_time = mw_field_number(&field);
        else if (field.id == MW_F_DEVICE_visible)
            status = mw_field_text(load->trace, &field, &process->devices_visible);
        if (field.id != MW_F_DEVICE_device || !field.is_bytes)
            continue;
        struct mw_device device, *slot;
        struct mw_reader list = mw_field_reader(&field);
        status = mw_members_read(load->trace, list, &device_members, &device, NULL);
        if (status == MW_OK)
            status = mw_members_array(load->trace, list, MW_F_GPUDEVICE_peer, &peer_members,
                                      (const void **)&device.peers, &device.peer_count);
        slot = status == MW_OK ? mw_rows_add(load->entry, MW_TABLE_DEVICES, &status) : NULL;
        if (slot)
            *slot = device;
    }
    return status;
}

enum mw_status mw_load_buffer(struct mw_load *load)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK)
        if (field.id == MW_F_BUFFER_space && field.is_bytes)
            status = record_add(load, &field, MW_TABLE_SPACES, &space_members, NULL, 0);
    return status;
}
