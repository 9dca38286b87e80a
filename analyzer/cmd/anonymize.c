/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch anonymize: a trace that can go into a public bug report. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/anonymize/rewrite.h"
#include "analyzer/cmd/command.h"
#include "analyzer/render/progress.h"

struct options {
    struct mw_view_options view;
    struct mw_paths words;
};

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0, "the file to write; must not exist (required)", 0},
    {"also", 'a', "WORD", 0, "take this word out, too (may be given several times)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'a':
        if (!value[0])
            argp_error(state, "--also: an empty word");
        mw_paths_add(&options->words, value);
        return 0;
    case ARGP_KEY_END:
        if (!options->view.output)
            argp_error(state, "-o FILE is needed");
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

struct copying {
    struct mw_names *names;
    FILE *out;
    uint64_t chunks, broken;
    uint64_t unknown[256]; /* by type; higher ones under 0 */
};

static enum mw_status copy_chunk(void *context, const struct mw_chunk_view *chunk)
{
    struct copying *copying = context;
    enum mw_rewritten result = mw_rewrite_chunk(copying->names, chunk, copying->out);
    copying->chunks += result == MW_REWRITTEN;
    copying->broken += result == MW_REWRITE_BROKEN;
    if (result == MW_REWRITE_UNKNOWN)
        copying->unknown[chunk->type < 256 ? chunk->type : 0]++;
    return ferror(copying->out) ? MW_ERR_SYSTEM : MW_OK;
}

static void say_left_out(const struct copying *copying)
{
    for (unsigned type = 0; type < 256; type++)
        if (copying->unknown[type])
            mw_complain("left out: %" PRIu64 " chunks of type %u (%s), which this version cannot "
                        "judge",
                        copying->unknown[type], type, mw_chunk_type_name(type));
    if (copying->broken)
        mw_complain("left out: %" PRIu64 " chunks with malformed content", copying->broken);
}

static int anonymize(const mw_trace *trace, const struct options *options)
{
    struct mw_names names = {0};
    struct copying copying = {.names = &names};
    struct mw_output output;
    if (mw_output_open(&output, options->view.output, 1))
        return MW_EXIT_FAILED;
    copying.out = output.stream;
    mw_progress_begin("anonymizing", 0);
    for (size_t i = 0; i < options->words.count; i++)
        mw_names_forbid(&names, MW_NAME_WORD, options->words.at[i], strlen(options->words.at[i]));
    mw_rewrite_learn(&names, trace);
    enum mw_status status = mw_trace_visit(trace, copy_chunk, &copying);
    mw_progress_end();
    say_left_out(&copying);
    mw_names_free(&names);
    int closed = mw_output_close(&output, 1, status == MW_OK);
    if (status != MW_OK || closed != MW_EXIT_OK)
        return MW_EXIT_FAILED;
    printf("%s: %" PRIu64 " chunks\n", options->view.output, copying.chunks);
    return MW_EXIT_OK;
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE... -o FILE.mpiw",
    .doc = "Writes a trace without names of hosts and users, paths, network addresses, job "
           "numbers and arguments of programs: each becomes a stand-in like node1. Timings, "
           "sizes, versions, build-ids and names of libraries stay. Look through the result "
           "before you publish it.",
};

static int run(int argc, char **argv)
{
    struct options options = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    mw_trace *trace = mw_command_open(&options.view.paths, 0);
    if (!trace) {
        free(options.view.paths.at);
        free(options.words.at);
        return MW_EXIT_FAILED;
    }
    int status = anonymize(trace, &options);
    mw_trace_close(trace);
    free(options.view.paths.at);
    free(options.words.at);
    return status;
}

const struct mw_command mw_command_anonymize = {
    .name = "anonymize",
    .summary = "make a trace fit for a public bug report",
    .run = run,
    .parser = &parser,
};
