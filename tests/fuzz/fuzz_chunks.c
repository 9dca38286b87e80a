/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of whole chunks with right checksums, so that what is behind the checksums is reached. The
 * input is a list of {type, how, length (2 bytes), payload}; bits 0-2 of `how` choose the process,
 * bit 3: the payload is compressed (EVENTS: the content after the head always is, unless bit 3 is
 * set), bit 4: a newer version.
 */
#include <string.h>
#include <zstd.h>

#include "fuzz.h"
#include "trace/chunk.h"
#include "trace/fields.h"

enum { RECORD = 4, FILE_MAX = 1 << 20 };

static uint8_t file[FILE_MAX];
static uint8_t scratch[1 << 18];

static size_t head_size(const uint8_t *data, size_t size)
{
    struct mw_reader reader = {data, data + size};
    uint64_t value;
    for (int i = 0; i < 6; i++)
        if (mw_read_varint(&reader, &value) != MW_OK)
            return size;
    return (size_t)(reader.next - data);
}

/* The payload as it is stored; its length. */
static size_t payload_store(unsigned type, unsigned how, const uint8_t *data, size_t size)
{
    size_t head = type == MW_CHUNK_EVENTS ? head_size(data, size) : 0;
    int compressed = type == MW_CHUNK_EVENTS ? !(how & 8) : (how & 8) != 0;
    memcpy(scratch, data, compressed ? head : size);
    if (!compressed)
        return size;
    size_t length =
        ZSTD_compress(scratch + head, sizeof scratch - head, data + head, size - head, 1);
    return ZSTD_isError(length) ? head : head + length;
}

static size_t chunk_put(uint8_t *to, size_t room, const uint8_t *record, size_t size)
{
    unsigned type = record[0], how = record[1];
    size_t length = payload_store(type, how, record + RECORD, size);
    if (length + MW_CHUNK_HEADER_SIZE > room)
        return 0;
    int zstd = (how & 8) && type != MW_CHUNK_EVENTS;
    mw_chunk_frame(to, type, zstd ? MW_CHUNK_FLAG_ZSTD : 0, how & 7, scratch, (uint32_t)length,
                   (uint32_t)(zstd ? size : length));
    if (how & 16) {
        to[6] = 2;
        uint32_t check = mw_checksum(to, 28);
        memcpy(to + 28, &check, sizeof check);
    }
    memcpy(to + MW_CHUNK_HEADER_SIZE, scratch, length);
    return MW_CHUNK_HEADER_SIZE + length;
}

void fuzz_chunks(const uint8_t *data, size_t size)
{
    size_t used = 0;
    while (size >= RECORD) {
        size_t length = data[2] | (size_t)data[3] << 8;
        if (length > size - RECORD)
            length = size - RECORD;
        used += chunk_put(file + used, sizeof file - used, data, length);
        data += RECORD + length;
        size -= RECORD + length;
    }
    fuzz_walk_trace(file, used);
}
