/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of hwloc's XML is read (topology_xml.h). Objects stand within objects; each one that is open
 * has a frame, which knows the processors around it and the device above it. Any thread.
 */
#include "analyzer/model/topology_xml.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/xml.h"

#define NODES_MAX 1024        /* NUMA nodes */
#define SETS_MAX  (64u << 20) /* bytes of sets of processors that are kept */

struct frame {
    struct mw_cpus cpus;  /* of the object, else of what it stands in */
    int64_t device, host; /* numbers of the device and of the host bridge it is, or is below */
};

struct reader {
    struct mw_xml xml;
    struct mw_hardware *hardware;
    struct frame frames[MW_XML_DEPTH_MAX + 1]; /* the first one is what is around all */
    size_t depth, objects, kept;               /* kept: bytes in sets */
    int64_t hosts;
    MW_VECTOR(uint64_t) indexes; /* of a matrix of distances */
    MW_VECTOR(uint64_t) values;
    int latencies; /* 1: such a matrix is open */
};

static uint64_t number_of(const struct mw_xml_tag *tag, const char *name, uint64_t other)
{
    char text[32], *end;
    if (!mw_xml_attribute(tag, name, text, sizeof(text)) || *text < '0' || *text > '9')
        return other;
    uint64_t value = strtoull(text, &end, 10);
    return *end ? other : value;
}

static int type_is(const char *type, const char *name)
{
    return !strcmp(type, name);
}

static const struct {
    const char *type;
    enum mw_level level;
    int numbered; /* its os_index is one of the whole node */
} levels[] = {
    {"Core", MW_LEVEL_CORE, 0},
    {"L3Cache", MW_LEVEL_L3, 0},
    {"NUMANode", MW_LEVEL_NUMA, 1},
    {"Package", MW_LEVEL_PACKAGE, 1},
};

/* What an object says of processors. */
static void read_part(struct reader *reader, const struct mw_xml_tag *tag, const char *type,
                      const struct mw_cpus *cpus)
{
    if (type_is(type, "PU") || type_is(type, "Machine"))
        mw_cpus_join(&reader->hardware->cpus, cpus);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        mw_parts *parts = &reader->hardware->parts[levels[i].level];
        if (!type_is(type, levels[i].type))
            continue;
        struct mw_part *part = mw_vector_add(parts);
        part->number = parts->count - 1;
        if (levels[i].numbered)
            part->number = number_of(tag, "os_index", part->number);
        part->cpus = mw_cpus_copy(cpus);
        reader->kept += cpus->count * sizeof(cpus->words[0]);
        part->memory = number_of(tag, "local_memory", 0);
    }
}

/* A PCI device, or a bridge that has an address of its own. */
static void read_device(struct reader *reader, const struct mw_xml_tag *tag, struct frame *frame,
                        int bridge)
{
    char text[64];
    uint64_t address;
    if (!mw_xml_attribute(tag, "pci_busid", text, sizeof(text)) || mw_pci_address(text, &address))
        return;
    int64_t above = frame->device;
    struct mw_hw_device *device = mw_device_put(reader->hardware, address);
    if (!device)
        return;
    frame->device = device - reader->hardware->devices.at;
    device->bridge = above != frame->device ? above : MW_NO_PART;
    device->host = frame->host;
    if (mw_xml_attribute(tag, "pci_type", text, sizeof(text)))
        mw_device_classify(device, (unsigned)strtoul(text, NULL, 16),
                           strchr(text, '[') ? (unsigned)strtoul(strchr(text, '[') + 1, NULL, 16)
                                             : 0);
    if (bridge)
        device->kind = MW_DEVICE_BRIDGE;
    mw_cpus_free(&device->cpus);
    device->cpus = mw_cpus_copy(&frame->cpus);
}

/* A device of InfiniBand and its kin: kind 3 of hwloc 2, a bit among others of hwloc 3, whose kinds
 * of network devices begin above those of hwloc 2. */
static int is_fabric(uint64_t kind)
{
    return kind == 3 || (kind >= 16 && kind & 32);
}

/* The name by which MPI and fabric libraries know a card comes before that of its interface. */
static void read_name(struct reader *reader, const struct mw_xml_tag *tag,
                      const struct frame *frame)
{
    char name[64];
    if (frame->device >= 0 && mw_xml_attribute(tag, "name", name, sizeof(name)))
        mw_device_name(&reader->hardware->devices.at[frame->device], name,
                       is_fabric(number_of(tag, "osdev_type", 0)));
}

/* NULL, or what is wrong. */
static const char *read_object(struct reader *reader, const struct mw_xml_tag *tag,
                               struct frame *frame)
{
    char type[32], text[64];
    static const size_t mask_max = MW_CPUS_MAX / 32 * 11 + 1;
    if (++reader->objects > MW_XML_OBJECTS_MAX || reader->kept > SETS_MAX)
        return "it has more objects than any machine";
    mw_xml_attribute(tag, "type", type, sizeof(type));
    size_t length = (size_t)(tag->attributes_end - tag->attributes);
    char *mask = mw_alloc(length < mask_max ? length + 1 : mask_max, 1);
    if (mw_xml_attribute(tag, "cpuset", mask, length < mask_max ? length + 1 : mask_max)) {
        mw_cpus_free(&frame->cpus);
        if (mw_cpus_add_mask(&frame->cpus, mask))
            mw_cpus_free(&frame->cpus);
        read_part(reader, tag, type, &frame->cpus);
    }
    free(mask);
    if (reader->hardware->parts[MW_LEVEL_NUMA].count > NODES_MAX)
        return "it has more NUMA nodes than any machine";
    if (type_is(type, "Bridge") && mw_xml_attribute(tag, "bridge_type", text, sizeof(text)) &&
        text[0] == '0') {
        frame->host = reader->hosts++;
        frame->device = MW_NO_PART;
    } else if (type_is(type, "Bridge") || type_is(type, "PCIDev")) {
        read_device(reader, tag, frame, type_is(type, "Bridge"));
    } else if (type_is(type, "OSDev")) {
        read_name(reader, tag, frame);
    }
    return NULL;
}

#define LATENCIES_OF_THE_SYSTEM 5 /* hwloc's kinds "from the operating system" and "latency" */

/* A matrix of distances opens: it is the firmware's where it is one of latencies of NUMA nodes, the
 * first one. hwloc 2.0 gave no names. */
static void read_distances(struct reader *reader, const struct mw_xml_tag *tag)
{
    char type[32], name[32], indexing[16];
    mw_xml_attribute(tag, "type", type, sizeof(type));
    mw_xml_attribute(tag, "name", name, sizeof(name));
    mw_xml_attribute(tag, "indexing", indexing, sizeof(indexing));
    reader->indexes.count = reader->values.count = 0;
    int named = type_is(name, "NUMALatency") ||
                (!*name && number_of(tag, "kind", 0) == LATENCIES_OF_THE_SYSTEM);
    reader->latencies = type_is(type, "NUMANode") && named && type_is(indexing, "os");
}

/* Numbers with blanks between them. */
static void read_numbers(struct reader *reader, int indexes)
{
    size_t size;
    const char *at = mw_xml_text(&reader->xml, &size), *end = at + size;
    while (at < end && reader->latencies) {
        uint64_t value = 0;
        const char *from = at;
        for (; at < end && *at >= '0' && *at <= '9' && at - from < 18; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        if (at == from)
            at++;
        else if (indexes && reader->indexes.count < NODES_MAX)
            *mw_vector_add(&reader->indexes) = value;
        else if (!indexes && reader->values.count < NODES_MAX * NODES_MAX)
            *mw_vector_add(&reader->values) = value;
    }
}

static void give_distances(struct reader *reader)
{
    size_t count = reader->indexes.count, nodes = reader->hardware->parts[MW_LEVEL_NUMA].count;
    if (reader->latencies && count && count == nodes && count * count == reader->values.count &&
        !reader->hardware->slit) {
        reader->hardware->slit = mw_alloc(nodes * nodes, sizeof(*reader->hardware->slit));
        reader->hardware->slit_nodes = nodes;
        for (size_t i = 0; i < count * count; i++) {
            int64_t from = mw_numa_numbered(reader->hardware, reader->indexes.at[i / count]);
            int64_t to = mw_numa_numbered(reader->hardware, reader->indexes.at[i % count]);
            if (from >= 0 && to >= 0 && reader->values.at[i] <= UINT32_MAX)
                reader->hardware->slit[(size_t)from * nodes + (size_t)to] =
                    (uint32_t)reader->values.at[i];
        }
    }
    reader->latencies = 0;
}

static void frame_close(struct reader *reader)
{
    mw_cpus_free(&reader->frames[reader->depth--].cpus);
}

/* An element begins. NULL, or what is wrong. */
static const char *read_open(struct reader *reader, const struct mw_xml_tag *tag)
{
    char version[16];
    if (reader->depth == MW_XML_DEPTH_MAX)
        return "its elements stand too deep in each other";
    if (!reader->depth && !mw_xml_is(tag, "topology"))
        return "it is not a topology of hwloc's";
    if (!reader->depth && !mw_xml_attribute(tag, "version", version, sizeof(version)))
        return "it was written by hwloc 1, which is too old";
    const struct frame *above = &reader->frames[reader->depth];
    struct frame *frame = &reader->frames[++reader->depth];
    *frame = (struct frame){mw_cpus_copy(&above->cpus), above->device, above->host};
    if (mw_xml_is(tag, "object"))
        return read_object(reader, tag, frame);
    if (mw_xml_is(tag, "distances2"))
        read_distances(reader, tag);
    else if (mw_xml_is(tag, "indexes") || mw_xml_is(tag, "u64values"))
        read_numbers(reader, mw_xml_is(tag, "indexes"));
    return NULL;
}

static const char *read_all(struct reader *reader)
{
    struct mw_xml_tag tag;
    const char *wrong = NULL;
    for (enum mw_xml_kind kind; (kind = mw_xml_next(&reader->xml, &tag)) != MW_XML_END;) {
        if (kind == MW_XML_BAD)
            return reader->xml.wrong;
        if (kind != MW_XML_CLOSE)
            wrong = read_open(reader, &tag);
        if (wrong)
            return wrong;
        if (kind != MW_XML_OPEN && !reader->depth)
            return "it closes what it did not open";
        if (kind == MW_XML_CLOSE && mw_xml_is(&tag, "distances2"))
            give_distances(reader);
        if (kind != MW_XML_OPEN)
            frame_close(reader);
    }
    if (reader->depth)
        return "it is cut short";
    return reader->objects ? NULL : "there is nothing in it";
}

const char *mw_topology_xml_read(const char *xml, size_t size, struct mw_hardware *hardware)
{
    if (size > MW_XML_SIZE_MAX)
        return "it is too long";
    struct reader *reader = mw_alloc(1, sizeof(*reader));
    reader->xml = mw_xml_begin(xml, size);
    reader->hardware = hardware;
    reader->frames[0].device = reader->frames[0].host = MW_NO_PART;
    const char *wrong = read_all(reader);
    while (reader->depth)
        frame_close(reader);
    free(reader->indexes.at);
    free(reader->values.at);
    free(reader);
    return wrong;
}
