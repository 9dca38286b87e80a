/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands that compare runs share: reading them, exit codes. Main thread only. */
#ifndef MW_CMD_BASELINE_H
#define MW_CMD_BASELINE_H

#include "analyzer/cmd/command.h"
#include "analyzer/regression/compare.h"

#define MW_THRESHOLD 0.05 /* what is no longer the same speed */

struct mw_read_runs {
    struct mw_runs runs;
    struct mw_digest **digests; /* the same, to be freed */
};

/* Each path is a run. 0, or -1 after saying which cannot be read. */
int mw_runs_read(struct mw_read_runs *read, const struct mw_paths *paths);
void mw_runs_free(struct mw_read_runs *read);

int mw_outcome_exit(enum mw_outcome outcome);

#endif
