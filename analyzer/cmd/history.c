/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiwatch history: runs in a file of SQLite, and what became of them. Its first argument says what
 * is to be done: add, list, show or html.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/command.h"
#include "analyzer/render/history.h"
#include "analyzer/render/json.h"
#include "analyzer/render/progress.h"
#include "analyzer/render/text.h"
#include "analyzer/store/store.h"

enum format { TEXT, JSON };
static const char *const formats[] = {"text", "json", NULL};

enum action { ADD, LIST, SHOW, HTML };
static const char *const actions[] = {"add", "list", "show", "html", NULL};

struct options {
    struct mw_view_options view; /* its paths: what follows the file */
    int action;                  /* -1: none yet */
    const char *file;
    mw_store_tags tags;
    long run;
};

static const struct argp_option option_list[] = {
    {"tag", 't', "KEY=VALUE", 0,
     "add: a word about the runs, may be given several times; benchmark=NAME says what they "
     "measure",
     0},
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {"output", 'o', "FILE", 0,
     "write to FILE instead of standard output; html: the folder of the pages (required)", 0},
    {0},
};

static void add_tag(struct options *options, const char *text, struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        argp_error(state, "--tag: \"%s\" is not KEY=VALUE", text);
    char *key = mw_format("%.*s", (int)(equals - text), text);
    for (size_t i = 0; i < options->tags.count; i++)
        if (!strcmp(options->tags.at[i].key, key))
            argp_error(state, "--tag: %s is given twice", key);
    *mw_vector_add(&options->tags) = (struct mw_store_tag){key, mw_text_copy(equals + 1)};
}

static void add_argument(struct options *options, char *value, struct argp_state *state)
{
    if (options->action < 0)
        options->action = mw_option_word(state, "history", value, actions);
    else if (!options->file)
        options->file = value;
    else
        mw_paths_add(&options->view.paths, value);
}

static void check_arguments(struct options *options, struct argp_state *state)
{
    size_t count = options->view.paths.count;
    if (options->action < 0)
        argp_error(state, "add, list, show or html?");
    if (!options->file)
        argp_error(state, "which history?");
    if (options->action == ADD && !count)
        argp_error(state, "which trace?");
    if (options->action == SHOW && count != 1)
        argp_error(state, "which run?");
    if ((options->action == LIST || options->action == HTML) && count)
        argp_error(state, "too many arguments");
    if (options->tags.count && options->action != ADD)
        argp_error(state, "--tag is for add");
    if (options->action == HTML && (!options->view.output || options->view.format != TEXT))
        argp_error(state, "html: -o FOLDER is needed, and no --format");
    if (options->action == SHOW)
        options->run = mw_option_number(state, "show", options->view.paths.at[0], 1);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 't':
        add_tag(options, value, state);
        return 0;
    case ARGP_KEY_ARG:
        add_argument(options, value, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        return 0;
    case ARGP_KEY_END:
        check_arguments(options, state);
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

/* Says why, and that it failed. */
static int complain_why(char *why)
{
    mw_complain("%s", why);
    free(why);
    return MW_EXIT_FAILED;
}

static int write_document(const struct options *options, const json_t *document,
                          void (*text)(const json_t *, FILE *))
{
    struct mw_output output;
    mw_progress_end();
    if (mw_output_open(&output, options->view.output, 0))
        return MW_EXIT_FAILED;
    if (options->view.format == JSON)
        mw_json_write(document, output.stream);
    else
        text(document, output.stream);
    return mw_output_close(&output, 0, 1);
}

/* --- add -------------------------------------------------------------------------------------- */

static const char *added_word(enum mw_store_added added)
{
    static const char *const words[] = {"failed", "added", "there", "completed"};
    return words[added];
}

/* One trace: what became of it, as {trace, result, run, benchmark, stack, why}. */
static json_t *add_trace(struct mw_store *store, const struct options *options, const char *path)
{
    char *why = NULL, *benchmark = NULL, *stack = NULL;
    int64_t id = 0;
    enum mw_store_added added = MW_STORE_FAILED;
    struct mw_digest *digest = mw_digest_read(path, &why);
    if (digest) {
        added = mw_store_add(store, digest, &options->tags, &id, &why);
        benchmark = mw_store_benchmark(digest, &options->tags);
        stack = mw_store_stack(digest);
    }
    if (why)
        mw_complain("%s", why);
    json_t *entry = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "trace", mw_json_text(path), "result",
        added_word(added), "run", mw_json_number(id, 0), "benchmark", mw_json_text(benchmark),
        "stack", mw_json_text(stack), "crashed", mw_json_text(digest ? digest->crashed : NULL),
        "incomplete", mw_json_text(digest ? digest->incomplete : NULL), "why", mw_json_take(why));
    mw_digest_free(digest);
    free(benchmark);
    free(stack);
    return entry;
}

static void add_text(const json_t *document, FILE *out)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(document, "traces"), i, entry) {
        const char *result = mw_json_string(entry, "result");
        if (!strcmp(result, "failed"))
            continue;
        char *trace = mw_text_escape(mw_json_string(entry, "trace"));
        char *benchmark = mw_text_escape(mw_json_string(entry, "benchmark"));
        char *state = mw_history_state(entry), *escaped = mw_text_escape(state);
        if (!strcmp(result, "there"))
            fprintf(out, "%s: is there already, as run %.0f: nothing was changed\n", trace,
                    mw_json_count_of(entry, "run"));
        else
            fprintf(out, "%s: run %.0f of %s, stack %s%s\n", trace, mw_json_count_of(entry, "run"),
                    benchmark, mw_json_string(entry, "stack"),
                    strcmp(result, "completed") ? "" : "; replaces what was there of it");
        if (*state)
            fprintf(out, "  not in trends: %s\n", escaped);
        free(trace);
        free(benchmark);
        free(state);
        free(escaped);
    }
}

static int add(struct mw_store *store, const struct options *options)
{
    const struct mw_paths *paths = &options->view.paths;
    json_t *document = mw_json_document("history-add"), *traces = json_array();
    int failed = 0;
    for (size_t i = 0; i < paths->count; i++) {
        mw_progress_begin("reading traces", paths->count);
        json_t *entry = add_trace(store, options, paths->at[i]);
        failed |= json_is_null(json_object_get(entry, "run"));
        json_array_append_new(traces, entry);
    }
    json_object_set_new(document, "traces", traces);
    int status = write_document(options, document, add_text);
    json_decref(document);
    return failed ? MW_EXIT_FAILED : status;
}

/* --- list, show, html ------------------------------------------------------------------------- */

static int list(struct mw_store *store, const struct options *options)
{
    char *why = NULL;
    struct mw_store_runs *runs = mw_store_runs(store, NULL, MW_STORE_HEADS, &why);
    if (!runs)
        return complain_why(why);
    json_t *document = mw_doc_history_list(runs);
    int status = write_document(options, document, mw_history_list_text);
    json_decref(document);
    mw_store_runs_free(runs);
    return status;
}

/* The run that a run is compared with: the last one before it that is whole. */
static const struct mw_store_run *run_before(const struct mw_store_run *runs, size_t at)
{
    while (at-- > 0)
        if (!runs[at].digest->crashed && !runs[at].digest->incomplete)
            return &runs[at];
    return NULL;
}

/* The benchmark of a run, newly allocated; NULL: there is no such run (said). */
static char *benchmark_of(struct mw_store *store, const struct options *options)
{
    char *why = NULL, *benchmark = NULL;
    struct mw_store_runs *runs = mw_store_runs(store, NULL, MW_STORE_HEADS, &why);
    if (!runs) {
        complain_why(why);
        return NULL;
    }
    for (size_t i = 0; i < runs->all.count; i++)
        if (runs->all.at[i].id == options->run)
            benchmark = mw_text_copy(runs->all.at[i].benchmark);
    mw_store_runs_free(runs);
    if (!benchmark)
        mw_complain("%s: there is no run %ld", options->file, options->run);
    return benchmark;
}

static int show(struct mw_store *store, const struct options *options)
{
    char *why = NULL, *benchmark = benchmark_of(store, options);
    struct mw_store_runs *runs =
        benchmark ? mw_store_runs(store, benchmark, MW_STORE_FACTS | MW_STORE_FIGURES, &why) : NULL;
    int status = MW_EXIT_FAILED;
    free(benchmark);
    if (why)
        complain_why(why);
    for (size_t i = 0; runs && i < runs->all.count; i++) {
        if (runs->all.at[i].id != options->run)
            continue;
        json_t *document = mw_doc_history_show(&runs->all.at[i], run_before(runs->all.at, i));
        status = write_document(options, document, mw_history_show_text);
        json_decref(document);
    }
    mw_store_runs_free(runs);
    return status;
}

/* The pages of one benchmark; 0, or -1 when it cannot be read (said). */
static int html_benchmark(struct mw_store *store, const char *benchmark, struct mw_pages *pages)
{
    char *why = NULL;
    struct mw_store_runs *runs =
        mw_store_runs(store, benchmark, MW_STORE_FACTS | MW_STORE_FIGURES, &why);
    if (!runs) {
        complain_why(why);
        return -1;
    }
    for (size_t i = 0; i < runs->all.count; i++) {
        json_t *document = mw_doc_history_show(&runs->all.at[i], run_before(runs->all.at, i));
        mw_pages_run(pages, document);
        json_decref(document);
    }
    if (runs->all.count) {
        json_t *document = mw_doc_history_benchmark(runs->all.at, runs->all.count);
        mw_pages_benchmark(pages, document);
        json_decref(document);
    }
    mw_store_runs_free(runs);
    return 0;
}

static int html(struct mw_store *store, const struct options *options)
{
    char *why = NULL;
    int failed = 0;
    struct mw_store_runs *heads = mw_store_runs(store, NULL, MW_STORE_HEADS, &why);
    if (!heads)
        return complain_why(why);
    struct mw_pages *pages = mw_pages_open(options->view.output);
    for (size_t i = 0; i < heads->all.count && !failed; i++)
        if (!i || strcmp(heads->all.at[i].benchmark, heads->all.at[i - 1].benchmark))
            failed = html_benchmark(store, heads->all.at[i].benchmark, pages);
    mw_store_runs_free(heads);
    if (mw_pages_close(pages, !failed, &why))
        return complain_why(why);
    if (failed)
        return MW_EXIT_FAILED;
    char *folder = mw_text_escape(options->view.output);
    printf("%s/index.html\n", folder);
    free(folder);
    return MW_EXIT_OK;
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "add FILE TRACE...\nlist FILE\nshow FILE RUN\nhtml FILE -o FOLDER",
    .doc = "Keeps runs in FILE, which add makes: what each ran on and how fast its messages were. "
           "show says what changed since the run before; html makes pages with the trends of each "
           "benchmark, where they changed, and what changed in the stack then.",
};

static int run(int argc, char **argv)
{
    static int (*const does[])(struct mw_store *, const struct options *) = {add, list, show, html};
    struct options options = {.view = {.formats = formats}, .action = -1};
    char *why = NULL;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    struct mw_store *store = mw_store_open(options.file, options.action == ADD, &why);
    int status = store ? does[options.action](store, &options) : complain_why(why);
    mw_store_close(store);
    mw_store_tags_free(&options.tags);
    free(options.view.paths.at);
    return status;
}

const struct mw_command mw_command_history = {
    .name = "history",
    .summary = "runs over time: trends, where they changed, and what did",
    .run = run,
    .parser = &parser,
    .formats = formats,
    .actions = actions,
};
