/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a subcommand needs to know about a job: the trace, opened, and the analyses that it asks
 * for, built in their order with progress and damage said on stderr. One call opens, one closes.
 * Main thread only.
 */
#ifndef MW_CMD_ANALYSIS_H
#define MW_CMD_ANALYSIS_H

#include "analyzer/cmd/command.h"

enum mw_analysis_parts {                        /* each brings those that it builds on */
                         MW_ANALYSIS_TALLY = 1, /* all events are read */
                         MW_ANALYSIS_STUCK = 2,
                         MW_ANALYSIS_TRANSPORTS = 4,
                         MW_ANALYSIS_SETTINGS = 8, /* without reading events */
                         MW_ANALYSIS_FINDINGS = 16,
                         MW_ANALYSIS_PLACEMENT = 32,
                         MW_ANALYSIS_EXCHANGE = 64, /* all events are read once or twice more */
};

struct mw_analysis {
    mw_trace *trace;
    struct mw_model *model;
    struct mw_comms *comms;
    struct mw_tally *tally; /* these are NULL where they were not asked for */
    struct mw_stuck *stuck;
    struct mw_transports *transports;
    struct mw_settings *settings;
    struct mw_placements *placements;
    struct mw_findings *findings;
    struct mw_exchange *exchange;
};

/* NULL when the trace cannot be read (said). Progress is shown until mw_progress_end. */
struct mw_analysis *mw_analysis_open(const struct mw_paths *paths, unsigned parts);
void mw_analysis_close(struct mw_analysis *analysis);

#endif
