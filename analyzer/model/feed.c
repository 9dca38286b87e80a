/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the streams of processes (feed.h): a binary heap, each process with its next call. */
#include "analyzer/model/feed.h"

#include <stdlib.h>

#include "analyzer/base/heap.h"

struct lane {
    int64_t end; /* of its next call, on the common clock */
    uint32_t process;
    struct mw_stream *stream;
    uint64_t thread;
    const struct mw_call_record *record;
};

_Static_assert(sizeof(struct lane) <= MW_HEAP_ITEM, "a lane is one item");

struct mw_feed {
    const struct mw_clock *clock;
    MW_VECTOR(struct lane) lanes; /* a heap; the earliest end first */
    int taken;                    /* the first lane's call was given out */
};

static int lane_before(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;
    return a->end != b->end ? a->end < b->end : a->process < b->process;
}

static void lanes_sift(struct mw_feed *feed, size_t at)
{
    mw_heap_sift(feed->lanes.at, feed->lanes.count, sizeof(struct lane), at, lane_before);
}

/* Fetches a lane's next call; 0 when there is none: the lane is closed then. */
static int lane_fetch(const struct mw_clock *clock, struct lane *lane)
{
    if (mw_stream_next(lane->stream, &lane->thread, &lane->record) == MW_OK) {
        lane->end = mw_clock_ns(clock, lane->process, lane->record->call.end);
        return 1;
    }
    mw_stream_close(lane->stream);
    return 0;
}

struct mw_feed *mw_feed_open(const struct mw_model *model, const struct mw_clock *clock)
{
    struct mw_feed *feed = mw_alloc(1, sizeof(*feed));
    feed->clock = clock;
    for (uint32_t i = 0; i < model->process_count; i++) {
        if (!mw_clock_knows(clock, i))
            continue;
        struct lane lane = {.process = i,
                            .stream = mw_stream_open(model, mw_trace_process(model->trace, i))};
        if (lane_fetch(clock, &lane))
            *mw_vector_add(&feed->lanes) = lane;
    }
    for (size_t i = feed->lanes.count; i-- > 0;)
        lanes_sift(feed, i);
    return feed;
}

enum mw_status mw_feed_next(struct mw_feed *feed, uint32_t *process, uint64_t *thread,
                            const struct mw_call_record **record)
{
    struct lane *first = feed->lanes.at;
    if (feed->taken) {
        if (!lane_fetch(feed->clock, first))
            *first = first[--feed->lanes.count];
        lanes_sift(feed, 0);
    }
    feed->taken = feed->lanes.count > 0;
    if (!feed->taken)
        return MW_END;
    *process = first->process;
    *thread = first->thread;
    *record = first->record;
    return MW_OK;
}

void mw_feed_close(struct mw_feed *feed)
{
    for (size_t i = 0; i < feed->lanes.count; i++)
        mw_stream_close(feed->lanes.at[i].stream);
    free(feed->lanes.at);
    free(feed);
}
