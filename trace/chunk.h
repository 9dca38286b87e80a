/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunk framing (docs/format.md section 3). Pure functions over memory: no allocation, no I/O, any
 * thread. Linked into the recording library and into the reader.
 */
#ifndef MW_TRACE_CHUNK_H
#define MW_TRACE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/format.h"
#include "mpiwatch/status.h"

struct mw_chunk_header {
    unsigned type, version, flags;
    uint64_t process;
    uint32_t length, raw_length, check;
};

/* Low 32 bits of XXH64, seed 0. */
uint32_t mw_checksum(const void *data, size_t size);
/* XXH64 with seed 0: process keys and member hashes. */
uint64_t mw_hash64(const void *data, size_t size);

/* Writes the 32 header bytes for a payload (computes both checksums). length <=
 * MW_CHUNK_MAX_STORED. */
void mw_chunk_frame(uint8_t header[MW_CHUNK_HEADER_SIZE], unsigned type, unsigned flags,
                    uint64_t process, const void *payload, uint32_t length, uint32_t raw_length);
/* MW_ERR_CORRUPT: no header here (magic or checksum); MW_ERR_LIMIT: lengths over the limits. A
 * newer version is MW_OK. */
enum mw_status mw_chunk_parse(const uint8_t header[MW_CHUNK_HEADER_SIZE],
                              struct mw_chunk_header *out);

#endif
