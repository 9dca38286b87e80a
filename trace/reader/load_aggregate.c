/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of which only sums are kept, and regions that the program named. Runs while a trace is
 * opened, on one thread. Lists are checked before they come here; slices and regions of the same
 * key are joined by rows.c.
 */
#include "trace/reader/reader.h"

#define ROW(id, kind) MW_MEMBER(ROW, mw_aggregate_row, id, kind)
static const struct mw_member row_table[] = {
    ROW(function, NUMBER),
    ROW(site, NUMBER),
    ROW(kind, NUMBER),
    ROW(flags, NUMBER),
    ROW(comm, SIGNED),
    ROW(peer, SIGNED),
    {MW_F_ROW_class, MW_MEMBER_NUMBER, offsetof(struct mw_aggregate_row, size_class), 0},
    ROW(region, NUMBER),
    ROW(calls, NUMBER),
    ROW(time, NUMBER),
    ROW(least, NUMBER),
    ROW(most, NUMBER),
    ROW(errors, NUMBER),
    ROW(operations, NUMBER),
    ROW(bytes, NUMBER),
    ROW(bytes_in, NUMBER),
    ROW(next, NUMBER),
    ROW(object, SIGNED),
    ROW(spaces, NUMBER),
};
static const struct mw_members row_members = MW_MEMBERS(row_table, mw_aggregate_row);

#define SLICE(id) MW_MEMBER(AGGREGATE, mw_aggregate, id, NUMBER)
static const struct mw_member slice_table[] = {
    SLICE(thread), SLICE(number),        SLICE(start),     SLICE(end),
    SLICE(why),    SLICE(last_function), SLICE(last_site), SLICE(last_end),
    SLICE(spaces),
};
static const struct mw_members slice_members = MW_MEMBERS(slice_table, mw_aggregate);

#define REGION(id, kind) MW_MEMBER(REGION, mw_region, id, kind)
static const struct mw_member region_table[] = {
    REGION(id, NUMBER),      REGION(parent, NUMBER), REGION(level, SIGNED), REGION(name, TEXT),
    REGION(entries, NUMBER), REGION(time, NUMBER),   REGION(since, NUMBER),
};
static const struct mw_members region_members = MW_MEMBERS(region_table, mw_region);

enum mw_status mw_load_aggregate(struct mw_load *load)
{
    struct mw_aggregate slice;
    const void *rows;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &slice_members, &slice, NULL);
    if (status == MW_OK)
        status = mw_members_array(load->trace, load->reader, MW_F_AGGREGATE_row, &row_members,
                                  &rows, &slice.row_count);
    if (status != MW_OK)
        return status;
    slice.rows = rows;
    for (size_t i = 0; i < slice.row_count; i++)
        slice.weight += slice.rows[i].calls + slice.rows[i].operations;
    struct mw_aggregate *added = mw_rows_add(load->entry, MW_TABLE_AGGREGATES, &status);
    if (added)
        *added = slice;
    return status;
}

enum mw_status mw_load_region(struct mw_load *load)
{
    struct mw_region region;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &region_members, &region, NULL);
    struct mw_region *added =
        status == MW_OK ? mw_rows_add(load->entry, MW_TABLE_REGIONS, &status) : NULL;
    if (added)
        *added = region;
    return status;
}
