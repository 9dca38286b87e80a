/* SPDX-License-Identifier: BSD-3-Clause */
/* Union of intervals (cover.h). Pure computation. */
#include "analyzer/analysis/cover.h"

#include <string.h>

static void cover_remove(struct mw_cover *cover, unsigned at)
{
    cover->count--;
    memmove(&cover->start[at], &cover->start[at + 1], (cover->count - at) * sizeof(int64_t));
    memmove(&cover->end[at], &cover->end[at + 1], (cover->count - at) * sizeof(int64_t));
}

static void cover_insert(struct mw_cover *cover, unsigned at, int64_t start, int64_t end)
{
    memmove(&cover->start[at + 1], &cover->start[at], (cover->count - at) * sizeof(int64_t));
    memmove(&cover->end[at + 1], &cover->end[at], (cover->count - at) * sizeof(int64_t));
    cover->start[at] = start;
    cover->end[at] = end;
    cover->count++;
}

static void cover_close_first(struct mw_cover *cover)
{
    cover->covered += (uint64_t)(cover->end[0] - cover->start[0]);
    cover->closed = cover->end[0];
    cover_remove(cover, 0);
}

void mw_cover_add(struct mw_cover *cover, int64_t start, int64_t end)
{
    unsigned at = 0;
    if (cover->closed && start < cover->closed)
        start = cover->closed;
    if (end <= start)
        return;
    while (at < cover->count) {
        if (cover->end[at] < start) {
            at++;
            continue;
        }
        if (cover->start[at] > end)
            break;
        start = cover->start[at] < start ? cover->start[at] : start;
        end = cover->end[at] > end ? cover->end[at] : end;
        cover_remove(cover, at);
    }
    if (cover->count == MW_COVER_SPANS && at == 0) { /* it would be the first to be closed */
        cover->covered += (uint64_t)(end - start);
        cover->closed = end;
        return;
    }
    if (cover->count == MW_COVER_SPANS) {
        cover_close_first(cover);
        at--;
    }
    cover_insert(cover, at, start, end);
}

uint64_t mw_cover_time(const struct mw_cover *cover)
{
    uint64_t time = cover->covered;
    for (unsigned i = 0; i < cover->count; i++)
        time += (uint64_t)(cover->end[i] - cover->start[i]);
    return time;
}
