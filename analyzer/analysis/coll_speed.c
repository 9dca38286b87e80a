/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth of collectives (coll_speed.h). One thread. */
#include "analyzer/analysis/coll_speed.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/model/collective.h"

struct mw_coll_speeds *mw_coll_speeds_create(void)
{
    return mw_alloc(1, sizeof(struct mw_coll_speeds));
}

/* The largest amount of a rank: of rooted ones only the root, or only the others, have it. */
static uint64_t instance_bytes(const struct mw_collective *collective,
                               const struct mw_instance *instance)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        uint64_t own = collective->of_received ? member->received : member->bytes;
        bytes = own > bytes ? own : bytes;
    }
    return bytes;
}

/* Ns from the last coming to the last leaving; 0 where it cannot be told. */
static uint64_t instance_time(const struct mw_instance *instance)
{
    int64_t came = INT64_MIN, left = INT64_MIN;
    for (size_t i = 0; i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        if (!member->blocking || member->failed)
            return 0;
        came = member->start > came ? member->start : came;
        left = member->end > left ? member->end : left;
    }
    return left > came ? (uint64_t)(left - came) : 0;
}

void mw_coll_speeds_add(struct mw_coll_speeds *speeds, const struct mw_instance *instance)
{
    const struct mw_collective *collective = mw_collective_of(instance->name);
    uint64_t bytes, time;
    if (collective->kind == MW_COLLECTIVE_OTHER || instance->mixed || !instance->whole ||
        !(bytes = instance_bytes(collective, instance)) || !(time = instance_time(instance)))
        return;
    unsigned class = mw_size_class(bytes);
    uint64_t key = mw_mix((uint64_t)instance->comm << 32 | instance->function) ^ class;
    size_t at = mw_index_put(&speeds->index, key);
    if (at == speeds->all.count) {
        mw_vector_add(&speeds->times);
        double ranks = (double)instance->count;
        double part = collective->halves ? collective->halves / 2.0 * (ranks - 1) / ranks : 1;
        *mw_vector_add(&speeds->all) = (struct mw_coll_speed){.comm = instance->comm,
                                                              .function = instance->function,
                                                              .name = collective->name,
                                                              .class = class,
                                                              .ranks = instance->count,
                                                              .bus = part,
                                                              .least = time};
    }
    struct mw_coll_speed *speed = &speeds->all.at[at];
    speed->instances++;
    speed->algorithm.bytes += bytes;
    speed->algorithm.time += time;
    speed->least = time < speed->least ? time : speed->least;
    mw_histogram_add(&speeds->times.at[at], time);
}

static int coll_compare(const void *left, const void *right)
{
    const struct mw_coll_speed *a = left, *b = right;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->class > b->class) - (a->class < b->class);
}

static void times_free(struct mw_coll_speeds *speeds)
{
    for (size_t i = 0; i < speeds->times.count; i++)
        mw_histogram_free(&speeds->times.at[i]);
    free(speeds->times.at);
    memset(&speeds->times, 0, sizeof(speeds->times));
}

void mw_coll_speeds_finish(struct mw_coll_speeds *speeds)
{
    mw_index_free(&speeds->index);
    for (size_t i = 0; i < speeds->all.count; i++)
        speeds->all.at[i].usual = mw_histogram_quantile(&speeds->times.at[i], 0.5);
    times_free(speeds);
    if (speeds->all.count)
        qsort(speeds->all.at, speeds->all.count, sizeof(speeds->all.at[0]), coll_compare);
}

void mw_coll_speeds_free(struct mw_coll_speeds *speeds)
{
    if (!speeds)
        return;
    mw_index_free(&speeds->index);
    times_free(speeds);
    free(speeds->all.at);
    free(speeds);
}
