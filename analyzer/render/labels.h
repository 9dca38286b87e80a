/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for things of a job: lists of ranks, communicators, how a process ended, code addresses.
 * Results are newly allocated unless said otherwise; they are not escaped.
 */
#ifndef MW_RENDER_LABELS_H
#define MW_RENDER_LABELS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/comms.h"
#include "analyzer/model/model.h"
#include "analyzer/model/symbols.h"

/* A set of ranks as text, "0-3,7": built up in any order, kept as ranges. */
struct mw_rank_range {
    int64_t first, last;
};
struct mw_rank_set {
    MW_VECTOR(struct mw_rank_range) ranges;
    size_t count, rankless; /* added */
};
void mw_rank_set_add(struct mw_rank_set *set, int64_t rank);
void mw_rank_set_add_process(struct mw_rank_set *set, const struct mw_process *process);
/* The text; frees the set. Processes whose rank is not known are counted behind. */
char *mw_rank_set_take(struct mw_rank_set *set);
/* The same as JSON text. */
json_t *mw_rank_set_json(struct mw_rank_set *set);
/* The ranks of processes, by their numbers. */
json_t *mw_processes_json(const struct mw_model *model, const uint32_t *processes, size_t count);
/* The world ranks that no process of the trace has; *count: how many. */
char *mw_missing_ranks(const struct mw_model *model, uint64_t *count);

/* "MPI_COMM_WORLD", the name that the program gave, or "split #2 of MPI_COMM_WORLD". number -1:
 * "comm ID" or "none". */
char *mw_comm_label(const struct mw_comms *comms, int64_t number, int64_t id);
/* "MPI_Finalize", "exit", "abort", "collected", "snapshot", "none". Static. */
const char *mw_end_word(const struct mw_process *process);
/* "program", "mpi", "binding", "tool", "mpiwatch". Static. */
const char *mw_role_word(enum mw_module_role role);
const char *mw_abi_word(enum mw_abi_kind abi);
const char *mw_basename(const char *path); /* a part of it */

/* A frame as JSON: module, offset, function, file, line, role, reason. */
json_t *mw_frame_json(struct mw_symbols *symbols, const struct mw_process *process,
                      const struct mw_frame *frame);
/* The calling frame of a site of a process; null where it was not recorded. */
json_t *mw_caller_json(struct mw_symbols *symbols, const struct mw_process *process, uint64_t site);
/* "solver!exchange halo.c:120" of such a frame. */
char *mw_frame_text(const json_t *frame);

#endif
