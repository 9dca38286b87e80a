/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing chunks to a stream, for the commands that copy or rewrite traces (pack, anonymize). */
#ifndef MW_BASE_CHUNK_WRITE_H
#define MW_BASE_CHUNK_WRITE_H

#include <stdio.h>

#include "mpiwatch/trace.h"

/* A chunk as it was read, with its own version. Errors are the stream's (ferror). */
void mw_chunk_write(FILE *out, const struct mw_chunk_view *chunk);
/* A number that is the same for chunks with equal content. */
uint64_t mw_chunk_identity(const struct mw_chunk_view *chunk);

#endif
