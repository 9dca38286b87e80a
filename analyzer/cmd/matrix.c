/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch matrix: who talked to whom. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/analysis.h"
#include "analyzer/render/matrix.h"
#include "analyzer/render/progress.h"

enum format { TEXT, CSV, JSON };
static const char *const formats[] = {"text", "csv", "json", NULL};
static const char *const groupings[] = {"rank", "node", NULL};

struct options {
    struct mw_paths paths;
    const struct mw_metric *metric;
    unsigned kinds;
    int format, by;
    long top;
    const char *output;
};

static const struct argp_option option_list[] = {
    {"metric", 'm', "METRIC", 0, "bytes (the default), messages, time or transport", 0},
    {"kind", 'k', "KIND", 0, "which calls: a list of p2p (the default), rma, coll and io", 0},
    {"by", 'b', "WHAT", 0, "rank (the default) or node", 0},
    {"format", 'f', "FORMAT", 0, "text (the default), csv or json", 0},
    {"top", 'n', "N", 0, "pairs that the text shows of a large matrix (20)", 0},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 0},
    {0},
};

static const struct mw_metric *find_metric(struct argp_state *state, const char *word)
{
    const char *names[16] = {0};
    for (size_t i = 0; mw_metrics[i].name && i < 15; i++)
        names[i] = mw_metrics[i].name;
    return &mw_metrics[mw_option_word(state, "--metric", word, names)];
}

/* "p2p,rma" as bits. */
static unsigned find_kinds(struct argp_state *state, const char *list)
{
    const char *names[16] = {0};
    char *copy = mw_text_copy(list), *rest = copy;
    unsigned kinds = 0;
    for (size_t i = 0; mw_kinds[i].name && i < 15; i++)
        names[i] = mw_kinds[i].name;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ","))
        kinds |= mw_kinds[mw_option_word(state, "--kind", word, names)].bit;
    free(copy);
    return kinds;
}

/* What has no meaning together. */
static void check_options(struct argp_state *state, const struct options *options)
{
    if (!options->metric->value && options->kinds != MW_KIND_P2P)
        argp_error(state, "transports are known of point-to-point messages: --kind p2p");
    if (!strcmp(options->metric->unit, "seconds") && options->kinds & MW_KIND_COLL)
        argp_error(state, "the time in a collective belongs to no pair");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'm':
        options->metric = find_metric(state, value);
        return 0;
    case 'k':
        options->kinds = find_kinds(state, value);
        return 0;
    case 'b':
        options->by = mw_option_word(state, "--by", value, groupings);
        return 0;
    case 'f':
        options->format = mw_option_word(state, "--format", value, formats);
        return 0;
    case 'n':
        options->top = mw_option_number(state, "--top", value, 1);
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
    case ARGP_KEY_END:
        check_options(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void matrix_print(const struct mw_matrix *matrix, const struct options *options, FILE *out)
{
    json_t *head = mw_matrix_head(matrix, options->paths.at, options->paths.count);
    if (options->format == CSV)
        mw_matrix_csv(matrix, out);
    else if (options->format == JSON)
        mw_matrix_json(matrix, head, out);
    else
        mw_matrix_text(matrix, head, (size_t)options->top, out);
    json_decref(head);
}

static int matrix_write(const struct mw_analysis *analysis, const struct options *options)
{
    struct mw_output output;
    struct mw_matrix *matrix =
        mw_matrix_create(analysis->tally, analysis->transports, options->metric, options->kinds,
                         (enum mw_matrix_by)options->by);
    mw_progress_end();
    int status = MW_EXIT_FAILED;
    if (!mw_output_open(&output, options->output, 0)) {
        matrix_print(matrix, options, output.stream);
        status = mw_output_close(&output, 0, 1);
    }
    mw_matrix_free(matrix);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct argp parser = {
        option_list,
        parse_option,
        "TRACE...",
        "Who talked to whom: a figure for each ordered pair of ranks or nodes. CSV has the header "
        "src,dst,value and a row for each pair that is not zero, in bytes, messages or seconds, or "
        "with the names of the transports that it used.",
        NULL,
        NULL,
        NULL};
    struct options options = {.metric = &mw_metrics[0], .kinds = MW_KIND_P2P, .top = 20};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    struct mw_analysis *analysis = mw_analysis_open(
        &options.paths, options.metric->value ? MW_ANALYSIS_TALLY : MW_ANALYSIS_TRANSPORTS);
    int status = analysis ? matrix_write(analysis, &options) : MW_EXIT_FAILED;
    mw_analysis_close(analysis);
    free(options.paths.at);
    return status;
}

const struct mw_command mw_command_matrix = {"matrix", "who talked to whom: bytes, messages, time",
                                             "[OPTION...] TRACE...", run};
