/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch matrix: who talked to whom. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/analysis.h"
#include "analyzer/render/matrix.h"
#include "analyzer/render/progress.h"

#define NAMES_MAX 16 /* of metrics or kinds, and NULL */

enum format { TEXT, CSV, JSON };
static const char *const formats[] = {"text", "csv", "json", NULL};
static const char *const groupings[] = {"rank", "node", NULL};

struct options {
    struct mw_view_options view;
    const struct mw_metric *metric;
    unsigned kinds;
    int by;
};

static const struct argp_option option_list[] = {
    {"metric", 'm', "METRIC", 0, "bytes (the default), messages, time or transport", 0},
    {"kind", 'k', "KIND", 0, "which calls: a list of p2p (the default), rma, coll and io", 0},
    {"by", 'b', "WHAT", 0, "rank (the default) or node", 0},
    {"format", 'f', "FORMAT", 0, "text (the default), csv or json", 0},
    {"top", 'n', "N", 0, "pairs that the text shows of a large matrix (20)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static const char *const *metric_names(void)
{
    static const char *names[NAMES_MAX];
    for (size_t i = 0; mw_metrics[i].name && i < NAMES_MAX - 1; i++)
        names[i] = mw_metrics[i].name;
    return names;
}

static const char *const *kind_names(void)
{
    static const char *names[NAMES_MAX];
    for (size_t i = 0; mw_kinds[i].name && i < NAMES_MAX - 1; i++)
        names[i] = mw_kinds[i].name;
    return names;
}

/* "p2p,rma" as bits. */
static unsigned find_kinds(struct argp_state *state, const char *list)
{
    char *copy = mw_text_copy(list), *rest = copy;
    unsigned kinds = 0;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ","))
        kinds |= mw_kinds[mw_option_word(state, "--kind", word, kind_names())].bit;
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
        options->metric = &mw_metrics[mw_option_word(state, "--metric", value, metric_names())];
        return 0;
    case 'k':
        options->kinds = find_kinds(state, value);
        return 0;
    case 'b':
        options->by = mw_option_word(state, "--by", value, groupings);
        return 0;
    case ARGP_KEY_END:
        check_options(state, options);
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

static void matrix_print(const struct mw_matrix *matrix, const struct options *options, FILE *out)
{
    json_t *head = mw_matrix_head(matrix, options->view.paths.at, options->view.paths.count);
    if (options->view.format == CSV)
        mw_matrix_csv(matrix, out);
    else if (options->view.format == JSON)
        mw_matrix_json(matrix, head, out);
    else
        mw_matrix_text(matrix, head, (size_t)options->view.top, out);
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
    if (!mw_output_open(&output, options->view.output, 0)) {
        matrix_print(matrix, options, output.stream);
        status = mw_output_close(&output, 0, 1);
    }
    mw_matrix_free(matrix);
    return status;
}

static const char *const *values(int key)
{
    switch (key) {
    case 'm':
        return metric_names();
    case 'k':
        return kind_names();
    case 'b':
        return groupings;
    default:
        return NULL;
    }
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "Who talked to whom: a figure for each ordered pair of ranks or nodes. CSV has the "
           "header src,dst,value and a row for each pair that is not zero, in bytes, messages "
           "or seconds, or with the names of the transports that it used.",
};

static int run(int argc, char **argv)
{
    struct options options = {.view = {.formats = formats, .top = 20, .top_least = 1},
                              .metric = &mw_metrics[0],
                              .kinds = MW_KIND_P2P};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    struct mw_analysis *analysis = mw_analysis_open(
        &options.view.paths, options.metric->value ? MW_ANALYSIS_TALLY : MW_ANALYSIS_TRANSPORTS);
    int status = analysis ? matrix_write(analysis, &options) : MW_EXIT_FAILED;
    mw_analysis_close(analysis);
    free(options.view.paths.at);
    return status;
}

const struct mw_command mw_command_matrix = {
    .name = "matrix",
    .summary = "who talked to whom: bytes, messages, time",
    .run = run,
    .parser = &parser,
    .formats = formats,
    .values = values,
};
