/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions, and calls of which only sums are kept (dump.h). */
#include "dump.h"

static void dump_row(const struct mw_aggregate_row *row)
{
    record_begin("row");
    put_u64("function", row->function);
    put_u64("site", row->site);
    put_u64("kind", row->kind);
    put_u64("flags", row->flags);
    put_i64("comm", row->comm);
    put_i64("peer", row->peer);
    put_u64("class", row->size_class);
    put_u64("region", row->region);
    put_u64("calls", row->calls);
    put_u64("time", row->time);
    put_u64("least", row->least);
    put_u64("most", row->most);
    put_u64("errors", row->errors);
    put_u64("operations", row->operations);
    put_u64("bytes", row->bytes);
    put_u64("bytes_in", row->bytes_in);
    put_u64("next", row->next);
    put_i64("object", row->object);
    put_u64("spaces", row->spaces);
    record_end();
}

void dump_sums(const struct mw_process *process)
{
    for (size_t i = 0; i < process->region_count; i++) {
        const struct mw_region *region = &process->regions[i];
        record_begin("region");
        put_u64("id", region->id);
        put_u64("parent", region->parent);
        put_i64("level", region->level);
        put_text("name", region->name);
        put_u64("entries", region->entries);
        put_u64("time", region->time);
        put_u64("since", region->since);
        record_end();
    }
    for (size_t i = 0; i < process->aggregate_count; i++) {
        const struct mw_aggregate *slice = &process->aggregates[i];
        record_begin("aggregate");
        put_u64("thread", slice->thread);
        put_u64("number", slice->number);
        put_u64("start", slice->start);
        put_u64("end", slice->end);
        put_u64("why", slice->why);
        put_u64("last_function", slice->last_function);
        put_u64("last_site", slice->last_site);
        put_u64("last_end", slice->last_end);
        put_u64("spaces", slice->spaces);
        record_end();
        for (size_t r = 0; r < slice->row_count; r++)
            dump_row(&slice->rows[r]);
    }
}
