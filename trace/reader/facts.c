/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings and versions. A node's first process writes all of them, the others what differs: here
 * each process gets its own again, those of its base changed by its own. Runs while a trace is
 * opened, on one thread; a process without differences shares its base's table.
 */
#include "trace/reader/reader.h"

#include <string.h>

static enum mw_status fact_read(struct mw_load *load, struct mw_reader list,
                                struct mw_own_fact *own)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    own->fact = (struct mw_fact){"", "", "", ""};
    while (status == MW_OK && mw_field_next(&list, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_FACT_section:
            status = mw_field_text(load->trace, &field, &own->fact.section);
            break;
        case MW_F_FACT_key:
            status = mw_field_text(load->trace, &field, &own->fact.key);
            break;
        case MW_F_FACT_value:
            status = mw_field_text(load->trace, &field, &own->fact.value);
            break;
        case MW_F_FACT_source:
            status = mw_field_text(load->trace, &field, &own->fact.source);
            break;
        case MW_F_FACT_removed:
            own->removed = mw_field_number(&field) != 0;
            break;
        }
    }
    return status;
}

enum mw_status mw_load_environment(struct mw_load *load)
{
    struct mw_process *process = &load->entry->process;
    struct mw_field field;
    enum mw_status status = MW_OK;
    uint64_t node = 0, base = 0;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_ENVIRONMENT_node)
            node = mw_field_number(&field);
        else if (field.id == MW_F_ENVIRONMENT_base)
            base = mw_field_number(&field);
        if (field.id != MW_F_ENVIRONMENT_fact || !field.is_bytes)
            continue;
        struct mw_own_fact *own =
            mw_vector_add(&load->trace->account, &load->entry->own_facts, sizeof *own, &status);
        if (own)
            status = fact_read(load, mw_field_reader(&field), own);
    }
    process->facts_node |= node != 0;
    if (base) {
        process->facts_base = base;
        load->entry->facts_place = load->place;
    }
    return status;
}

static int fact_order(const void *a, const void *b)
{
    const struct mw_fact *x = a, *y = b;
    int order = strcmp(x->section, y->section);
    return order ? order : strcmp(x->key, y->key);
}
_Static_assert(offsetof(struct mw_own_fact, fact) == 0, "fact_order reads the first member");

static enum mw_status fact_add(struct mw_process_entry *entry, const struct mw_fact *fact)
{
    enum mw_status status = MW_OK;
    struct mw_fact *added =
        mw_vector_add(&entry->trace->account, &entry->facts, sizeof *added, &status);
    if (added)
        *added = *fact;
    return status;
}

/* Both lists are in order. */
static enum mw_status facts_join(struct mw_process_entry *entry, const struct mw_process *base)
{
    const struct mw_own_fact *own = entry->own_facts.items;
    size_t count = entry->own_facts.count, base_count = base ? base->fact_count : 0;
    enum mw_status status = MW_OK;
    for (size_t i = 0, j = 0; (i < count || j < base_count) && status == MW_OK;) {
        int order = i == count        ? 1
                    : j == base_count ? -1
                                      : fact_order(&own[i].fact, &base->facts[j]);
        if (order > 0) {
            status = fact_add(entry, &base->facts[j++]);
            continue;
        }
        if (!own[i].removed)
            status = fact_add(entry, &own[i].fact);
        i++;
        j += order == 0;
    }
    entry->process.facts = entry->facts.items;
    entry->process.fact_count = entry->facts.count;
    return status;
}

static struct mw_process_entry *base_find(struct mw_trace *trace,
                                          const struct mw_process_entry *entry)
{
    uint64_t key = entry->process.facts_base;
    if (!key || trace->table_capacity == 0)
        return NULL;
    size_t slot = mw_hash_seeded(trace->pool.seed, &key, sizeof key) & (trace->table_capacity - 1);
    for (; trace->table[slot]; slot = (slot + 1) & (trace->table_capacity - 1))
        if (trace->table[slot]->process.key == key)
            return trace->table[slot];
    return NULL;
}

/* All that stand on one another between a process and a base of it that waits for it itself. */
static void cycle_mark(struct mw_process_entry *entry, const struct mw_process_entry *base)
{
    for (; entry != base; entry = entry->facts_above)
        entry->facts_cyclic = 1;
    entry->facts_cyclic = 1;
}

/* What a process's facts build on; NULL where that is nothing, is not there, or is the process
 * itself in the end. Says so where it is wrong. */
static struct mw_process_entry *base_usable(struct mw_trace *trace, struct mw_process_entry *entry)
{
    struct mw_process_entry *base = base_find(trace, entry);
    if (base && base->facts_state == FACTS_JOINING)
        cycle_mark(entry, base);
    if (base && !entry->facts_cyclic)
        return base;
    if (entry->process.facts_base)
        mw_damage_add(
            trace, entry->facts_place.source, entry->facts_place.offset, 0,
            base ? MW_ERR_CORRUPT : MW_ERR_NOT_FOUND,
            base ? "facts of process %016llx build on process %016llx, which builds on them"
                 : "facts of process %016llx build on process %016llx, which is not here",
            (unsigned long long)entry->process.key, (unsigned long long)entry->process.facts_base);
    return NULL;
}

static enum mw_status facts_settle(struct mw_process_entry *entry, struct mw_process_entry *base)
{
    const struct mw_process *from = base ? &base->process : NULL;
    entry->facts_state = FACTS_DONE;
    enum mw_status status =
        mw_vector_settle(&entry->own_facts, sizeof(struct mw_own_fact), fact_order, NULL);
    if (status == MW_OK && from && entry->own_facts.count == 0) {
        entry->process.facts = from->facts;
        entry->process.fact_count = from->fact_count;
        return MW_OK;
    }
    if (status == MW_OK)
        status = facts_join(entry, from);
    mw_vector_free(&entry->own_facts);
    return status;
}

/* Walks down to the deepest base and joins on the way back; a chain may be as long as the trace has
 * processes, so there is no recursion. */
static enum mw_status facts_resolve(struct mw_trace *trace, struct mw_process_entry *entry)
{
    enum mw_status status = MW_OK;
    entry->facts_state = FACTS_JOINING;
    entry->facts_above = NULL;
    while (entry) {
        struct mw_process_entry *base = base_find(trace, entry);
        if (base && base->facts_state == FACTS_OWN) {
            base->facts_state = FACTS_JOINING;
            base->facts_above = entry;
            entry = base;
            continue;
        }
        base = base_usable(trace, entry);
        enum mw_status settled = facts_settle(entry, base);
        if (settled != MW_OK)
            status = settled;
        if (status == MW_ERR_MEMORY)
            return status;
        entry = entry->facts_above;
    }
    return status;
}

enum mw_status mw_facts_finish(struct mw_trace *trace)
{
    struct mw_process_entry **processes = trace->processes.items;
    enum mw_status status = MW_OK;
    for (size_t i = 0; i < trace->processes.count; i++) {
        if (processes[i]->facts_state != FACTS_OWN)
            continue;
        enum mw_status resolved = facts_resolve(trace, processes[i]);
        if (resolved == MW_ERR_MEMORY)
            return resolved;
        if (resolved != MW_OK)
            status = resolved;
    }
    return status;
}
