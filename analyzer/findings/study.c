/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the analyses of a trace (study.h). */
#include "analyzer/findings/study.h"

#include <stdlib.h>

#include "analyzer/analysis/stuck.h"
#include "analyzer/findings/finding.h"

static uint64_t count_events(const struct mw_model *model)
{
    uint64_t events = 0;
    for (size_t i = 0; i < model->threads.count; i++)
        events += model->threads.at[i].next;
    return events;
}

static void begin(const struct mw_analysis_watch *watch, const char *what, uint64_t total)
{
    if (watch->begin)
        watch->begin(what, total);
}

static struct mw_tally *read_events(const struct mw_analysis *analysis,
                                    const struct mw_analysis_watch *watch)
{
    begin(watch, "reading events", count_events(analysis->model));
    struct mw_tally *tally = mw_tally_create(analysis->model, analysis->comms, watch->add);
    if (watch->tallied)
        watch->tallied(tally);
    return tally;
}

static struct mw_exchange *match_messages(const struct mw_analysis *analysis,
                                          const struct mw_analysis_watch *watch)
{
    unsigned passes = analysis->model->node_count > 1 ? 2 : 1;
    begin(watch, "matching messages", passes * count_events(analysis->model));
    return mw_exchange_create(analysis->model, analysis->comms, analysis->placements, watch->add);
}

static unsigned with_what_they_need(unsigned parts)
{
    if (parts & MW_ANALYSIS_FINDINGS)
        parts |= MW_ANALYSIS_PLACEMENT | MW_ANALYSIS_SETTINGS | MW_ANALYSIS_EXCHANGE;
    if (parts & MW_ANALYSIS_PLACEMENT)
        parts |= MW_ANALYSIS_TRANSPORTS;
    if (parts & (MW_ANALYSIS_TRANSPORTS | MW_ANALYSIS_STUCK | MW_ANALYSIS_EXCHANGE))
        parts |= MW_ANALYSIS_TALLY;
    return parts;
}

struct mw_analysis *mw_analysis_build(mw_trace *trace, unsigned parts,
                                      const struct mw_analysis_watch *watch)
{
    struct mw_analysis *analysis = mw_alloc(1, sizeof(*analysis));
    parts = with_what_they_need(parts);
    analysis->trace = trace;
    analysis->model = mw_model_create(trace);
    analysis->comms = mw_comms_create(analysis->model);
    if (parts & MW_ANALYSIS_TALLY)
        analysis->tally = read_events(analysis, watch);
    if (parts & MW_ANALYSIS_STUCK)
        analysis->stuck = mw_stuck_create(analysis->tally);
    if (parts & MW_ANALYSIS_SETTINGS) {
        begin(watch, "looking up settings", 0);
        analysis->settings = mw_settings_create(analysis->model);
    }
    if (parts & MW_ANALYSIS_TRANSPORTS) {
        begin(watch, "joining transports", 0);
        analysis->transports = mw_transports_create(analysis->tally);
    }
    if (parts & MW_ANALYSIS_PLACEMENT)
        analysis->placements = mw_placements_create(analysis->model, analysis->transports);
    if (parts & MW_ANALYSIS_EXCHANGE)
        analysis->exchange = match_messages(analysis, watch);
    if (parts & MW_ANALYSIS_FINDINGS)
        analysis->findings = mw_findings_create(&(struct mw_finding_input){
            analysis->model, analysis->tally, analysis->transports, analysis->settings,
            analysis->placements, analysis->exchange});
    return analysis;
}

void mw_analysis_close(struct mw_analysis *analysis)
{
    if (!analysis)
        return;
    mw_findings_free(analysis->findings);
    mw_placements_free(analysis->placements);
    mw_exchange_free(analysis->exchange);
    mw_transports_free(analysis->transports);
    mw_settings_free(analysis->settings);
    mw_stuck_free(analysis->stuck);
    mw_tally_free(analysis->tally);
    mw_comms_free(analysis->comms);
    mw_model_free(analysis->model);
    mw_trace_close(analysis->trace);
    free(analysis);
}
