/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EVENTS chunks from raw events (docs/format.md section 5), in small steps of one zstd stream so
 * that no single step delays a call for long. Runs inside MPI calls of other people's programs: no
 * allocation after init, no I/O, no locks; one encoder serves one thread at a time.
 */
#ifndef MW_TRACE_ENCODER_H
#define MW_TRACE_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/status.h"

/* An event as the recorder leaves it in the ring of its thread. 64 bytes, one cache line. */
struct mw_raw_event {
    uint64_t start, end; /* clock readings; 0 with PART */
    /* POLL: number of polls, busy clock ticks. ERROR: the code (as int64_t), 0. Both at once: the
     * code, busy ticks, and it counts as one poll. OFFSET, HELD: bytes_in is the offset, or the
     * ticks (as int64_t). */
    uint64_t bytes, bytes_in;
    /* enum mw_event_flag, never ORDINAL: the encoder decides that; and the memory spaces. With FOREIGN
     * there are none of these, and the top byte is that of the origin. */
    uint32_t flags;
    uint32_t ordinal; /* with COUNTED */
    uint32_t request; /* with REQUEST */
    uint32_t comm;    /* id + 1; 0 none */
    int32_t peer, tag;
    uint32_t site;
    uint16_t function;
    uint8_t kind;   /* enum mw_event_kind */
    uint8_t origin; /* with FOREIGN: index of the thread that started the request, its low byte */
};
_Static_assert(sizeof(struct mw_raw_event) == 64, "one cache line");

#define MW_ORIGIN_HIGH_SHIFT 24u /* of the origin's upper eight bits in the flags */
#define MW_ORIGIN_MAX 0xffffu

#define MW_ENCODER_STEP 512u /* most events in one step */

struct mw_encoder;

/* Bytes of memory that an encoder needs (page-aligned memory expected; zeroed). */
size_t mw_encoder_memory(void);
/* Builds an encoder in memory of that size. The memory stays the caller's; nothing needs to be
 * freed. NULL when zstd refuses it. level: 1 packs most; 0, -1, -2 ... (as far as -64) are faster
 * and pack less. Higher ones count as 1. */
struct mw_encoder *mw_encoder_create(void *memory, size_t size, int level);
/* Starts a chunk for a thread whose next event has this number. Times are shifted right by `shift`
 * (at most 63). */
void mw_encoder_begin(struct mw_encoder *encoder, uint32_t thread, uint64_t first, unsigned shift);
/* Encodes `count` (1..MW_ENCODER_STEP) events numbered from `from`: ring[(number) & mask].
 * MW_ERR_FULL: the chunk has no room for them, nothing was taken: end it and begin another (it
 * takes no more events, not even fewer). An empty chunk always has room. MW_ERR_MEMORY: zstd
 * failed, this chunk is lost. */
enum mw_status mw_encoder_step(struct mw_encoder *encoder, const struct mw_raw_event *ring,
                               uint64_t mask, uint64_t from, size_t count);
/* Ends the chunk: *chunk is the framed chunk, header included, *size its length; both valid until
 * the next begin. MW_END when no event was taken (nothing to write) or it has been ended before. */
enum mw_status mw_encoder_end(struct mw_encoder *encoder, uint64_t process, const uint8_t **chunk,
                              size_t *size);
/* Events taken since begin. */
uint64_t mw_encoder_events(const struct mw_encoder *encoder);

#endif
