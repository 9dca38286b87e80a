/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch info: what a trace holds, without decoding its events. */
#include <stdlib.h>

#include "analyzer/cmd/command.h"
#include "analyzer/render/info.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"

static const char *const formats[] = {"text", "json", NULL};

struct options {
    struct mw_paths paths;
    int format;
};

static const struct argp_option option_list[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'f':
        options->format = mw_option_word(state, "--format", value, formats);
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

static int run(int argc, char **argv)
{
    static const struct argp parser = {option_list,
                                       parse_option,
                                       "TRACE...",
                                       "What a trace holds: files, kinds of content, processes, "
                                       "damage. Quick: no event is decoded.",
                                       NULL,
                                       NULL,
                                       NULL};
    struct options options = {0};
    struct mw_output output;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    mw_trace *trace = mw_command_open(&options.paths, MW_OPEN_RESIDUE);
    if (!trace) {
        free(options.paths.at);
        return MW_EXIT_FAILED;
    }
    struct mw_model *model = mw_model_create(trace);
    json_t *info = mw_info_document(model, options.paths.at, options.paths.count);
    mw_progress_end();
    mw_output_open(&output, NULL, 0);
    if (options.format == 1)
        mw_json_write(info, output.stream);
    else
        mw_info_text(info, output.stream);
    json_decref(info);
    mw_model_free(model);
    mw_trace_close(trace);
    free(options.paths.at);
    return mw_output_close(&output, 0, 1);
}

const struct mw_command mw_command_info = {"info", "what a trace holds, quickly",
                                           "[OPTION...] TRACE...", run};
