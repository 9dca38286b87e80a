/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which chunk holds which events. Built while a trace is opened, on one thread, from the heads of
 * the chunks alone; the look-up is pure.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>

#include "trace/decoder.h"

enum mw_status mw_index_read(struct mw_place place, const struct mw_chunk_header *header,
                             const uint8_t *payload, struct mw_event_chunk *chunk)
{
    struct mw_events_head head;
    /* Each event takes at least a byte of at most MW_CHUNK_MAX_RAW. */
    if (header->process == 0 || (header->flags & MW_CHUNK_FLAG_ZSTD) ||
        header->raw_length != header->length ||
        mw_events_head_read(payload, header->length, &head) != MW_OK ||
        head.count > MW_CHUNK_MAX_RAW || head.first > UINT64_MAX - head.count)
        return MW_ERR_CORRUPT;
    *chunk = (struct mw_event_chunk){
        .thread = head.thread,
        .first = head.first,
        .count = head.count,
        .offset = place.offset,
        .source = place.source,
        .length = header->length,
        .raw_length = header->raw_length,
        .check = header->check,
    };
    return MW_OK;
}

enum mw_status mw_index_add(struct mw_process_entry *entry, const struct mw_event_chunk *chunk)
{
    enum mw_status status = MW_OK;
    if (chunk->count == 0)
        return MW_OK;
    struct mw_event_chunk *added =
        mw_vector_add(&entry->trace->account, &entry->event_chunks, sizeof *added, &status);
    if (added)
        *added = *chunk;
    return status;
}

static int compare(uint64_t x, uint64_t y)
{
    return x < y ? -1 : x > y;
}

static int chunk_order(const void *a, const void *b)
{
    const struct mw_event_chunk *x = a, *y = b;
    int order = compare(x->thread, y->thread);
    if (!order)
        order = compare(x->first, y->first);
    if (!order)
        order = compare(y->count, x->count);
    if (!order)
        order = compare(x->source, y->source);
    return order ? order : compare(x->offset, y->offset);
}

void mw_index_finish(struct mw_process_entry *entry)
{
    if (entry->event_chunks.count > 1)
        qsort(entry->event_chunks.items, entry->event_chunks.count, sizeof(struct mw_event_chunk),
              chunk_order);
}

const struct mw_event_chunk *mw_index_thread(const struct mw_process_entry *entry, uint64_t thread,
                                             size_t *count)
{
    const struct mw_event_chunk *chunks = entry->event_chunks.items;
    size_t bounds[2]; /* first chunk of the thread, and first behind it */
    for (int i = 0; i < 2; i++) {
        size_t low = 0, high = entry->event_chunks.count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (chunks[middle].thread < thread || (i && chunks[middle].thread == thread))
                low = middle + 1;
            else
                high = middle;
        }
        bounds[i] = low;
    }
    *count = bounds[1] - bounds[0];
    return *count ? chunks + bounds[0] : NULL;
}
