/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the 32 bytes before each payload and the checksums (docs/format.md section 3). Pure
 * functions over memory for both halves; any thread; no allocation, no I/O. xxhash is compiled in,
 * so that the preload library neither needs nor exports it.
 */
#include "trace/chunk.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    AT_MAGIC = 0,
    AT_TYPE = 4,
    AT_VERSION = 6,
    AT_FLAGS = 7,
    AT_PROCESS = 8,
    AT_LENGTH = 16,
    AT_RAW_LENGTH = 20,
    AT_CHECK = 24,
    AT_HEADER_CHECK = 28,
};

static void put_le(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_le(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

uint64_t mw_hash64(const void *data, size_t size)
{
    return XXH64(data, size, 0);
}

uint32_t mw_checksum(const void *data, size_t size)
{
    return (uint32_t)XXH64(data, size, 0);
}

void mw_chunk_frame(uint8_t header[MW_CHUNK_HEADER_SIZE], unsigned type, unsigned flags,
                    uint64_t process, const void *payload, uint32_t length, uint32_t raw_length)
{
    put_le(header + AT_MAGIC, MW_CHUNK_MAGIC, 4);
    put_le(header + AT_TYPE, type, 2);
    header[AT_VERSION] = MW_FORMAT_VERSION;
    header[AT_FLAGS] = (uint8_t)flags;
    put_le(header + AT_PROCESS, process, 8);
    put_le(header + AT_LENGTH, length, 4);
    put_le(header + AT_RAW_LENGTH, raw_length, 4);
    put_le(header + AT_CHECK, mw_checksum(payload, length), 4);
    put_le(header + AT_HEADER_CHECK, mw_checksum(header, AT_HEADER_CHECK), 4);
}

enum mw_status mw_chunk_parse(const uint8_t header[MW_CHUNK_HEADER_SIZE],
                              struct mw_chunk_header *out)
{
    if (get_le(header + AT_MAGIC, 4) != MW_CHUNK_MAGIC)
        return MW_ERR_CORRUPT;
    if (get_le(header + AT_HEADER_CHECK, 4) != mw_checksum(header, AT_HEADER_CHECK))
        return MW_ERR_CORRUPT;
    uint32_t length = (uint32_t)get_le(header + AT_LENGTH, 4);
    uint32_t raw_length = (uint32_t)get_le(header + AT_RAW_LENGTH, 4);
    if (length > MW_CHUNK_MAX_STORED || raw_length > MW_CHUNK_MAX_RAW)
        return MW_ERR_LIMIT;
    out->type = (unsigned)get_le(header + AT_TYPE, 2);
    out->version = header[AT_VERSION];
    out->flags = header[AT_FLAGS];
    out->process = get_le(header + AT_PROCESS, 8);
    out->length = length;
    out->raw_length = raw_length;
    out->check = (uint32_t)get_le(header + AT_CHECK, 4);
    return MW_OK;
}
