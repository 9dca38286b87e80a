/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch info: what a trace holds, without decoding its events. */
#include <stdlib.h>

#include "analyzer/cmd/command.h"
#include "analyzer/render/info.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"

static const char *const formats[] = {"text", "json", NULL};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    return mw_view_option(state->input, key, value, state);
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "What a trace holds: files, kinds of content, processes, damage. Quick: no event is "
           "decoded.",
};

static int run(int argc, char **argv)
{
    struct mw_view_options view = {.formats = formats};
    struct mw_output output;
    argp_parse(&parser, argc, argv, 0, NULL, &view);
    mw_trace *trace = mw_command_open(&view.paths, MW_OPEN_RESIDUE);
    if (!trace) {
        free(view.paths.at);
        return MW_EXIT_FAILED;
    }
    struct mw_model *model = mw_model_create(trace);
    struct mw_comms *comms = mw_comms_create(model);
    json_t *info = mw_info_document(comms, view.paths.at, view.paths.count);
    mw_progress_end();
    mw_output_open(&output, NULL, 0);
    if (view.format == 1)
        mw_json_write(info, output.stream);
    else
        mw_info_text(info, output.stream);
    json_decref(info);
    mw_comms_free(comms);
    mw_model_free(model);
    mw_trace_close(trace);
    free(view.paths.at);
    return mw_output_close(&output, 0, 1);
}

const struct mw_command mw_command_info = {
    .name = "info",
    .summary = "what a trace holds, quickly",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
