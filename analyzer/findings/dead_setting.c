/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "dead-setting": settings that nobody reads, as their names are mistyped, as they belong to a
 * library that never came, or as they name components that do not exist. One finding for each kind,
 * each setting with its source.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/words.h"

#define SHOWN 20 /* settings named in one finding */

struct kind {
    enum mw_severity severity;
    const char *one, *many, *advice;
};

enum { MISTYPED, STRANGERS, UNKNOWN, IDLE, KINDS };
static const struct kind kinds[KINDS] = {
    [MISTYPED] = {MW_WARNING, "a setting is mistyped and has no effect",
                  "settings are mistyped and have no effect",
                  "Correct what is misspelt; neither MPI nor the fabric libraries complain about "
                  "names that they do not know."},
    [STRANGERS] = {MW_WARNING, "a setting names something that does not exist",
                   "settings name things that do not exist",
                   "Correct what does not exist: in a list it is ignored, or makes the whole list "
                   "fail."},
    [UNKNOWN] = {MW_NOTICE, "a setting is known to no loaded library",
                 "settings are known to no loaded library",
                 "Remove what no library knows, or check which version it was meant for."},
    [IDLE] = {MW_NOTICE, "a setting is for a library that this job did not use",
              "settings are for libraries that this job did not use",
              "What nobody reads has no effect here. If it was meant to have one, choose the "
              "MPI, or the component of it, that reads it."},
};

struct entry {
    const struct mw_setting *setting;
    char *text;
};

struct list {
    MW_VECTOR(struct entry) entries;
    struct mw_crowd crowd;
};

static int set_by_hand(const struct mw_setting *setting)
{
    return setting->variant_count &&
           (setting->variants[0].in_force.origin == MW_ORIGIN_ENVIRONMENT ||
            setting->variants[0].in_force.origin == MW_ORIGIN_COMMAND_LINE);
}

/* -1: nothing to say. */
static int kind_of(const struct mw_setting *setting)
{
    if (setting->by_launcher)
        return -1;
    switch (setting->verdict) {
    case MW_SETTING_UNKNOWN:
        return setting->suggestion ? MISTYPED : UNKNOWN;
    case MW_SETTING_IDLE:
        return IDLE;
    case MW_SETTING_NOT_LOADED: /* files set parameters of components for whoever loads them */
        return set_by_hand(setting) ? IDLE : -1;
    default:
        return -1;
    }
}

static void list_add(struct list *list, const struct mw_setting *setting,
                     const struct mw_setting_variant *variant, char *about)
{
    char *words = mw_setting_words(setting, variant);
    *mw_vector_add(&list->entries) = (struct entry){setting, mw_format("%s: %s", words, about)};
    mw_crowd_add_all(&list->crowd, variant->processes, variant->process_count);
    free(words);
    free(about);
}

static char *verdict_words(const struct mw_setting *setting)
{
    const char *reason = setting->reason[0] ? setting->reason : "no loaded library knows it";
    return setting->suggestion ? mw_format("%s; did you mean %s?", reason, setting->suggestion)
                               : mw_text_copy(reason);
}

/* A name that is kept out and does not exist does no harm, unless it was meant for another. */
static int harmless(const struct mw_setting_variant *variant,
                    const struct mw_setting_stranger *stranger)
{
    return variant->in_force.value[strspn(variant->in_force.value, " ")] == '^' &&
           !stranger->suggestion;
}

static void add_strangers(struct list *list, const struct mw_setting *setting)
{
    for (size_t v = 0; v < setting->variant_count; v++)
        for (size_t i = 0; i < setting->variants[v].stranger_count; i++) {
            const struct mw_setting_variant *variant = &setting->variants[v];
            const struct mw_setting_stranger *stranger = &variant->strangers[i];
            if (harmless(variant, stranger))
                continue;
            list_add(list, setting, variant,
                     mw_format("\"%s\": %s%s%s%s", stranger->word, stranger->reason,
                               stranger->suggestion ? "; did you mean \"" : "",
                               stranger->suggestion ? stranger->suggestion : "",
                               stranger->suggestion ? "\"?" : ""));
        }
}

/* "OMPI_MCA_btll, UCX_TLSS and 3 more" */
static char *names_of(const struct list *list)
{
    char *names = NULL;
    size_t named = 0, left = 0;
    for (size_t i = 0; i < list->entries.count; i++) {
        if (i && list->entries.at[i].setting == list->entries.at[i - 1].setting)
            continue;
        if (named < 3)
            names = mw_list_add(names, ", ", mw_text_copy(list->entries.at[i].setting->name));
        else
            left++;
        named++;
    }
    return left ? mw_list_add(names, " and ", mw_format("%zu more", left)) : names;
}

static size_t settings_in(const struct list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->entries.count; i++)
        count += !i || list->entries.at[i].setting != list->entries.at[i - 1].setting;
    return count;
}

static void report(const struct list *list, const struct kind *kind, struct mw_findings *out)
{
    size_t count = settings_in(list);
    char *names = names_of(list);
    char *title = count == 1 ? mw_format("%s: %s", kind->one, names)
                             : mw_format("%zu %s: %s", count, kind->many, names);
    if (title[0] == 'a')
        title[0] = 'A';
    struct mw_finding *finding = mw_finding_add(out, "dead-setting", kind->severity, title);
    for (size_t i = 0; i < list->entries.count && i < SHOWN; i++)
        mw_finding_evidence(finding, mw_text_copy(list->entries.at[i].text));
    if (list->entries.count > SHOWN)
        mw_finding_evidence(finding, mw_format("%zu more", list->entries.count - SHOWN));
    finding->advice = mw_text_copy(kind->advice);
    mw_crowd_give(&list->crowd, finding);
    free(names);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct list lists[KINDS] = {0};
    if (!in->settings)
        return;
    for (int k = 0; k < KINDS; k++)
        mw_crowd_begin(&lists[k].crowd, in->model);
    for (size_t i = 0; i < mw_settings_count(in->settings); i++) {
        const struct mw_setting *setting = mw_settings_at(in->settings, i);
        int kind = kind_of(setting);
        for (size_t v = 0; kind >= 0 && v < setting->variant_count; v++)
            list_add(&lists[kind], setting, &setting->variants[v], verdict_words(setting));
        if (kind < 0)
            add_strangers(&lists[STRANGERS], setting);
    }
    for (int k = 0; k < KINDS; k++) {
        if (lists[k].entries.count)
            report(&lists[k], &kinds[k], out);
        for (size_t i = 0; i < lists[k].entries.count; i++)
            free(lists[k].entries.at[i].text);
        free(lists[k].entries.at);
        mw_crowd_end(&lists[k].crowd);
    }
}

const struct mw_rule mw_rule_dead_setting = {"dead-setting", "a setting that nobody reads", find};
