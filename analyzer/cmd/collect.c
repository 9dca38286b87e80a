/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch collect: saves what dead processes left in shared memory on this machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/number.h"
#include "analyzer/cmd/command.h"
#include "analyzer/launch/collect.h"

static const struct argp_option option_list[] = {
    {"quiet", 'q', NULL, 0, "say nothing but errors", 0},
    {0},
};

struct options {
    struct mw_paths paths;
    int quiet;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'q':
        options->quiet = 1;
        return 0;
    case ARGP_KEY_ARG:
        mw_paths_add(&options->paths, value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void total_add(struct mw_collected *total, const struct mw_collected *one)
{
    total->processes += one->processes;
    total->bytes += one->bytes;
    total->alive += one->alive;
    total->foreign += one->foreign;
    total->failed += one->failed;
}

static void collect_folder(const char *path, FILE *out, struct mw_collected *total)
{
    struct mw_collected one;
    struct stat state;
    if (path && !stat(path, &state) && !S_ISDIR(state.st_mode)) {
        mw_complain("%s: is no folder; only a trace that is one can be added to", path);
        total->failed++;
        return;
    }
    mw_collect(path, out, &one);
    total_add(total, &one);
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[TRACE...]",
    .doc = "Appends what processes that died left in shared memory of this machine to their "
           "traces: those given, or all of this user. \"mpiwatch run\" does it at its end.",
};

static int run(int argc, char **argv)
{
    struct options options = {0};
    struct mw_collected total = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    FILE *out = options.quiet ? NULL : stdout;
    for (size_t i = 0; i < options.paths.count; i++)
        collect_folder(options.paths.at[i], out, &total);
    if (!options.paths.count)
        collect_folder(NULL, out, &total);
    if (out && !total.processes && !total.alive && !total.foreign && !total.failed)
        fputs("nothing to collect on this machine\n", out);
    free(options.paths.at);
    return total.failed ? MW_EXIT_FAILED : MW_EXIT_OK;
}

const struct mw_command mw_command_collect = {
    .name = "collect",
    .summary = "save what dead processes left on this machine",
    .run = run,
    .parser = &parser,
};
