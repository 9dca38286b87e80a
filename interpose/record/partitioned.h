/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages, as far as the other handlers of requests need to know of them. */
#ifndef MW_RECORD_PARTITIONED_H
#define MW_RECORD_PARTITIONED_H

#include "record/record.h"

/* Which initialisation of a partitioned message with this envelope the call is, from 1 on: these
 * match in their order, and among themselves. 0: the call prepares something else, or there is no
 * room to count. */
uint32_t mw_part_number(const struct mw_call *call, int kind, const struct mw_raw_event *detail);
/* Puts the number where the event of a use has it: in the amount that its kind does not have. */
void mw_part_mark(struct mw_raw_event *detail, int kind, uint32_t number);

#endif
