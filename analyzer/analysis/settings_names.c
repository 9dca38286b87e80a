/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts on the names of settings (settings.h): whose they are, whether their library came,
 * whether it has the name. Certain or silent: what one cannot be sure of is "not checked".
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/settings_private.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int begins_with_one(const char *text, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins(text, prefixes[i]))
            return 1;
    return 0;
}

/* "OMPI_MAC_btl": what was meant is plain. The length of such a wrong prefix; 0 it is none. */
static size_t misspelled_mca(const char *name)
{
    const char *word = name + 5;
    size_t length = begins(name, "OMPI_") ? strcspn(word, "_") : 0;
    if (length < 2 || length > 4 || word[length] != '_' || !word[length + 1] ||
        tolower((unsigned char)word[0]) != 'm' || !strncmp(word, "MCA", length))
        return 0;
    return mw_word_distance(word, length, "MCA", 3, 1, MW_TEXTS_FOLD) <= 1 ? 5 + length + 1 : 0;
}

enum mw_setting_family mw_setting_family_of(const char *name)
{
    static const struct {
        const char *prefix;
        enum mw_setting_family family;
    } prefixes[] = {{"OMPI_MCA_", MW_FAMILY_OPENMPI}, {"PMIX_MCA_", MW_FAMILY_PMIX},
                    {"PRTE_MCA_", MW_FAMILY_PRRTE},   {"MPIR_CVAR_", MW_FAMILY_MPICH},
                    {"MPIR_PARAM_", MW_FAMILY_MPICH}, {"MPICH_", MW_FAMILY_MPICH},
                    {"I_MPI_", MW_FAMILY_INTEL},      {"MV2_", MW_FAMILY_MVAPICH},
                    {"MVP_", MW_FAMILY_MVAPICH},      {"FI_", MW_FAMILY_LIBFABRIC},
                    {"UCX_", MW_FAMILY_UCX},          {"PSM2_", MW_FAMILY_PSM2},
                    {"PSM3_", MW_FAMILY_PSM3}};
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (begins(name, prefixes[i].prefix))
            return name[strlen(prefixes[i].prefix)] ? prefixes[i].family : MW_FAMILY_OTHER;
    return misspelled_mca(name) ? MW_FAMILY_OPENMPI : MW_FAMILY_OTHER;
}

static const char *mca_rest(const char *name)
{
    return begins(name, "OMPI_MCA_") || begins(name, "PMIX_MCA_") || begins(name, "PRTE_MCA_")
               ? name + 9
               : "";
}

int mw_setting_by_launcher(const char *name)
{
    static const char *const ompi[] = {"orte_",
                                       "ess",
                                       "pmix",
                                       "initial_wdir",
                                       "shmem_RUNTIME_QUERY_hint",
                                       "PREFIXES",
                                       "num_procs",
                                       "cpu_type",
                                       "mpi_oversubscribe",
                                       "mca_base_component_path",
                                       "mpi_yield_when_idle_default"};
    static const char *const others[] = {"mca_base", "psec", "pmix", "gds", "ptl", "prte_", "ess"};
    static const char *const fixed[] = {"MPICH_INTERFACE_HOSTNAME", "MPIR_CVAR_CH3_INTERFACE"};
    const char *rest = mca_rest(name);
    if (begins_with_one(name, fixed, COUNT(fixed)))
        return 1;
    return begins(name, "OMPI_") ? rest[0] && begins_with_one(rest, ompi, COUNT(ompi))
                                 : rest[0] && begins_with_one(rest, others, COUNT(others));
}

/* Parts of Open MPI's and PRRTE's launchers: the ranks need not know them. */
static int for_launcher(const char *rest)
{
    static const char *const parts[] = {
        "plm",           "ras",           "rmaps", "rml",     "oob",    "odls",     "ess",
        "errmgr",        "filem",         "iof",   "grpcomm", "routed", "rtc",      "schizo",
        "snapc",         "sstore",        "state", "regx",    "dfs",    "notifier", "sensor",
        "propagate",     "orte",          "prte",  "pmix",    "rank",   "hostfile", "prteif",
        "prtereachable", "prtebacktrace", "prtedl"};
    size_t length = strcspn(rest, "_");
    for (size_t i = 0; i < COUNT(parts); i++)
        if (length == strlen(parts[i]) && !strncmp(rest, parts[i], length))
            return 1;
    return 0;
}

int mw_framework_known(const char *word, size_t length)
{
    static const char *const names[] = {
        "pml",       "mtl",     "btl",       "coll",     "osc",         "io",      "fs",
        "fbtl",      "fcoll",   "topo",      "sharedfp", "vprotocol",   "op",      "bml",
        "mpool",     "rcache",  "allocator", "smsc",     "accelerator", "part",    "memory",
        "shmem",     "patcher", "mpi",       "opal",     "hwloc",       "crs",     "rte",
        "hook",      "if",      "reachable", "timer",    "threads",     "mca",     "dl",
        "backtrace", "pstat",   "compress",  "spml",     "scoll",       "memheap", "atomic",
        "sshmem"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (length == strlen(names[i]) && !strncmp(word, names[i], length))
            return 1;
    return 0;
}

static const struct mw_spelling spellings[MW_FAMILIES] = {
    [MW_FAMILY_OPENMPI] = {"OMPI_MCA_", 3, 0, 0, 0, mw_framework_known},
    [MW_FAMILY_PMIX] = {"PMIX_MCA_", 3, 0, 0, 0, NULL},
    [MW_FAMILY_LIBFABRIC] = {"FI_", 2, 0, MW_TEXTS_FOLD, 0, NULL},
    [MW_FAMILY_UCX] = {"UCX_", 2, 1, 0, 1, NULL},
};

/* --- the verdict, put together --- */

static void say(struct mw_settings *settings, struct mw_setting *setting,
                enum mw_setting_verdict verdict, char *reason)
{
    setting->verdict = verdict;
    setting->reason = mw_settings_keep(settings, reason);
}

static void unchecked(struct mw_settings *settings, struct mw_setting *setting, const char *why)
{
    say(settings, setting, MW_SETTING_UNCHECKED, mw_format("not checked: %s", why));
}

static void known(struct mw_setting *setting, const char *library)
{
    setting->verdict = MW_SETTING_KNOWN;
    setting->library = library;
    setting->reason = "";
}

/* Nobody of the family has it: the last chance is any other library, which may read whatever it
 * likes. */
static void unknown(struct mw_settings *settings, struct mw_setting *setting, char *suggestion)
{
    const char *file;
    int anywhere = mw_libraries_anywhere(&settings->libraries, setting->name, &file);
    if (anywhere == 1) {
        free(suggestion);
        known(setting, file);
        return;
    }
    setting->suggestion = mw_settings_keep(settings, suggestion);
    if ((anywhere < 0 || settings->libraries.sets[setting->family].hidden) && !suggestion) {
        unchecked(settings, setting, "not every library that it may be for is on this machine");
        return;
    }
    say(settings, setting, MW_SETTING_UNKNOWN,
        mw_format("no library that this job loaded knows it"));
}

/* --- families --- */

/* The installed plug-in that the name begins with ("btl_tcp_…"), the longest one; NULL none. */
static struct mw_plugin *plugin_of(struct mw_library_set *set, const char *rest)
{
    struct mw_plugin *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < set->plugins.count; i++) {
        const char *stem = set->plugins.at[i].name + strlen("mca_");
        size_t length = strcspn(stem, ".");
        if (length > most && !strncmp(rest, stem, length) &&
            (rest[length] == '_' || !rest[length])) {
            most = length;
            best = &set->plugins.at[i];
        }
    }
    return best;
}

/* "mca_btl_tcp.so": "btl/tcp" */
static char *component_of(const struct mw_plugin *plugin)
{
    const char *stem = plugin->name + strlen("mca_");
    size_t first = strcspn(stem, "_."), all = strcspn(stem, ".");
    return all > first
               ? mw_format("%.*s/%.*s", (int)first, stem, (int)(all - first - 1), stem + first + 1)
               : mw_format("%.*s", (int)all, stem);
}

/* "OMPI_MCA_BTL": Open MPI tells capitals from small letters. The name that was meant; NULL it is
 * none of a framework. Free it. */
static char *small_framework(const char *name, const char *rest)
{
    char *meant = mw_text_copy(name), *word = meant + (rest - name);
    size_t length = strcspn(rest, "_");
    for (char *at = word; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    if (length && !mw_framework_known(rest, length) && mw_framework_known(word, length))
        return meant;
    free(meant);
    return NULL;
}

static void judge_openmpi(struct mw_settings *settings, struct mw_setting *setting)
{
    const struct mw_spelling *spelling = &spellings[MW_FAMILY_OPENMPI];
    size_t wrong = begins(setting->name, "OMPI_MCA_") ? 0 : misspelled_mca(setting->name);
    const char *rest = mca_rest(setting->name), *file;
    if (wrong) {
        unknown(settings, setting, mw_format("OMPI_MCA_%s", setting->name + wrong));
        return;
    }
    if (for_launcher(rest) || setting->by_launcher) {
        say(settings, setting, MW_SETTING_LAUNCHER,
            mw_format("for the launcher, not for the ranks"));
        return;
    }
    char *small = small_framework(setting->name, rest);
    if (small) {
        unknown(settings, setting, small);
        return;
    }
    struct mw_library_set *set = mw_libraries_set(&settings->libraries, MW_FAMILY_OPENMPI);
    if (!set->texts) {
        unchecked(settings, setting, set->reason);
        return;
    }
    struct mw_plugin *plugin = plugin_of(set, rest);
    struct mw_image_texts *more = plugin && !plugin->loaded ? mw_plugin_texts(plugin) : NULL;
    enum mw_image_texts_found found =
        mw_spelling_find(spelling, set->texts, more, setting->name, &file);
    if (found == MW_TEXTS_NOT && plugin && !plugin->loaded && !more) {
        unchecked(settings, setting, plugin->reason);
    } else if (found == MW_TEXTS_NOT) {
        unknown(settings, setting, mw_spelling_suggest(spelling, set->texts, more, setting->name));
    } else if (plugin && !plugin->loaded) {
        setting->component = mw_settings_keep(settings, component_of(plugin));
        say(settings, setting, MW_SETTING_NOT_LOADED,
            mw_format("it is for component %s, which is installed and was not loaded",
                      setting->component));
    } else if (found == MW_TEXTS_PERHAPS) {
        unchecked(settings, setting, "a library has texts that it may be made of");
    } else {
        known(setting, file);
    }
}

/* Names that are whole texts: of MPICH and its relatives, and PSM. */
struct nearest {
    const char *name, *prefix, *best;
    unsigned distance, most;
};
static int nearest_visit(const char *text, void *context)
{
    struct nearest *nearest = context;
    unsigned most = nearest->best ? nearest->distance - 1 : nearest->most;
    if ((nearest->best && !nearest->distance) || !begins(text, nearest->prefix))
        return 0;
    unsigned distance = mw_word_distance(nearest->name, strlen(nearest->name), text, strlen(text),
                                         most, MW_TEXTS_FOLD);
    if (distance <= most) {
        nearest->best = text;
        nearest->distance = distance;
    }
    return 0;
}

static void judge_whole(struct mw_settings *settings, struct mw_setting *setting)
{
    struct mw_library_set *set = mw_libraries_set(&settings->libraries, setting->family);
    const char *name = setting->name;
    size_t length = strlen(name), skip = strcspn(name, "_") + 1;
    if (!set->texts) {
        unchecked(settings, setting, set->reason);
        return;
    }
    if (begins(name, "MPIR_CVAR_") || begins(name, "I_MPI_"))
        skip += strcspn(name + skip, "_") + 1;
    const char *file = mw_image_texts_file_of(set->texts, name, length, 0);
    if (file) {
        known(setting, file);
        return;
    }
    if (mw_image_texts_find(set->texts, name, length, 0) != MW_TEXTS_NOT ||
        mw_image_texts_find(set->texts, name + skip, length - skip, 0) != MW_TEXTS_NOT ||
        mw_image_texts_pattern(set->texts, name, length)) {
        unchecked(settings, setting, "a library has texts that it may be made of");
        return;
    }
    char *prefix = mw_format("%.*s", (int)skip, name);
    struct nearest nearest = {
        .name = name, .prefix = prefix, .most = mw_word_tolerance(length - skip)};
    mw_image_texts_each(set->texts, nearest_visit, &nearest);
    if (nearest.best || begins(name, "MPIR_CVAR_"))
        unknown(settings, setting, nearest.best ? mw_text_copy(nearest.best) : NULL);
    else
        unchecked(settings, setting,
                  "launchers and scripts have variables of this kind, too, and no name is close");
    free(prefix);
}

/* libfabric and UCX: pieces, in the libraries or in plug-ins that were not loaded. */
static void judge_pieces(struct mw_settings *settings, struct mw_setting *setting)
{
    const struct mw_spelling *spelling = &spellings[setting->family];
    struct mw_library_set *set = mw_libraries_set(&settings->libraries, setting->family);
    const char *file;
    if (!set->texts) {
        unchecked(settings, setting, set->reason);
        return;
    }
    enum mw_image_texts_found found =
        mw_spelling_find(spelling, set->texts, NULL, setting->name, &file);
    if (found == MW_TEXTS_FOUND) {
        known(setting, file);
        return;
    }
    if (found == MW_TEXTS_PERHAPS) {
        unchecked(settings, setting, "a library has texts that it may be made of");
        return;
    }
    for (size_t i = 0; i < set->plugins.count; i++) {
        struct mw_plugin *plugin = &set->plugins.at[i];
        struct mw_image_texts *more = plugin->loaded ? NULL : mw_plugin_texts(plugin);
        if (!more || !mw_spelling_find(spelling, set->texts, more, setting->name, &file))
            continue;
        setting->component = plugin->name;
        say(settings, setting, MW_SETTING_NOT_LOADED,
            mw_format("it is for %s, which is installed and was not loaded", plugin->name));
        return;
    }
    unknown(settings, setting, mw_spelling_suggest(spelling, set->texts, NULL, setting->name));
}

/* --- libraries that never came --- */

static const char *library_word(enum mw_setting_family family)
{
    return family == MW_FAMILY_UCX ? "UCX" : family == MW_FAMILY_PSM2 ? "PSM2" : "libfabric";
}

/* What this job has instead, as far as it is known. */
static char *instead(const struct mw_settings *settings, enum mw_setting_family family)
{
    const struct mw_libraries *libraries = &settings->libraries;
    const char *mpi = mw_libraries_mpi(libraries);
    char *device = mw_libraries_device(libraries), *text = NULL;
    if (device[0]) {
        const char *need = family == MW_FAMILY_UCX ? "ch4:ucx" : "ch4:ofi";
        text = mw_format("%s's device here is %s; it would have to be %s", mpi[0] ? mpi : "MPICH",
                         device, need);
    } else if (!strcmp(mpi, "Open MPI")) {
        struct mw_exclusion exclusion;
        const char *component = family == MW_FAMILY_UCX    ? "ucx"
                                : family == MW_FAMILY_PSM2 ? "psm2"
                                                           : "ofi";
        const char *framework = family == MW_FAMILY_UCX ? "pml" : "mtl";
        if (mw_setting_excludes(settings, framework, component, &exclusion))
            text = mw_format("Open MPI comes to it by component %s/%s, which %s=%s (%s) keeps out",
                             framework, component, exclusion.setting->name,
                             exclusion.variant->in_force.value, exclusion.variant->in_force.source);
        else
            text = mw_format("Open MPI comes to it by component %s/%s, which it did not choose",
                             framework, component);
    }
    free(device);
    return text ? text : mw_text_copy("no library of this job needs it");
}

/* 1 when the verdict is out: the fabric library was not there, or that is not known. */
static int never_came(struct mw_settings *settings, struct mw_setting *setting)
{
    enum mw_setting_family family =
        setting->family == MW_FAMILY_PSM3 ? MW_FAMILY_LIBFABRIC : setting->family;
    int came = mw_libraries_came(&settings->libraries, family);
    if (came == 1)
        return 0;
    if (came < 0) {
        char *why =
            mw_format("%s was not seen, but may be inside another library", library_word(family));
        unchecked(settings, setting, why);
        free(why);
        return 1;
    }
    char *here = instead(settings, family);
    say(settings, setting, MW_SETTING_IDLE,
        mw_format("no rank loaded %s: %s", library_word(family), here));
    free(here);
    return 1;
}

/* 1 when it is a variable of another MPI than the job's. */
static int other_mpi(struct mw_settings *settings, struct mw_setting *setting)
{
    const char *here = mw_libraries_mpi(&settings->libraries), *whose;
    int fits;
    switch (setting->family) {
    case MW_FAMILY_OPENMPI:
        whose = "Open MPI";
        fits = !strcmp(here, whose);
        break;
    case MW_FAMILY_MPICH: /* its relatives know its variables, too */
        whose = "MPICH";
        fits = strcmp(here, "Open MPI") != 0;
        break;
    case MW_FAMILY_INTEL:
        whose = "Intel MPI";
        fits = !strcmp(here, whose);
        break;
    case MW_FAMILY_MVAPICH:
        whose = "MVAPICH";
        fits = !strcmp(here, whose);
        break;
    default:
        return 0;
    }
    if (!here[0]) {
        unchecked(settings, setting, "which MPI this job had is not known");
        return 1;
    }
    if (fits)
        return 0;
    say(settings, setting, MW_SETTING_IDLE,
        mw_format("it is for %s, and this job's MPI is %s", whose, here));
    return 1;
}

/* "UCX_HOME": where a module system or a package manager says that something is installed. */
static int is_folder_name(const char *name)
{
    static const char *const words[] = {
        "HOME", "ROOT",  "DIR",     "PATH",    "PREFIX", "VERSION",   "BASE",
        "INC",  "LIB",   "INCLUDE", "LIBDIR",  "BIN",    "INCDIR",    "BINDIR",
        "LIBS", "BUILD", "DESTDIR", "CC",      "CXX",    "F77",       "F90",
        "FC",   "LD",    "VER",     "LIBRARY", "MODULE", "MODULEFILE"};
    const char *last = strchr(name, '_') + 1;
    if (begins(name, "I_MPI_"))
        last = name + 6;
    for (size_t i = 0; i < COUNT(words); i++)
        if (!strcmp(last, words[i]))
            return 1;
    return 0;
}

static void judge_pmix(struct mw_settings *settings, struct mw_setting *setting)
{
    struct mw_library_set *set = mw_libraries_set(&settings->libraries, MW_FAMILY_PMIX);
    const char *file;
    if (setting->by_launcher)
        say(settings, setting, MW_SETTING_LAUNCHER, mw_format("set by the launcher"));
    else if (set->texts && mw_spelling_find(&spellings[MW_FAMILY_PMIX], set->texts, NULL,
                                            setting->name, &file) == MW_TEXTS_FOUND)
        known(setting, file);
    else
        unchecked(settings, setting, "PMIx has parts that only the launcher loads");
}

void mw_setting_judge(struct mw_settings *settings, struct mw_setting *setting)
{
    if (setting->family == MW_FAMILY_OTHER) {
        unchecked(settings, setting, "names of this kind are not checked");
        return;
    }
    if (setting->family == MW_FAMILY_PRRTE) {
        say(settings, setting, MW_SETTING_LAUNCHER,
            mw_format("for the launcher, not for the ranks"));
        return;
    }
    if (setting->family != MW_FAMILY_OPENMPI && is_folder_name(setting->name)) {
        unchecked(settings, setting, "it is read by compilers and scripts, not by a library");
        return;
    }
    if (other_mpi(settings, setting))
        return;
    switch (setting->family) {
    case MW_FAMILY_OPENMPI:
        judge_openmpi(settings, setting);
        return;
    case MW_FAMILY_PMIX:
        judge_pmix(settings, setting);
        return;
    case MW_FAMILY_LIBFABRIC:
    case MW_FAMILY_UCX:
        if (!never_came(settings, setting))
            judge_pieces(settings, setting);
        return;
    case MW_FAMILY_PSM2:
    case MW_FAMILY_PSM3:
        if (!never_came(settings, setting))
            judge_whole(settings, setting);
        return;
    default:
        judge_whole(settings, setting);
    }
}
