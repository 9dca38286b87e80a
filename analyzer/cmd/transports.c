/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch transports: which transport each pair of ranks used, and why. */
#include <stdlib.h>

#include "analyzer/analysis/exchange.h"
#include "analyzer/cmd/analysis.h"
#include "analyzer/model/model.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"
#include "analyzer/render/transports.h"

enum format { TEXT, JSON, CSV };
static const char *const formats[] = {"text", "json", "csv", NULL};

struct options {
    struct mw_view_options view;
    struct mw_rank_id rank; /* its rank is -1: not given */
    int64_t place;          /* of that; -1 not given */
};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default), json or csv", 0},
    {"rank", 'r', "N", 0, "the pairs of this rank one by one", 0},
    {"top", 'n', "N", 0,
     "entries in lists of pairs, attempts, log lines and ports (text: 20, json: 100)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'r':
        options->rank = mw_option_rank(state, "--rank", value);
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

static json_t *build_document(const struct mw_analysis *analysis, const struct options *options)
{
    const struct mw_model *model = analysis->model;
    size_t top = options->view.top >= 0         ? (size_t)options->view.top
                 : options->view.format == TEXT ? 20
                                                : 100;
    struct mw_transport_totals *totals =
        mw_transport_totals_create(analysis->transports, analysis->exchange->speeds);
    json_t *document = mw_json_document("transports");
    json_object_set_new(document, "trace",
                        mw_doc_trace(model, options->view.paths.at, options->view.paths.count));
    json_object_set_new(document, "job", mw_doc_job(model));
    json_object_set_new(document, "processes", mw_doc_processes(analysis->comms));
    json_object_set_new(document, "nodes", mw_doc_nodes(model));
    json_object_set_new(document, "transports", mw_doc_transports(totals, top));
    json_object_set_new(document, "pairs",
                        options->place >= 0 ? mw_doc_transport_pairs(totals, options->place, top)
                                            : json_null());
    json_object_set_new(document, "damage", mw_doc_damage(model->trace, analysis->tally));
    mw_transport_totals_free(totals);
    return document;
}

static void write_document(const struct mw_analysis *analysis, const struct options *options,
                           FILE *out)
{
    json_t *document = build_document(analysis, options);
    mw_progress_end();
    if (options->view.format == JSON)
        mw_json_write(document, out);
    else
        mw_transports_text(document, out);
    json_decref(document);
}

static int transports_write(const struct mw_analysis *analysis, struct options *options)
{
    struct mw_output output;
    if (options->rank.rank >= 0 &&
        (options->place = mw_command_rank(analysis->model, options->rank)) < 0)
        return MW_EXIT_FAILED;
    if (mw_output_open(&output, options->view.output, 0))
        return MW_EXIT_FAILED;
    if (options->view.format == CSV) {
        mw_progress_end();
        mw_transports_csv(analysis->transports, options->place, output.stream);
    } else {
        write_document(analysis, options, output.stream);
    }
    return mw_output_close(&output, 0, 1);
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "Which transport each pair of ranks used for which message sizes, by what evidence, "
           "what it reached of its line rate; what was tried and failed, and what lay idle.",
};

static int run(int argc, char **argv)
{
    struct options options = {
        .view = {.formats = formats, .top = -1}, .rank = {0, -1}, .place = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    unsigned parts = MW_ANALYSIS_TRANSPORTS;
    if (options.view.format != CSV) /* speeds, which CSV does not have */
        parts |= MW_ANALYSIS_EXCHANGE;
    struct mw_analysis *analysis = mw_analysis_open(&options.view.paths, parts);
    int status = analysis ? transports_write(analysis, &options) : MW_EXIT_FAILED;
    mw_analysis_close(analysis);
    free(options.view.paths.at);
    return status;
}

const struct mw_command mw_command_transports = {
    .name = "transports",
    .summary = "which transport each pair used, and why",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
