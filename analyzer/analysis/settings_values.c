/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values that are lists of names (settings.h): which component they keep out, and names in them
 * that nothing installed has. The rules are the libraries' own: "^" in front keeps out what
 * follows, else only what is listed may be used.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/analysis/settings_private.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define WORD_MOST   64

/* Short names of UCX for several transports. */
static const struct {
    const char *name, *members[12];
} groups[] = {
    {"mm", {"posix", "sysv", "xpmem"}},
    {"sm", {"posix", "sysv", "xpmem", "cma", "knem", "mm"}},
    {"shm", {"posix", "sysv", "xpmem", "cma", "knem", "mm"}},
    {"ib",
     {"rc_verbs", "rc_mlx5", "ud_verbs", "ud_mlx5", "dc_mlx5", "gga_mlx5", "srd", "rc", "ud",
      "dc"}},
    {"rc", {"rc_verbs", "rc_mlx5"}},
    {"rc_v", {"rc_verbs"}},
    {"rc_x", {"rc_mlx5"}},
    {"ud", {"ud_verbs", "ud_mlx5"}},
    {"ud_v", {"ud_verbs"}},
    {"ud_x", {"ud_mlx5"}},
    {"dc", {"dc_mlx5"}},
    {"dc_x", {"dc_mlx5"}},
    {"ugni", {"ugni_smsg", "ugni_udt", "ugni_rdma"}},
    {"cuda", {"cuda_copy", "cuda_ipc", "gdr_copy"}},
    {"rocm", {"rocm_copy", "rocm_ipc", "rocm_gdr"}},
    {"ze", {"ze_copy", "ze_ipc", "ze_gdr"}},
    {"gaudi", {"gaudi_gdr"}},
};

/* One word of a list; the separators of all the libraries are "," and, for layers, ";". */
struct words {
    const char *at;
    int negated;
};

static struct words words_of(const char *list)
{
    list += strspn(list, " \t");
    int negated = *list == '^' || *list == '!';
    return (struct words){list + negated, negated};
}

/* The next word, without what stands around it ("\\", ":aux", blanks). 0 at the end. */
static int word_next(struct words *words, const char *separators, char *word)
{
    while (*words->at) {
        size_t length = strcspn(words->at, separators), skip = strspn(words->at, " \t\\^");
        const char *start = words->at;
        words->at += length + (words->at[length] != '\0');
        if (skip >= length)
            continue;
        size_t size = strcspn(start + skip, ": \t");
        if (size > length - skip)
            size = length - skip;
        if (!size || size >= WORD_MOST)
            continue;
        memcpy(word, start + skip, size);
        word[size] = '\0';
        return 1;
    }
    return 0;
}

static int in_group(const char *group, const char *name)
{
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (strcmp(groups[i].name, group))
            continue;
        for (size_t m = 0; m < COUNT(groups[i].members) && groups[i].members[m]; m++)
            if (!strcmp(groups[i].members[m], name))
                return 1;
    }
    return 0;
}

static int is_group(const char *name)
{
    for (size_t i = 0; i < COUNT(groups); i++)
        if (!strcmp(groups[i].name, name))
            return 1;
    return 0;
}

static int is_ucx(const char *variable)
{
    return !strcmp(variable, "UCX_TLS");
}

/* Does a word of a list mean this name? */
static int means(const char *variable, const char *word, const char *name)
{
    if (is_ucx(variable))
        return !strcmp(word, name) || in_group(word, name) || !strcmp(word, "all");
    if (!strncmp(variable, "FI_", 3)) {
        if (!strcasecmp(word, name))
            return 1;
        /* layers: "tcp;ofi_rxm" is of both */
        size_t length = strlen(name);
        for (const char *at = word; *at; at += strcspn(at, ";"), at += *at == ';')
            if (strcspn(at, ";") == length && !strncasecmp(at, name, length))
                return 1;
        return 0;
    }
    if (!strncmp(variable, "UCX_", 4) && !strcmp(word, "all"))
        return 1;
    return !strcmp(word, name);
}

static int list_means(const char *variable, const char *list, const char *name)
{
    struct words words = words_of(list);
    char word[WORD_MOST];
    while (word_next(&words, ",", word))
        if (means(variable, word, name))
            return 1;
    return 0;
}

int mw_list_allows(const char *variable, const char *list, const char *name)
{
    struct words words = words_of(list);
    char word[WORD_MOST];
    int negated = words.negated, listed = list_means(variable, list, name);
    if (!word_next(&words, ",", word))
        return 1; /* nothing is named */
    /* a name for several: one of them is enough to be allowed, all are needed to be kept out */
    if (is_ucx(variable) && is_group(name) && !listed) {
        int some = 0, all = 1;
        for (size_t i = 0; i < COUNT(groups); i++)
            for (size_t m = 0; !strcmp(groups[i].name, name) && m < COUNT(groups[i].members) &&
                               groups[i].members[m];
                 m++) {
                int here = list_means(variable, list, groups[i].members[m]);
                some |= here;
                all &= here || is_group(groups[i].members[m]);
            }
        listed = negated ? all : some;
    }
    if (negated)
        return listed ? -1 : 1;
    return listed ? 1 : -2;
}

int mw_setting_excludes(const struct mw_settings *settings, const char *framework, const char *name,
                        struct mw_exclusion *out)
{
    char *variable = isupper((unsigned char)framework[0]) ? mw_text_copy(framework)
                                                          : mw_format("OMPI_MCA_%s", framework);
    const struct mw_setting *setting = mw_settings_find(settings, variable);
    int found = 0;
    for (size_t i = 0; setting && !found && i < setting->variant_count; i++) {
        const struct mw_setting_variant *variant = &setting->variants[i];
        if (variant->in_force.origin == MW_ORIGIN_PERHAPS ||
            variant->in_force.origin == MW_ORIGIN_COMMAND_LINE)
            continue;
        int allows = mw_list_allows(variable, variant->in_force.value, name);
        if (allows > 0)
            continue;
        found = 1;
        *out = (struct mw_exclusion){setting, variant, allows == -1};
    }
    free(variable);
    return found;
}

/* --- names that nothing has --- */

/* What was offered or opened is there, whatever the files say. */
static int was_offered(const struct mw_settings *settings, const char *word)
{
    for (size_t i = 0; i < settings->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(settings->model->trace, i);
        for (size_t a = 0; a < process->attempt_count; a++) {
            const struct mw_attempt *attempt = &process->attempts[a];
            for (size_t o = 0; o < attempt->offer_count; o++)
                if (means("FI_", attempt->offers[o].provider, word))
                    return 1;
            if (!attempt->result && means("FI_", attempt->provider, word))
                return 1;
        }
    }
    return 0;
}

/* A list of components of Open MPI, of UCX's transports, of libfabric's providers, of MPICH's
 * netmods. */
struct list_kind {
    enum mw_setting_family family;
    const char *what;      /* "component", "transport", "provider" */
    const char *framework; /* of Open MPI, or "" */
    const char *separators;
};

static int kind_of(const struct mw_setting *setting, struct list_kind *kind)
{
    const char *name = setting->name;
    if (!strcmp(name, "UCX_TLS"))
        *kind = (struct list_kind){MW_FAMILY_UCX, "transport", "", ","};
    else if (!strcmp(name, "FI_PROVIDER"))
        *kind = (struct list_kind){MW_FAMILY_LIBFABRIC, "provider", "", ",;"};
    else if (!strcmp(name, "MPIR_CVAR_CH4_NETMOD"))
        *kind = (struct list_kind){MW_FAMILY_MPICH, "netmod", "", ","};
    else if (!strncmp(name, "OMPI_MCA_", 9) && setting->verdict == MW_SETTING_KNOWN)
        *kind = (struct list_kind){MW_FAMILY_OPENMPI, "component", name + 9, ","};
    else
        return 0;
    return kind->family == MW_FAMILY_OPENMPI
               ? mw_framework_known(kind->framework, strlen(kind->framework))
               : setting->verdict == MW_SETTING_KNOWN || setting->verdict == MW_SETTING_UNCHECKED;
}

/* "mca_btl_tcp.so" of framework "btl": tcp. 0: of another. */
static int plugin_word(const struct mw_plugin *plugin, const struct list_kind *kind, char *word)
{
    const char *stem = plugin->name;
    size_t length = strlen(kind->framework);
    if (kind->family == MW_FAMILY_OPENMPI) {
        stem += strlen("mca_");
        if (strncmp(stem, kind->framework, length) || stem[length] != '_')
            return 0;
        stem += length + 1;
    } else {
        const char *end = strstr(stem, kind->family == MW_FAMILY_UCX ? ".so" : "-fi.so");
        stem += strncmp(stem, "lib", 3) ? 0 : 3;
        stem += strncmp(stem, "uct_", 4) ? 0 : 4;
        length = end && end > stem ? (size_t)(end - stem) : 0;
        if (!length || length >= WORD_MOST)
            return 0;
        memcpy(word, stem, length);
        word[length] = '\0';
        return 1;
    }
    length = strcspn(stem, ".");
    if (!length || length >= WORD_MOST)
        return 0;
    memcpy(word, stem, length);
    word[length] = '\0';
    return 1;
}

struct close_word {
    const char *word;
    char best[WORD_MOST];
    unsigned distance, most;
};

static void close_try(struct close_word *close, const char *text)
{
    size_t length = strlen(text);
    unsigned distance = mw_word_distance(close->word, strlen(close->word), text, length,
                                         close->most, MW_TEXTS_FOLD);
    if (distance > close->most || length >= WORD_MOST || length < 2 || !strcmp(text, close->word))
        return;
    if (close->best[0] && distance >= close->distance)
        return;
    memcpy(close->best, text, length + 1);
    close->distance = distance;
}

static void close_plugins(struct mw_library_set *set, const struct list_kind *kind,
                          struct close_word *close)
{
    char word[WORD_MOST];
    for (size_t i = 0; i < set->plugins.count; i++)
        if (plugin_word(&set->plugins.at[i], kind, word))
            close_try(close, word);
}

/* Names that components of Open MPI have in one version or another. */
static const char *const components[] = {
    "ob1",      "ucx",      "cm",    "monitoring", "ofi",    "psm2",  "portals4",
    "tcp",      "self",     "vader", "sm",         "openib", "uct",   "smcuda",
    "ugni",     "usnic",    "tuned", "basic",      "libnbc", "han",   "adapt",
    "inter",    "sync",     "hcoll", "ucc",        "rdma",   "pt2pt", "ompio",
    "romio321", "romio341", "ufs",   "lustre",     "gpfs",   "posix", "vulcan",
    "dynamic",  "cma",      "knem",  "xpmem",      "rocm",   "cuda"};

static int is_component(const char *word)
{
    for (size_t i = 0; i < COUNT(components); i++)
        if (!strcmp(components[i], word))
            return 1;
    return 0;
}

/* Components that are inside Open MPI's libraries have no files to be listed. */
static void close_components(const struct mw_image_texts *texts, struct close_word *close)
{
    for (size_t i = 0; i < COUNT(components); i++)
        if (mw_image_texts_has(texts, components[i], strlen(components[i]), 0))
            close_try(close, components[i]);
}

static void close_known(const struct list_kind *kind, struct close_word *close)
{
    static const char *const providers[] = {
        "tcp",     "verbs", "cxi", "efa",     "psm2",  "psm3", "opx", "shm",
        "sockets", "udp",   "gni", "ofi_rxm", "usnic", "ucx",  "lnx", "ofi_rxd"};
    static const char *const transports[] = {"tcp",  "self", "all",   "posix",
                                             "sysv", "cma",  "xpmem", "knem"};
    if (kind->family == MW_FAMILY_LIBFABRIC)
        for (size_t i = 0; i < COUNT(providers); i++)
            close_try(close, providers[i]);
    if (kind->family != MW_FAMILY_UCX)
        return;
    for (size_t i = 0; i < COUNT(transports); i++)
        close_try(close, transports[i]);
    for (size_t i = 0; i < COUNT(groups); i++) {
        close_try(close, groups[i].name);
        for (size_t m = 0; m < COUNT(groups[i].members) && groups[i].members[m]; m++)
            close_try(close, groups[i].members[m]);
    }
}

static int word_exists(struct mw_settings *settings, struct mw_library_set *set,
                       const struct list_kind *kind, const char *word)
{
    unsigned flags = kind->family == MW_FAMILY_LIBFABRIC ? MW_TEXTS_FOLD : 0;
    char plugin[WORD_MOST];
    if (kind->family == MW_FAMILY_UCX && (is_group(word) || !strcmp(word, "all")))
        return 1;
    for (size_t i = 0; i < set->plugins.count; i++)
        if (plugin_word(&set->plugins.at[i], kind, plugin) && !strcasecmp(plugin, word))
            return 1;
    /* Components carry their names in them, where no linker makes them ends of other texts. */
    if (kind->family == MW_FAMILY_OPENMPI)
        return mw_image_texts_has(set->texts, word, strlen(word), flags);
    if (mw_image_texts_find(set->texts, word, strlen(word), flags) != MW_TEXTS_NOT)
        return 1;
    for (size_t i = 0; kind->family == MW_FAMILY_UCX && i < set->plugins.count; i++) {
        struct mw_image_texts *more = mw_plugin_texts(&set->plugins.at[i]);
        if (!more || mw_image_texts_find(more, word, strlen(word), 0) != MW_TEXTS_NOT)
            return 1; /* one that cannot be read may have it */
    }
    return was_offered(settings, word);
}

static int is_name(const char *word)
{
    for (; *word; word++)
        if (!isalnum((unsigned char)*word) && *word != '_' && *word != '-')
            return 0;
    return 1;
}

static void strangers_find(struct mw_settings *settings, struct mw_library_set *set,
                           const struct list_kind *kind, struct mw_setting_variant *variant)
{
    MW_VECTOR(struct mw_setting_stranger) found = {0};
    struct words words = words_of(variant->in_force.value);
    char word[WORD_MOST];
    while (word_next(&words, kind->separators, word)) {
        if (!is_name(word) || word_exists(settings, set, kind, word))
            continue;
        struct close_word close = {.word = word, .most = mw_word_tolerance(strlen(word))};
        close_plugins(set, kind, &close);
        close_known(kind, &close);
        if (kind->family == MW_FAMILY_OPENMPI)
            close_components(set->texts, &close);
        /* Keeping out what is not there is common in defaults of a site: only a slip is of
         * interest. */
        if (words.negated && (!close.best[0] || close.distance > 1 || strlen(word) < 3 ||
                              (kind->family == MW_FAMILY_OPENMPI && is_component(word))))
            continue;
        struct mw_setting_stranger *stranger = mw_vector_add(&found);
        stranger->word = mw_settings_keep(settings, mw_text_copy(word));
        stranger->suggestion =
            close.best[0] ? mw_settings_keep(settings, mw_text_copy(close.best)) : NULL;
        stranger->reason = mw_settings_keep(
            settings, mw_format("no %s%s%s of this installation is called %s", kind->framework,
                                kind->framework[0] ? " " : "", kind->what, word));
    }
    variant->strangers = mw_settings_keep(settings, found.at);
    variant->stranger_count = found.count;
}

void mw_setting_judge_values(struct mw_settings *settings, struct mw_setting *setting)
{
    struct list_kind kind;
    if (!kind_of(setting, &kind))
        return;
    struct mw_library_set *set = mw_libraries_set(&settings->libraries, kind.family);
    if (!set->texts)
        return;
    if (set->hidden)
        return;
    struct mw_setting_variant *variants = (struct mw_setting_variant *)setting->variants;
    for (size_t i = 0; i < setting->variant_count; i++)
        strangers_find(settings, set, &kind, &variants[i]);
}
