/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each launcher needs (launcher.h).
 *
 * Open MPI: -x NAME=VALUE, or -x NAME for one in mpirun's own environment. It holds for one program
 * of an MPMD command line only, so that it is said again after each ':'. Hydra: -genv NAME VALUE,
 * for all programs. srun: it passes its environment on, unless told otherwise; --export adds to
 * that.
 */
#include "analyzer/launch/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/launch/search.h"
#include "analyzer/render/labels.h"

#define VERSION_SECONDS 5

extern char **environ;

/* What `path --version` prints, at most `size` bytes. Killed when it takes too long. */
static void ask_version(char *path, char *text, size_t size)
{
    char option[] = "--version", *argv[] = {path, option, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    size_t length = 0;
    pid_t child;
    text[0] = 0;
    if (pipe2(ends, O_CLOEXEC))
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    int failed = posix_spawn(&child, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    time_t until = time(NULL) + VERSION_SECONDS;
    while (!failed && length + 1 < size && time(NULL) <= until) {
        struct pollfd wait = {ends[0], POLLIN, 0};
        if (poll(&wait, 1, 1000) <= 0)
            continue;
        ssize_t got = read(ends[0], text + length, size - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = 0;
    close(ends[0]);
    if (failed)
        return;
    if (time(NULL) > until)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static int starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static enum mw_launcher launcher_by_name(const char *name)
{
    static const struct {
        const char *name;
        enum mw_launcher launcher;
    } names[] = {
        {"orterun", MW_LAUNCHER_OPENMPI},
        {"prterun", MW_LAUNCHER_OPENMPI},
        {"mpirun.openmpi", MW_LAUNCHER_OPENMPI},
        {"mpiexec.openmpi", MW_LAUNCHER_OPENMPI},
        {"mpiexec.hydra", MW_LAUNCHER_HYDRA},
        {"mpirun.mpich", MW_LAUNCHER_HYDRA},
        {"mpiexec.mpich", MW_LAUNCHER_HYDRA},
        {"mpirun.hydra", MW_LAUNCHER_HYDRA},
        {"srun", MW_LAUNCHER_SLURM},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i].name))
            return names[i].launcher;
    return MW_LAUNCHER_NONE;
}

static enum mw_launcher launcher_by_version(char *path)
{
    static const struct {
        const char *text;
        enum mw_launcher launcher;
    } texts[] = {
        {"Open MPI", MW_LAUNCHER_OPENMPI},   {"OpenRTE", MW_LAUNCHER_OPENMPI},
        {"PRRTE", MW_LAUNCHER_OPENMPI},      {"HYDRA", MW_LAUNCHER_HYDRA},
        {"Intel(R) MPI", MW_LAUNCHER_HYDRA}, {"slurm ", MW_LAUNCHER_SLURM},
    };
    char version[4096];
    ask_version(path, version, sizeof(version));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strstr(version, texts[i].text))
            return texts[i].launcher;
    return MW_LAUNCHER_NONE;
}

enum mw_launcher mw_launcher_detect(const char *command)
{
    char *path = mw_search_program(command), *real = path ? realpath(path, NULL) : NULL;
    enum mw_launcher launcher = MW_LAUNCHER_NONE;
    if (real) {
        const char *name = mw_basename(command);
        launcher = launcher_by_name(mw_basename(real));
        if (!launcher)
            launcher = launcher_by_name(name);
        if (!launcher && (starts_with(name, "mpirun") || starts_with(name, "mpiexec")))
            launcher = launcher_by_version(path);
    }
    free(real);
    free(path);
    return launcher;
}

const char *mw_launcher_name(enum mw_launcher launcher)
{
    static const char *const names[] = {"no launcher that is known", "Open MPI's launcher", "hydra",
                                        "srun"};
    return names[launcher];
}

void mw_variables_set(struct mw_variables *variables, const char *name, char *value)
{
    for (size_t i = 0; i < variables->list.count; i++)
        if (!strcmp(variables->list.at[i].name, name)) {
            free(variables->list.at[i].value);
            variables->list.at[i].value = value;
            return;
        }
    *mw_vector_add(&variables->list) = (struct mw_variable){name, value};
}

void mw_variables_free(struct mw_variables *variables)
{
    for (size_t i = 0; i < variables->list.count; i++)
        free(variables->list.at[i].value);
    free(variables->list.at);
}

struct arguments {
    MW_VECTOR(char *) list;
};

static void argument_add(struct arguments *arguments, const char *text)
{
    *mw_vector_add(&arguments->list) = mw_text_copy(text);
}

static void argument_take(struct arguments *arguments, char *text)
{
    *mw_vector_add(&arguments->list) = text;
}

/* Ours first: the linker searches in this order, and the others must find their own next functions.
 */
static char *preload_with(const char *library, const char *others)
{
    return others && others[0] ? mw_format("%s:%s", library, others) : mw_text_copy(library);
}

static void variables_export(const struct mw_variables *variables)
{
    for (size_t i = 0; i < variables->list.count; i++)
        setenv(variables->list.at[i].name, variables->list.at[i].value, 1);
}

/* The value of the user's own "-x LD_PRELOAD=..." behind `at`, up to the end of this program's
 * part. */
static int own_preload(char *const *argument, const char **value)
{
    if (strcmp(argument[0], "-x") && strcmp(argument[0], "--x"))
        return 0;
    if (!argument[1])
        return 0;
    if (!strcmp(argument[1], "LD_PRELOAD")) {
        *value = getenv("LD_PRELOAD");
        return 1;
    }
    if (!starts_with(argument[1], "LD_PRELOAD="))
        return 0;
    *value = argument[1] + strlen("LD_PRELOAD=");
    return 1;
}

static void openmpi_add(struct arguments *arguments, char *const *part, const char *library,
                        const struct mw_variables *variables)
{
    const char *others = getenv("LD_PRELOAD");
    for (size_t i = 0; part[i] && strcmp(part[i], ":"); i++)
        if (own_preload(&part[i], &others))
            break;
    char *preload = preload_with(library, others);
    argument_add(arguments, "-x");
    argument_take(arguments, mw_format("LD_PRELOAD=%s", preload));
    free(preload);
    for (size_t i = 0; i < variables->list.count; i++) {
        argument_add(arguments, "-x");
        argument_add(arguments, variables->list.at[i].name);
    }
}

static void openmpi_command(struct arguments *arguments, char *const *command, const char *library,
                            const struct mw_variables *variables)
{
    const char *ignored;
    argument_add(arguments, command[0]);
    openmpi_add(arguments, command + 1, library, variables);
    for (size_t i = 1; command[i]; i++) {
        if (own_preload(&command[i], &ignored)) {
            i++; /* it is in ours */
            continue;
        }
        argument_add(arguments, command[i]);
        if (!strcmp(command[i], ":"))
            openmpi_add(arguments, command + i + 1, library, variables);
    }
}

static int is_genv(const char *argument)
{
    return !strcmp(argument, "-genv") || !strcmp(argument, "--genv") || !strcmp(argument, "-env") ||
           !strcmp(argument, "--env");
}

static void hydra_command(struct arguments *arguments, char *const *command, const char *library,
                          const struct mw_variables *variables)
{
    char *preload = preload_with(library, getenv("LD_PRELOAD"));
    argument_add(arguments, command[0]);
    argument_add(arguments, "-genv");
    argument_add(arguments, "LD_PRELOAD");
    argument_take(arguments, preload);
    for (size_t i = 0; i < variables->list.count; i++) {
        argument_add(arguments, "-genv");
        argument_add(arguments, variables->list.at[i].name);
        argument_add(arguments, variables->list.at[i].value);
    }
    for (size_t i = 1; command[i]; i++) {
        argument_add(arguments, command[i]);
        if (!is_genv(command[i]) || !command[i + 1] || strcmp(command[i + 1], "LD_PRELOAD") ||
            !command[i + 2])
            continue;
        /* The user's own would replace ours: both go in. */
        argument_add(arguments, command[i + 1]);
        argument_take(arguments, preload_with(library, command[i + 2]));
        i += 2;
    }
}

/* What --export says in `text` with our variables added: a list of names and NAME=VALUE. */
static char *slurm_export(const char *text, const char *preload,
                          const struct mw_variables *variables)
{
    char *list = !strcmp(text, "NONE") || !strcmp(text, "NIL")
                     ? mw_format("LD_PRELOAD=%s", preload)
                     : mw_format("%s,LD_PRELOAD=%s", text, preload);
    for (size_t i = 0; i < variables->list.count; i++) {
        char *longer = mw_format("%s,%s", list, variables->list.at[i].name);
        free(list);
        list = longer;
    }
    return list;
}

static void slurm_command(struct arguments *arguments, char *const *command, const char *library,
                          const struct mw_variables *variables)
{
    const char *other = getenv("SLURM_EXPORT_ENV");
    char *preload = preload_with(library, getenv("LD_PRELOAD"));
    size_t skip = 0, at = 0;
    for (size_t i = 1; command[i] && !at; i++) {
        if (starts_with(command[i], "--export=")) {
            other = command[i] + strlen("--export=");
            at = i;
            skip = 1;
        } else if (!strcmp(command[i], "--export") && command[i + 1]) {
            other = command[i + 1];
            at = i;
            skip = 2;
        }
    }
    char *list = slurm_export(other && other[0] ? other : "ALL", preload, variables);
    argument_add(arguments, command[0]);
    argument_take(arguments, mw_format("--export=%s", list));
    for (size_t i = 1; command[i]; i++) {
        if (at && i >= at && i < at + skip)
            continue;
        argument_add(arguments, command[i]);
    }
    free(list);
    free(preload);
}

char **mw_launcher_command(enum mw_launcher launcher, char *const *command, const char *library,
                           const struct mw_variables *variables)
{
    struct arguments arguments = {0};
    variables_export(variables);
    if (launcher == MW_LAUNCHER_OPENMPI) {
        openmpi_command(&arguments, command, library, variables);
    } else if (launcher == MW_LAUNCHER_HYDRA) {
        hydra_command(&arguments, command, library, variables);
    } else if (launcher == MW_LAUNCHER_SLURM) {
        slurm_command(&arguments, command, library, variables);
    } else {
        char *preload = preload_with(library, getenv("LD_PRELOAD"));
        setenv("LD_PRELOAD", preload, 1);
        free(preload);
        for (size_t i = 0; command[i]; i++)
            argument_add(&arguments, command[i]);
    }
    mw_vector_add(&arguments.list);
    return arguments.list.at;
}
