/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch waits: who waited for whom, where, and for how long. */
#include <stdlib.h>

#include "analyzer/cmd/analysis.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"
#include "analyzer/render/speeds.h"

enum format { TEXT, JSON };
static const char *const formats[] = {"text", "json", NULL};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {"top", 'n', "N", 0, "ranks and call sites that are listed (text: 20, json: 100)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    return mw_view_option(state->input, key, value, state);
}

static json_t *build_document(const struct mw_analysis *analysis, const struct mw_view_options *view)
{
    const struct mw_model *model = analysis->model;
    size_t top = view->top >= 0 ? (size_t)view->top : view->format == TEXT ? 20 : 100;
    struct mw_symbols *symbols = mw_symbols_create();
    json_t *document = mw_json_document("waits");
    json_object_set_new(document, "trace",
                        mw_doc_trace(model, view->paths.at, view->paths.count));
    json_object_set_new(document, "job", mw_doc_job(model));
    json_object_set_new(document, "processes", mw_doc_processes(analysis->comms));
    json_object_set_new(document, "nodes", mw_doc_nodes(model));
    json_object_set_new(document, "clocks", mw_doc_clocks(analysis->exchange));
    json_object_set_new(document, "waits", mw_doc_waits(analysis->exchange, symbols, top));
    json_object_set_new(document, "damage", mw_doc_damage(model->trace, analysis->tally));
    mw_symbols_free(symbols);
    return document;
}

static int waits_write(const struct mw_analysis *analysis, const struct mw_view_options *view)
{
    struct mw_output output;
    if (mw_output_open(&output, view->output, 0))
        return MW_EXIT_FAILED;
    json_t *document = build_document(analysis, view);
    mw_progress_end();
    if (view->format == JSON)
        mw_json_write(document, output.stream);
    else
        mw_waits_text(document, output.stream);
    json_decref(document);
    return mw_output_close(&output, 0, 1);
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "Time that ranks lost to waiting for others: Late Sender, Late Receiver, Late "
           "Broadcast, Early Reduce, Wait at Barrier and Wait at NxN, by rank and call site; and "
           "which rank was waited for.",
};

static int run(int argc, char **argv)
{
    struct mw_view_options view = {.formats = formats, .top = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &view);
    struct mw_analysis *analysis = mw_analysis_open(&view.paths, MW_ANALYSIS_EXCHANGE);
    int status = analysis ? waits_write(analysis, &view) : MW_EXIT_FAILED;
    mw_analysis_close(analysis);
    free(view.paths.at);
    return status;
}

const struct mw_command mw_command_waits = {
    .name = "waits",
    .summary = "who waited for whom, and where",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
