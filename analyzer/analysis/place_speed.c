/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the messages of NUMA nodes and network cards (place_speed.h). One thread. */
#include "analyzer/analysis/place_speed.h"

#include <stdlib.h>

#include "analyzer/analysis/cover.h"
#include "analyzer/base/index.h"

#define NOWHERE UINT32_MAX

struct entry {
    struct mw_place_speed shown;
    struct mw_cover sent, received;
};

struct mw_place_meter {
    const struct mw_placements *placements; /* NULL: no places */
    MW_VECTOR(struct entry) entries;
    uint32_t *numa, *nic; /* by process: number of the entry */
};

void mw_joint_add(struct mw_joint *joint, struct mw_cover *cover, uint64_t bytes, int64_t start,
                  int64_t done)
{
    joint->messages++;
    joint->bytes += bytes;
    if (done > start)
        joint->busy += (uint64_t)(done - start);
    mw_cover_add(cover, start, done);
}

double mw_joint_concurrency(const struct mw_joint *joint)
{
    return joint->time ? (double)joint->busy / (double)joint->time : 0;
}

/* The entry of which `place` is one process; NOWHERE where it is not known. */
static uint32_t entry_of(struct mw_place_meter *meter, struct mw_index *index,
                         const struct mw_place_speed *place)
{
    if (place->part < 0)
        return NOWHERE;
    uint64_t key = mw_mix((uint64_t)place->node << 1 | (unsigned)place->kind);
    size_t at = mw_index_put(index, key ^ (uint64_t)place->part);
    if (at == meter->entries.count)
        mw_vector_add(&meter->entries)->shown = *place;
    meter->entries.at[at].shown.processes++;
    return (uint32_t)at;
}

/* The card through which most of a process's bytes went; also one that is not on PCI. */
static const struct mw_near *nic_of(const struct mw_placements *placements, uint32_t process)
{
    const struct mw_rank_place *place = &placements->places[process];
    return place->nics.count ? &place->nics.at[0] : NULL;
}

static int64_t nic_part(const struct mw_near *nic)
{
    if (!nic || nic->device >= 0)
        return nic ? nic->device : -1;
    return (int64_t)(mw_hash_text(0, nic->name) >> 2 | UINT64_C(1) << 62);
}

static void process_places(struct mw_place_meter *meter, struct mw_index *index, uint32_t process)
{
    const struct mw_placements *placements = meter->placements;
    struct mw_place_speed numa = {.kind = MW_PLACE_NUMA,
                                  .node = placements->model->process_node[process],
                                  .part = mw_place_numa(placements, process),
                                  .sample = process};
    struct mw_place_speed nic = numa;
    nic.kind = MW_PLACE_NIC;
    nic.nic = nic_of(placements, process);
    nic.part = nic_part(nic.nic);
    meter->numa[process] = entry_of(meter, index, &numa);
    meter->nic[process] = entry_of(meter, index, &nic);
}

struct mw_place_meter *mw_place_meter_create(const struct mw_placements *placements)
{
    struct mw_place_meter *meter = mw_alloc(1, sizeof(*meter));
    struct mw_index index = {0};
    meter->placements = placements;
    if (!placements)
        return meter;
    size_t count = placements->model->process_count;
    meter->numa = mw_alloc(count, sizeof(meter->numa[0]));
    meter->nic = mw_alloc(count, sizeof(meter->nic[0]));
    for (uint32_t p = 0; p < count; p++)
        process_places(meter, &index, p);
    mw_index_free(&index);
    return meter;
}

static void entry_add(struct mw_place_meter *meter, uint32_t number, int sends, uint64_t bytes,
                      int64_t start, int64_t done)
{
    if (number == NOWHERE)
        return;
    struct entry *entry = &meter->entries.at[number];
    mw_joint_add(sends ? &entry->shown.sent : &entry->shown.received,
                 sends ? &entry->sent : &entry->received, bytes, start, done);
}

void mw_place_meter_message(struct mw_place_meter *meter, uint32_t src, uint32_t dst,
                            uint64_t bytes, int64_t start, int64_t done)
{
    if (!meter->placements)
        return;
    const uint32_t *nodes = meter->placements->model->process_node;
    entry_add(meter, meter->numa[src], 1, bytes, start, done);
    entry_add(meter, meter->numa[dst], 0, bytes, start, done);
    if (nodes[src] == nodes[dst])
        return;
    entry_add(meter, meter->nic[src], 1, bytes, start, done);
    entry_add(meter, meter->nic[dst], 0, bytes, start, done);
}

static int place_compare(const void *left, const void *right)
{
    const struct mw_place_speed *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

struct mw_place_speeds *mw_place_meter_finish(struct mw_place_meter *meter)
{
    struct mw_place_speeds *speeds = mw_alloc(1, sizeof(*speeds));
    speeds->placements = meter->placements;
    for (size_t i = 0; i < meter->entries.count; i++) {
        struct entry *entry = &meter->entries.at[i];
        entry->shown.sent.time = mw_cover_time(&entry->sent);
        entry->shown.received.time = mw_cover_time(&entry->received);
        if (entry->shown.sent.messages || entry->shown.received.messages)
            *mw_vector_add(&speeds->all) = entry->shown;
    }
    if (speeds->all.count)
        qsort(speeds->all.at, speeds->all.count, sizeof(speeds->all.at[0]), place_compare);
    free(meter->entries.at);
    free(meter->numa);
    free(meter->nic);
    free(meter);
    return speeds;
}

void mw_place_speeds_free(struct mw_place_speeds *speeds)
{
    if (!speeds)
        return;
    free(speeds->all.at);
    free(speeds);
}
