/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns making payloads of sums and regions (aggregate.h). Runs inside MPI calls of other people's
 * programs and when a dead process's memory is collected: no allocation, no I/O, no locks.
 */
#include "trace/aggregate.h"

#include <string.h>

#include "mpiwatch/format.h"

static void put_row(struct mw_buffer *buffer, const struct mw_map_row *row)
{
    size_t mark = mw_put_begin(buffer, MW_F_AGGREGATE_row);
    mw_put_u64(buffer, MW_F_ROW_function, row->key.function);
    mw_put_u64(buffer, MW_F_ROW_site, row->key.site);
    mw_put_u64(buffer, MW_F_ROW_kind, row->key.kind);
    mw_put_u64(buffer, MW_F_ROW_flags, row->key.flags);
    mw_put_i64(buffer, MW_F_ROW_comm, (int64_t)row->key.comm - 1);
    mw_put_i64(buffer, MW_F_ROW_peer, row->key.peer);
    mw_put_u64(buffer, MW_F_ROW_class, row->key.size_class);
    mw_put_u64(buffer, MW_F_ROW_region, row->key.region);
    mw_put_u64(buffer, MW_F_ROW_calls, row->calls);
    mw_put_u64(buffer, MW_F_ROW_time, row->time);
    mw_put_u64(buffer, MW_F_ROW_least, row->least);
    mw_put_u64(buffer, MW_F_ROW_most, row->most);
    mw_put_u64(buffer, MW_F_ROW_errors, row->errors);
    mw_put_u64(buffer, MW_F_ROW_operations, row->operations);
    mw_put_u64(buffer, MW_F_ROW_bytes, row->bytes);
    mw_put_u64(buffer, MW_F_ROW_bytes_in, row->bytes_in);
    mw_put_u64(buffer, MW_F_ROW_next, row->next);
    mw_put_i64(buffer, MW_F_ROW_object, row->key.object);
    mw_put_u64(buffer, MW_F_ROW_spaces, row->key.spaces);
    mw_put_end(buffer, mark);
}

/* The thread may be in a call: its last one may be half of one and half of the next. */
__attribute__((no_sanitize("thread"))) unsigned mw_aggregate_put(struct mw_buffer *buffer,
                                                                 const struct mw_map_thread *thread,
                                                                 const struct mw_map_group *group)
{
    unsigned rows = 0;
    uint32_t used = group->used < MW_MAP_ROWS ? group->used : MW_MAP_ROWS;
    mw_put_u64(buffer, MW_F_AGGREGATE_thread, thread->index);
    mw_put_u64(buffer, MW_F_AGGREGATE_number, group->number);
    mw_put_u64(buffer, MW_F_AGGREGATE_start, group->start);
    mw_put_u64(buffer, MW_F_AGGREGATE_end, group->end);
    mw_put_u64(buffer, MW_F_AGGREGATE_why, group->why);
    mw_put_u64(buffer, MW_F_AGGREGATE_last_function, thread->last_function);
    mw_put_u64(buffer, MW_F_AGGREGATE_last_site, thread->last_site);
    mw_put_u64(buffer, MW_F_AGGREGATE_last_end, thread->last_end);
    mw_put_u64(buffer, MW_F_AGGREGATE_spaces, 1);
    for (uint32_t i = 0; i < used; i++) {
        if (!group->row[i].calls && !group->row[i].operations)
            continue;
        put_row(buffer, &group->row[i]);
        rows++;
    }
    return rows;
}

void mw_region_put(struct mw_buffer *buffer, uint32_t index, const struct mw_map_region *region)
{
    char name[MW_MAP_REGION];
    memcpy(name, region->name, sizeof name);
    name[sizeof name - 1] = '\0';
    mw_put_u64(buffer, MW_F_REGION_id, (uint64_t)index + 1);
    mw_put_u64(buffer, MW_F_REGION_parent, region->parent);
    mw_put_i64(buffer, MW_F_REGION_level, region->level);
    mw_put_text(buffer, MW_F_REGION_name, name);
    mw_put_u64(buffer, MW_F_REGION_entries, region->entries);
    mw_put_u64(buffer, MW_F_REGION_time, region->time);
    mw_put_u64(buffer, MW_F_REGION_since, region->since);
}
