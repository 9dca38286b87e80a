/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace whose events come from the encoder: all kinds and flags in random order, several
 * chunks, two threads. For the comparison of the second decoder with what the encoder really
 * writes.
 *
 *     write_trace FILE [SEED]
 */
#include <stdio.h>
#include <stdlib.h>

#include "events.h"

#include "trace/fields.h"

enum { EVENTS = 20000, PROCESS = 4711 };

static void chunk_write(FILE *file, unsigned type, const struct mw_buffer *payload)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, type, 0, PROCESS, payload->data, (uint32_t)payload->size,
                   (uint32_t)payload->size);
    fwrite(header, 1, sizeof header, file);
    fwrite(payload->data, 1, payload->size, file);
}

static void event_make(struct mw_raw_event *event, uint64_t *seed, uint64_t *clock, uint64_t number)
{
    uint64_t random = random_next(seed), shape = random & 0x3ff;
    shape = random_next(&shape);
    *event = (struct mw_raw_event){
        .start = *clock += random >> 52,
        .end = *clock += random >> 55,
        .bytes = shape >> (shape & 63),
        .bytes_in = shape >> 40,
        .flags = (uint32_t)(shape & MW_EVENT_KNOWN_FLAGS & ~MW_EVENT_ORDINAL),
        .ordinal = (uint32_t)(number / 100 + (random >> 20 & 1)),
        .request = (uint32_t)(number - (random >> 30 & 7)),
        .comm = shape >> 30 & 3,
        .peer = (int32_t)(shape >> 32 & 7) - 3,
        .tag = (int32_t)(shape >> 60),
        .site = (uint32_t)(shape >> 36 & 0xfff),
        .function = (uint16_t)(shape >> 41 & 0x7f),
        .kind = (uint8_t)(MW_EVENT_CALL + (shape >> 48) % 6),
        .origin = (uint8_t)(random >> 8),
    };
    if (random >> 63)
        *clock -= 77; /* two sockets' clocks */
}

static void thread_write(FILE *file, struct mw_encoder *encoder, uint32_t thread, uint64_t *seed)
{
    static struct mw_raw_event ring[MW_ENCODER_STEP];
    uint64_t clock = 1 << 30, number = 0;
    while (number < EVENTS) {
        const uint8_t *chunk;
        size_t size;
        enum mw_status status = MW_OK;
        mw_encoder_begin(encoder, thread, number, thread * 5);
        for (uint64_t begun = number; number < begun + 3000 && status == MW_OK;) {
            size_t count = 1 + random_next(seed) % MW_ENCODER_STEP;
            for (size_t i = 0; i < count; i++)
                event_make(&ring[i], seed, &clock, number + i);
            status = mw_encoder_step(encoder, ring, MW_ENCODER_STEP - 1, 0, count);
            if (status == MW_OK)
                number += count;
        }
        if (mw_encoder_end(encoder, PROCESS, &chunk, &size) != MW_OK)
            abort();
        fwrite(chunk, 1, size, file);
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261130;
    if (!file)
        return 2;
    uint8_t memory[256];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_text(&buffer, MW_F_PROCESS_host, "node");
    mw_put_u64(&buffer, MW_F_PROCESS_pid, 1);
    mw_put_u64(&buffer, MW_F_PROCESS_clock, MW_CLOCK_MONOTONIC);
    chunk_write(file, MW_CHUNK_PROCESS, &buffer);
    struct mw_encoder *encoder = encoder_new(1);
    for (uint32_t thread = 0; thread < 2; thread++)
        thread_write(file, encoder, thread, &seed);
    return fclose(file) == 0 ? 0 : 1;
}
