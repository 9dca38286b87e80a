/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of one process, all its threads merged in the order in which the calls ended, so that
 * the call that starts a request comes before the one that completes it, whichever thread does it.
 * Memory: one chunk a thread. One stream, one thread; several streams of one trace may run at once.
 */
#ifndef MW_MODEL_STREAM_H
#define MW_MODEL_STREAM_H

#include "analyzer/model/model.h"

struct mw_stream;

struct mw_stream *mw_stream_open(const struct mw_model *model, const struct mw_process *process);
/* MW_OK and the next call with its thread (valid until the next call of this function), or MW_END.
 */
enum mw_status mw_stream_next(struct mw_stream *stream, uint64_t *thread,
                              const struct mw_call_record **record);
/* Events that are known to be missing, so far. */
uint64_t mw_stream_missing(const struct mw_stream *stream);
/* What the first thread that could not be read to its end had; MW_OK when all could. */
enum mw_status mw_stream_status(const struct mw_stream *stream);
/* What turned out to be unreadable, beyond mw_trace_damage. Belongs to the stream. */
size_t mw_stream_damage_count(const struct mw_stream *stream);
const struct mw_damage *mw_stream_damage(const struct mw_stream *stream, size_t index);
size_t mw_stream_threads(const struct mw_stream *stream);
/* Whether that thread has events. */
int mw_stream_has(const struct mw_stream *stream, uint64_t thread);
void mw_stream_close(struct mw_stream *stream);

#endif
