/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Busy processes that a job saw on its nodes: which of them are its own after all. Main thread
 * only; nothing is allocated.
 */
#ifndef MW_FINDINGS_FOREIGNERS_H
#define MW_FINDINGS_FOREIGNERS_H

#include "analyzer/model/model.h"

#define MW_FOREIGN_MAX 512 /* the job writes at most 256 of a look, a made-up trace millions */

/* How many of a look are considered. */
static inline size_t mw_foreign_count(const struct mw_placement *look)
{
    return look->foreign_count < MW_FOREIGN_MAX ? look->foreign_count : MW_FOREIGN_MAX;
}
/* Was it started by the job, or is it part of its launcher? As far as the trace tells: a recorded
 * process, one's parent, or a descendant of these. `seer`: the process that saw it. */
int mw_foreign_is_ours(const struct mw_model *model, uint32_t seer,
                       const struct mw_foreign *foreign);
/* Does it have the name of the program of `seer`, as the kernel keeps names? */
int mw_foreign_is_namesake(const struct mw_model *model, uint32_t seer,
                           const struct mw_foreign *foreign);

#endif
