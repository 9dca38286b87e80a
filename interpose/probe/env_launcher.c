/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launchers above this process were told on their command lines: a variable that was set
 * there gets that as its source; what did not arrive in the environment is a fact of its own. Other
 * users' processes and other nodes are not looked at. See environment.h for the rules of this code.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/env_params.h"
#include "probe/redact.h"
#include "trace/launchers.h"

#define COUNT(list)   (sizeof(list) / sizeof *(list))
#define ANCESTORS_MAX 12
#define ARGUMENTS_MAX 4096

struct launcher {
    struct mw_params *params;
    char program[64]; /* base name of this process's program */
    char name[64];    /* of the launcher */
    uint64_t pid;
    char *arguments[ARGUMENTS_MAX + 3];
    char line[1u << 16];
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Started by the user's launcher, which stands above it or on another node. */
static int is_helper(const char *name)
{
    static const char *const prefixes[] = {"orted", "prted", "hydra_", "pmi_proxy"};
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

static const char *without_dashes(const char *argument)
{
    if (argument[0] != '-')
        return "";
    return argument + 1 + (argument[1] == '-');
}

static int one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return 1;
    return 0;
}

/* "A=B" in one argument. */
static int pair_take(const char *argument, char *name, size_t capacity, const char **value)
{
    size_t length = strcspn(argument, "=");
    struct mw_text text;
    if (!argument[length] || !length || length >= capacity)
        return 0;
    mw_text_init(&text, name, capacity);
    mw_text_add_some(&text, argument, length);
    *value = argument + length + 1;
    return 2;
}

int mw_params_option(const char *const at[3], char *name, size_t capacity, const char **value)
{
    static const char *const ompi[] = {"mca", "gmca", "omca", "gomca"};
    static const char *const prte[] = {"prtemca", "gprtemca"};
    static const char *const pmix[] = {"pmixmca", "gpmixmca"};
    static const char *const plain[] = {"genv", "env"};
    const char *option = without_dashes(at[0]), *prefix;
    if (!option[0] || !at[1] || !at[1][0])
        return 0;
    if (strcmp(option, "x") == 0)
        return pair_take(at[1], name, capacity, value);
    if (one_of(option, ompi, COUNT(ompi)))
        prefix = "OMPI_MCA_";
    else if (one_of(option, prte, COUNT(prte)))
        prefix = "PRTE_MCA_";
    else if (one_of(option, pmix, COUNT(pmix)))
        prefix = "PMIX_MCA_";
    else if (one_of(option, plain, COUNT(plain)))
        prefix = "";
    else
        return 0;
    if (!prefix[0] && strchr(at[1], '='))
        return pair_take(at[1], name, capacity, value);
    if (!at[2] || strlen(prefix) + strlen(at[1]) >= capacity)
        return 0;
    mw_join(name, capacity, prefix, at[1], NULL);
    *value = at[2];
    return 3;
}

/* Does a list hold this, from comma to comma? Open MPI makes a list of an option given twice. */
static int holds(const char *list, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = list; length && (at = strstr(at, value)); at++)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return 1;
    return strcmp(list, value) == 0;
}

/* A variable that a launcher was told to set. */
static void told(struct launcher *launcher, const char *name, const char *value)
{
    struct mw_env_run *run = launcher->params->run;
    const char *here = mw_env_variable(name);
    char source[256];
    struct mw_text text;
    int agrees = here && holds(here, value);
    if (!mw_environment_wants(name, strlen(name)))
        return;
    mw_text_init(&text, source, sizeof source);
    mw_text_add(&text, agrees ? "environment, from the command line of " : "command line of ");
    mw_text_add(&text, launcher->name);
    mw_text_add(&text, " (pid ");
    mw_text_add_u64(&text, launcher->pid);
    mw_text_add(&text, ")");
    mw_redact_value(name, agrees ? here : value, run->value, sizeof run->value);
    mw_env_fact(run, agrees ? "env" : "launcher", name, run->value, source);
}

/* Some launchers hand the list on, and the ranks read the files themselves (env_params.c). */
static int here_too(const char *list)
{
    static const char *const names[] = {"OMPI_MCA_mca_base_envar_file_prefix",
                                        "OMPI_MCA_mca_base_param_file_prefix"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *value = mw_env_variable(names[i]);
        if (value && strcmp(value, list) == 0)
            return 1;
    }
    return 0;
}

/* A file of settings that the launcher was to read: where its variables come from. */
static void told_files(struct launcher *launcher, const char *option, const char *list)
{
    struct mw_params *params = launcher->params;
    char words[192], path[1024];
    struct mw_text text;
    mw_text_init(&text, words, sizeof words);
    mw_text_add(&text, ", by ");
    mw_text_add(&text, option);
    mw_text_add(&text, " of ");
    mw_text_add(&text, launcher->name);
    mw_text_add(&text, " (pid ");
    mw_text_add_u64(&text, launcher->pid);
    mw_text_add(&text, ")");
    if (here_too(list))
        return;
    params->words = words;
    for (int i = 0; *list && i < 16; i++) {
        size_t length = strcspn(list, ",");
        mw_text_init(&text, path, sizeof path);
        mw_text_add_some(&text, list, length);
        mw_params_file(params, "OMPI_MCA_", path, MW_PARAMS_OPENMPI, MW_PARAMS_TOLD);
        list += length + (list[length] != '\0');
    }
    params->words = "";
}

/* Up to the program itself: what follows is the program's own. */
static void arguments_take(struct launcher *launcher, unsigned count)
{
    static const char *const files[] = {"tune", "am", "amca"};
    char name[192];
    for (unsigned i = 1; i < count;) {
        const char *const at[3] = {launcher->arguments[i], launcher->arguments[i + 1],
                                   launcher->arguments[i + 1] ? launcher->arguments[i + 2] : NULL};
        const char *value;
        if (strcmp(base_of(at[0]), launcher->program) == 0)
            return;
        int used = mw_params_option(at, name, sizeof name, &value);
        if (used) {
            told(launcher, name, value);
        } else if (at[1] && one_of(without_dashes(at[0]), files, COUNT(files))) {
            told_files(launcher, at[0], at[1]);
            used = 2;
        }
        i += used ? (unsigned)used : 1;
    }
}

static uint64_t parent_of(struct mw_env_run *run, uint64_t pid)
{
    struct mw_text text;
    mw_text_init(&text, run->path, sizeof run->path);
    mw_text_add(&text, "/proc/");
    if (pid)
        mw_text_add_u64(&text, pid);
    else
        mw_text_add(&text, "self");
    mw_text_add(&text, "/status");
    if (mw_env_slurp(run, run->path) <= 0 || mw_env_field(run, "PPid") <= 0)
        return 0;
    return mw_number(run->value, 10, NULL);
}

/* The command line of a process of this user; the number of arguments, 0 none. */
static unsigned arguments_read(struct launcher *launcher, uint64_t pid)
{
    struct mw_env_run *run = launcher->params->run;
    struct mw_text text;
    struct stat state;
    unsigned count = 0;
    mw_text_init(&text, run->path, sizeof run->path);
    mw_text_add(&text, "/proc/");
    mw_text_add_u64(&text, pid);
    mw_text_add(&text, "/cmdline");
    int file = mw_sys_open(mw_env_path(run, run->path));
    if (file < 0)
        return 0;
    long size = fstat(file, &state) == 0 && state.st_uid == geteuid()
                    ? mw_sys_read(file, launcher->line, sizeof launcher->line - 1)
                    : 0;
    mw_sys_close(file);
    if (size <= 0)
        return 0;
    launcher->line[size] = '\0';
    for (long at = 0; at < size && count < ARGUMENTS_MAX; count++) {
        launcher->arguments[count] = launcher->line + at;
        at += (long)strlen(launcher->line + at) + 1;
    }
    launcher->arguments[count] = launcher->arguments[count + 1] = NULL;
    return count;
}

void mw_params_launchers(struct mw_params *params)
{
    struct mw_env_run *run = params->run;
    struct launcher *launcher =
        mmap(NULL, sizeof *launcher, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (launcher == MAP_FAILED)
        return;
    launcher->params = params;
    if (mw_env_link(run, "/proc/self/exe") > 0)
        mw_join(launcher->program, sizeof launcher->program, run->value, NULL);
    uint64_t pid = parent_of(run, 0);
    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && !mw_env_late(run); i++) {
        unsigned count = arguments_read(launcher, pid);
        if (count && mw_is_mpi_launcher(base_of(launcher->arguments[0]))) {
            launcher->pid = pid;
            mw_join(launcher->name, sizeof launcher->name, base_of(launcher->arguments[0]), NULL);
            launcher->name[strcspn(launcher->name, ".")] = '\0'; /* mpirun.openmpi: mpirun */
            arguments_take(launcher, count);
            if (!is_helper(launcher->name))
                break; /* one above it has started another job */
        }
        pid = parent_of(run, pid);
    }
    munmap(launcher, sizeof *launcher);
}
