/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiwatch compare: what changed between two runs, or two sets of runs, and what it cost. For
 * people and for git bisect run: exit code 0 no regression, 1 a regression, 125 cannot be judged,
 * 129 wrong usage.
 */
#include "analyzer/regression/compare.h"

#include <stdlib.h>

#include "analyzer/cmd/baseline.h"
#include "analyzer/cmd/command.h"
#include "analyzer/render/compare.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"

enum format { TEXT, JSON };
static const char *const formats[] = {"text", "json", NULL};
static const char *const parts[] = {"transports", "classes", "pairs", "calls", NULL};

struct options {
    struct mw_view_options view; /* its paths: of the first side */
    struct mw_paths fresh;
    struct mw_compare_options compare;
};

static const struct argp_option option_list[] = {
    {"threshold", 't', "PERCENT", 0, "what is no longer the same speed (default: 5%)", 0},
    {"only", 'O', "PART", 0,
     "compare these only, may be given several times: transports, classes, pairs, calls", 0},
    {"force", 'F', NULL, 0, "go on though the runs cannot be compared", 0},
    {"looks", 'L', "N", 0,
     "this is one of N looks at growing sets of runs: shares the error among them", 0},
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {"top", 'n', "N", 0, "entries in lists of pairs and figures (default: 1000)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static void add_trace(struct options *options, const char *path, struct argp_state *state)
{
    int behind = state->quoted && state->next > state->quoted;
    mw_paths_add(behind ? &options->fresh : &options->view.paths, path);
}

/* "BASE NEW" is "BASE -- NEW". */
static void share_out(struct options *options, struct argp_state *state)
{
    struct mw_paths *base = &options->view.paths;
    if (options->fresh.count && base->count)
        return;
    if (options->fresh.count || base->count != 2) {
        argp_error(state, "which two traces, or which sets of them: BASE... -- NEW...?");
        exit(MW_EXIT_USAGE);
    }
    mw_paths_add(&options->fresh, base->at[1]);
    base->count = 1;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 't':
        options->compare.threshold = mw_option_percent(state, "--threshold", value);
        return 0;
    case 'O':
        options->compare.parts |= 1u << mw_option_word(state, "--only", value, parts);
        return 0;
    case 'F':
        options->compare.force = 1;
        return 0;
    case 'L':
        options->compare.looks = (size_t)mw_option_number(state, "--looks", value, 1);
        return 0;
    case ARGP_KEY_ARG:
        add_trace(options, value, state);
        return 0;
    case ARGP_KEY_END:
        share_out(options, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

static int write_result(const struct mw_comparison *comparison, const struct mw_view_options *view)
{
    struct mw_output output;
    int code = mw_outcome_exit(comparison->outcome);
    if (mw_output_open(&output, view->output, 0))
        return MW_EXIT_CANNOT_TELL;
    json_t *document = mw_doc_compare(comparison, code, (size_t)view->top);
    if (view->format == JSON)
        mw_json_write(document, output.stream);
    else
        mw_compare_text(document, output.stream);
    json_decref(document);
    /* who cannot read the answer must not take it for one */
    return mw_output_close(&output, 0, 1) == MW_EXIT_OK ? code : MW_EXIT_CANNOT_TELL;
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "BASE NEW\nBASE... -- NEW...",
    .doc = "What changed between two runs of a program, or two sets of runs: which messages took "
           "another way, what got slower and how sure that is, and what could explain it."
           "\vExit status: 0 no regression, 1 a regression, 125 cannot be judged, 129 wrong usage.",
};

static const char *const *option_values(int key)
{
    return key == 'O' ? parts : NULL;
}

static int run(int argc, char **argv)
{
    struct options options = {.view = {.formats = formats, .top = 1000},
                              .compare = {.threshold = MW_THRESHOLD, .looks = 1}};
    int status = MW_EXIT_CANNOT_TELL;
    mw_memory_exit = MW_EXIT_CANNOT_TELL;
    /* in order: else what stands before "--" could not be told from what stands behind it */
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &options);
    if (!options.compare.parts)
        options.compare.parts = MW_COMPARE_ALL;
    struct mw_read_runs base = {0}, fresh = {0};
    if (!(mw_runs_read(&base, &options.view.paths) | mw_runs_read(&fresh, &options.fresh))) {
        struct mw_comparison *comparison =
            mw_comparison_create(base.runs, fresh.runs, &options.compare);
        mw_progress_end();
        status = write_result(comparison, &options.view);
        mw_comparison_free(comparison);
    }
    mw_runs_free(&base);
    mw_runs_free(&fresh);
    free(options.view.paths.at);
    free(options.fresh.at);
    return status;
}

const struct mw_command mw_command_compare = {
    .name = "compare",
    .summary = "what changed between two runs, and what it cost",
    .run = run,
    .parser = &parser,
    .formats = formats,
    .values = option_values,
};
