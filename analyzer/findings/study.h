/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace that is open, and the analyses of it that somebody asks for, built in their order. Prints
 * nothing: who waits for it is told by `watch`. One thread.
 */
#ifndef MW_FINDINGS_STUDY_H
#define MW_FINDINGS_STUDY_H

#include <stdint.h>

#include "mpiwatch/trace.h"

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

/* Any member may be NULL. */
struct mw_analysis_watch {
    void (*begin)(const char *what, uint64_t total); /* total 0: not known */
    void (*add)(uint64_t done);                      /* from any thread */
    void (*tallied)(const struct mw_tally *tally);   /* all events were read */
};

/* Takes the trace over. Never NULL. */
struct mw_analysis *mw_analysis_build(mw_trace *trace, unsigned parts,
                                      const struct mw_analysis_watch *watch);
void mw_analysis_close(struct mw_analysis *analysis);

#endif
