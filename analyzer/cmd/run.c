/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch run: a job under the library, without a thought about LD_PRELOAD. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/command.h"
#include "analyzer/launch/collect.h"
#include "analyzer/launch/job.h"
#include "analyzer/launch/launcher.h"
#include "analyzer/launch/library.h"

#define SUFFIX     ".mpiw"
#define WAIT_STEPS 10 /* tenths of a second for ranks that are still dying */

struct options {
    char **command;
    const char *library, *output;
    char *stack;
    int verbose;
};

enum { KEY_LIBRARY = 256, KEY_STACK };

static const struct argp_option option_list[] = {
    {"output", 'o', "NAME", 0,
     "the trace's folder, NAME.mpiw; must not exist (default: mpiwatch-PROGRAM-TIME.mpiw)", 0},
    {"stack", KEY_STACK, "N", 0, "frames recorded of each call site, 0 to 32 (8)", 0},
    {"library", KEY_LIBRARY, "FILE", 0, "preload this library instead of choosing one", 0},
    {"verbose", 'v', NULL, 0, "say what is run and why", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'o':
        options->output = value;
        return 0;
    case 'v':
        options->verbose = 1;
        return 0;
    case KEY_STACK:
        if (mw_option_number(state, "--stack", value, 0) > 32)
            argp_error(state, "--stack: at most 32");
        options->stack = value;
        return 0;
    case KEY_LIBRARY:
        options->library = value;
        return 0;
    case ARGP_KEY_ARG:
        options->command = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which command?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A name that is safe in a file's: letters, digits, '.', '_', '-'. */
static char *safe_name(const char *name)
{
    char *safe = mw_text_copy(name);
    for (char *at = safe; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at))
            *at = '_';
    return safe;
}

static int exists(const char *path)
{
    struct stat state;
    return !lstat(path, &state);
}

/* mpiwatch-PROGRAM-20261130-121500.mpiw, with a number behind where that is taken. */
static char *default_name(const char *program)
{
    char stamp[32];
    struct tm parts;
    time_t now = time(NULL);
    localtime_r(&now, &parts);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &parts);
    char *safe = safe_name(program);
    char *name = mw_format("mpiwatch-%s-%s" SUFFIX, safe, stamp);
    for (int i = 2; exists(name) && i < 1000; i++) {
        free(name);
        name = mw_format("mpiwatch-%s-%s-%d" SUFFIX, safe, stamp, i);
    }
    free(safe);
    return name;
}

static char *trace_name(const struct options *options, const char *program)
{
    if (!options->output)
        return default_name(program);
    size_t length = strlen(options->output), suffix = strlen(SUFFIX);
    while (length > 1 && options->output[length - 1] == '/')
        length--;
    int has = length > suffix && !strncmp(options->output + length - suffix, SUFFIX, suffix);
    return mw_format("%.*s%s", (int)length, options->output, has ? "" : SUFFIX);
}

static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/')
        return mw_text_copy(path);
    return getcwd(folder, sizeof(folder)) ? mw_format("%s/%s", folder, path) : NULL;
}

static char *random_key(void)
{
    uint64_t key[2] = {(uint64_t)time(NULL), (uint64_t)getpid()};
    if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
        key[0] ^= (uint64_t)clock() << 32;
    return mw_format("%016" PRIx64 "%016" PRIx64, key[0], key[1]);
}

extern char **environ;

/* Settings that the user has in the environment must reach the ranks on other nodes, too. */
static void variables_inherit(struct mw_variables *variables)
{
    for (char **entry = environ; *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!equals || strncmp(*entry, "MPIWATCH", 8))
            continue;
        char *name = mw_format("%.*s", (int)(equals - *entry), *entry);
        mw_variables_set(variables, name, mw_text_copy(equals + 1));
    }
}

static void variables_fill(struct mw_variables *variables, const struct options *options,
                           const char *trace)
{
    variables_inherit(variables);
    mw_variables_set(variables, "MPIWATCH_OUT", mw_text_copy(trace));
    mw_variables_set(variables, "MPIWATCH_JOB", random_key());
    mw_variables_set(variables, "MPIWATCH_COMMAND", mw_job_command_text(options->command));
    if (options->stack)
        mw_variables_set(variables, "MPIWATCH_STACK", mw_text_copy(options->stack));
}

/* The library's absolute path, or NULL (said). */
static char *library_path(const struct options *options, struct mw_library_choice *choice)
{
    char *path = options->library ? realpath(options->library, NULL) : choice->library;
    if (!path) {
        if (options->library)
            mw_complain("%s: %s", options->library, strerror(errno));
        else
            mw_complain("%s; --library names it", choice->reason);
        return NULL;
    }
    if (strpbrk(path, ": ,")) {
        mw_complain("%s: a library with a colon, comma or space in its path cannot be preloaded",
                    path);
        return NULL;
    }
    return path;
}

/* Ranks that were killed may take a moment to die: what they left can be saved only then. */
static void collect_rest(const char *trace, int verbose)
{
    struct mw_collected result;
    for (int step = 0; step < WAIT_STEPS; step++) {
        mw_collect(trace, verbose ? stderr : NULL, &result);
        if (!result.alive)
            return;
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    mw_complain("%zu processes of the job are still running; when they have ended, "
                "\"mpiwatch collect %s\" saves what they left",
                result.alive, trace);
}

static void say_result(const char *trace)
{
    struct stat state;
    if (stat(trace, &state) || !S_ISDIR(state.st_mode)) {
        mw_complain(
            "no trace in %s: no process initialised MPI with the library loaded, or it could "
            "not be written there",
            trace);
        return;
    }
    mw_complain("recorded %s; \"mpiwatch report %s\" shows it", trace, trace);
}

static int run_job(const struct options *options, struct mw_library_choice *choice)
{
    struct mw_variables variables = {0};
    char *library = library_path(options, choice);
    char *name = trace_name(options, choice->program), *trace = absolute(name);
    if (!library || !trace)
        return MW_EXIT_FAILED;
    if (exists(trace)) {
        mw_complain("%s: exists already, and is not overwritten", name);
        return MW_EXIT_FAILED;
    }
    enum mw_launcher launcher = mw_launcher_detect(options->command[0]);
    variables_fill(&variables, options, trace);
    if (options->verbose) {
        mw_complain("%s", options->library ? "the library was given" : choice->reason);
        mw_complain("started by %s; preloading %s%s", mw_launcher_name(launcher), library,
                    launcher ? "" : " into the command itself");
    }
    char **command = mw_launcher_command(launcher, options->command, library, &variables);
    if (options->verbose) {
        char *text = mw_job_command_text(command);
        mw_complain("running %s", text);
        free(text);
    }
    fflush(NULL);
    int code, started = mw_job_run(command, &code);
    if (exists(trace))
        collect_rest(trace, options->verbose);
    if (started)
        say_result(name);
    mw_variables_free(&variables);
    free(name);
    free(trace);
    return code;
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[--] COMMAND [ARGUMENT...]",
    .doc = "Runs a job, for example \"mpirun -n 4 ./app\", with the library loaded into its "
           "ranks, and saves what ranks that died have left. Ends with the exit code of "
           "COMMAND.",
};

static int run(int argc, char **argv)
{
    struct options options = {0};
    struct mw_library_choice choice = {0};
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &options);
    const char *wanted = getenv("MPIWATCH_OUT");
    if (!options.output && wanted && wanted[0])
        options.output = wanted;
    mw_library_choose(options.command, &choice);
    int code = run_job(&options, &choice);
    free(choice.program);
    free(choice.reason);
    return code;
}

const struct mw_command mw_command_run = {
    .name = "run",
    .summary = "run a job under the library",
    .run = run,
    .parser = &parser,
};
