/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of what could not be read. Bounded: of a file that is damaged all over, the first places
 * are named and the others counted. Filled while a trace is opened, on one thread.
 */
#include "trace/reader/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_PER_FILE 100

static int damage_push(struct mw_trace *trace, uint32_t source, const struct mw_damage *damage)
{
    enum mw_status status = MW_OK;
    const char *text;
    struct mw_account *account = &trace->account;
    uint64_t limit = account->limit;
    account->limit = UINT64_MAX; /* a full account must be able to say so */
    struct mw_damage_entry *entry = NULL;
    if (mw_pool_text(&trace->pool, damage->text, strlen(damage->text), &text) == MW_OK)
        entry = mw_vector_add(account, &trace->damage, sizeof *entry, &status);
    account->limit = limit > account->used ? limit : account->used;
    if (!entry)
        return 0;
    entry->damage = *damage;
    entry->damage.text = text;
    entry->damage.file = mw_trace_source(trace, source)->file.path;
    entry->source = source;
    return 1;
}

void mw_damage_add(struct mw_trace *trace, uint32_t source, uint64_t offset, uint64_t length,
                   enum mw_status status, const char *format, ...)
{
    char text[256];
    struct mw_source *file = mw_trace_source(trace, source);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct mw_damage damage = {.offset = offset, .length = length, .status = status, .text = text};
    if (file->damage_count < PLACES_PER_FILE && damage_push(trace, source, &damage)) {
        file->damage_count++;
        return;
    }
    if (file->damage_more++ == 0)
        file->damage_more_offset = offset;
}

static int damage_order(const void *a, const void *b)
{
    const struct mw_damage_entry *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->damage.offset != y->damage.offset)
        return x->damage.offset < y->damage.offset ? -1 : 1;
    return 0;
}

static void damage_newer(struct mw_trace *trace, uint32_t source)
{
    const struct mw_source *file = mw_trace_source(trace, source);
    char text[256];
    snprintf(text, sizeof text,
             "%llu chunk%s of format version %s%u, the first one here; this program reads up to "
             "version %u",
             (unsigned long long)file->newer, file->newer == 1 ? "" : "s",
             file->newer == 1 ? "" : "up to ", file->newest, MW_FORMAT_VERSION);
    struct mw_damage damage = {.offset = file->newer_offset, .status = MW_ERR_NEWER, .text = text};
    damage_push(trace, source, &damage);
}

void mw_damage_finish(struct mw_trace *trace)
{
    for (size_t i = 0; i < trace->sources.count; i++) {
        const struct mw_source *file = mw_trace_source(trace, i);
        if (file->newer)
            damage_newer(trace, (uint32_t)i);
        if (!file->damage_more)
            continue;
        char text[96];
        snprintf(text, sizeof text, "%llu more damaged places from here on",
                 (unsigned long long)file->damage_more);
        struct mw_damage damage = {
            .offset = file->damage_more_offset, .status = MW_ERR_CORRUPT, .text = text};
        damage_push(trace, (uint32_t)i, &damage);
    }
    if (trace->damage.count > 1)
        qsort(trace->damage.items, trace->damage.count, sizeof(struct mw_damage_entry),
              damage_order);
}
