/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for things of a job: lists of ranks, communicators, how a process ended. Results are newly
 * allocated unless said otherwise; they are not escaped. Main thread only.
 */
#ifndef MW_MODEL_LABELS_H
#define MW_MODEL_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/comms.h"
#include "analyzer/model/model.h"

/* "3", or "2:3" where the trace has several worlds; "?" for -1. */
char *mw_rank_label(const struct mw_model *model, int64_t place);
/* "0 -> 1" */
char *mw_pair_label(const struct mw_model *model, int64_t src, int64_t dst);
/* Reads such a label. 0 where it is none. */
int mw_rank_label_read(const char *label, struct mw_rank_id *id);
/* By world, then rank. */
int mw_rank_id_compare(struct mw_rank_id a, struct mw_rank_id b);
/* "rank 3", "rank 2:3", "rank 0 of a remote group (not recorded)", "any", "unknown": the peer of a
 * call, by its place. */
char *mw_peer_label(const struct mw_model *model, int64_t place);

/* A set of ranks as text, "0-3,7" or "1:0-3,2:7": built up in any order, kept as ranges. */
struct mw_rank_range {
    uint32_t world; /* of struct mw_rank_id */
    int64_t first, last;
};
struct mw_rank_set {
    MW_VECTOR(struct mw_rank_range) ranges;
    size_t count, rankless; /* added */
};
void mw_rank_set_add(struct mw_rank_set *set, struct mw_rank_id id);
void mw_rank_set_add_place(struct mw_rank_set *set, const struct mw_model *model, int64_t place);
void mw_rank_set_add_process(struct mw_rank_set *set, const struct mw_model *model, size_t process);
/* The text; frees the set. Processes whose rank is not known are counted behind. */
char *mw_rank_set_take(struct mw_rank_set *set);
/* Such a list of at most `width` characters, cut after a whole entry: "0-3,7,...". */
char *mw_rank_list_cut(const char *list, size_t width);
/* The ranks that no process of the trace has; *count: how many. */
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

#endif
