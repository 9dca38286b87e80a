/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a trace and builds the analyses that a subcommand asks for (analysis.h). */
#include "analyzer/cmd/analysis.h"

#include <stdlib.h>

#include "analyzer/analysis/exchange.h"
#include "analyzer/analysis/placement.h"
#include "analyzer/analysis/settings.h"
#include "analyzer/analysis/stuck.h"
#include "analyzer/analysis/tally.h"
#include "analyzer/analysis/transports.h"
#include "analyzer/base/memory.h"
#include "analyzer/findings/finding.h"
#include "analyzer/render/progress.h"

static uint64_t count_events(const struct mw_model *model)
{
    uint64_t events = 0;
    for (size_t i = 0; i < model->threads.count; i++)
        events += model->threads.at[i].next;
    return events;
}

static struct mw_tally *read_events(const struct mw_analysis *analysis)
{
    mw_progress_begin("reading events", count_events(analysis->model));
    struct mw_tally *tally = mw_tally_create(analysis->model, analysis->comms, mw_progress_add);
    mw_command_damage(tally);
    return tally;
}

static struct mw_exchange *match_messages(const struct mw_analysis *analysis)
{
    unsigned passes = analysis->model->node_count > 1 ? 2 : 1;
    mw_progress_begin("matching messages", passes * count_events(analysis->model));
    return mw_exchange_create(analysis->model, analysis->comms, mw_progress_add);
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

struct mw_analysis *mw_analysis_open(const struct mw_paths *paths, unsigned parts)
{
    mw_trace *trace = mw_command_open(paths, MW_OPEN_RESIDUE);
    if (!trace)
        return NULL;
    struct mw_analysis *analysis = mw_alloc(1, sizeof(*analysis));
    parts = with_what_they_need(parts);
    analysis->trace = trace;
    analysis->model = mw_model_create(trace);
    analysis->comms = mw_comms_create(analysis->model);
    if (parts & MW_ANALYSIS_TALLY)
        analysis->tally = read_events(analysis);
    if (parts & MW_ANALYSIS_EXCHANGE)
        analysis->exchange = match_messages(analysis);
    if (parts & MW_ANALYSIS_STUCK)
        analysis->stuck = mw_stuck_create(analysis->tally);
    if (parts & MW_ANALYSIS_SETTINGS) {
        mw_progress_begin("looking up settings", 0);
        analysis->settings = mw_settings_create(analysis->model);
    }
    if (parts & MW_ANALYSIS_TRANSPORTS) {
        mw_progress_begin("joining transports", 0);
        analysis->transports = mw_transports_create(analysis->tally);
    }
    if (parts & MW_ANALYSIS_PLACEMENT)
        analysis->placements = mw_placements_create(analysis->model, analysis->transports);
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
