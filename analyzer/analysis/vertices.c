/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of matrices by place (vertices.h). */
#include "analyzer/analysis/vertices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mw_vertices_begin(struct mw_vertices *vertices, enum mw_matrix_by by)
{
    *vertices = (struct mw_vertices){.by = by};
}

void mw_vertices_end(struct mw_vertices *vertices)
{
    for (size_t i = 0; i < vertices->all.count; i++) {
        free(vertices->all.at[i].host);
        free(vertices->all.at[i].name);
        free(vertices->all.at[i].part);
    }
    for (size_t i = 0; i < vertices->joined.count; i++)
        mw_hardware_free(vertices->joined.at[i]);
    free(vertices->joined.at);
    free(vertices->all.at);
    mw_index_free(&vertices->index);
    mw_index_free(&vertices->hosts);
}

static size_t host_number(struct mw_vertices *vertices, const char *host)
{
    size_t number = mw_index_put(&vertices->hosts, mw_hash_text(1, host));
    if (number == vertices->joined.count)
        *mw_vector_add(&vertices->joined) = NULL;
    return number;
}

void mw_vertices_join(struct mw_vertices *vertices, const struct mw_placements *placements)
{
    const struct mw_model *model = placements->model;
    for (uint32_t p = 0; vertices->by == MW_BY_GPU && p < model->process_count; p++) {
        uint32_t node = model->process_node[p];
        size_t host = host_number(vertices, model->nodes[node].host);
        if (!vertices->joined.at[host])
            vertices->joined.at[host] = mw_hardware_create(placements->hardware[node]->source);
        mw_hardware_add_gpus(vertices->joined.at[host], mw_trace_process(model->trace, p));
    }
}

/* The part of the node that counts, and the kernel's number of it; -1: there is none. */
static int64_t part_of(const struct mw_vertices *vertices, const struct mw_placements *placements,
                       uint32_t process, uint64_t *number)
{
    const struct mw_hardware *hardware = mw_place_hardware(placements, process);
    const struct mw_near *gpu = mw_place_gpu(placements, process);
    enum mw_level level = vertices->by == MW_BY_NUMA ? MW_LEVEL_NUMA : MW_LEVEL_PACKAGE;
    int64_t part = vertices->by == MW_BY_NODE     ? 0
                   : vertices->by == MW_BY_NUMA   ? mw_place_numa(placements, process)
                   : vertices->by == MW_BY_SOCKET ? mw_place_package(placements, process)
                                                  : (gpu ? gpu->device : MW_NO_PART);
    *number = 0;
    if (part >= 0 && vertices->by == MW_BY_GPU)
        *number = hardware->devices.at[part].address;
    else if (part >= 0 && vertices->by != MW_BY_NODE)
        *number = hardware->parts[level].at[part].number;
    return part;
}

/* "c1:00" of 0000:c1:00.0: domain and function are nearly always 0. */
static char *address_short(uint64_t address)
{
    char *whole = mw_pci_text(address);
    char *words = mw_text_copy(address >> 16 ? whole : strchr(whole, ':') + 1);
    if (!(address & 7))
        words[strlen(words) - 2] = 0;
    free(whole);
    return words;
}

static char *part_words(const struct mw_vertices *vertices, uint64_t number, int short_form)
{
    char *address, *words;
    switch (vertices->by) {
    case MW_BY_NUMA:
        return mw_format(short_form ? "NUMA %" PRIu64 : "/numa%" PRIu64, number);
    case MW_BY_SOCKET:
        return mw_format(short_form ? "socket %" PRIu64 : "/socket%" PRIu64, number);
    case MW_BY_GPU:
        if (short_form)
            return address_short(number);
        address = mw_pci_text(number);
        words = mw_format("/%s", address);
        free(address);
        return words;
    default:
        return mw_text_copy("");
    }
}

int64_t mw_vertex_of(struct mw_vertices *vertices, const struct mw_placements *placements,
                     uint32_t process)
{
    uint64_t number;
    const char *host = placements->model->nodes[placements->model->process_node[process]].host;
    if (part_of(vertices, placements, process, &number) < 0)
        return -1;
    size_t at = mw_index_put(&vertices->index, mw_hash_text(mw_mix(number + 1), host));
    if (at == vertices->all.count) {
        char *part = part_words(vertices, number, 0);
        *mw_vector_add(&vertices->all) =
            (struct mw_vertex){.host = mw_text_copy(host),
                               .name = mw_format("%s%s", host, part),
                               .part = part_words(vertices, number, 1),
                               .number = number,
                               .host_number = host_number(vertices, host)};
        free(part);
    }
    return (int64_t)at;
}

struct mw_between mw_vertices_between(const struct mw_vertices *vertices,
                                      const struct mw_placements *placements, uint32_t src,
                                      uint32_t dst)
{
    struct mw_between between = {.known = 0};
    const struct mw_model *model = placements->model;
    if (vertices->by == MW_BY_NODE)
        return between;
    if (vertices->by == MW_BY_GPU && model->process_node[src] == model->process_node[dst])
        return between; /* mw_vertices_path knows more */
    between.reach = mw_place_reach(placements, src, dst);
    between.known = between.reach.farthest != MW_LOCALITY_UNKNOWN;
    between.path.kind = MW_PATH_UNKNOWN;
    return between;
}

struct mw_between mw_vertices_path(const struct mw_vertices *vertices, int64_t src, int64_t dst)
{
    const struct mw_vertex *a = &vertices->all.at[src], *b = &vertices->all.at[dst];
    const struct mw_hardware *hardware = vertices->joined.at[a->host_number];
    struct mw_between between = {.known = 0, .path = {.kind = MW_PATH_UNKNOWN}};
    if (a->host_number != b->host_number || !hardware)
        return between;
    between.path = mw_path_between(hardware, mw_device_at(hardware, a->number),
                                   mw_device_at(hardware, b->number));
    between.known = between.path.kind != MW_PATH_UNKNOWN;
    return between;
}

struct place {
    size_t host;
    uint64_t number;
    size_t was;
};

static int place_compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

int64_t *mw_vertices_sort(struct mw_vertices *vertices)
{
    size_t count = vertices->all.count;
    struct place *places = mw_alloc(count, sizeof(*places));
    struct mw_vertex *sorted = mw_alloc(count, sizeof(*sorted));
    int64_t *where = mw_alloc(count, sizeof(*where));
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){vertices->all.at[i].host_number, vertices->all.at[i].number, i};
    if (count)
        qsort(places, count, sizeof(*places), place_compare);
    for (size_t i = 0; i < count; i++) {
        where[places[i].was] = (int64_t)i;
        sorted[i] = vertices->all.at[places[i].was];
    }
    for (size_t i = 0; i < count; i++)
        vertices->all.at[i] = sorted[i];
    mw_index_free(&vertices->index); /* its numbers are no longer right */
    free(places);
    free(sorted);
    return where;
}
