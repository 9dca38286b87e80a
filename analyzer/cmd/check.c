/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiwatch check: does a job do what is expected of it? For scripts, CI and git bisect run: exit
 * code 0 all holds, 1 something does not, 125 cannot be judged, 129 wrong usage.
 */
#include <stdlib.h>

#include "analyzer/cmd/analysis.h"
#include "analyzer/cmd/baseline.h"
#include "analyzer/cmd/command.h"
#include "analyzer/findings/expectation.h"
#include "analyzer/regression/judgement.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/findings.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"
#include "analyzer/render/text.h"

#define DEFAULT_EXPECTATION "no-finding>=warning"

enum format { TEXT, JSON };
static const char *const formats[] = {"text", "json", NULL};

struct options {
    struct mw_view_options view;
    MW_VECTOR(struct mw_expectation) expectations;
    MW_VECTOR(struct mw_judgement) judgements; /* of each */
    struct mw_paths baseline;
    double threshold;
    char *against; /* the expectation that comes of a baseline; NULL */
};

static const struct argp_option option_list[] = {
    {"expect", 'e', "EXPECTATION", 0,
     "what must hold, may be given several times (default: " DEFAULT_EXPECTATION ")", 0},
    {"baseline", 'b', "FILE", 0,
     "a run against which there must be no regression, may be given several times (see "
     "mpiwatch-compare); each TRACE is then a run of its own",
     0},
    {"threshold", 't', "PERCENT", 0,
     "with --baseline: what is no longer the same speed (default: 5%)", 0},
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static void add_expectation(struct options *options, const char *text, struct argp_state *state)
{
    char *error = NULL;
    if (!mw_expectation_parse(text, mw_vector_add(&options->expectations), &error))
        return;
    char *escaped = mw_text_escape(error);
    fprintf(stderr, "%s: --expect: %s\nAn expectation is one of\n", state->name, escaped);
    free(escaped);
    free(error);
    for (size_t i = 0; mw_expectation_grammar[i]; i++)
        fprintf(stderr, "  %s\n", mw_expectation_grammar[i]);
    exit(MW_EXIT_USAGE);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'e':
        add_expectation(options, value, state);
        return 0;
    case 'b':
        mw_paths_add(&options->baseline, value);
        return 0;
    case 't':
        options->threshold = mw_option_percent(state, "--threshold", value);
        return 0;
    case ARGP_KEY_END:
        if (!options->expectations.count && !options->baseline.count)
            add_expectation(options, DEFAULT_EXPECTATION, state);
        if (options->expectations.count && options->baseline.count && options->view.paths.count > 1)
            argp_error(state,
                       "--expect is about one run, --baseline makes several of these traces");
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

/* "\n\nEXPECTATION is one of ..." for --help. */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    char *help = mw_text_copy("EXPECTATION is one of\n");
    for (size_t i = 0; mw_expectation_grammar[i]; i++) {
        char *longer = mw_format("%s  %s\n", help, mw_expectation_grammar[i]);
        free(help);
        help = longer;
    }
    char *whole = mw_format("%s\nExit status: 0 all hold, 1 one does not, 125 cannot be judged, "
                            "129 wrong usage.",
                            help);
    free(help);
    return whole;
}

static void judge(struct options *options, const struct mw_analysis *analysis)
{
    struct mw_finding_input in = {.model = analysis->model,
                                  .tally = analysis->tally,
                                  .transports = analysis->transports,
                                  .settings = analysis->settings,
                                  .placements = analysis->placements,
                                  .exchange = analysis->exchange};
    for (size_t i = 0; i < options->expectations.count; i++)
        *mw_vector_add(&options->judgements) =
            mw_expectation_judge(&options->expectations.at[i], &in, analysis->findings);
}

/* No regression against the baseline: as if it were an expectation like the others. 0, or -1 when a
 * run cannot be read (said). */
static int judge_baseline(struct options *options)
{
    struct mw_read_runs base = {0}, fresh = {0};
    struct mw_compare_options compare = {
        .threshold = options->threshold, .parts = MW_COMPARE_ALL, .looks = 1};
    int failed =
        mw_runs_read(&base, &options->baseline) | mw_runs_read(&fresh, &options->view.paths);
    if (!failed) {
        struct mw_comparison *comparison = mw_comparison_create(base.runs, fresh.runs, &compare);
        options->against =
            options->baseline.count > 1
                ? mw_format("no regression against %zu runs", options->baseline.count)
                : mw_format("no regression against %s", options->baseline.at[0]);
        mw_vector_add(&options->expectations)->text = options->against;
        *mw_vector_add(&options->judgements) = mw_comparison_judge(comparison);
        mw_comparison_free(comparison);
    }
    mw_runs_free(&base);
    mw_runs_free(&fresh);
    return failed;
}

/* One that definitely fails beats any that cannot be judged. */
static enum mw_verdict verdict_of(const struct options *options)
{
    enum mw_verdict verdict = MW_HOLDS;
    for (size_t i = 0; i < options->judgements.count; i++) {
        enum mw_verdict one = options->judgements.at[i].verdict;
        if (one == MW_FAILS || verdict == MW_HOLDS)
            verdict = one;
        if (verdict == MW_FAILS)
            break;
    }
    return verdict;
}

static int exit_code(enum mw_verdict verdict)
{
    return verdict == MW_HOLDS   ? MW_EXIT_OK
           : verdict == MW_FAILS ? MW_EXIT_FAILED
                                 : MW_EXIT_CANNOT_TELL;
}

/* The traces of the job that is told about: with a baseline each is a job of its own. */
static struct mw_paths job_paths(const struct options *options)
{
    struct mw_paths paths = options->view.paths;
    if (options->baseline.count && paths.count)
        paths.count = 1;
    return paths;
}

static json_t *build_document(const struct options *options, const struct mw_analysis *analysis)
{
    json_t *document = mw_json_document("check"), *list = json_array();
    enum mw_verdict verdict = verdict_of(options);
    struct mw_paths paths = job_paths(options);
    for (size_t i = 0; i < options->expectations.count; i++) {
        const struct mw_judgement *judgement = &options->judgements.at[i];
        json_t *reasons = json_array();
        for (size_t r = 0; r < judgement->reasons.count; r++)
            json_array_append_new(reasons, mw_json_text(judgement->reasons.at[r]));
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:o}", "expectation",
                                        mw_json_text(options->expectations.at[i].text), "verdict",
                                        mw_verdict_word(judgement->verdict), "reasons", reasons));
    }
    json_object_set_new(document, "trace", mw_doc_trace(analysis->model, paths.at, paths.count));
    json_object_set_new(document, "verdict", json_string(mw_verdict_word(verdict)));
    json_object_set_new(document, "exit_code", json_integer(exit_code(verdict)));
    json_object_set_new(document, "expectations", list);
    json_object_set_new(document, "findings", mw_doc_findings(analysis->findings, analysis->model));
    return document;
}

/* One line each, so that a script's log shows at a glance what broke. */
static void write_text(const json_t *document, FILE *out)
{
    size_t index, number;
    json_t *entry, *why;
    json_array_foreach(json_object_get(document, "expectations"), index, entry) {
        const char *verdict = mw_json_string(entry, "verdict");
        int bad = verdict[0] != 'h';
        char *text = mw_text_escape(mw_json_string(entry, "expectation"));
        fprintf(out, "%s%s%s: %s", bad ? mw_style_on(out, MW_STYLE_BAD) : "", verdict,
                bad ? mw_style_off(out, MW_STYLE_BAD) : "", text);
        free(text);
        json_array_foreach(json_object_get(entry, "reasons"), number, why) {
            char *escaped = mw_text_escape(json_string_value(why));
            fprintf(out, "%s%s", number ? "; " : ": ", escaped);
            free(escaped);
        }
        fputc('\n', out);
    }
}

static int write_result(const struct options *options, const struct mw_analysis *analysis)
{
    struct mw_output output;
    if (mw_output_open(&output, options->view.output, 0))
        return MW_EXIT_CANNOT_TELL;
    json_t *document = build_document(options, analysis);
    if (options->view.format == JSON)
        mw_json_write(document, output.stream);
    else
        write_text(document, output.stream);
    json_decref(document);
    /* who cannot read the answer must not take it for one */
    return mw_output_close(&output, 0, 1) == MW_EXIT_OK ? exit_code(verdict_of(options))
                                                        : MW_EXIT_CANNOT_TELL;
}

static void options_free(struct options *options)
{
    for (size_t i = 0; i < options->expectations.count; i++)
        mw_expectation_free(&options->expectations.at[i]);
    for (size_t i = 0; i < options->judgements.count; i++)
        mw_judgement_free(&options->judgements.at[i]);
    free(options->expectations.at);
    free(options->judgements.at);
    free(options->baseline.at);
    free(options->against);
    free(options->view.paths.at);
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "Whether a job did what is expected of it: a line for each expectation that says "
           "what was found instead, and where.\v",
    .help_filter = help_filter,
};

static int run(int argc, char **argv)
{
    struct options options = {.view = {.formats = formats}, .threshold = MW_THRESHOLD};
    int status = MW_EXIT_CANNOT_TELL;
    mw_memory_exit = MW_EXIT_CANNOT_TELL;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    struct mw_analysis *analysis = NULL;
    struct mw_paths paths = job_paths(&options);
    if (!mw_command_readable(&paths, MW_OPEN_RESIDUE))
        analysis = mw_analysis_open(&paths, MW_ANALYSIS_FINDINGS);
    if (analysis) {
        judge(&options, analysis);
        int unreadable = options.baseline.count && judge_baseline(&options);
        mw_progress_end();
        status = unreadable ? MW_EXIT_CANNOT_TELL : write_result(&options, analysis);
    }
    mw_analysis_close(analysis);
    options_free(&options);
    return status;
}

const struct mw_command mw_command_check = {
    .name = "check",
    .summary = "whether a job did what is expected of it, for scripts and bisection",
    .run = run,
    .parser = &parser,
    .formats = formats,
};
