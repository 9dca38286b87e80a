/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Busy processes that a job saw on its nodes: which of them are its own after all. Main thread
 * only; nothing is allocated.
 */
#ifndef MW_FINDINGS_FOREIGNERS_H
#define MW_FINDINGS_FOREIGNERS_H

#include "analyzer/model/model.h"

/* Was it started by the job, or is it part of its launcher? As far as the trace tells: a recorded
 * process, one's parent, or a descendant of these. `seer`: the process that saw it. */
int mw_foreign_is_ours(const struct mw_model *model, uint32_t seer,
                       const struct mw_foreign *foreign);
/* Does it have the name of the program of `seer`, as the kernel keeps names? */
int mw_foreign_is_namesake(const struct mw_model *model, uint32_t seer,
                           const struct mw_foreign *foreign);

#endif
