/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch dump: everything in a trace, line by line. */
#include <stdlib.h>

#include "analyzer/cmd/command.h"
#include "analyzer/render/dump.h"
#include "analyzer/render/progress.h"

static const char *const formats[] = {"text", "json", NULL};

struct options {
    struct mw_paths paths;
    int format;
    long rank, thread;
    const char *output;
};

static const struct argp_option option_list[] = {
    {"rank", 'r', "N", 0, "only this rank of MPI_COMM_WORLD", 0},
    {"thread", 't', "N", 0, "only the events of this thread", 0},
    {"format", 'f', "FORMAT", 0, "text (the default) or json: one object a line", 0},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'r':
        options->rank = mw_option_number(state, "--rank", value, 0);
        return 0;
    case 't':
        options->thread = mw_option_number(state, "--thread", value, 0);
        return 0;
    case 'f':
        options->format = mw_option_word(state, "--format", value, formats);
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

static int dump_trace(const mw_trace *trace, const struct options *options)
{
    struct mw_output output;
    if (mw_output_open(&output, options->output, 0))
        return MW_EXIT_FAILED;
    struct mw_model *model = mw_model_create(trace);
    struct mw_comms *comms = mw_comms_create(model);
    struct mw_symbols *symbols = mw_symbols_create();
    struct mw_dump dump = {.model = model,
                           .comms = comms,
                           .symbols = symbols,
                           .json = options->format == 1,
                           .rank = options->rank,
                           .thread = options->thread,
                           .out = output.stream};
    mw_progress_end();
    enum mw_status status = MW_OK;
    if (options->rank >= 0 && mw_model_rank(model, options->rank) < 0) {
        mw_complain("rank %ld is not in this trace", options->rank);
        status = MW_ERR_NOT_FOUND;
    } else {
        status = mw_dump(&dump);
        if (status != MW_OK)
            mw_complain("not all events could be read: %s", mw_status_text(status));
    }
    mw_symbols_free(symbols);
    mw_comms_free(comms);
    mw_model_free(model);
    int closed = mw_output_close(&output, 0, status != MW_ERR_NOT_FOUND);
    return status == MW_OK ? closed : MW_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    static const struct argp parser = {
        option_list,
        parse_option,
        "TRACE...",
        "Everything in a trace, line by line: metadata, then the events of each rank and thread "
        "in the order in which they ended.",
        NULL,
        NULL,
        NULL};
    struct options options = {.rank = -1, .thread = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    mw_trace *trace = mw_command_open(&options.paths, MW_OPEN_RESIDUE);
    if (!trace) {
        free(options.paths.at);
        return MW_EXIT_FAILED;
    }
    int status = dump_trace(trace, &options);
    mw_trace_close(trace);
    free(options.paths.at);
    return status;
}

const struct mw_command mw_command_dump = {"dump", "everything in a trace, line by line",
                                           "[OPTION...] TRACE...", run};
