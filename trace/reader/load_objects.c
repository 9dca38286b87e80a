/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows, files, and what was sent to each peer in collectives. Chunks of one id add to one
 * another; rows of the same key are joined by rows.c. Runs while a trace is opened, on one thread.
 * Lists are checked before they come here.
 */
#include "trace/reader/reader.h"

#define WINDOW(id, kind)                                                                           \
    {                                                                                              \
        MW_F_WINDOW_##id, MW_MEMBER_##kind, offsetof(struct mw_rma_window, id), 0                  \
    }
static const struct mw_member window_table[] = {
    WINDOW(id, NUMBER),   WINDOW(flavour, WHEN), WINDOW(number, NUMBER), WINDOW(size, NUMBER),
    WINDOW(unit, NUMBER), WINDOW(name, TEXT),    WINDOW(freed, NUMBER),  WINDOW(comm, LESS_ONE),
};
const struct mw_members mw_window_members = {
    window_table, sizeof window_table / sizeof *window_table, sizeof(struct mw_rma_window)};

#define IOFILE(id, kind)                                                                           \
    {                                                                                              \
        MW_F_IOFILE_##id, MW_MEMBER_##kind, offsetof(struct mw_iofile, id), 0                      \
    }
static const struct mw_member iofile_table[] = {
    IOFILE(id, NUMBER),   IOFILE(number, NUMBER), IOFILE(name, TEXT),
    IOFILE(mode, NUMBER), IOFILE(closed, NUMBER), IOFILE(comm, LESS_ONE),
};
const struct mw_members mw_iofile_members = {
    iofile_table, sizeof iofile_table / sizeof *iofile_table, sizeof(struct mw_iofile)};

enum mw_status mw_load_window(struct mw_load *load)
{
    struct mw_window_row row = {0};
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &mw_window_members, &row.window, &row.given);
    if (status != MW_OK)
        return status;
    struct mw_window_row *added = mw_rows_add(load->entry, MW_TABLE_WINDOWS, &status);
    if (added)
        *added = row;
    return status;
}

enum mw_status mw_load_iofile(struct mw_load *load)
{
    struct mw_iofile_row row = {0};
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &mw_iofile_members, &row.iofile, &row.given);
    if (status != MW_OK)
        return status;
    struct mw_iofile_row *added = mw_rows_add(load->entry, MW_TABLE_IOFILES, &status);
    if (added)
        *added = row;
    return status;
}

enum mw_status mw_load_flow(struct mw_load *load)
{
    int64_t comm = -1;
    struct mw_reader peers = {load->reader.end, load->reader.end};
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_FLOW_comm)
            comm = mw_field_less_one(&field);
        if (field.id == MW_F_FLOW_time)
            load->entry->process.flow_time = mw_field_number(&field);
        if (field.id == MW_F_FLOW_peers)
            peers = mw_field_reader(&field);
    }
    size_t count = mw_packed_count(peers) / 3;
    for (size_t i = 0; i < count && status == MW_OK; i++) {
        struct mw_coll_flow flow = {.comm = comm};
        mw_read_signed(&peers, &flow.peer);
        mw_read_varint(&peers, &flow.messages);
        mw_read_varint(&peers, &flow.bytes);
        struct mw_coll_flow *added = mw_rows_add(load->entry, MW_TABLE_FLOWS, &status);
        if (added)
            *added = flow;
    }
    return status;
}
