/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of all processes of a job, merged in the order in which they ended on the common clock
 * (clock.h), so that both ends of a message come close to each other. Processes whose time is not
 * known are left out. Memory: a chunk for each thread of the job. One feed, one thread.
 */
#ifndef MW_MODEL_FEED_H
#define MW_MODEL_FEED_H

#include "analyzer/model/clock.h"
#include "analyzer/model/stream.h"

struct mw_feed;

struct mw_feed *mw_feed_open(const struct mw_model *model, const struct mw_clock *clock);
/* MW_OK and the next call (valid until the next call of this function), or MW_END. */
enum mw_status mw_feed_next(struct mw_feed *feed, uint32_t *process, uint64_t *thread,
                            const struct mw_call_record **record);
void mw_feed_close(struct mw_feed *feed);

#endif
