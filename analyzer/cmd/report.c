/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch report: what a job did in MPI, in words and numbers. */
#include <stdlib.h>

#include "analyzer/cmd/analysis.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"

enum format { TEXT, JSON };
static const char *const formats[] = {"text", "json", NULL};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {"top", 'n', "N", 0,
     "entries in lists of call sites, pairs and communicators (text: 10, json: 100)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    return mw_view_option(state->input, key, value, state);
}

static json_t *build_report(const struct mw_analysis *analysis, const struct mw_view_options *view)
{
    struct mw_doc_input in = {.model = analysis->model,
                              .comms = analysis->comms,
                              .tally = analysis->tally,
                              .stuck = analysis->stuck,
                              .transports = analysis->transports,
                              .findings = analysis->findings,
                              .settings = analysis->settings,
                              .placements = analysis->placements,
                              .exchange = analysis->exchange,
                              .paths = view->paths.at,
                              .path_count = view->paths.count};
    in.top = view->top >= 0 ? (size_t)view->top : view->format == TEXT ? 10 : 100;
    mw_progress_begin("looking up call sites", 0);
    in.symbols = mw_symbols_create();
    json_t *report = mw_doc_report(&in);
    mw_symbols_free(in.symbols);
    mw_progress_end();
    return report;
}

static int report_write(const json_t *report, const struct mw_view_options *view)
{
    struct mw_output output;
    if (mw_output_open(&output, view->output, 0))
        return MW_EXIT_FAILED;
    if (view->format == JSON)
        mw_json_write(report, output.stream);
    else
        mw_report_text(report, output.stream);
    return mw_output_close(&output, 0, 1);
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "What a job did in MPI: what is wrong with it, time by rank, call and call site, "
           "messages, transports, communicators, and for a job that died or hangs where each "
           "rank was.",
};

static int run(int argc, char **argv)
{
    struct mw_view_options view = {.formats = formats, .top = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &view);
    struct mw_analysis *analysis =
        mw_analysis_open(&view.paths, MW_ANALYSIS_STUCK | MW_ANALYSIS_FINDINGS);
    int status = MW_EXIT_FAILED;
    if (analysis) {
        json_t *report = build_report(analysis, &view);
        status = report_write(report, &view);
        json_decref(report);
    }
    mw_analysis_close(analysis);
    free(view.paths.at);
    return status;
}

const struct mw_command mw_command_report = {
    .name = "report",
    .summary = "what a job did in MPI, in words and numbers",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
