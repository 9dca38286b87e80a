/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch placement: where each rank sat, and how far from what it used. */
#include <stdlib.h>

#include "analyzer/cmd/analysis.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/placement.h"
#include "analyzer/render/progress.h"

enum format { TEXT, JSON, SVG };
static const char *const formats[] = {"text", "json", "svg", NULL};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default), json or svg: a picture of the nodes", 0},
    {"top", 'n', "N", 0, "ranks in the table, and nodes that are drawn (text: 64, json: all)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    return mw_view_option(state->input, key, value, state);
}

static json_t *build_document(const struct mw_analysis *analysis,
                              const struct mw_view_options *view, size_t top)
{
    const struct mw_model *model = analysis->model;
    json_t *document = mw_json_document("placement");
    json_object_set_new(document, "trace", mw_doc_trace(model, view->paths.at, view->paths.count));
    json_object_set_new(document, "job", mw_doc_job(model));
    json_object_set_new(document, "processes", mw_doc_processes(analysis->comms));
    json_object_set_new(document, "nodes", mw_doc_nodes(model));
    json_object_set_new(document, "placement",
                        mw_doc_placement(analysis->placements, analysis->tally, top));
    json_object_set_new(document, "damage", mw_doc_damage(model->trace, analysis->tally));
    return document;
}

static int placement_write(const struct mw_analysis *analysis, const struct mw_view_options *view)
{
    struct mw_output output;
    size_t top = view->top >= 0 ? (size_t)view->top : view->format == TEXT ? 64 : SIZE_MAX;
    json_t *document = build_document(analysis, view, top);
    mw_progress_end();
    int status = MW_EXIT_FAILED;
    if (!mw_output_open(&output, view->output, 0)) {
        if (view->format == JSON)
            mw_json_write(document, output.stream);
        else if (view->format == SVG)
            mw_placement_svg(document, output.stream);
        else
            mw_placement_text(document, top, output.stream);
        status = mw_output_close(&output, 0, 1);
    }
    json_decref(document);
    return status;
}

static const struct argp parser = {
    option_list,
    parse_option,
    "TRACE...",
    "Where each rank sat: its processors, NUMA node and socket, who bound it, the network cards "
    "and "
    "GPUs that it used and how far these are; a drawn map of each node; what ranks sent each other "
    "by distance.",
    NULL,
    NULL,
    NULL};

static int run(int argc, char **argv)
{
    struct mw_view_options view = {.formats = formats, .top = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &view);
    struct mw_analysis *analysis = mw_analysis_open(&view.paths, MW_ANALYSIS_PLACEMENT);
    int status = analysis ? placement_write(analysis, &view) : MW_EXIT_FAILED;
    mw_analysis_close(analysis);
    free(view.paths.at);
    return status;
}

const struct mw_command mw_command_placement = {
    .name = "placement",
    .summary = "where each rank sat, and how far from what",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
