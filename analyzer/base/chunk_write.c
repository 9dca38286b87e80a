/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames chunks anew (chunk_write.h); payloads are copied as they are. */
#include "analyzer/base/chunk_write.h"

#include "trace/chunk.h"

#define AT_VERSION      6 /* docs/format.md section 3 */
#define AT_HEADER_CHECK 28

void mw_chunk_write(FILE *out, const struct mw_chunk_view *chunk)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, chunk->type, chunk->flags, chunk->process, chunk->payload, chunk->length,
                   chunk->raw_length);
    /* A chunk of a newer version keeps it, so that a newer mpiwatch can read it. */
    header[AT_VERSION] = (uint8_t)chunk->version;
    uint32_t check = mw_checksum(header, AT_HEADER_CHECK);
    for (unsigned i = 0; i < 4; i++)
        header[AT_HEADER_CHECK + i] = (uint8_t)(check >> (8 * i));
    fwrite(header, sizeof(header), 1, out);
    if (chunk->length)
        fwrite(chunk->payload, chunk->length, 1, out);
}

uint64_t mw_chunk_identity(const struct mw_chunk_view *chunk)
{
    uint64_t parts[5] = {chunk->type, chunk->version, chunk->flags, chunk->process,
                         mw_hash64(chunk->payload, chunk->length)};
    return mw_hash64(parts, sizeof(parts));
}
