/* SPDX-License-Identifier: BSD-3-Clause */
/* Which libraries the job had loaded, by family, with the texts in their files and the plug-ins
 * that lie beside them (settings_private.h). Files are read when a setting of the family asks for
 * it. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/settings_private.h"
#include "analyzer/model/labels.h"

#define COUNT(list)  (sizeof(list) / sizeof *(list))
#define PLUGINS_MOST 4096

static int begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

void mw_libraries_init(struct mw_libraries *libraries, const struct mw_model *model)
{
    struct mw_index seen = {0};
    libraries->model = model;
    libraries->version = "";
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        libraries->abi = !i || libraries->abi == process->abi ? process->abi : 0;
        if (strlen(process->library_version) > strlen(libraries->version))
            libraries->version = process->library_version;
        for (size_t m = 0; m < process->module_count; m++) {
            const struct mw_module *module = &process->modules[m];
            uint64_t key = mw_hash_bytes(mw_hash_text(1, module->path), module->build_id,
                                         module->build_id_size);
            if (mw_index_put(&seen, key) == libraries->modules.count)
                *mw_vector_add(&libraries->modules) = module;
        }
    }
    mw_index_free(&seen);
}

void mw_libraries_free(struct mw_libraries *libraries)
{
    for (size_t i = 0; i < MW_FAMILIES; i++) {
        struct mw_library_set *set = &libraries->sets[i];
        mw_image_texts_free(set->texts);
        free(set->reason);
        for (size_t p = 0; p < set->plugins.count; p++) {
            mw_image_texts_free(set->plugins.at[p].texts);
            free(set->plugins.at[p].path);
        }
        free(set->plugins.at);
    }
    mw_image_texts_free(libraries->all);
    free(libraries->modules.at);
}

/* libucp, libucs, libuct, libucm and their plug-ins, also where a package has renamed them. */
static int is_ucx(const char *base)
{
    return begins(base, "libuc") && base[5] && strchr("pstm", base[5]) &&
           strchr("._-", base[6] ? base[6] : '.');
}

static int is_fabric(const char *base)
{
    return begins(base, "libfabric") || strstr(base, "-fi.so") != NULL;
}

static int is_openmpi(const char *base)
{
    static const char *const prefixes[] = {"libmpi.so",    "libopen-", "libopen_", "libmca_",
                                           "liboshmem.so", "mca_",     "libmpi_"};
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (begins(base, prefixes[i]))
            return 1;
    return 0;
}

static int belongs(enum mw_setting_family family, const struct mw_module *module)
{
    const char *base = mw_basename(module->path);
    if (module->role == MW_MODULE_MPIWATCH)
        return 0;
    switch (family) {
    case MW_FAMILY_OPENMPI: /* PMIx names its plug-ins in the same way */
        return is_openmpi(base) && !strstr(module->path, "/pmix");
    case MW_FAMILY_PMIX:
        return begins(base, "libpmix");
    case MW_FAMILY_MPICH:
    case MW_FAMILY_INTEL:
    case MW_FAMILY_MVAPICH:
        return module->role == MW_MODULE_MPI || begins(base, "libmpi");
    case MW_FAMILY_LIBFABRIC:
    case MW_FAMILY_PSM3:
        return is_fabric(base);
    case MW_FAMILY_UCX:
        return is_ucx(base);
    case MW_FAMILY_PSM2:
        return begins(base, "libpsm2");
    default:
        return 0;
    }
}

static int is_plugin(enum mw_setting_family family, const char *name)
{
    const char *end = strstr(name, ".so");
    if (!end)
        return 0;
    switch (family) {
    case MW_FAMILY_OPENMPI:
        return begins(name, "mca_") && !end[3];
    case MW_FAMILY_LIBFABRIC:
        return strstr(name, "-fi.so") && !end[3];
    case MW_FAMILY_UCX:
        return is_ucx(name) && end[3] == '.' && !strchr(end + 4, '.'); /* "libuct_ib.so.0" */
    default:
        return 0;
    }
}

static int is_loaded(const struct mw_libraries *libraries, const char *name)
{
    size_t stem = (size_t)(strstr(name, ".so") - name) + 3;
    for (size_t i = 0; i < libraries->modules.count; i++)
        if (!strncmp(mw_basename(libraries->modules.at[i]->path), name, stem))
            return 1;
    return 0;
}

static int plugins_read(struct mw_libraries *libraries, enum mw_setting_family family,
                        const char *folder)
{
    struct mw_library_set *set = &libraries->sets[family];
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) && set->plugins.count < PLUGINS_MOST) {
        if (!is_plugin(family, entry->d_name))
            continue;
        struct mw_plugin *plugin = mw_vector_add(&set->plugins);
        plugin->path = mw_format("%s/%s", folder, entry->d_name);
        plugin->name = mw_basename(plugin->path);
        plugin->loaded = is_loaded(libraries, plugin->name);
    }
    if (dir)
        closedir(dir);
    return dir != NULL;
}

void mw_libraries_folder(struct mw_libraries *libraries, enum mw_setting_family family,
                         const char *folder)
{
    if (folder[0] != '/' || !plugins_read(libraries, family, folder))
        libraries->sets[family].hidden = 1;
}

/* Plug-ins lie where a loaded one came from, else in a folder beside the library. */
static void plugins_find(struct mw_libraries *libraries, enum mw_setting_family family)
{
    static const char *const beside[MW_FAMILIES][2] = {
        [MW_FAMILY_OPENMPI] = {"openmpi"},
        [MW_FAMILY_LIBFABRIC] = {"libfabric", "prov"},
        [MW_FAMILY_UCX] = {"ucx"}};
    const char *library = NULL;
    struct mw_index folders = {0};
    for (size_t i = 0; beside[family][0] && i < libraries->modules.count; i++) {
        const struct mw_module *module = libraries->modules.at[i];
        const char *base = mw_basename(module->path);
        if (!belongs(family, module) || base == module->path)
            continue;
        size_t length = (size_t)(base - module->path) - 1, before = folders.count;
        if (family != MW_FAMILY_OPENMPI || !begins(base, "mca_"))
            library = module->path;
        else if (mw_index_put(&folders, mw_hash_bytes(1, module->path, length)) == before) {
            char *folder = mw_format("%.*s", (int)length, module->path);
            plugins_read(libraries, family, folder);
            free(folder);
        }
    }
    for (int i = 0; !folders.count && library && i < 2 && beside[family][i]; i++) {
        char *folder =
            mw_format("%.*s%s", (int)(mw_basename(library) - library), library, beside[family][i]);
        plugins_read(libraries, family, folder);
        free(folder);
    }
    mw_index_free(&folders);
}

/* Open MPI's components are files that MPI_Init loads, or they are inside its libraries: only a
 * process that came through MPI_Init can tell. */
static int components_seen(const struct mw_libraries *libraries)
{
    for (size_t i = 0; i < libraries->modules.count; i++)
        if (belongs(MW_FAMILY_OPENMPI, libraries->modules.at[i]) &&
            begins(mw_basename(libraries->modules.at[i]->path), "mca_"))
            return 1;
    for (size_t i = 0; i < libraries->model->process_count; i++)
        if (mw_trace_process(libraries->model->trace, i)->has_rank)
            return 1;
    return 0;
}

/* Each Open MPI has PML ob1: as a file, or with this parameter of it in its libraries. */
static int components_known(const struct mw_library_set *set)
{
    static const char inside[] = "send_pipeline_depth";
    for (size_t i = 0; i < set->plugins.count; i++)
        if (begins(set->plugins.at[i].name, "mca_pml_"))
            return 1;
    return mw_image_texts_has(set->texts, inside, strlen(inside), 0);
}

static enum mw_setting_family mpi_family(const struct mw_libraries *libraries)
{
    return libraries->abi == MW_ABI_OPENMPI ? MW_FAMILY_OPENMPI : MW_FAMILY_MPICH;
}

static int has_own(const struct mw_libraries *libraries, enum mw_setting_family family)
{
    for (size_t i = 0; i < libraries->modules.count; i++)
        if (belongs(family, libraries->modules.at[i]))
            return 1;
    return 0;
}

/* A library that has libfabric or UCX inside, without a file of their own. */
static int is_inside(struct mw_libraries *libraries, enum mw_setting_family family)
{
    static const char *const marks[MW_FAMILIES] = {
        [MW_FAMILY_LIBFABRIC] = "FI_LOG_LEVEL", [MW_FAMILY_UCX] = "UCX_CONFIG_DIR"};
    struct mw_library_set *mpi = mw_libraries_set(libraries, mpi_family(libraries));
    if (!mpi->texts)
        return -1;
    if (!marks[family])
        return 0;
    /* libfabric makes the names of its variables by this pattern, and nobody else has it */
    if (family == MW_FAMILY_LIBFABRIC && mw_image_texts_find(mpi->texts, "FI_%s_%s", 8, 0))
        return 1;
    return mw_image_texts_find(mpi->texts, marks[family], strlen(marks[family]), 0) != MW_TEXTS_NOT;
}

static void set_read(struct mw_libraries *libraries, enum mw_setting_family family)
{
    struct mw_library_set *set = &libraries->sets[family];
    struct mw_image_texts *texts = mw_image_texts_create();
    if (family == MW_FAMILY_OPENMPI && !components_seen(libraries))
        set->reason = mw_text_copy("MPI_Init did not come to an end, and which components there "
                                   "are is not known");
    enum mw_setting_family from = family;
    if ((family == MW_FAMILY_LIBFABRIC || family == MW_FAMILY_UCX) && !has_own(libraries, family) &&
        is_inside(libraries, family) == 1)
        from = mpi_family(libraries);
    for (size_t i = 0; i < libraries->modules.count; i++) {
        const struct mw_module *module = libraries->modules.at[i];
        if (!belongs(from, module))
            continue;
        set->loaded++;
        const char *reason = set->reason ? NULL
                                         : mw_image_texts_add(texts, module->path, module->build_id,
                                                              module->build_id_size);
        if (reason)
            set->reason = mw_format("%s was loaded, but %s", mw_basename(module->path), reason);
    }
    if (!set->loaded && !set->reason)
        set->reason = mw_text_copy("its library was not seen");
    if (set->reason)
        mw_image_texts_free(texts);
    else
        set->texts = texts;
    if (!set->texts)
        return;
    plugins_find(libraries, family);
    if (family == MW_FAMILY_OPENMPI && !components_known(set)) {
        mw_image_texts_free(set->texts);
        set->texts = NULL;
        set->reason = mw_text_copy("which components of Open MPI there are is not known");
    }
}

struct mw_library_set *mw_libraries_set(struct mw_libraries *libraries,
                                        enum mw_setting_family family)
{
    struct mw_library_set *set = &libraries->sets[family];
    if (!set->looked) {
        set->looked = 1;
        set_read(libraries, family);
    }
    return set;
}

/* Parts of Open MPI that several components share register names for them, and are loaded with
 * them. They lie in the plug-in's folder, some folders above, or beside the library. NULL when it
 * was found. */
static const char *shared_part_add(struct mw_image_texts *texts, const char *plugin,
                                   const char *needed)
{
    char *folder = mw_text_copy(plugin);
    const char *reason = "a library that it needs is not on this machine";
    for (int up = 0; reason && up < 5; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
        char *path = mw_format("%s/%s", folder, needed);
        reason = mw_image_texts_add(texts, path, NULL, 0);
        free(path);
    }
    free(folder);
    return reason;
}

struct mw_image_texts *mw_plugin_texts(struct mw_plugin *plugin)
{
    const char *needed;
    if (plugin->texts || plugin->reason)
        return plugin->texts;
    plugin->texts = mw_image_texts_create();
    plugin->reason = mw_image_texts_add(plugin->texts, plugin->path, NULL, 0);
    for (size_t at = 0; !plugin->reason && (needed = mw_image_texts_needed(plugin->texts, &at));)
        if (begins(mw_basename(needed), "libmca_"))
            plugin->reason = shared_part_add(plugin->texts, plugin->path, mw_basename(needed));
    if (plugin->reason) {
        mw_image_texts_free(plugin->texts);
        plugin->texts = NULL;
    }
    return plugin->texts;
}

int mw_libraries_anywhere(struct mw_libraries *libraries, const char *name, const char **file)
{
    if (!libraries->all_looked) {
        libraries->all_looked = libraries->all_read = 1;
        libraries->all = mw_image_texts_create();
        for (size_t i = 0; i < libraries->modules.count; i++) {
            const struct mw_module *module = libraries->modules.at[i];
            const char *path = module->path;
            if (module->role == MW_MODULE_MPIWATCH || path[0] != '/')
                continue; /* our own table of names says nothing; the vDSO has no file */
            if (mw_image_texts_add(libraries->all, path, module->build_id, module->build_id_size))
                libraries->all_read = 0;
        }
    }
    *file = mw_image_texts_file_of(libraries->all, name, strlen(name), 0);
    return *file ? 1 : libraries->all_read ? 0 : -1;
}

/* What the probes say. */
static int was_seen(const struct mw_process *process, const char *library)
{
    int absent = 0;
    for (size_t i = 0; i < process->attempt_count; i++)
        if (!strcmp(process->attempts[i].library, library))
            return 1;
    for (size_t i = 0; i < process->endpoint_count; i++)
        if (!strcmp(process->endpoints[i].library, library))
            return 1;
    for (size_t i = 0; i < process->choice_count; i++) {
        const struct mw_choice *choice = &process->choices[i];
        if (strcmp(choice->name, library))
            continue;
        if (!strcmp(choice->what, "version"))
            return 1;
        absent |= !strcmp(choice->what, "probe") && !strcmp(choice->how, "absent");
    }
    return absent ? 0 : -1;
}

int mw_libraries_came(struct mw_libraries *libraries, enum mw_setting_family family)
{
    const char *library = family == MW_FAMILY_UCX         ? "ucx"
                          : family == MW_FAMILY_LIBFABRIC ? "libfabric"
                                                          : "psm2"; /* no probe has it */
    int absent = libraries->model->process_count > 0;
    if (has_own(libraries, family))
        return 1;
    for (size_t i = 0; i < libraries->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(libraries->model->trace, i);
        int seen = was_seen(process, library);
        if (seen == 1)
            return 1;
        if (seen || !process->module_count)
            absent = 0;
    }
    int inside = is_inside(libraries, family);
    if (inside == 1)
        return 1;
    return inside == 0 || absent ? 0 : -1;
}

char *mw_libraries_device(const struct mw_libraries *libraries)
{
    static const char mark[] = "MPICH Device:";
    for (size_t i = 0; i < libraries->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(libraries->model->trace, i);
        const char *at = strstr(process->library_version, mark);
        if (at) {
            at += sizeof(mark) - 1;
            at += strspn(at, " \t");
            return mw_format("%.*s", (int)strcspn(at, "\r\n \t"), at);
        }
        for (size_t c = 0; c < process->choice_count; c++)
            if (!strcmp(process->choices[c].what, "netmod") && process->choices[c].name[0])
                return mw_format("%s%s", strchr(process->choices[c].name, ':') ? "" : "ch4:",
                                 process->choices[c].name);
    }
    return mw_text_copy("");
}

const char *mw_libraries_mpi(const struct mw_libraries *libraries)
{
    const char *version = libraries->version;
    if (libraries->abi == MW_ABI_OPENMPI)
        return "Open MPI";
    if (libraries->abi == MW_ABI_MPICH)
        return strstr(version, "Intel")     ? "Intel MPI"
               : strstr(version, "MVAPICH") ? "MVAPICH"
               : strstr(version, "CRAY")    ? "Cray MPICH"
                                            : "MPICH";
    if (libraries->abi == MW_ABI_STANDARD && strstr(version, "Open MPI"))
        return "Open MPI";
    if (libraries->abi == MW_ABI_STANDARD && strstr(version, "MPICH"))
        return "MPICH";
    return "";
}
