/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See facts.h. A fact in memory: a header, then its four texts, each with its terminator. Facts are
 * looked up by walking: there are some hundreds of them, and a hash decides nearly every
 * comparison.
 */
#include "probe/facts.h"

#include <string.h>

struct stored {
    uint32_t size; /* of header and texts, a multiple of 8 */
    uint32_t hash;
    uint32_t superseded;
    uint32_t key_at, value_at, source_at; /* from the header; the section follows it */
};

static uint32_t hash_of(const char *section, const char *key)
{
    uint32_t hash = 2166136261u;
    for (const char *c = section; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    hash = (hash ^ 0xff) * 16777619u;
    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

static struct stored *stored_at(const struct mw_fact_list *list, size_t at)
{
    return (struct stored *)(list->memory + at);
}

static struct stored *stored_find(const struct mw_fact_list *list, const char *section,
                                  const char *key)
{
    uint32_t hash = hash_of(section, key);
    for (size_t at = 0; at < list->used; at += stored_at(list, at)->size) {
        struct stored *stored = stored_at(list, at);
        const char *texts = (const char *)stored;
        if (stored->hash == hash && !stored->superseded &&
            strcmp(texts + sizeof *stored, section) == 0 &&
            strcmp(texts + stored->key_at, key) == 0)
            return stored;
    }
    return NULL;
}

static void list_add(struct mw_fact_sink *sink, const char *section, const char *key,
                     const char *value, const char *source)
{
    struct mw_fact_list *list = (struct mw_fact_list *)sink;
    const char *const texts[] = {section, key, value, source};
    uint32_t at[5] = {sizeof(struct stored)};
    for (int i = 0; i < 4; i++)
        at[i + 1] = at[i] + (uint32_t)strlen(texts[i]) + 1;
    size_t size = (at[4] + 7u) & ~(size_t)7;
    struct stored *old = stored_find(list, section, key);
    if (size > list->capacity - list->used) {
        list->lost++;
        return;
    }
    struct stored *stored = stored_at(list, list->used);
    if (old)
        old->superseded = 1;
    *stored = (struct stored){.size = (uint32_t)size,
                              .hash = hash_of(section, key),
                              .key_at = at[1],
                              .value_at = at[2],
                              .source_at = at[3]};
    for (int i = 0; i < 4; i++)
        memcpy((char *)stored + at[i], texts[i], at[i + 1] - at[i]);
    list->used += size;
    list->count++;
}

void mw_fact_list_init(struct mw_fact_list *list, void *memory, size_t capacity)
{
    memset(list, 0, sizeof *list);
    list->sink.fact = list_add;
    list->memory = memory;
    list->capacity = capacity & ~(size_t)7;
}

static void show(const struct stored *stored, struct mw_fact *fact)
{
    const char *texts = (const char *)stored;
    *fact = (struct mw_fact){.section = texts + sizeof *stored,
                             .key = texts + stored->key_at,
                             .value = texts + stored->value_at,
                             .source = texts + stored->source_at,
                             .hash = stored->hash,
                             .superseded = (int)stored->superseded};
}

int mw_fact_list_next(const struct mw_fact_list *list, size_t *at, struct mw_fact *fact)
{
    while (*at < list->used) {
        const struct stored *stored = stored_at(list, *at);
        *at += stored->size;
        if (!stored->superseded) {
            show(stored, fact);
            return 1;
        }
    }
    return 0;
}

int mw_fact_list_find(const struct mw_fact_list *list, const char *section, const char *key,
                      struct mw_fact *fact)
{
    const struct stored *stored = stored_find(list, section, key);
    if (stored)
        show(stored, fact);
    return stored != NULL;
}
