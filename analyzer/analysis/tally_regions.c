/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions that the program named (tally.h), joined over processes by their place: name and level,
 * and those of the regions around. A list in which each stands after the one around it.
 */
#include <stdlib.h>

#include "analyzer/analysis/tally_process.h"

static uint64_t to_ns(const struct mw_process *process, uint64_t ticks)
{
    double ns = ticks ? mw_process_span_ns(process, ticks) : 0;
    return ns > 0 && ns < 1.8e19 ? (uint64_t)(ns + 0.5) : 0;
}

static size_t region_find(struct mw_tally *tally, const struct mw_region *region, size_t parent)
{
    uint64_t key =
        mw_hash_text(mw_mix((uint64_t)parent + 1) ^ (uint64_t)region->level, region->name);
    size_t at = mw_index_put(&tally->region_index, key);
    if (at == tally->regions.count)
        *mw_vector_add(&tally->regions) = (struct mw_region_total){
            .name = region->name, .level = region->level, .parent = parent, .least = UINT64_MAX};
    return at;
}

/* Time from begin to end, of an entry that never ended until the last that is known. */
static uint64_t region_wall(const struct mw_process_tally *from, const struct mw_region *region)
{
    uint64_t ticks = region->time, last = from->process->end_time;
    if (last < from->total.last_end)
        last = from->total.last_end;
    if (region->since && last > region->since)
        ticks += last - region->since;
    return to_ns(from->process, ticks);
}

static void region_add(struct mw_region_total *to, const struct mw_process_tally *from,
                       const struct mw_region *region)
{
    uint64_t wall = region_wall(from, region);
    size_t at = mw_index_find(&from->region_index, region->id);
    if (!to->processes++)
        to->most_process = from->number;
    to->entries += region->entries;
    to->open += region->since != 0;
    to->wall += wall;
    if (wall < to->least)
        to->least = wall;
    if (wall > to->most || (wall == to->most && from->number < to->most_process)) {
        to->most = wall;
        to->most_process = from->number;
    }
    if (at == MW_INDEX_NONE)
        return;
    to->calls += from->regions.at[at].calls;
    to->time += to_ns(from->process, from->regions.at[at].ticks);
}

void mw_tally_add_regions(struct mw_tally *tally, const struct mw_process_tally *from)
{
    const struct mw_process *process = from->process;
    size_t *place = mw_alloc(process->region_count, sizeof(*place));
    for (size_t i = 0; i < process->region_count; i++) {
        const struct mw_region *region = &process->regions[i];
        size_t parent = SIZE_MAX, low = 0, high = i; /* by id: the one around it came before */
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (process->regions[middle].id < region->parent)
                low = middle + 1;
            else
                high = middle;
        }
        if (region->parent && low < i && process->regions[low].id == region->parent)
            parent = place[low];
        place[i] = region_find(tally, region, parent);
        region_add(&tally->regions.at[place[i]], from, region);
    }
    free(place);
}

void mw_tally_join_regions(struct mw_tally *tally)
{
    for (size_t i = tally->regions.count; i-- > 0;) {
        const struct mw_region_total *region = &tally->regions.at[i];
        if (region->parent == SIZE_MAX)
            continue;
        tally->regions.at[region->parent].calls += region->calls;
        tally->regions.at[region->parent].time += region->time;
    }
}
