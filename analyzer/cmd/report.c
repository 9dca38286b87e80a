/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch report: what a job did in MPI, in words and numbers. */
#include <stdlib.h>

#include "analyzer/cmd/analysis.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"

enum format { TEXT, JSON };
static const char *const formats[] = {"text", "json", NULL};

struct options {
    struct mw_paths paths;
    int format;
    long top; /* -1: not given */
    const char *output;
};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {"top", 'n', "N", 0,
     "entries in lists of call sites, pairs and communicators (text: 10, json: 100)", 0},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'f':
        options->format = mw_option_word(state, "--format", value, formats);
        return 0;
    case 'n':
        options->top = mw_option_number(state, "--top", value, 0);
        return 0;
    case 'o':
        options->output = value;
        return 0;
    case ARGP_KEY_ARG:
        mw_paths_add(&options->paths, value);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which trace?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static json_t *build_report(const struct mw_analysis *analysis, const struct options *options)
{
    struct mw_doc_input in = {.model = analysis->model,
                              .comms = analysis->comms,
                              .tally = analysis->tally,
                              .stuck = analysis->stuck,
                              .transports = analysis->transports,
                              .findings = analysis->findings,
                              .settings = analysis->settings,
                              .paths = options->paths.at,
                              .path_count = options->paths.count};
    in.top = options->top >= 0 ? (size_t)options->top : options->format == TEXT ? 10 : 100;
    mw_progress_begin("looking up call sites", 0);
    in.symbols = mw_symbols_create();
    json_t *report = mw_doc_report(&in);
    mw_symbols_free(in.symbols);
    mw_progress_end();
    return report;
}

static int report_write(const json_t *report, const struct options *options)
{
    struct mw_output output;
    if (mw_output_open(&output, options->output, 0))
        return MW_EXIT_FAILED;
    if (options->format == JSON)
        mw_json_write(report, output.stream);
    else
        mw_report_text(report, output.stream);
    return mw_output_close(&output, 0, 1);
}

static int run(int argc, char **argv)
{
    static const struct argp parser = {
        option_list,
        parse_option,
        "TRACE...",
        "What a job did in MPI: what is wrong with it, time by rank, call and call site, messages, "
        "transports, communicators, and for a job that died or hangs where each rank was.",
        NULL,
        NULL,
        NULL};
    struct options options = {.top = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    struct mw_analysis *analysis =
        mw_analysis_open(&options.paths, MW_ANALYSIS_STUCK | MW_ANALYSIS_FINDINGS);
    int status = MW_EXIT_FAILED;
    if (analysis) {
        json_t *report = build_report(analysis, &options);
        status = report_write(report, &options);
        json_decref(report);
    }
    mw_analysis_close(analysis);
    free(options.paths.at);
    return status;
}

const struct mw_command mw_command_report = {
    "report", "what a job did in MPI, in words and numbers", "[OPTION...] TRACE...", run};
