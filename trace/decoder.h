/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events out of an EVENTS chunk, step by step. Reader side only: allocates, trusts nothing in the
 * payload (every count and index is checked, memory is bounded by the format's limits).
 */
#ifndef MW_TRACE_DECODER_H
#define MW_TRACE_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/trace.h"

struct mw_decoder;

struct mw_events_head { /* the varints before the frame */
    uint64_t thread, first, count, shift, base, request;
};

/* Reads only the head. */
enum mw_status mw_events_head_read(const uint8_t *payload, size_t length,
                                   struct mw_events_head *head);

/* The payload must stay valid until close. */
enum mw_status mw_decoder_open(const uint8_t *payload, size_t length, uint32_t raw_length,
                               struct mw_decoder **decoder);
const struct mw_events_head *mw_decoder_head(const struct mw_decoder *decoder);
/* The next step's events in *events (valid until the next call); MW_END after head.count events;
 * MW_ERR_CORRUPT. Fields as in trace.h; PART events have start and end 0 here. Times are shifted
 * back left. */
enum mw_status mw_decoder_step(struct mw_decoder *decoder, const struct mw_event **events,
                               size_t *count);
void mw_decoder_close(struct mw_decoder *decoder);

#endif
