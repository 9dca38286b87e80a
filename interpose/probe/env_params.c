/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters that files set for Open MPI and UCX without anybody looking there: the
 * administrator's, the user's, and those that a variable names; each with file and line. See
 * environment.h for the rules of this code.
 */
#include <string.h>

#include "probe/env_run.h"
#include "probe/modules.h"
#include "probe/redact.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define LINES_MAX   5000
#define MCA         "OMPI_MCA_" /* parameters are named as the variables that set them */

static const char *blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* "name = value", a comment, or nothing. */
static void line_take(struct mw_env_run *run, const char *prefix, const char *path,
                      const char *line, unsigned number)
{
    char name[128], key[160], source[1200], value[2048];
    struct mw_text text;
    const char *at = blanks(line);
    size_t length = strcspn(at, " \t=#\r");
    const char *equals = blanks(at + length);
    if (!length || length >= sizeof name || *equals != '=')
        return;
    memcpy(name, at, length);
    name[length] = '\0';
    at = blanks(equals + 1);
    length = strlen(at);
    while (length && strchr(" \t\r", at[length - 1]))
        length--;
    mw_text_init(&text, value, sizeof value);
    mw_text_add_some(&text, at, length);
    mw_redact_value(name, value, run->value, sizeof run->value);
    mw_text_init(&text, source, sizeof source);
    mw_text_add(&text, path);
    mw_text_add(&text, ":");
    mw_text_add_u64(&text, number);
    mw_join(key, sizeof key, prefix, name, NULL);
    mw_env_fact(run, "parameter", key, run->value, source);
}

static void file_take(struct mw_env_run *run, const char *prefix, const char *path)
{
    unsigned number = 1;
    if (mw_env_slurp(run, path) <= 0)
        return;
    for (char *line = run->file; line && number < LINES_MAX && !mw_env_late(run); number++) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        line_take(run, prefix, path, line, number);
        line = end ? end + 1 : NULL;
    }
}

/* Where the running Open MPI was installed: the folder above the one of its library. Empty: none is
 * loaded. */
static void prefix_find(char *out, size_t capacity)
{
    const struct mw_module_entry *library = mw_modules_first(MW_MODULE_MPI, "ompi_mpi_comm_world");
    const char *chosen = mw_env_variable("OPAL_PREFIX");
    out[0] = '\0';
    if (chosen) {
        mw_join(out, capacity, chosen, NULL);
        return;
    }
    if (!library || library->path[0] != '/')
        return;
    mw_join(out, capacity, library->path, NULL);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(out, '/');
        if (slash)
            *slash = '\0';
    }
}

/* A list of files, as the variable OMPI_MCA_mca_base_param_files has it. */
static void files_take(struct mw_env_run *run, const char *list)
{
    char path[1024];
    for (int i = 0; list && *list && i < 16; i++) {
        struct mw_text text;
        size_t length = strcspn(list, ",:");
        mw_text_init(&text, path, sizeof path);
        mw_text_add_some(&text, list, length);
        file_take(run, MCA, path);
        list += length + (list[length] != '\0');
    }
}

void mw_env_params(struct mw_env_run *run)
{
    static const char *const installed[] = {"/etc/openmpi-mca-params.conf",
                                            "/etc/openmpi/openmpi-mca-params.conf"};
    static const char *const known[] = {"/etc/openmpi/openmpi-mca-params.conf",
                                        "/etc/openmpi-x86_64/openmpi-mca-params.conf"};
    const char *home = mw_env_variable("HOME"),
               *named = mw_env_variable("OMPI_MCA_mca_base_param_files");
    char prefix[1024], path[1200];
    file_take(run, "", "/etc/ucx/ucx.conf");
    if (mw_modules_first(MW_MODULE_MPI, "PMPI_Init") &&
        !mw_modules_first(MW_MODULE_MPI, "ompi_mpi_comm_world"))
        return; /* another MPI does not read these files */
    prefix_find(prefix, sizeof prefix);
    if (named) {
        files_take(run, named);
    } else {
        /* what counts most comes last: the user's file wins over the installation's */
        for (size_t i = 0; i < COUNT(known); i++)
            file_take(run, MCA, known[i]);
        for (size_t i = 0; prefix[0] && i < COUNT(installed); i++)
            file_take(run, MCA, mw_join(path, sizeof path, prefix, installed[i], NULL));
        if (home)
            file_take(run, MCA,
                      mw_join(path, sizeof path, home, "/.openmpi/mca-params.conf", NULL));
    }
}
