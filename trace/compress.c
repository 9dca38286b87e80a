/* SPDX-License-Identifier: BSD-3-Clause */
/* See compress.h. */
#define ZSTD_STATIC_LINKING_ONLY
#include "trace/compress.h"

#include <zstd.h>

#define LEVEL 3

size_t mw_compress_memory(size_t size)
{
    return ZSTD_estimateCCtxSize(LEVEL); /* only what the source needs of it is touched */
}

size_t mw_compress(void *memory, size_t memory_size, const void *data, size_t size, void *out,
                   size_t capacity)
{
    ZSTD_CCtx *context = ZSTD_initStaticCCtx(memory, memory_size);
    if (!context)
        return 0;
    size_t got = ZSTD_compressCCtx(context, out, capacity, data, size, LEVEL);
    return ZSTD_isError(got) || got >= size ? 0 : got;
}
