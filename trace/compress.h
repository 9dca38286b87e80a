/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One zstd frame in memory of the caller's: for chunks of fields that are long enough to be worth it
 * (loaded objects, environment). No allocation, no I/O, any thread.
 */
#ifndef MW_TRACE_COMPRESS_H
#define MW_TRACE_COMPRESS_H

#include <stddef.h>

/* Bytes of working memory for sources of at most `size` bytes. */
size_t mw_compress_memory(size_t size);
/* Bytes written to `out`, 0 when they would not be fewer than `size` or do not fit. */
size_t mw_compress(void *memory, size_t memory_size, const void *data, size_t size, void *out,
                   size_t capacity);

#endif
