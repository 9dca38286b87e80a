/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for things of a job in documents: lists of ranks and code addresses as JSON. The words
 * themselves are those of model/labels.h. Main thread only.
 */
#ifndef MW_RENDER_LABELS_H
#define MW_RENDER_LABELS_H

#include <jansson.h>

#include "analyzer/model/labels.h"
#include "analyzer/model/symbols.h"

/* A rank by its place: a number, "2:3" where the trace has several worlds, null for -1. */
json_t *mw_rank_json(const struct mw_model *model, int64_t place);
/* That as text: "3", "2:3", "?" for null. Free it. */
char *mw_rank_text(const json_t *object, const char *key);
/* That back as a name; rank -1 for null. */
struct mw_rank_id mw_rank_id_of(const json_t *object, const char *key);
/* The text of a set of ranks; frees the set. */
json_t *mw_rank_set_json(struct mw_rank_set *set);
/* The ranks of processes, by their numbers. */
json_t *mw_processes_json(const struct mw_model *model, const uint32_t *processes, size_t count);

/* A frame as JSON: module, offset, function, inlined_into, file, line, role, reason. */
json_t *mw_frame_json(struct mw_symbols *symbols, const struct mw_process *process,
                      const struct mw_frame *frame);
/* The calling frame of a site of a process; null where it was not recorded. */
json_t *mw_caller_json(struct mw_symbols *symbols, const struct mw_process *process, uint64_t site);
/* "solver!exchange halo.c:120" of such a frame; "solver!exchange in step halo.h:7" where exchange
 * was inlined into step. */
char *mw_frame_text(const json_t *frame);

#endif
