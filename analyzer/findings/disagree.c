/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "transports-disagree": ranks of one job chose differently, or pairs of the same kind (within
 * nodes among themselves, between nodes among themselves) use different ways for messages of the
 * same size. The fewer are named.
 */
#include "analyzer/findings/disagree.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/words.h"

#define KINDS_SHOWN    6
#define SETTINGS_SHOWN 6

/* Processes that chose the same. */
struct choice {
    char *words;
    struct mw_crowd crowd;
};

struct choices {
    const struct mw_finding_input *in;
    struct mw_index index; /* by hash of what is compared */
    MW_VECTOR(struct choice) list;
};

/* What of a choice is compared; NULL: nothing. */
typedef char *(*describe)(const struct mw_finding_input *in, uint32_t process);

/* PML, MTL, netmod. */
static char *describe_layer(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_process_choice *choice = &in->transports->choices[process];
    if (choice->pml[0] && !strcmp(choice->pml, "cm") && choice->mtl[0])
        return mw_format("PML cm with MTL %s", choice->mtl);
    if (choice->pml[0])
        return mw_format("PML %s", choice->pml);
    return choice->netmod[0] ? mw_format("netmod %s", choice->netmod) : NULL;
}

static int is_local_btl(const char *name, size_t length)
{
    static const char *const names[] = {"self", "vader", "sm", "smcuda"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == length && !memcmp(name, names[i], length))
            return 1;
    return 0;
}

static const char *btls_of(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_process_choice *choice = &in->transports->choices[process];
    return !strcmp(choice->pml, "ob1") && choice->btls && choice->btls[0] ? choice->btls : NULL;
}

/* BTLs that reach other nodes: the same on every node. */
static char *describe_network(const struct mw_finding_input *in, uint32_t process)
{
    const char *btls = btls_of(in, process);
    char *list = btls ? mw_text_copy("network") : NULL;
    while (btls && *btls) {
        size_t length = strcspn(btls, ",");
        if (!is_local_btl(btls, length))
            list = mw_list_add(list, ",", mw_format("%.*s", (int)length, btls));
        btls += length + (btls[length] == ',');
    }
    return list;
}

/* All BTLs: only compared within a node and a world, as a rank that is alone there has none for
 * memory. */
static char *describe_btls(const struct mw_finding_input *in, uint32_t process)
{
    const char *btls = btls_of(in, process);
    return btls ? mw_text_copy(btls) : NULL;
}

/* By process: 1 where those of its world on its node differ. */
static unsigned char *who_differs_near(const struct mw_finding_input *in, describe what)
{
    const struct mw_model *model = in->model;
    size_t count = model->process_count;
    struct mw_index seats = {0}; /* world and node */
    unsigned char *differ = mw_alloc(count + 1, 1), *near = mw_alloc(count + 1, 1);
    char **first = mw_alloc(count + 1, sizeof(*first)); /* by seat, as `near` */
    uint32_t *seat = mw_alloc(count, sizeof(*seat));
    for (uint32_t i = 0; i < count; i++) {
        seat[i] = (uint32_t)mw_index_put(&seats, (uint64_t)model->process_world[i] << 32 |
                                                     model->process_node[i]);
        char *words = what(in, i);
        if (words && first[seat[i]] && strcmp(words, first[seat[i]]))
            near[seat[i]] = 1;
        if (first[seat[i]])
            free(words);
        else
            first[seat[i]] = words;
    }
    for (size_t i = 0; i < count; i++)
        differ[i] = near[seat[i]];
    for (size_t i = 0; i < seats.count; i++)
        free(first[i]);
    mw_index_free(&seats);
    free(first);
    free(near);
    free(seat);
    return differ;
}

static int larger_crowd(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->crowd.count != b->crowd.count)
        return a->crowd.count > b->crowd.count ? -1 : 1;
    size_t first = mw_crowd_first(&a->crowd), second = mw_crowd_first(&b->crowd);
    return (first > second) - (first < second);
}

/* Groups processes by what they chose, the largest group first; `only`: by process, NULL all. */
static void choices_find(struct choices *choices, const struct mw_finding_input *in, describe what,
                         const unsigned char *only)
{
    *choices = (struct choices){.in = in};
    for (uint32_t i = 0; i < in->model->process_count; i++) {
        char *words = only && !only[i] ? NULL : what(in, i);
        if (!words)
            continue;
        size_t at = mw_index_put(&choices->index, mw_hash_text(1, words));
        free(words);
        if (at == choices->list.count) {
            struct choice *added = mw_vector_add(&choices->list);
            added->words = mw_choice_words(in, i);
            mw_crowd_begin(&added->crowd, in->model);
        }
        mw_crowd_add(&choices->list.at[at].crowd, i);
    }
    mw_index_free(&choices->index);
    if (choices->list.count > 1)
        qsort(choices->list.at, choices->list.count, sizeof(choices->list.at[0]), larger_crowd);
}

static void choices_free(struct choices *choices)
{
    for (size_t i = 0; i < choices->list.count; i++) {
        free(choices->list.at[i].words);
        mw_crowd_end(&choices->list.at[i].crowd);
    }
    free(choices->list.at);
    *choices = (struct choices){0};
}

/* The first level on which ranks differ; none: the list has at most one entry. */
static void choices_compare(struct choices *choices, const struct mw_finding_input *in)
{
    choices_find(choices, in, describe_layer, NULL);
    if (choices->list.count > 1)
        return;
    choices_free(choices);
    choices_find(choices, in, describe_network, NULL);
    if (choices->list.count > 1)
        return;
    choices_free(choices);
    unsigned char *only = who_differs_near(in, describe_btls);
    choices_find(choices, in, describe_btls, only);
    free(only);
}

static int steers_transports(const struct mw_setting *setting)
{
    switch (setting->family) {
    case MW_FAMILY_OPENMPI:
    case MW_FAMILY_MPICH:
    case MW_FAMILY_INTEL:
    case MW_FAMILY_MVAPICH:
    case MW_FAMILY_LIBFABRIC:
    case MW_FAMILY_UCX:
        return !setting->by_launcher && setting->verdict != MW_SETTING_LAUNCHER;
    default:
        return 0;
    }
}

/* What is set on some of these only: most often the cause. */
static void say_settings(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                         struct mw_finding *finding)
{
    size_t said = 0;
    for (size_t i = 0; in->settings && i < mw_settings_count(in->settings); i++) {
        const struct mw_setting *setting = mw_settings_at(in->settings, i);
        for (size_t v = 0; steers_transports(setting) && v < setting->variant_count; v++) {
            const struct mw_setting_variant *variant = &setting->variants[v];
            if (said == SETTINGS_SHOWN || variant->process_count == in->model->process_count ||
                mw_crowd_common(crowd, variant->processes, variant->process_count) !=
                    variant->process_count)
                continue;
            struct mw_crowd whom;
            mw_crowd_begin(&whom, in->model);
            mw_crowd_add_all(&whom, variant->processes, variant->process_count);
            char *names = mw_crowd_names(&whom), *words = mw_setting_words(setting, variant);
            mw_finding_evidence(finding, mw_format("set on %s only: %s", names, words));
            said++;
            free(names);
            free(words);
            mw_crowd_end(&whom);
        }
    }
}

static void report_choices(const struct choices *choices, const struct mw_dissents *dissents,
                           struct mw_findings *out)
{
    const struct mw_finding_input *in = choices->in;
    const struct choice *most = &choices->list.at[0], *few = &choices->list.at[1];
    char *names = mw_crowd_names(&few->crowd), *others = mw_crowd_names(&most->crowd);
    struct mw_finding *finding = mw_finding_add(
        out, "transports-disagree", MW_WARNING,
        mw_format("Ranks chose differently: %s %s, %s %s", names, few->words, others, most->words));
    struct mw_crowd minority;
    mw_crowd_begin(&minority, in->model);
    for (size_t i = 0; i < choices->list.count; i++) {
        char *whom = mw_crowd_names(&choices->list.at[i].crowd);
        if (i < KINDS_SHOWN)
            mw_finding_evidence(finding, mw_format("%s: %s", choices->list.at[i].words, whom));
        for (uint32_t p = 0; i && p < in->model->process_count; p++)
            if (mw_crowd_has(&choices->list.at[i].crowd, p))
                mw_crowd_add(&minority, p);
        free(whom);
    }
    say_settings(in, &minority, finding);
    for (size_t i = 0; i < dissents->all.count; i++)
        mw_finding_evidence(finding, mw_dissent_title(in, &dissents->all.at[i]));
    finding->advice = mw_text_copy(
        "Compare the libraries, parameters and devices of these ranks: something fails, is "
        "missing or is set on some of them only.");
    mw_crowd_give(&minority, finding);
    mw_crowd_end(&minority);
    free(names);
    free(others);
}

static void report_pairs(const struct mw_finding_input *in, const struct mw_dissent *dissent,
                         struct mw_findings *out)
{
    struct mw_finding *finding =
        mw_finding_add(out, "transports-disagree", MW_WARNING, mw_dissent_title(in, dissent));
    int one_way = mw_dissent_say(in, dissent, finding);
    say_settings(in, &dissent->crowd, finding);
    finding->advice = mw_format(
        "Compare the libraries, parameters and devices of these ranks with those of the others: "
        "something fails, is missing or is set on some of them only.%s",
        one_way ? " Where only one direction differs, look at the sender first." : "");
    mw_crowd_give(&dissent->crowd, finding);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct choices choices;
    struct mw_dissents dissents;
    choices_compare(&choices, in);
    mw_dissents_find(in, &dissents);
    if (choices.list.count > 1)
        report_choices(&choices, &dissents, out);
    else
        for (size_t i = 0; i < dissents.all.count; i++)
            report_pairs(in, &dissents.all.at[i], out);
    mw_dissents_free(&dissents);
    choices_free(&choices);
}

const struct mw_rule mw_rule_transports_disagree = {
    "transports-disagree", "ranks or pairs of the same kind do not use the same transport", find};
