/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a subcommand needs to know about a job: the trace, opened, and the analyses that it asks
 * for, with progress and damage said on stderr. One call opens, one closes. Main thread only.
 */
#ifndef MW_CMD_ANALYSIS_H
#define MW_CMD_ANALYSIS_H

#include "analyzer/cmd/command.h"
#include "analyzer/findings/study.h"

/* NULL when the trace cannot be read (said). Progress is shown until mw_progress_end. */
struct mw_analysis *mw_analysis_open(const struct mw_paths *paths, unsigned parts);

#endif
