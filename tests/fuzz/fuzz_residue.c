/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mapping in which anything may stand. The input is a list of changes to a right one: {offset (3
 * bytes), length (1 byte), bytes}; its first byte says whether the process is alive. What comes out
 * must be chunks that the decoders take.
 */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "trace/chunk.h"
#include "trace/decoder.h"
#include "trace/residue.h"

enum {
    OUTBOX = 32768,
    OUTBOX_SIZE = 8192,
    AREAS = OUTBOX + OUTBOX_SIZE,
    RING = 256,
    RING_AT = 12288, /* in an area */
    AREA = RING_AT + RING * (int)sizeof(struct mw_raw_event),
    THREADS = 2,
    SUMS = AREAS + THREADS * AREA, /* the first segments of the first thread */
    SEGMENTS = 4,
    SIZE = SUMS + (int)(MW_MAP_SEGMENT * sizeof(struct mw_map_group)),
};
_Static_assert(sizeof(struct mw_map_header) <= OUTBOX, "room for the header");
_Static_assert(sizeof(struct mw_map_thread) <= RING_AT, "room for a thread");

static _Alignas(64) uint8_t right[SIZE];
static _Alignas(64) uint8_t map[SIZE];

static void template_thread(int index)
{
    struct mw_map_thread *thread = (struct mw_map_thread *)(right + AREAS + index * AREA);
    struct mw_raw_event *ring = (struct mw_raw_event *)(right + AREAS + index * AREA + RING_AT);
    thread->index = (uint32_t)index;
    thread->capacity = RING;
    thread->ring_offset = (uint64_t)(AREAS + index * AREA + RING_AT);
    thread->committed = 1000;
    thread->flushed = 800;
    thread->open_depth = 2;
    thread->open[0] = (struct mw_map_open){.start = 5, .function = 3, .comm = 1, .peer = -2};
    thread->counts[3] = 1000;
    for (unsigned i = 0; i < RING; i++)
        ring[i] = (struct mw_raw_event){.kind = (uint8_t)(1 + i % 6),
                                        .flags = i % 3 ? MW_EVENT_COUNTED : MW_EVENT_REQUEST,
                                        .start = i,
                                        .end = i + 5,
                                        .ordinal = i,
                                        .comm = 1,
                                        .function = (uint16_t)(i % 9)};
}

static void template_sums(void)
{
    struct mw_map_header *header = (struct mw_map_header *)right;
    struct mw_map_thread *thread = (struct mw_map_thread *)(right + AREAS);
    struct mw_map_group *group = (struct mw_map_group *)(right + SUMS);
    for (uint32_t s = 0, g = 0; s < SEGMENTS; g += mw_map_segment_groups(s++))
        thread->segment[s] = SUMS + g * sizeof(struct mw_map_group);
    for (uint32_t g = 0; g < MW_MAP_SEGMENT; g++) {
        group[g].number = g;
        group[g].why = g % 2 ? MW_WHY_BUDGET : 0;
        group[g].used = g == 1 ? MW_MAP_ROWS : 3;
        for (uint32_t i = 0; i < group[g].used; i++)
            group[g].row[i] =
                (struct mw_map_row){.key = {.function = (uint16_t)i, .kind = MW_EVENT_SEND},
                                    .calls = i,
                                    .bytes = UINT64_MAX};
    }
    header->region_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        memset(header->region[i].name, 'x', i ? MW_MAP_REGION : 5);
        header->region[i].level = 2 + (int32_t)i;
        header->region[i].parent = i;
    }
}

static void template_make(void)
{
    struct mw_map_header *header = (struct mw_map_header *)right;
    static const uint8_t health[] = {0x03, 1, 'x'};
    header->magic = MW_MAP_MAGIC;
    header->layout = MW_MAP_LAYOUT;
    header->header_size = sizeof *header;
    header->size = SIZE;
    header->process = 77;
    header->pid = (uint64_t)getpid();
    header->clock = MW_CLOCK_MONOTONIC;
    header->state = MW_MAP_RECORDING;
    header->outbox_offset = OUTBOX;
    header->outbox_capacity = OUTBOX_SIZE;
    header->outbox_used = 2 * (MW_CHUNK_HEADER_SIZE + sizeof health);
    header->thread_count = THREADS;
    for (int i = 0; i < 2; i++) {
        uint8_t *chunk = right + OUTBOX + i * (int)(MW_CHUNK_HEADER_SIZE + sizeof health);
        mw_chunk_frame(chunk, MW_CHUNK_HEALTH, 0, 77, health, sizeof health, sizeof health);
        memcpy(chunk + MW_CHUNK_HEADER_SIZE, health, sizeof health);
    }
    for (int i = 0; i < THREADS; i++) {
        header->thread_offset[i] = (uint64_t)(AREAS + i * AREA);
        template_thread(i);
    }
    template_sums();
}

/* Events that the encoder made must be decoded whole, unless their kind or flags were nonsense. */
static void events_check(const uint8_t *payload, size_t length)
{
    struct mw_decoder *decoder;
    const struct mw_event *events;
    size_t count;
    if (mw_decoder_open(payload, length, (uint32_t)length, &decoder) != MW_OK)
        abort();
    while (mw_decoder_step(decoder, &events, &count) == MW_OK)
        ;
    mw_decoder_close(decoder);
}

static enum mw_status take(void *context, const uint8_t *chunk, size_t size)
{
    struct mw_chunk_header header;
    size_t *left = context;
    CHECK(size >= MW_CHUNK_HEADER_SIZE && mw_chunk_parse(chunk, &header) == MW_OK);
    CHECK(header.length == size - MW_CHUNK_HEADER_SIZE);
    CHECK(mw_checksum(chunk + MW_CHUNK_HEADER_SIZE, header.length) == header.check);
    if (header.type == MW_CHUNK_EVENTS)
        events_check(chunk + MW_CHUNK_HEADER_SIZE, header.length);
    return --*left ? MW_OK : MW_ERR_FULL;
}

void fuzz_residue(const uint8_t *data, size_t size)
{
    static int made;
    if (!made++)
        template_make();
    if (size < 1)
        return;
    struct mw_residue residue = {.header = (const struct mw_map_header *)map,
                                 .size = SIZE,
                                 .alive = data[0] & 1,
                                 .foreign = (data[0] & 3) == 2};
    size_t left = data[0] & 4 ? 3 : 100000;
    memcpy(map, right, SIZE);
    for (data++, size--; size >= 4;) {
        size_t offset = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16, length = data[3];
        data += 4;
        size -= 4;
        length = length < size ? length : size;
        if (offset < SIZE)
            memcpy(map + offset, data, length < SIZE - offset ? length : SIZE - offset);
        data += length;
        size -= length;
    }
    enum mw_status status = mw_residue_chunks(&residue, take, &left);
    CHECK(status == MW_OK || status == MW_ERR_CORRUPT || status == MW_ERR_FULL);
    CHECK((status == MW_ERR_FULL) == (left == 0));
}
