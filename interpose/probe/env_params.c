/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters that files set for Open MPI, PMIx, PRRTE, UCX and libfabric without anybody looking
 * there, each with file and line, in the order in which those libraries obey them; and what the
 * launcher's command line set (env_launcher.c). All places are kept: which one is in force follows
 * from the sections (env_params.h) offline. See environment.h for the rules of this code.
 */
#include <string.h>
#include <sys/mman.h>

#include "probe/env_params.h"
#include "probe/modules.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define MCA         "OMPI_MCA_" /* parameters are named as the variables that set them */

/* The folder of a path, `up` levels above the file. */
static void folder_of(char *out, size_t capacity, const char *path, int up)
{
    mw_join(out, capacity, path[0] == '/' ? path : "", NULL);
    for (int i = 0; i < up; i++) {
        char *slash = strrchr(out, '/');
        if (slash)
            *slash = '\0';
    }
}

/* The loaded object whose file's name begins so; NULL none. */
static const struct mw_module_entry *loaded(const char *prefix)
{
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *module = mw_modules_at(i);
        const char *slash = strrchr(module->path, '/');
        if (!module->gone && slash && strncmp(slash + 1, prefix, strlen(prefix)) == 0)
            return module;
    }
    return NULL;
}

/* A text of the object's own that can be read in full; NULL else. */
static const char *text_in(const struct mw_module_entry *module, uintptr_t at)
{
    for (unsigned i = 0; i < module->elf.readable_count; i++) {
        uintptr_t end = module->elf.readable[i].end;
        if (at >= module->elf.readable[i].start && at < end &&
            memchr((const char *)at, '\0', end - at))
            return (const char *)at;
    }
    return NULL;
}

/* Where Open MPI was configured to look for its files. It keeps a table of folders, the prefix
 * first and that one eighth, all of them texts that begin with "/" or with "${": read before
 * MPI_Init, when it has not been expanded yet. NULL: not found. */
static const char *configured(const struct mw_module_entry *module, const char **prefix)
{
    uintptr_t table = (uintptr_t)mw_elf_symbol(module, "mca_installdirs_config_component");
    const char *eighth = NULL;
    if (!table)
        return NULL;
    for (int i = 0, run = 0; i < 128 && run < 14; i++) {
        uintptr_t at = table + (uintptr_t)i * sizeof(uintptr_t), value;
        int inside = 0;
        for (unsigned k = 0; k < module->elf.readable_count; k++)
            inside |= at >= module->elf.readable[k].start &&
                      at + sizeof value <= module->elf.readable[k].end;
        if (!inside)
            return NULL;
        memcpy(&value, (const void *)at, sizeof value);
        const char *text = text_in(module, value);
        run = text && (text[0] == '/' || strncmp(text, "${", 2) == 0) ? run + 1 : 0;
        if (run == 1)
            *prefix = text;
        if (run == 8)
            eighth = text;
        if (run == 14)
            return eighth;
    }
    return NULL;
}

/* "${prefix}/etc" becomes a path; only what stands alone at the front. 0: something else. */
static int expand(char *out, size_t capacity, const char *text, const char *prefix)
{
    static const char *const names[] = {"${prefix}", "${exec_prefix}"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0) {
            mw_join(out, capacity, prefix, text + strlen(names[i]), NULL);
            return prefix[0] != '\0';
        }
    mw_join(out, capacity, text, NULL);
    return text[0] == '/';
}

/* Open MPI's folder for files of the installation. Empty: not known, look at the usual ones. */
static void sysconf_find(char *out, size_t capacity)
{
    const char *chosen = mw_env_variable("OPAL_SYSCONFDIR");
    const char *prefix = mw_env_variable("OPAL_PREFIX");
    const struct mw_module_entry *pal =
        mw_modules_first(MW_MODULE_MPI, "mca_installdirs_config_component");
    out[0] = '\0';
    if (chosen && chosen[0] == '/') {
        mw_join(out, capacity, chosen, NULL);
        return;
    }
    const char *built = "", *known = pal ? configured(pal, &built) : NULL;
    if (known && expand(out, capacity, known, prefix ? prefix : built))
        return;
    out[0] = '\0';
    if (prefix)
        mw_join(out, capacity, prefix, "/etc", NULL);
}

/* A list of files, of which the first counts most. */
static void list_take(struct mw_params *params, const char *list, enum mw_params_rank rank)
{
    char path[1024];
    for (int i = 0; list && *list && i < 16; i++) {
        struct mw_text text;
        size_t length = strcspn(list, ",");
        mw_text_init(&text, path, sizeof path);
        mw_text_add_some(&text, list, length);
        mw_params_file(params, MCA, path, MW_PARAMS_OPENMPI, rank);
        list += length + (list[length] != '\0');
    }
}

static void home_take(struct mw_params *params, const char *prefix, const char *name,
                      enum mw_params_format format)
{
    char path[1200];
    const char *home = mw_env_variable("HOME");
    if (home && home[0] == '/')
        mw_params_file(params, prefix, mw_join(path, sizeof path, home, name, NULL), format,
                       MW_PARAMS_ORDINARY);
}

static void file_in(struct mw_params *params, const char *prefix, const char *folder,
                    const char *name, enum mw_params_rank rank)
{
    char path[1200];
    mw_params_file(params, prefix, mw_join(path, sizeof path, folder, "/", name, NULL),
                   MW_PARAMS_OPENMPI, rank);
}

/* The folders of the installation: the configured one, or those where packages put it. */
static void installation_take(struct mw_params *params, const char *sysconf, const char *prefix,
                              const char *name, enum mw_params_rank rank)
{
    const struct mw_module_entry *library = mw_modules_first(MW_MODULE_MPI, "ompi_mpi_comm_world");
    static const char *const usual[] = {"/etc/openmpi", "/etc/openmpi-x86_64",
                                        "/etc/openmpi-aarch64"};
    char folder[1024];
    if (sysconf[0]) {
        file_in(params, prefix, sysconf, name, rank);
        return;
    }
    folder_of(folder, sizeof folder, library ? library->path : "", 2);
    if (folder[0]) {
        mw_join(folder + strlen(folder), sizeof folder - strlen(folder), "/etc", NULL);
        file_in(params, prefix, folder, name, rank);
    }
    if (library && strncmp(library->path, "/usr/", 5) != 0)
        return; /* not a package of the distribution: its files are others' */
    for (size_t i = 0; i < COUNT(usual); i++)
        file_in(params, prefix, usual[i], name, rank);
}

static void openmpi_take(struct mw_params *params)
{
    const char *named = mw_env_variable(MCA "mca_base_param_files");
    char sysconf[1024];
    sysconf_find(sysconf, sizeof sysconf);
    installation_take(params, sysconf, MCA, "openmpi-mca-params-override.conf", MW_PARAMS_OVERRIDE);
    list_take(params, mw_env_variable(MCA "mca_base_envar_file_prefix"), MW_PARAMS_ORDINARY);
    /* Sets of parameters: versions differ in whether they find these at all. */
    params->words = ", a set of parameters that Open MPI may not read";
    list_take(params, mw_env_variable(MCA "mca_base_param_file_prefix"), MW_PARAMS_PERHAPS);
    params->words = "";
    if (named) {
        list_take(params, named, MW_PARAMS_ORDINARY);
    } else {
        home_take(params, MCA, "/.openmpi/mca-params.conf", MW_PARAMS_OPENMPI);
        installation_take(params, sysconf, MCA, "openmpi-mca-params.conf", MW_PARAMS_ORDINARY);
    }
    home_take(params, "PMIX_MCA_", "/.pmix/mca-params.conf", MW_PARAMS_OPENMPI);
    installation_take(params, sysconf, "PMIX_MCA_", "pmix-mca-params.conf", MW_PARAMS_ORDINARY);
    home_take(params, "PRTE_MCA_", "/.prte/mca-params.conf", MW_PARAMS_OPENMPI);
    installation_take(params, sysconf, "PRTE_MCA_", "prte-mca-params.conf", MW_PARAMS_ORDINARY);
}

/* UCX: the working folder, UCX_CONFIG_DIR, home, beside the library (two places, by version), the
 * system. */
static void ucx_take(struct mw_params *params)
{
    const struct mw_module_entry *library = loaded("libucs.so");
    const char *chosen = mw_env_variable("UCX_CONFIG_DIR");
    char folder[1024], path[1200];
    if (params->run->root[0] == '\0')
        mw_params_file(params, "", "./ucx.conf", MW_PARAMS_INI, MW_PARAMS_ORDINARY);
    if (chosen && chosen[0])
        mw_params_file(params, "", mw_join(path, sizeof path, chosen, "/ucx.conf", NULL),
                       MW_PARAMS_INI, MW_PARAMS_ORDINARY);
    home_take(params, "", "/ucx.conf", MW_PARAMS_INI);
    folder_of(folder, sizeof folder, library ? library->path : "", 2);
    if (folder[0] && strcmp(folder, "/") != 0) {
        mw_params_file(params, "", mw_join(path, sizeof path, folder, "/etc/ucx/ucx.conf", NULL),
                       MW_PARAMS_INI, MW_PARAMS_ORDINARY);
        mw_params_file(params, "", mw_join(path, sizeof path, folder, "/etc/ucx.conf", NULL),
                       MW_PARAMS_INI, MW_PARAMS_ORDINARY);
    }
    if (!library || strncmp(library->path, "/usr/", 5) == 0)
        mw_params_file(params, "", "/etc/ucx/ucx.conf", MW_PARAMS_INI, MW_PARAMS_ORDINARY);
}

/* libfabric from 1.18 on. FI_PREFER_SYSCONFIG makes it win over the environment: that is for
 * whoever reads the trace to see. */
static void libfabric_take(struct mw_params *params)
{
    const struct mw_module_entry *library = loaded("libfabric.so");
    char folder[1024], path[1200];
    folder_of(folder, sizeof folder, library ? library->path : "", 2);
    if (folder[0] && strncmp(folder, "/usr/", 5) != 0)
        mw_params_file(params, "", mw_join(path, sizeof path, folder, "/etc/libfabric.conf", NULL),
                       MW_PARAMS_PLAIN, MW_PARAMS_ORDINARY);
    else
        mw_params_file(params, "", "/etc/libfabric.conf", MW_PARAMS_PLAIN, MW_PARAMS_ORDINARY);
}

void mw_env_params(struct mw_env_run *run)
{
    struct mw_params *params =
        mmap(NULL, sizeof *params, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (params == MAP_FAILED)
        return;
    params->run = run;
    params->words = "";
    mw_params_launchers(params);
    ucx_take(params);
    libfabric_take(params);
    /* another MPI does not read the files of Open MPI */
    if (!mw_modules_first(MW_MODULE_MPI, "PMPI_Init") ||
        mw_modules_first(MW_MODULE_MPI, "ompi_mpi_comm_world"))
        openmpi_take(params);
    if (params->left_out) {
        char count[32];
        struct mw_text text;
        mw_text_init(&text, count, sizeof count);
        mw_text_add_u64(&text, params->left_out);
        mw_env_fact(run, "mpiwatch", "parameters.left_out", count, "too many names");
    }
    munmap(params, sizeof *params);
}
