/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs and the links between them as the amdgpu driver lists them in /sys/class/kfd; see
 * topology.h. One thread, static memory.
 */
#include <string.h>

#include "mpiwatch/format.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "probe/topology.h"

static struct {
    char nodes[256], folder[320], links[384], path[512], text[8192];
} run;

/* Lines "name value". */
static uint64_t property(const char *name)
{
    size_t length = strlen(name);
    for (const char *line = run.text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return mw_number(line + length, 10, NULL);
    }
    return 0;
}

static int properties_read(const char *folder)
{
    mw_join(run.path, sizeof run.path, folder, "/properties", NULL);
    return mw_sys_slurp(run.path, run.text, sizeof run.text) > 0;
}

static void hex_add(struct mw_text *text, uint64_t value, unsigned digits)
{
    for (uint64_t limit = UINT64_C(1) << 4 * (digits - 1); limit > 1 && value < limit; limit >>= 4)
        mw_text_add(text, "0");
    mw_text_add_hex(text, value);
}

/* domain 0, location 0xc100: "0000:c1:00.0" */
static void address_of(char *out, size_t capacity)
{
    uint64_t location = property("location_id");
    struct mw_text text;
    mw_text_init(&text, out, capacity);
    hex_add(&text, property("domain"), 4);
    mw_text_add(&text, ":");
    hex_add(&text, location >> 8 & 0xff, 2);
    mw_text_add(&text, ":");
    hex_add(&text, location >> 3 & 0x1f, 2);
    mw_text_add(&text, ".");
    hex_add(&text, location & 7, 1);
}

static void gpu_put(struct mw_buffer *buffer, uint64_t node, uint64_t gpu_id)
{
    char address[40], name[64] = "";
    address_of(address, sizeof address);
    size_t mark = mw_put_begin(buffer, MW_F_TOPOLOGY_gpu);
    mw_put_u64(buffer, MW_F_GPU_node, node);
    mw_put_text(buffer, MW_F_GPU_pci, address);
    mw_put_u64(buffer, MW_F_GPU_gpu_id, gpu_id);
    mw_put_u64(buffer, MW_F_GPU_unique_id, property("unique_id"));
    mw_put_u64(buffer, MW_F_GPU_hive, property("hive_id"));
    mw_join(run.path, sizeof run.path, run.folder, "/name", NULL);
    if (mw_sys_line(run.path, name, sizeof name) > 0)
        mw_put_text(buffer, MW_F_GPU_name, name);
    mw_put_end(buffer, mark);
}

static void link_put(struct mw_buffer *buffer)
{
    static const struct {
        unsigned field;
        const char *name;
    } numbers[] = {{MW_F_GPULINK_from, "node_from"},
                   {MW_F_GPULINK_to, "node_to"},
                   {MW_F_GPULINK_type, "type"},
                   {MW_F_GPULINK_weight, "weight"},
                   {MW_F_GPULINK_min_bandwidth, "min_bandwidth"},
                   {MW_F_GPULINK_max_bandwidth, "max_bandwidth"}};
    size_t mark = mw_put_begin(buffer, MW_F_TOPOLOGY_link);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        mw_put_u64(buffer, numbers[i].field, property(numbers[i].name));
    mw_put_end(buffer, mark);
}

/* Links through a switch or a host bridge stand in a folder of their own in newer kernels. */
static void links_put(struct mw_buffer *buffer, const char *kind)
{
    struct mw_dir dir;
    char folder[512];
    mw_join(run.links, sizeof run.links, run.folder, "/", kind, NULL);
    if (mw_dir_open(&dir, run.links) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&dir)) && !mw_probe_late();)
        if (properties_read(mw_join(folder, sizeof folder, run.links, "/", name, NULL)))
            link_put(buffer);
    mw_dir_close(&dir);
}

void mw_topology_kfd(struct mw_buffer *buffer, const char *root)
{
    struct mw_dir dir;
    mw_join(run.nodes, sizeof run.nodes, root, "/sys/class/kfd/kfd/topology/nodes", NULL);
    if (mw_dir_open(&dir, run.nodes) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&dir)) && !mw_probe_late();) {
        uint64_t gpu_id;
        mw_join(run.folder, sizeof run.folder, run.nodes, "/", name, NULL);
        mw_sys_number(run.folder, "gpu_id", 10, &gpu_id); /* 0: a node of CPUs, or not for us */
        if (gpu_id && properties_read(run.folder))
            gpu_put(buffer, mw_number(name, 10, NULL), gpu_id);
        links_put(buffer, "io_links");
        links_put(buffer, "p2p_links");
    }
    mw_dir_close(&dir);
}
