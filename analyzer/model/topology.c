/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins what a process recorded of its node (topology.h): hwloc's XML first, then the kernel's own
 * tables, which complete it and win. Runs once for a node, on the main thread.
 */
#include "analyzer/model/topology.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/model/topology_xml.h"

#define DEVICES_MAX 4096
#define NODES_MAX   1024
#define LINKS_MAX   16384
#define NAMES_MAX   1024 /* bytes of a device's names; the last one may go beyond */
#define LINK_XGMI   11 /* as the kernel numbers kinds of links */
#define LINK_PCIE   2

/* --- devices ---------------------------------------------------------------------------------- */

int mw_pci_address(const char *text, uint64_t *address)
{
    unsigned domain, bus, device, function;
    int used = 0;
    if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used) != 4 ||
        text[used] || device > 31 || function > 7)
        return -1;
    *address = (uint64_t)domain << 16 | bus << 8 | device << 3 | function;
    return 0;
}

char *mw_pci_text(uint64_t address)
{
    return mw_format("%04" PRIx64 ":%02x:%02x.%x", address >> 16, (unsigned)(address >> 8 & 0xff),
                     (unsigned)(address >> 3 & 0x1f), (unsigned)(address & 7));
}

int64_t mw_device_at(const struct mw_hardware *hardware, uint64_t address)
{
    for (size_t i = 0; i < hardware->devices.count; i++)
        if (hardware->devices.at[i].address == address)
            return (int64_t)i;
    return MW_NO_PART;
}

struct mw_hw_device *mw_device_put(struct mw_hardware *hardware, uint64_t address)
{
    int64_t known = mw_device_at(hardware, address);
    if (known >= 0)
        return &hardware->devices.at[known];
    if (hardware->devices.count == DEVICES_MAX)
        return NULL;
    struct mw_hw_device *device = mw_vector_add(&hardware->devices);
    *device = (struct mw_hw_device){.address = address,
                                    .bridge = MW_NO_PART,
                                    .host = MW_NO_PART,
                                    .numa = MW_NO_PART,
                                    .names = mw_text_copy(""),
                                    .driver = ""};
    return device;
}

/* Graphics that a server has for its console do not compute. */
static int computes(unsigned class, unsigned vendor)
{
    return class == 0x0302 || class == 0x0380 || class >> 8 == 0x12 ||
           (class == 0x0300 && (vendor == 0x10de || vendor == 0x1002));
}

void mw_device_classify(struct mw_hw_device *device, unsigned class, unsigned vendor)
{
    device->class = class;
    if (class >> 8 == 0x06)
        device->kind = MW_DEVICE_BRIDGE;
    else if (class >> 8 == 0x02 || class == 0x0c06)
        device->kind = MW_DEVICE_NIC;
    else if (computes(class, vendor))
        device->kind = MW_DEVICE_GPU;
}

/* Is a word one of a list with blanks? */
static int word_in(const char *list, const char *word, size_t size)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, " ");
        if (size && length == size && !memcmp(at, word, size))
            return 1;
        at += length;
        at += strspn(at, " ");
    }
    return 0;
}

void mw_device_name(struct mw_hw_device *device, const char *names, int first)
{
    for (const char *at = names; *at && strlen(device->names) < NAMES_MAX;) {
        int length = (int)strcspn(at, " ");
        if (length && length < NAMES_MAX && !word_in(device->names, at, (size_t)length)) {
            const char *blank = *device->names ? " " : "";
            char *longer = first ? mw_format("%.*s%s%s", length, at, blank, device->names)
                                 : mw_format("%s%s%.*s", device->names, blank, length, at);
            free(device->names);
            device->names = longer;
        }
        at += length;
        at += strspn(at, " ");
    }
}

int64_t mw_device_named(const struct mw_hardware *hardware, const char *name)
{
    size_t size = strcspn(name, ":-@, "); /* ports and kinds of domains stand behind */
    for (size_t i = 0; i < hardware->devices.count; i++)
        if (word_in(hardware->devices.at[i].names, name, size))
            return (int64_t)i;
    return MW_NO_PART;
}

char *mw_device_label(const struct mw_hw_device *device)
{
    size_t first = strcspn(device->names, " ");
    return first ? mw_format("%.*s", (int)first, device->names) : mw_pci_text(device->address);
}

/* --- parts ------------------------------------------------------------------------------------ */

int64_t mw_numa_numbered(const struct mw_hardware *hardware, uint64_t number)
{
    const mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->at[i].number == number)
            return (int64_t)i;
    return MW_NO_PART;
}

int64_t mw_part_around(const struct mw_hardware *hardware, enum mw_level level,
                       const struct mw_cpus *cpus)
{
    const mw_parts *parts = &hardware->parts[level];
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->at[i].wide && mw_cpus_within(cpus, &parts->at[i].cpus))
            return (int64_t)i;
    return MW_NO_PART;
}

int64_t mw_part_first(const struct mw_hardware *hardware, enum mw_level level,
                      const struct mw_cpus *cpus)
{
    const mw_parts *parts = &hardware->parts[level];
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->at[i].wide && mw_cpus_meet(cpus, &parts->at[i].cpus))
            return (int64_t)i;
    return MW_NO_PART;
}

int64_t mw_numa_package(const struct mw_hardware *hardware, int64_t numa)
{
    if (numa < 0)
        return MW_NO_PART;
    return mw_part_around(hardware, MW_LEVEL_PACKAGE,
                          &hardware->parts[MW_LEVEL_NUMA].at[numa].cpus);
}

uint32_t mw_slit(const struct mw_hardware *hardware, int64_t from, int64_t to)
{
    size_t count = hardware->parts[MW_LEVEL_NUMA].count;
    return hardware->slit && from >= 0 && to >= 0
               ? hardware->slit[(size_t)from * count + (size_t)to]
               : 0;
}

int mw_slit_tells(const struct mw_hardware *hardware)
{
    size_t count = hardware->parts[MW_LEVEL_NUMA].count;
    uint32_t first = 0;
    for (size_t i = 0; hardware->slit && i < count * count; i++) {
        uint32_t value = hardware->slit[i];
        if (!value)
            return 1; /* not all is known: nobody can call it flat */
        if (i / count == i % count)
            continue;
        if (first && value != first)
            return 1;
        first = value;
    }
    return 0;
}

/* --- the kernel's tables ---------------------------------------------------------------------- */

static void cpus_of_runs(struct mw_cpus *cpus, const struct mw_cpu_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mw_cpus_add(cpus, runs[i].first, runs[i].count);
}

/* A description that the site gave instead of the machine's own wins over what the kernel says. */
static int is_given(const struct mw_topology *topology)
{
    static const char file[] = "file ";
    return topology->xml_size && !strncmp(topology->source, file, strlen(file));
}

/* The kernel's list has every processor that runs; hwloc's may have those of one cpuset only. */
static void add_nodes(struct mw_hardware *hardware, const struct mw_topology *topology)
{
    mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    struct mw_cpus all = {0};
    int given = is_given(topology);
    for (size_t i = 0; i < topology->slit_count && nodes->count < NODES_MAX; i++) {
        const struct mw_slit *said = &topology->slit[i];
        int64_t known = mw_numa_numbered(hardware, said->node);
        struct mw_part *part = known >= 0 ? &nodes->at[known] : mw_vector_add(nodes);
        part->number = said->node;
        if (!part->memory || !given)
            part->memory = said->memory;
        if (!part->cpus.count)
            cpus_of_runs(&part->cpus, said->cpus, said->cpu_runs);
        cpus_of_runs(&all, said->cpus, said->cpu_runs);
    }
    if (!mw_cpus_count(&all) || (given && mw_cpus_count(&hardware->cpus))) {
        mw_cpus_free(&all);
        return;
    }
    mw_cpus_free(&hardware->cpus);
    hardware->cpus = all;
}

/* Memory that all of a socket or machine share, beside memories of parts of it. */
static void find_wide(struct mw_hardware *hardware)
{
    mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t j = 0; j < nodes->count && !nodes->at[i].wide; j++)
            nodes->at[i].wide = mw_cpus_within(&nodes->at[j].cpus, &nodes->at[i].cpus) &&
                                !mw_cpus_equal(&nodes->at[i].cpus, &nodes->at[j].cpus);
}

/* Room for the distances of all nodes. Nodes may have come after the XML's matrix: those of which hwloc knew nothing
 * because it looked from a cpuset without them. */
static void slit_reach(struct mw_hardware *hardware, size_t count)
{
    uint32_t *longer = mw_alloc(count * count, sizeof(*longer));
    for (size_t from = 0; hardware->slit && from < hardware->slit_nodes; from++)
        memcpy(longer + from * count, hardware->slit + from * hardware->slit_nodes,
               hardware->slit_nodes * sizeof(*longer));
    free(hardware->slit);
    hardware->slit = longer;
    hardware->slit_nodes = count;
}

static void add_distances(struct mw_hardware *hardware, const struct mw_topology *topology)
{
    size_t count = hardware->parts[MW_LEVEL_NUMA].count;
    int given = is_given(topology) && hardware->slit;
    slit_reach(hardware, count);
    int known = 0;
    for (size_t i = 0; i < topology->slit_count && !given; i++) {
        const struct mw_slit *row = &topology->slit[i];
        int64_t from = mw_numa_numbered(hardware, row->node);
        for (size_t c = 0; c < row->distance_count && c < topology->slit_count; c++) {
            int64_t to = mw_numa_numbered(hardware, topology->slit[c].node);
            if (from < 0 || to < 0 || row->distances[c] > UINT32_MAX)
                continue;
            hardware->slit[(size_t)from * count + (size_t)to] = (uint32_t)row->distances[c];
            known = 1;
        }
    }
    for (size_t i = 0; i < count * count; i++)
        known |= hardware->slit[i] != 0;
    if (known)
        return;
    free(hardware->slit);
    hardware->slit = NULL;
}

static void add_device(struct mw_hardware *hardware, const struct mw_pci *pci)
{
    uint64_t address, above;
    struct mw_hw_device *device =
        mw_pci_address(pci->address, &address) ? NULL : mw_device_put(hardware, address);
    if (!device)
        return;
    /* The kernel tells base class, subclass and programming interface: 0x020700. */
    uint64_t class = pci->class_code > 0xffff ? pci->class_code >> 8 : pci->class_code;
    if (class)
        mw_device_classify(device, (unsigned)class & 0xffff, (unsigned)pci->vendor);
    mw_device_name(device, pci->names, 0);
    device->driver = pci->driver;
    device->speed = pci->speed;
    device->speed_max = pci->speed_max;
    device->width = pci->width;
    device->width_max = pci->width_max;
    if (pci->cpu_runs && !device->cpus.count)
        cpus_of_runs(&device->cpus, pci->cpus, pci->cpu_runs);
    if (pci->node >= 0)
        device->numa = mw_numa_numbered(hardware, (uint64_t)pci->node);
    if (device->bridge == MW_NO_PART && !mw_pci_address(pci->parent, &above))
        device->bridge = mw_device_at(hardware, above);
}

static void add_devices(struct mw_hardware *hardware, const struct mw_topology *topology)
{
    uint64_t address;
    for (size_t i = 0; i < topology->pci_count; i++) /* so that each finds the one above it */
        if (!mw_pci_address(topology->pci[i].address, &address))
            mw_device_put(hardware, address);
    for (size_t i = 0; i < topology->pci_count; i++)
        add_device(hardware, &topology->pci[i]);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static int64_t gpu_of_node(const struct mw_hardware *hardware, const struct mw_topology *topology,
                           uint64_t node)
{
    uint64_t address;
    for (size_t i = 0; i < topology->gpu_count; i++)
        if (topology->gpus[i].node == node && !mw_pci_address(topology->gpus[i].pci, &address))
            return mw_device_at(hardware, address);
    return MW_NO_PART;
}

static void add_gpus(struct mw_hardware *hardware, const struct mw_topology *topology)
{
    uint64_t address;
    for (size_t i = 0; i < topology->gpu_count; i++) {
        struct mw_hw_device *device = mw_pci_address(topology->gpus[i].pci, &address)
                                          ? NULL
                                          : mw_device_put(hardware, address);
        if (device)
            device->kind = MW_DEVICE_GPU;
    }
    for (size_t i = 0; i < topology->link_count && i < LINKS_MAX; i++) {
        const struct mw_gpu_link *said = &topology->links[i];
        struct mw_hw_link link = {.from = gpu_of_node(hardware, topology, said->from),
                                  .to = gpu_of_node(hardware, topology, said->to),
                                  .kind = said->type == LINK_XGMI ? MW_LINK_XGMI : MW_LINK_OTHER,
                                  .hops = 1,
                                  .bandwidth = said->max_bandwidth};
        /* The kernel gives the bandwidth of one link and that of all. */
        if (said->min_bandwidth && said->max_bandwidth % said->min_bandwidth == 0 &&
            said->max_bandwidth / said->min_bandwidth <= 64)
            link.links = (unsigned)(said->max_bandwidth / said->min_bandwidth);
        if (link.from >= 0 && link.to >= 0 && said->type != LINK_PCIE)
            *mw_vector_add(&hardware->links) = link;
    }
}

static const struct mw_device *device_indexed(const struct mw_process *process,
                                              const struct mw_device *as, uint64_t index)
{
    for (size_t i = 0; i < process->device_count; i++)
        if (process->devices[i].index == index && !strcmp(process->devices[i].runtime, as->runtime))
            return &process->devices[i];
    return NULL;
}

static int link_known(const struct mw_hardware *hardware, int64_t from, int64_t to)
{
    for (size_t i = 0; i < hardware->links.count; i++)
        if (hardware->links.at[i].from == from && hardware->links.at[i].to == to)
            return 1;
    return 0;
}

/* CUDA tells no more than whether atomic operations work between two GPUs, which they do over
 * NVLink and not over PCI. Of links over PCI the tree of devices knows more: -1. */
static int link_kind(const char *link)
{
    if (!strcasecmp(link, "nvlink") || !strcasecmp(link, "native atomics"))
        return MW_LINK_NVLINK;
    return !strcasecmp(link, "xgmi") ? MW_LINK_XGMI : -1;
}

/* A link that the runtime tells of. */
static void add_peer(struct mw_hardware *hardware, const struct mw_process *process,
                     const struct mw_device *device, const struct mw_device_peer *peer)
{
    uint64_t from, to;
    const struct mw_device *other = device_indexed(process, device, peer->index);
    int kind = link_kind(peer->link);
    if (!other || mw_pci_address(device->pci, &from) || mw_pci_address(other->pci, &to) || kind < 0)
        return;
    struct mw_hw_link link = {.from = mw_device_at(hardware, from),
                              .to = mw_device_at(hardware, to),
                              .kind = (enum mw_link_kind)kind,
                              .hops = peer->hops < 64 ? (unsigned)peer->hops : 0};
    if (link.from >= 0 && link.to >= 0 && link.from != link.to &&
        hardware->links.count < LINKS_MAX && !link_known(hardware, link.from, link.to))
        *mw_vector_add(&hardware->links) = link;
}

void mw_hardware_add_gpus(struct mw_hardware *hardware, const struct mw_process *process)
{
    uint64_t address;
    for (size_t i = 0; i < process->device_count; i++) {
        struct mw_hw_device *device = mw_pci_address(process->devices[i].pci, &address)
                                          ? NULL
                                          : mw_device_put(hardware, address);
        if (device)
            device->kind = MW_DEVICE_GPU;
    }
    for (size_t i = 0; i < process->device_count; i++)
        for (size_t p = 0; p < process->devices[i].peer_count; p++)
            add_peer(hardware, process, &process->devices[i], &process->devices[i].peers[p]);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Where one is known, NUMA node and processors near a device tell each other. A device that is
 * near all processors is near none in particular. */
static void devices_settle(struct mw_hardware *hardware)
{
    const mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    for (size_t i = 0; i < hardware->devices.count; i++) {
        struct mw_hw_device *device = &hardware->devices.at[i];
        if (device->numa < 0)
            device->numa = mw_part_around(hardware, MW_LEVEL_NUMA, &device->cpus);
        if (device->numa >= 0 && nodes->at[device->numa].cpus.count) {
            mw_cpus_free(&device->cpus);
            device->cpus = mw_cpus_copy(&nodes->at[device->numa].cpus);
        } else if (nodes->count > 1 && mw_cpus_equal(&device->cpus, &hardware->cpus)) {
            mw_cpus_free(&device->cpus);
        }
    }
}

static void parts_clear(struct mw_hardware *hardware)
{
    for (int level = 0; level < MW_LEVELS; level++) {
        for (size_t i = 0; i < hardware->parts[level].count; i++)
            mw_cpus_free(&hardware->parts[level].at[i].cpus);
        free(hardware->parts[level].at);
        hardware->parts[level] = (mw_parts){0};
    }
    for (size_t i = 0; i < hardware->devices.count; i++) {
        mw_cpus_free(&hardware->devices.at[i].cpus);
        free(hardware->devices.at[i].names);
    }
    hardware->devices.count = 0;
    mw_cpus_free(&hardware->cpus);
    free(hardware->slit);
    hardware->slit = NULL;
}

static void read_xml(struct mw_hardware *hardware, const struct mw_topology *topology)
{
    const char *wrong =
        mw_topology_xml_read((const char *)topology->xml, topology->xml_size, hardware);
    if (!wrong)
        return;
    parts_clear(hardware);
    hardware->problem = mw_format("the node's XML cannot be used: %s", wrong);
}

struct mw_hardware *mw_hardware_create(const struct mw_topology *topology)
{
    struct mw_hardware *hardware = mw_alloc(1, sizeof(*hardware));
    hardware->source = topology;
    if (!topology) {
        hardware->problem = mw_text_copy("nothing was recorded of this node's hardware");
        return hardware;
    }
    if (topology->xml_size)
        read_xml(hardware, topology);
    else
        hardware->problem = mw_format("no XML of hwloc's was recorded: %s",
                                      *topology->failure ? topology->failure : "not known why");
    add_nodes(hardware, topology);
    find_wide(hardware);
    add_distances(hardware, topology);
    add_devices(hardware, topology);
    add_gpus(hardware, topology);
    devices_settle(hardware);
    return hardware;
}

void mw_hardware_free(struct mw_hardware *hardware)
{
    if (!hardware)
        return;
    parts_clear(hardware);
    free(hardware->devices.at);
    free(hardware->links.at);
    free(hardware->problem);
    free(hardware);
}
