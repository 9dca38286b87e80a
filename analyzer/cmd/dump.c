/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch dump: everything in a trace, line by line. */
#include <stdlib.h>

#include "analyzer/cmd/command.h"
#include "analyzer/render/dump.h"
#include "analyzer/render/progress.h"

static const char *const formats[] = {"text", "json", NULL};

struct options {
    struct mw_view_options view;
    struct mw_rank_id rank; /* its rank is -1: all */
    long thread;
};

static const struct argp_option option_list[] = {
    {"rank", 'r', "N", 0, "only this rank of MPI_COMM_WORLD", 0},
    {"thread", 't', "N", 0, "only the events of this thread", 0},
    {"format", 'f', "FORMAT", 0, "text (the default) or json: one object a line", 0},
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
    case 't':
        options->thread = mw_option_number(state, "--thread", value, 0);
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

static int64_t recorded_rank(const struct mw_model *model, struct mw_rank_id id)
{
    int64_t place = mw_command_rank(model, id);
    if (place < 0 || mw_model_rank(model, place) >= 0)
        return place;
    mw_complain("that rank was not recorded");
    return -1;
}

static int dump_trace(const mw_trace *trace, const struct options *options)
{
    struct mw_output output;
    if (mw_output_open(&output, options->view.output, 0))
        return MW_EXIT_FAILED;
    struct mw_model *model = mw_model_create(trace);
    struct mw_comms *comms = mw_comms_create(model);
    struct mw_symbols *symbols = mw_symbols_create();
    struct mw_dump dump = {.model = model,
                           .comms = comms,
                           .symbols = symbols,
                           .json = options->view.format == 1,
                           .place = -1,
                           .thread = options->thread,
                           .out = output.stream};
    mw_progress_end();
    enum mw_status status = MW_OK;
    if (options->rank.rank >= 0 && (dump.place = recorded_rank(model, options->rank)) < 0) {
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

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "Everything in a trace, line by line: metadata, then the events of each rank and "
           "thread in the order in which they ended.",
};

static int run(int argc, char **argv)
{
    struct options options = {.view = {.formats = formats}, .rank = {0, -1}, .thread = -1};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    mw_trace *trace = mw_command_open(&options.view.paths, MW_OPEN_RESIDUE);
    if (!trace) {
        free(options.view.paths.at);
        return MW_EXIT_FAILED;
    }
    int status = dump_trace(trace, &options);
    mw_trace_close(trace);
    free(options.view.paths.at);
    return status;
}

const struct mw_command mw_command_dump = {
    .name = "dump",
    .summary = "everything in a trace, line by line",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
