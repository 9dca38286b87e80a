/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages by pair and size class (tally.h): a sparse, sorted list. Reading is for any thread,
 * building for the one that adds up.
 */
#include <stdlib.h>

#include "analyzer/analysis/tally_process.h"

uint64_t mw_class_from(unsigned size_class)
{
    return size_class ? (uint64_t)1 << (size_class - 1) : 0;
}

uint64_t mw_class_to(unsigned size_class)
{
    return size_class >= 64 ? UINT64_MAX : ((uint64_t)1 << size_class) - 1;
}

static int class_compare(const void *left, const void *right)
{
    const struct mw_pair_class *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Sorts and adds up; returns how many are left. */
static size_t classes_settle(struct mw_pair_class *at, size_t count)
{
    size_t kept = 0, left = 0;
    if (count)
        qsort(at, count, sizeof(at[0]), class_compare);
    for (size_t i = 0; i < count; i++) {
        if (kept && !class_compare(&at[kept - 1], &at[i])) { /* two processes with one rank */
            at[kept - 1].messages += at[i].messages;
            at[kept - 1].bytes += at[i].bytes;
        } else {
            at[kept++] = at[i];
        }
    }
    for (size_t i = 0; i < kept; i++)
        if (at[i].messages) /* all of a class may have been cancelled */
            at[left++] = at[i];
    return left;
}

void mw_tally_sort_classes(struct mw_tally *tally)
{
    tally->classes.count = classes_settle(tally->classes.at, tally->classes.count);
    tally->buffers.count = classes_settle(tally->buffers.at, tally->buffers.count);
}

static const struct mw_pair_class *classes_find(const struct mw_pair_class *at, size_t all,
                                                int64_t src, int64_t dst, size_t *count)
{
    struct mw_pair_class key = {.src = src, .dst = dst};
    size_t low = 0, high = all;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (class_compare(&at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0;
         low + *count < all && at[low + *count].src == src && at[low + *count].dst == dst;)
        ++*count;
    return *count ? &at[low] : NULL;
}

const struct mw_pair_class *mw_tally_classes(const struct mw_tally *tally, int64_t src, int64_t dst,
                                             size_t *count)
{
    return classes_find(tally->classes.at, tally->classes.count, src, dst, count);
}

const struct mw_pair_class *mw_tally_buffers(const struct mw_tally *tally, int64_t src, int64_t dst,
                                             size_t *count)
{
    return classes_find(tally->buffers.at, tally->buffers.count, src, dst, count);
}
