/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of which only sums are kept, and regions, line by line (dump.h). */
#include "analyzer/render/dump.h"
#include "analyzer/render/json.h"

static json_t *row_flags(uint64_t flags)
{
    json_t *words = mw_dump_flags((uint32_t)flags);
    if (flags & MW_ROW_SENT)
        json_array_append_new(words, json_string("SENT"));
    if (flags & MW_ROW_RECEIVED)
        json_array_append_new(words, json_string("RECEIVED"));
    return words;
}

static void dump_row(const struct mw_dump *dump, const struct mw_process *process,
                     const struct mw_aggregate *slice, const struct mw_aggregate_row *row)
{
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o}", "thread", mw_json_count(slice->thread), "number",
        mw_json_count(slice->number), "function",
        mw_json_text(mw_process_function_name(process, row->function)), "site",
        mw_json_count(row->site), "kind", mw_dump_kind(row->kind), "flags", row_flags(row->flags));
    json_object_set_new(object, "comm", mw_json_number(row->comm, -1));
    json_object_set_new(object, "peer", json_integer(row->peer));
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"class", row->size_class}, {"region", row->region},
        {"calls", row->calls},      {"time", row->time},
        {"least", row->least},      {"most", row->most},
        {"errors", row->errors},    {"operations", row->operations},
        {"bytes", row->bytes},      {"bytes_in", row->bytes_in},
        {"next", row->next},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        json_object_set_new(object, counts[i].name, mw_json_count(counts[i].value));
    json_object_set_new(object, "object", json_integer(row->object));
    if (row->spaces) {
        json_object_set_new(object, "send_space",
                            json_integer(MW_ROW_SPACE_SEND((json_int_t)row->spaces)));
        json_object_set_new(object, "receive_space",
                            json_integer(MW_ROW_SPACE_RECEIVE((json_int_t)row->spaces)));
    }
    mw_dump_line(dump, "sum", process, object);
}

void mw_dump_sums(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->region_count; i++) {
        const struct mw_region *region = &process->regions[i];
        mw_dump_line(
            dump, "region", process,
            json_pack("{s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "id", mw_json_count(region->id),
                      "parent", mw_json_count(region->parent), "level", (json_int_t)region->level,
                      "name", mw_json_text(region->name), "entries", mw_json_count(region->entries),
                      "time", mw_json_count(region->time), "since", mw_json_count(region->since)));
    }
    for (size_t i = 0; i < process->aggregate_count; i++) {
        const struct mw_aggregate *slice = &process->aggregates[i];
        if (dump->thread >= 0 && (uint64_t)dump->thread != slice->thread)
            continue;
        mw_dump_line(dump, "sums", process,
                     json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "thread",
                               mw_json_count(slice->thread), "number", mw_json_count(slice->number),
                               "start", mw_json_count(slice->start), "end",
                               mw_json_count(slice->end), "why", mw_json_count(slice->why), "rows",
                               mw_json_count(slice->row_count)));
        for (size_t r = 0; r < slice->row_count; r++)
            dump_row(dump, process, slice, &slice->rows[r]);
    }
}
