/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack of bytes for one thread: copies of request arrays, statuses of our own, lists of ranks. Blocks of
 * 64 KiB, 128 KiB, ... are taken from the kernel when first needed and kept; nothing moves, so that outer
 * calls keep their pointers while a nested one pushes. A longjmp over it is mended by the next
 * outermost call, which sets scratch_used to 0.
 */
#include "record/record.h"

#define BLOCK ((size_t)1 << 16)

/* Block i holds the offsets from BLOCK * (2^i - 1) on. */
static size_t block_start(unsigned i)
{
    return BLOCK * (((size_t)1 << i) - 1);
}

void *mw_scratch_push(struct mw_thread_state *thread, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    size_t at = thread->scratch_used;
    for (unsigned i = 0; i < MW_SCRATCH_BLOCKS; i++) {
        if (at < block_start(i))
            at = block_start(i);
        if (at >= block_start(i + 1) || block_start(i + 1) - at < size)
            continue;
        if (!thread->scratch[i] && !(thread->scratch[i] = mw_pages(BLOCK << i)))
            return NULL;
        thread->scratch_used = at + size;
        return thread->scratch[i] + (at - block_start(i));
    }
    return NULL;
}
