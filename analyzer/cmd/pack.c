/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch pack: one file of a trace, for mailing and archives. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/chunk_write.h"
#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/cmd/command.h"
#include "analyzer/render/progress.h"

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0, "the file to write; must not exist (required)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct mw_view_options *view = state->input;
    if (key == ARGP_KEY_END && !view->output)
        argp_error(state, "-o FILE is needed");
    return mw_view_option(view, key, value, state);
}

/* A crash may have written chunks twice. Of equal ones the last is kept: it stands where what it
 * says was true. */
struct copies {
    struct mw_index index;
    MW_VECTOR(uint64_t) last; /* place of the last copy, by number */
    uint64_t place, written;
    FILE *out;
};

static enum mw_status copies_note(void *context, const struct mw_chunk_view *chunk)
{
    struct copies *copies = context;
    size_t at = mw_index_put(&copies->index, mw_chunk_identity(chunk));
    if (at == copies->last.count)
        mw_vector_add(&copies->last);
    copies->last.at[at] = copies->place++;
    return MW_OK;
}

static enum mw_status copies_write(void *context, const struct mw_chunk_view *chunk)
{
    struct copies *copies = context;
    size_t at = mw_index_find(&copies->index, mw_chunk_identity(chunk));
    uint64_t place = copies->place++;
    /* A chunk that has been written since the first pass is taken, too. */
    if (at != MW_INDEX_NONE && copies->last.at[at] != place)
        return MW_OK;
    mw_chunk_write(copies->out, chunk);
    copies->written++;
    return ferror(copies->out) ? MW_ERR_SYSTEM : MW_OK;
}

static int pack(const mw_trace *trace, const char *path)
{
    struct copies copies = {0};
    struct mw_output output;
    if (mw_output_open(&output, path, 1))
        return MW_EXIT_FAILED;
    copies.out = output.stream;
    mw_progress_begin("packing", 0);
    enum mw_status status = mw_trace_visit(trace, copies_note, &copies);
    uint64_t read = copies.place;
    copies.place = 0;
    if (status == MW_OK)
        status = mw_trace_visit(trace, copies_write, &copies);
    mw_progress_end();
    if (status != MW_OK && status != MW_ERR_SYSTEM)
        mw_complain("the trace could not be read to its end: %s", mw_status_text(status));
    mw_index_free(&copies.index);
    free(copies.last.at);
    int closed = mw_output_close(&output, 1, status == MW_OK);
    if (status != MW_OK || closed != MW_EXIT_OK)
        return MW_EXIT_FAILED;
    if (read > copies.written)
        printf("%s: %" PRIu64 " chunks; %" PRIu64 " were there twice\n", path, copies.written,
               read - copies.written);
    else
        printf("%s: %" PRIu64 " chunks\n", path, copies.written);
    return MW_EXIT_OK;
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE... -o FILE.mpiw",
    .doc = "Makes one file of a trace. Every command reads it like the folder.",
};

static int run(int argc, char **argv)
{
    struct mw_view_options view = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &view);
    /* A file that lacks a part that was asked for would pass for the whole. */
    mw_trace *trace = NULL;
    if (view.paths.count == 1 || !mw_command_readable(&view.paths, MW_OPEN_RESIDUE))
        trace = mw_command_open(&view.paths, MW_OPEN_RESIDUE);
    if (!trace) {
        free(view.paths.at);
        return MW_EXIT_FAILED;
    }
    int status = pack(trace, view.output);
    mw_trace_close(trace);
    free(view.paths.at);
    return status;
}

const struct mw_command mw_command_pack = {
    .name = "pack",
    .summary = "make one file of a trace",
    .run = run,
    .parser = &parser,
};
