/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields of AGGREGATE and REGION chunks from what the mapping holds: for the process itself and for
 * whoever collects what it left. No allocation, no I/O; nothing that is read is believed.
 */
#ifndef MW_TRACE_AGGREGATE_H
#define MW_TRACE_AGGREGATE_H

#include "trace/fields.h"
#include "trace/mapping.h"

/* Room for a payload of any group. */
#define MW_AGGREGATE_MAX (64 + MW_MAP_ROWS * 160)

/* The payload of one group's AGGREGATE chunk. Returns how many rows have something in them: where
 * 0, there is nothing to write. */
unsigned mw_aggregate_put(struct mw_buffer *buffer, const struct mw_map_thread *thread,
                          const struct mw_map_group *group);
/* The payload of a REGION chunk; `index` from 0. */
void mw_region_put(struct mw_buffer *buffer, uint32_t index, const struct mw_map_region *region);

#endif
