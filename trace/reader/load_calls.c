/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of calls, by thread and in sum, and calls that were open when somebody looked. Runs while
 * a trace is opened, on one thread.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>

static enum mw_status count_read(struct mw_load *load, struct mw_reader list,
                                 struct mw_count *count)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    count->name = "";
    while (status == MW_OK && mw_field_next(&list, &field) == MW_OK) {
        if (field.id == MW_F_COUNT_id)
            count->function = mw_field_number(&field);
        else if (field.id == MW_F_COUNT_name)
            status = mw_field_text(load->trace, &field, &count->name);
        else if (field.id == MW_F_COUNT_calls)
            count->calls = mw_field_number(&field);
    }
    return status;
}

/* Counts only grow: of two states of a thread the one with more calls is the later one, in whatever
 * order they were read. */
static void counts_merge(void *earlier, void *later)
{
    struct mw_thread_counts *old = earlier, *new = later;
    if (old->total > new->total) {
        struct mw_thread_counts swap = *old;
        *old = *new;
        *new = swap;
    }
    free(old->counts);
    old->counts = NULL;
}

static enum mw_status counts_settle(struct mw_process_entry *entry)
{
    struct mw_account *account = &entry->trace->account;
    const struct mw_thread_counts *counts = entry->thread_counts.items;
    for (size_t i = 0; i < entry->thread_counts.count; i++)
        account->used -= counts[i].count * sizeof(struct mw_count);
    enum mw_status status = mw_vector_settle(&entry->thread_counts, sizeof(struct mw_thread_counts),
                                             mw_id_order, counts_merge);
    for (size_t i = 0; i < entry->thread_counts.count; i++)
        account->used += counts[i].count * sizeof(struct mw_count);
    entry->thread_counts_settled = entry->thread_counts.count;
    return status;
}

/* Takes the rows, which are charged already, whatever comes of it. */
static enum mw_status counts_keep(struct mw_process_entry *entry,
                                  const struct mw_thread_counts *counts)
{
    enum mw_status status = MW_OK;
    if (entry->thread_counts.count >= 2 * entry->thread_counts_settled + 16)
        status = counts_settle(entry);
    struct mw_thread_counts *added = NULL;
    if (status == MW_OK)
        added =
            mw_vector_add(&entry->trace->account, &entry->thread_counts, sizeof *added, &status);
    if (added)
        *added = *counts;
    else
        free(counts->counts);
    return status;
}

/* The number of records in a COUNTS chunk, and its thread. */
static size_t counts_measure(struct mw_reader list, uint64_t *thread)
{
    struct mw_field field;
    size_t records = 0;
    while (mw_field_next(&list, &field) == MW_OK) {
        if (field.id == MW_F_COUNTS_function && field.is_bytes)
            records++;
        else if (field.id == MW_F_COUNTS_thread)
            *thread = mw_field_number(&field);
    }
    return records;
}

enum mw_status mw_load_counts(struct mw_load *load)
{
    struct mw_thread_counts counts = {0};
    struct mw_field field;
    size_t records = counts_measure(load->reader, &counts.thread);
    enum mw_status status =
        mw_account_charge(&load->trace->account, records * sizeof *counts.counts);
    if (status != MW_OK)
        return status;
    counts.counts = calloc(records + 1, sizeof *counts.counts);
    if (!counts.counts)
        return MW_ERR_MEMORY;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id != MW_F_COUNTS_function || !field.is_bytes)
            continue;
        struct mw_count *row = &counts.counts[counts.count++];
        status = count_read(load, mw_field_reader(&field), row);
        counts.total += row->calls;
    }
    if (status == MW_OK)
        return counts_keep(load->entry, &counts);
    free(counts.counts);
    return status;
}

static void count_merge(void *earlier, void *later)
{
    struct mw_count *count = later;
    count->calls += ((const struct mw_count *)earlier)->calls;
    if (!*count->name)
        count->name = ((const struct mw_count *)earlier)->name;
}

enum mw_status mw_counts_finish(struct mw_process_entry *entry)
{
    enum mw_status status = counts_settle(entry);
    const struct mw_thread_counts *threads = entry->thread_counts.items;
    for (size_t t = 0; t < entry->thread_counts.count && status == MW_OK; t++) {
        for (size_t i = 0; i < threads[t].count && status == MW_OK; i++) {
            struct mw_count *count =
                mw_vector_add(&entry->trace->account, &entry->counts, sizeof *count, &status);
            if (count)
                *count = threads[t].counts[i];
        }
    }
    mw_counts_free(entry);
    enum mw_status settled =
        mw_vector_settle(&entry->counts, sizeof(struct mw_count), mw_id_order, count_merge);
    return status != MW_OK ? status : settled;
}

void mw_counts_free(struct mw_process_entry *entry)
{
    struct mw_thread_counts *counts = entry->thread_counts.items;
    for (size_t i = 0; i < entry->thread_counts.count; i++)
        free(counts[i].counts);
    mw_vector_free(&entry->thread_counts);
}

static enum mw_status open_call_read(struct mw_load *load, struct mw_reader list,
                                     struct mw_open_call *call)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    *call = (struct mw_open_call){.name = "", .comm = -1, .instance = -1};
    while (status == MW_OK && mw_field_next(&list, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_OPENCALL_thread:
            call->thread = mw_field_number(&field);
            break;
        case MW_F_OPENCALL_function:
            call->function = mw_field_number(&field);
            break;
        case MW_F_OPENCALL_start:
            call->start = mw_field_number(&field);
            break;
        case MW_F_OPENCALL_comm:
            call->comm = mw_field_less_one(&field);
            break;
        case MW_F_OPENCALL_peer:
            call->peer = mw_field_signed(&field);
            break;
        case MW_F_OPENCALL_tag:
            call->tag = mw_field_signed(&field);
            break;
        case MW_F_OPENCALL_instance:
            call->instance = mw_field_less_one(&field);
            break;
        case MW_F_OPENCALL_site:
            call->site = mw_field_number(&field);
            break;
        case MW_F_OPENCALL_name:
            status = mw_field_text(load->trace, &field, &call->name);
            break;
        }
    }
    return status;
}

enum mw_status mw_load_open(struct mw_load *load)
{
    struct mw_process *process = &load->entry->process;
    struct mw_field field;
    enum mw_status status = MW_OK;
    load->entry->open_calls.count = 0;
    process->open_taken_ns = 0;
    process->open_alive = 0;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_OPEN_taken)
            process->open_taken_ns = mw_field_number(&field);
        else if (field.id == MW_F_OPEN_alive)
            process->open_alive = mw_field_number(&field) != 0;
        if (field.id != MW_F_OPEN_call || !field.is_bytes)
            continue;
        struct mw_open_call *call =
            mw_vector_add(&load->trace->account, &load->entry->open_calls, sizeof *call, &status);
        if (call)
            status = open_call_read(load, mw_field_reader(&field), call);
    }
    return status;
}
