/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances within a node (locality.h). Pure; any thread. */
#include "analyzer/model/locality.h"

#include <stdlib.h>

static const struct {
    const char *word, *title;
} localities[MW_LOCALITIES] = {
    [MW_LOCALITY_CPU] = {"same-cpu", "same CPU"},
    [MW_LOCALITY_CORE] = {"same-core", "same core"},
    [MW_LOCALITY_L3] = {"same-l3", "same L3 cache"},
    [MW_LOCALITY_NUMA] = {"same-numa", "same NUMA node"},
    [MW_LOCALITY_PACKAGE] = {"same-socket", "same socket"},
    [MW_LOCALITY_OTHER_PACKAGE] = {"other-socket", "other socket"},
    [MW_LOCALITY_NODE] = {"same-node", "same node"},
    [MW_LOCALITY_NETWORK] = {"other-node", "other node"},
    [MW_LOCALITY_UNKNOWN] = {"unknown", "not known"},
};

static const struct {
    const char *word, *title;
} paths[MW_PATHS] = {
    [MW_PATH_SAME] = {"same-device", "same device"},
    [MW_PATH_XGMI] = {"xgmi", "xGMI"},
    [MW_PATH_NVLINK] = {"nvlink", "NVLink"},
    [MW_PATH_LINK] = {"link", "a link"},
    [MW_PATH_SWITCH] = {"pcie-switch", "PCIe switch"},
    [MW_PATH_HOST_BRIDGE] = {"host-bridge", "host bridge"},
    [MW_PATH_NUMA] = {"same-numa", "same NUMA node"},
    [MW_PATH_PACKAGE] = {"same-socket", "same socket"},
    [MW_PATH_OTHER_PACKAGE] = {"other-socket", "other socket"},
    [MW_PATH_UNKNOWN] = {"unknown", "not known"},
};

const char *mw_locality_word(enum mw_locality locality)
{
    return localities[locality].word;
}

const char *mw_locality_title(enum mw_locality locality)
{
    return localities[locality].title;
}

const char *mw_path_word(enum mw_path_kind kind)
{
    return paths[kind].word;
}

char *mw_path_title(const struct mw_path *path)
{
    const char *title = paths[path->kind].title;
    if (path->hops > 1)
        return mw_format("%s, %u hops", title, path->hops);
    if (path->links)
        return mw_format("%s, %u link%s", title, path->links, path->links == 1 ? "" : "s");
    return mw_text_copy(title);
}

/* --- seats ------------------------------------------------------------------------------------ */

/* A cache that several NUMA nodes share (Intel's sub-NUMA clusters) holds ranks that are farther
 * apart than those of one of these nodes: it is no part within them. */
static int spans_nodes(const struct mw_hardware *hardware, int level, int64_t part)
{
    return level == MW_LEVEL_L3 && part >= 0 && hardware->parts[MW_LEVEL_NUMA].count &&
           mw_part_around(hardware, MW_LEVEL_NUMA, &hardware->parts[level].at[part].cpus) < 0;
}

static struct mw_seat seat_around(const struct mw_hardware *hardware, struct mw_cpus cpus)
{
    struct mw_seat seat = {.cpus = cpus};
    for (int level = 0; level < MW_LEVELS; level++) {
        seat.around[level] = mw_part_around(hardware, (enum mw_level)level, &seat.cpus);
        if (spans_nodes(hardware, level, seat.around[level]))
            seat.around[level] = MW_NO_PART;
    }
    return seat;
}

struct mw_seat mw_seat_of(const struct mw_hardware *hardware, const struct mw_cpu_run *runs,
                          size_t count)
{
    struct mw_cpus cpus = {0};
    for (size_t i = 0; i < count; i++)
        mw_cpus_add(&cpus, runs[i].first, runs[i].count);
    return seat_around(hardware, cpus);
}

void mw_seat_free(struct mw_seat *seat)
{
    mw_cpus_free(&seat->cpus);
}

/* Has a part of this level processors of both? */
static int part_meets(const struct mw_hardware *hardware, int level, const struct mw_cpus *a,
                      const struct mw_cpus *b)
{
    const mw_parts *parts = &hardware->parts[level];
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->at[i].wide && mw_cpus_meet(a, &parts->at[i].cpus) &&
            mw_cpus_meet(b, &parts->at[i].cpus) && !spans_nodes(hardware, level, (int64_t)i))
            return 1;
    return 0;
}

/* Without packages nobody knows whether another NUMA node is in the same one. */
static enum mw_locality beyond(const struct mw_hardware *hardware)
{
    return hardware->parts[MW_LEVEL_PACKAGE].count > 1 ? MW_LOCALITY_OTHER_PACKAGE
                                                       : MW_LOCALITY_NODE;
}

static enum mw_locality farthest(const struct mw_hardware *hardware, const struct mw_seat *a,
                                 const struct mw_seat *b)
{
    if (mw_cpus_count(&a->cpus) == 1 && mw_cpus_equal(&a->cpus, &b->cpus))
        return MW_LOCALITY_CPU;
    for (int level = 0; level < MW_LEVELS; level++)
        if (a->around[level] >= 0 && a->around[level] == b->around[level])
            return (enum mw_locality)(MW_LOCALITY_CORE + level);
    return beyond(hardware);
}

static enum mw_locality nearest(const struct mw_hardware *hardware, const struct mw_seat *a,
                                const struct mw_seat *b)
{
    if (mw_cpus_meet(&a->cpus, &b->cpus))
        return MW_LOCALITY_CPU;
    for (int level = 0; level < MW_LEVELS; level++)
        if (part_meets(hardware, level, &a->cpus, &b->cpus))
            return (enum mw_locality)(MW_LOCALITY_CORE + level);
    return beyond(hardware);
}

enum mw_locality mw_locality_held(const struct mw_hardware *hardware, const struct mw_seat *a,
                                  const struct mw_seat *b)
{
    if (!mw_cpus_count(&a->cpus) || !mw_cpus_count(&b->cpus))
        return MW_LOCALITY_NODE;
    enum mw_locality held = farthest(hardware, a, b);
    int apart = a->around[MW_LEVEL_PACKAGE] >= 0 && b->around[MW_LEVEL_PACKAGE] >= 0;
    return held == MW_LOCALITY_OTHER_PACKAGE && !apart ? MW_LOCALITY_NODE : held;
}

static void reach_slit(const struct mw_hardware *hardware, const struct mw_cpus *a,
                       const struct mw_cpus *b, struct mw_reach *reach)
{
    const mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    for (size_t i = 0; hardware->slit && i < nodes->count; i++) {
        int near = !nodes->at[i].wide && mw_cpus_meet(a, &nodes->at[i].cpus);
        for (size_t j = 0; near && j < nodes->count; j++) {
            uint32_t value = mw_slit(hardware, (int64_t)i, (int64_t)j);
            if (!value || nodes->at[j].wide || !mw_cpus_meet(b, &nodes->at[j].cpus))
                continue;
            if (!reach->slit_least || value < reach->slit_least)
                reach->slit_least = value;
            if (value > reach->slit_most)
                reach->slit_most = value;
        }
    }
}

struct mw_reach mw_reach_seats(const struct mw_hardware *hardware, const struct mw_seat *a,
                               const struct mw_seat *b)
{
    struct mw_reach reach = {MW_LOCALITY_NODE, MW_LOCALITY_NODE, 0, 0};
    if (!mw_cpus_count(&a->cpus) || !mw_cpus_count(&b->cpus))
        return reach;
    reach.nearest = nearest(hardware, a, b);
    reach.farthest = farthest(hardware, a, b);
    reach_slit(hardware, &a->cpus, &b->cpus, &reach);
    return reach;
}

struct mw_reach mw_reach_device(const struct mw_hardware *hardware, const struct mw_seat *seat,
                                int64_t device)
{
    struct mw_reach reach = {MW_LOCALITY_UNKNOWN, MW_LOCALITY_UNKNOWN, 0, 0};
    if (device < 0 || !mw_cpus_count(&hardware->devices.at[device].cpus) ||
        !mw_cpus_count(&seat->cpus))
        return reach;
    struct mw_seat there = seat_around(hardware, mw_cpus_copy(&hardware->devices.at[device].cpus));
    reach = mw_reach_seats(hardware, seat, &there);
    mw_seat_free(&there);
    /* A device is at no cache and at no core: it is at memory. */
    if (reach.nearest < MW_LOCALITY_NUMA)
        reach.nearest =
            hardware->parts[MW_LEVEL_NUMA].count ? MW_LOCALITY_NUMA : MW_LOCALITY_PACKAGE;
    if (reach.farthest < MW_LOCALITY_NUMA)
        reach.farthest = MW_LOCALITY_NUMA;
    return reach;
}

/* --- devices ---------------------------------------------------------------------------------- */

/* The bridge that is above both, a device counting as above itself; MW_NO_PART: none. */
static int64_t common_bridge(const struct mw_hardware *hardware, int64_t a, int64_t b)
{
    size_t steps = 0,
           limit = hardware->devices.count; /* bridges of a made-up trace go in circles */
    for (int64_t up = a; up >= 0 && steps < limit; up = hardware->devices.at[up].bridge, steps++) {
        size_t other = 0;
        for (int64_t at = b; at >= 0 && other < limit;
             at = hardware->devices.at[at].bridge, other++)
            if (at == up)
                return up;
    }
    return MW_NO_PART;
}

static enum mw_path_kind path_pci(const struct mw_hardware *hardware, int64_t from, int64_t to)
{
    const struct mw_hw_device *a = &hardware->devices.at[from], *b = &hardware->devices.at[to];
    if (a->address >> 3 == b->address >> 3)
        return MW_PATH_SAME;
    if (common_bridge(hardware, from, to) >= 0)
        return MW_PATH_SWITCH;
    if (a->host >= 0 && a->host == b->host)
        return MW_PATH_HOST_BRIDGE;
    if (a->numa >= 0 && a->numa == b->numa)
        return MW_PATH_NUMA;
    int64_t one = mw_part_around(hardware, MW_LEVEL_PACKAGE, &a->cpus);
    int64_t two = mw_part_around(hardware, MW_LEVEL_PACKAGE, &b->cpus);
    if (one < 0 || two < 0)
        return MW_PATH_UNKNOWN;
    return one == two ? MW_PATH_PACKAGE : MW_PATH_OTHER_PACKAGE;
}

static const struct mw_hw_link *link_of(const struct mw_hardware *hardware, int64_t from,
                                        int64_t to)
{
    const struct mw_hw_link *best = NULL;
    for (size_t i = 0; i < hardware->links.count; i++) {
        const struct mw_hw_link *link = &hardware->links.at[i];
        if (link->from == from && link->to == to && (!best || link->bandwidth > best->bandwidth))
            best = link;
    }
    return best;
}

/* How many direct xGMI links lead from one to the other; 0: they are not joined. */
static unsigned xgmi_hops(const struct mw_hardware *hardware, int64_t from, int64_t to)
{
    unsigned *hops = mw_alloc(hardware->devices.count, sizeof(*hops));
    int more = 1;
    hops[from] = 1; /* one too many: 0 is "not reached" */
    for (unsigned round = 1; more && !hops[to]; round++) {
        more = 0;
        for (size_t i = 0; i < hardware->links.count; i++) {
            const struct mw_hw_link *link = &hardware->links.at[i];
            if (link->kind != MW_LINK_XGMI || link->hops != 1 || hops[link->from] != round ||
                hops[link->to])
                continue;
            hops[link->to] = round + 1;
            more = 1;
        }
    }
    unsigned found = hops[to] ? hops[to] - 1 : 0;
    free(hops);
    return found;
}

struct mw_path mw_path_between(const struct mw_hardware *hardware, int64_t from, int64_t to)
{
    static const enum mw_path_kind kinds[] = {[MW_LINK_XGMI] = MW_PATH_XGMI,
                                              [MW_LINK_NVLINK] = MW_PATH_NVLINK,
                                              [MW_LINK_OTHER] = MW_PATH_LINK};
    struct mw_path path = {.kind = MW_PATH_UNKNOWN};
    if (from < 0 || to < 0)
        return path;
    if (from == to)
        return (struct mw_path){.kind = MW_PATH_SAME};
    const struct mw_hw_link *link = link_of(hardware, from, to);
    if (link)
        return (struct mw_path){kinds[link->kind], link->links, link->hops, link->bandwidth};
    path.hops = xgmi_hops(hardware, from, to);
    path.kind = path.hops ? MW_PATH_XGMI : path_pci(hardware, from, to);
    return path;
}
