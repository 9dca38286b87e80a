/* SPDX-License-Identifier: BSD-3-Clause */
/* See settings.h. Here: from the facts of the processes to settings with their places; which place
 * wins. Main thread. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/analysis/settings_private.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Sections of facts, and how strong a place in them is. */
static const struct {
    const char *section;
    enum mw_setting_origin origin;
    int strength;
} sections[] = {
    {"parameter.override", MW_ORIGIN_OVERRIDE, 5},
    {"env", MW_ORIGIN_ENVIRONMENT, 4},
    {"parameter", MW_ORIGIN_FILE, 3},
    {"parameter.weaker", MW_ORIGIN_FILE, 2},
    {"launcher", MW_ORIGIN_COMMAND_LINE, 1},
    {"parameter.perhaps", MW_ORIGIN_PERHAPS, 0},
};

struct place {
    struct mw_setting_place place;
    const char *key;
    size_t length; /* of the name in the key */
    int strength;
    unsigned long number; /* among places of one strength */
};

/* A variant while processes are added to it. */
struct variant {
    MW_VECTOR(uint32_t) processes;
    MW_VECTOR(struct mw_setting_place) places;
};
struct gathered {
    char *name;
    MW_VECTOR(struct variant) variants;
};
struct gathering {
    struct mw_index names, identities;
    MW_VECTOR(struct gathered) settings;
    MW_VECTOR(uint32_t) numbers;    /* of variants in their setting, by number of identity */
    MW_VECTOR(struct place) places; /* of one process */
};

void *mw_settings_keep(struct mw_settings *settings, void *memory)
{
    if (memory)
        *mw_vector_add(&settings->owned) = memory;
    return memory;
}

static size_t name_length(const char *key, int strength)
{
    return strength == 2 || strength == 0 ? strcspn(key, "#") : strlen(key);
}

/* Steers MPI or the fabric: not every variable of the environment does. */
static int is_setting(const char *key, size_t length, int strength)
{
    static const char *const others[] = {"HCOLL_", "SHARP_", "UCC_",  "SLINGSHOT_",
                                         "CXI_",   "NCCL_",  "RCCL_", "HYDRA_"};
    char name[256];
    if (!length || length >= sizeof name)
        return 0;
    memcpy(name, key, length);
    name[length] = '\0';
    if (mw_setting_family_of(name) != MW_FAMILY_OTHER)
        return 1;
    for (size_t i = 0; i < COUNT(others); i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return 1;
    return strength == 3 || strength == 5; /* files are about nothing else */
}

static void places_read(struct gathering *all, const struct mw_process *process)
{
    all->places.count = 0;
    for (size_t f = 0; f < process->fact_count; f++) {
        const struct mw_fact *fact = &process->facts[f];
        if (fact->section[0] != 'e' && fact->section[0] != 'p' && fact->section[0] != 'l')
            continue;
        for (size_t i = 0; i < COUNT(sections); i++) {
            if (strcmp(sections[i].section, fact->section))
                continue;
            size_t length = name_length(fact->key, sections[i].strength);
            if (!is_setting(fact->key, length, sections[i].strength))
                break;
            *mw_vector_add(&all->places) =
                (struct place){{sections[i].origin, fact->value, fact->source},
                               fact->key,
                               length,
                               sections[i].strength,
                               fact->key[length] ? strtoul(fact->key + length + 1, NULL, 10) : 0};
            break;
        }
    }
}

static int is_on(const char *value)
{
    return !strcasecmp(value, "1") || !strcasecmp(value, "yes") || !strcasecmp(value, "true") ||
           !strcasecmp(value, "on");
}

/* libfabric can be told to let its file win. */
static void prefer_files(struct gathering *all)
{
    static const char switch_name[] = "FI_PREFER_SYSCONFIG";
    int on = 0, strength = -1;
    for (size_t i = 0; i < all->places.count; i++) {
        const struct place *place = &all->places.at[i];
        if (!strcmp(place->key, switch_name) && place->strength > strength) {
            strength = place->strength;
            on = is_on(place->place.value);
        }
    }
    for (size_t i = 0; on && i < all->places.count; i++) {
        struct place *place = &all->places.at[i];
        if (place->strength == 3 && !strncmp(place->key, "FI_", 3)) {
            place->strength = 5;
            place->place.origin = MW_ORIGIN_OVERRIDE;
        }
    }
}

static int place_compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    size_t length = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->key, b->key, length);
    if (!order)
        order = (a->length > b->length) - (a->length < b->length);
    if (!order)
        order = b->strength - a->strength;
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* What makes variants different: values and kinds of place, and for files which. A process id in
 * the source does not. */
static uint64_t identity_of(const struct place *places, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = mw_hash_text(mw_mix(hash + places[i].place.origin), places[i].place.value);
        if (places[i].place.origin != MW_ORIGIN_ENVIRONMENT &&
            places[i].place.origin != MW_ORIGIN_COMMAND_LINE)
            hash = mw_hash_text(hash, places[i].place.source);
    }
    return hash;
}

static void variant_add(struct gathering *all, const struct place *places, size_t count,
                        uint32_t process)
{
    size_t number = mw_index_put(&all->names, mw_hash_bytes(1, places->key, places->length));
    if (number == all->settings.count)
        mw_vector_add(&all->settings)->name = mw_format("%.*s", (int)places->length, places->key);
    struct gathered *setting = &all->settings.at[number];
    size_t identity = mw_index_put(&all->identities, identity_of(places, count) ^ mw_mix(number));
    if (identity == all->numbers.count) {
        *mw_vector_add(&all->numbers) = (uint32_t)setting->variants.count;
        struct variant *made = mw_vector_add(&setting->variants);
        for (size_t p = 0; p < count; p++)
            *mw_vector_add(&made->places) = places[p].place;
    }
    *mw_vector_add(&setting->variants.at[all->numbers.at[identity]].processes) = process;
}

static void process_add(struct gathering *all, const struct mw_process *process, uint32_t number)
{
    places_read(all, process);
    prefer_files(all);
    size_t count = all->places.count;
    if (count)
        qsort(all->places.at, count, sizeof(struct place), place_compare);
    for (size_t i = 0, end; i < count; i = end) {
        const struct place *first = &all->places.at[i];
        for (end = i + 1; end < count; end++)
            if (all->places.at[end].length != first->length ||
                memcmp(all->places.at[end].key, first->key, first->length))
                break;
        variant_add(all, first, end - i, number);
    }
}

static int variant_compare(const void *left, const void *right)
{
    const struct variant *a = left, *b = right;
    if (a->processes.count != b->processes.count)
        return a->processes.count < b->processes.count ? 1 : -1;
    return (a->processes.at[0] > b->processes.at[0]) - (a->processes.at[0] < b->processes.at[0]);
}

static void setting_make(struct mw_settings *settings, struct gathered *from, size_t with_facts)
{
    struct mw_setting *setting = mw_vector_add(&settings->list);
    size_t count = from->variants.count;
    struct mw_setting_variant *variants = mw_alloc(count, sizeof(*variants));
    qsort(from->variants.at, count, sizeof(struct variant), variant_compare);
    for (size_t i = 0; i < count; i++) {
        struct variant *variant = &from->variants.at[i];
        variants[i] = (struct mw_setting_variant){.in_force = variant->places.at[0],
                                                  .overridden = variant->places.at + 1,
                                                  .overridden_count = variant->places.count - 1,
                                                  .processes = variant->processes.at,
                                                  .process_count = variant->processes.count};
        mw_settings_keep(settings, variant->places.at);
        mw_settings_keep(settings, variant->processes.at);
    }
    setting->name = mw_settings_keep(settings, from->name);
    setting->family = mw_setting_family_of(from->name);
    setting->variants = mw_settings_keep(settings, variants);
    setting->variant_count = count;
    setting->everywhere = count == 1 && variants[0].process_count == with_facts;
    setting->by_launcher = mw_setting_by_launcher(from->name);
    setting->reason = "";
    free(from->variants.at);
}

static int setting_compare(const void *left, const void *right)
{
    return strcmp(((const struct mw_setting *)left)->name,
                  ((const struct mw_setting *)right)->name);
}

/* Settings that name folders of plug-ins. */
static void folders_add(struct mw_settings *settings)
{
    static const struct {
        const char *name;
        enum mw_setting_family family;
    } known[] = {{"FI_PROVIDER_PATH", MW_FAMILY_LIBFABRIC},
                 {"UCX_MODULE_DIR", MW_FAMILY_UCX},
                 {"OMPI_MCA_mca_base_component_path", MW_FAMILY_OPENMPI},
                 {"OMPI_MCA_mca_component_path", MW_FAMILY_OPENMPI}};
    for (size_t i = 0; i < COUNT(known); i++) {
        const struct mw_setting *setting = mw_settings_find(settings, known[i].name);
        for (size_t v = 0; setting && v < setting->variant_count; v++)
            for (const char *at = setting->variants[v].in_force.value; *at;) {
                size_t length = strcspn(at, ":");
                char *folder = mw_format("%.*s", (int)length, at);
                if (length)
                    mw_libraries_folder(&settings->libraries, known[i].family, folder);
                free(folder);
                at += length + (at[length] != '\0');
            }
    }
}

struct mw_settings *mw_settings_create(const struct mw_model *model)
{
    struct mw_settings *settings = mw_alloc(1, sizeof(*settings));
    struct gathering all = {0};
    size_t with_facts = 0;
    settings->model = model;
    for (size_t i = 0; i < model->process_count; i++) {
        with_facts += mw_trace_process(model->trace, i)->fact_count > 0;
        process_add(&all, mw_trace_process(model->trace, i), (uint32_t)i);
    }
    for (size_t i = 0; i < all.settings.count; i++)
        setting_make(settings, &all.settings.at[i], with_facts);
    mw_index_free(&all.names);
    mw_index_free(&all.identities);
    free(all.numbers.at);
    free(all.settings.at);
    free(all.places.at);
    if (settings->list.count)
        qsort(settings->list.at, settings->list.count, sizeof(struct mw_setting), setting_compare);
    mw_libraries_init(&settings->libraries, model);
    folders_add(settings);
    for (size_t i = 0; i < settings->list.count; i++) {
        mw_setting_judge(settings, &settings->list.at[i]);
        mw_setting_judge_values(settings, &settings->list.at[i]);
    }
    return settings;
}

void mw_settings_free(struct mw_settings *settings)
{
    if (!settings)
        return;
    mw_libraries_free(&settings->libraries);
    for (size_t i = 0; i < settings->owned.count; i++)
        free(settings->owned.at[i]);
    free(settings->owned.at);
    free(settings->list.at);
    free(settings);
}

size_t mw_settings_count(const struct mw_settings *settings)
{
    return settings->list.count;
}

const struct mw_setting *mw_settings_at(const struct mw_settings *settings, size_t index)
{
    return &settings->list.at[index];
}

const struct mw_setting *mw_settings_find(const struct mw_settings *settings, const char *name)
{
    struct mw_setting key = {.name = name};
    return settings->list.count ? bsearch(&key, settings->list.at, settings->list.count,
                                          sizeof(key), setting_compare)
                                : NULL;
}

static int number_compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

const struct mw_setting_variant *mw_setting_on(const struct mw_setting *setting, uint32_t process)
{
    for (size_t i = 0; i < setting->variant_count; i++)
        if (bsearch(&process, setting->variants[i].processes, setting->variants[i].process_count,
                    sizeof(process), number_compare))
            return &setting->variants[i];
    return NULL;
}

const char *mw_setting_verdict_word(enum mw_setting_verdict verdict)
{
    static const char *const words[] = {"unchecked", "known",      "launcher",
                                        "unknown",   "not_loaded", "idle"};
    return words[verdict];
}

const char *mw_setting_family_word(enum mw_setting_family family)
{
    static const char *const words[] = {"other",   "openmpi",   "pmix", "prrte", "mpich", "intel",
                                        "mvapich", "libfabric", "ucx",  "psm2",  "psm3"};
    return words[family];
}

const char *mw_setting_origin_word(enum mw_setting_origin origin)
{
    static const char *const words[] = {"environment", "file", "override", "command_line",
                                        "perhaps"};
    return words[origin];
}
