/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators. A communicator's chunks add to one another: each is kept with what it says, and
 * they are joined when all are there. Runs while a trace is opened, on one thread.
 */
#include "trace/reader/reader.h"

static enum mw_status runs_read(struct mw_load *load, const struct mw_field *field,
                                const struct mw_run **kept, size_t *run_count)
{
    struct mw_reader list = mw_field_reader(field);
    size_t count = mw_packed_count(list) / 3;
    void *memory;
    enum mw_status status =
        mw_pool_take(&load->trace->pool, count * sizeof(struct mw_run) + 1, &memory);
    if (status != MW_OK)
        return status;
    struct mw_run *runs = memory;
    for (size_t i = 0; i < count; i++) {
        mw_read_signed(&list, &runs[i].start);
        mw_read_signed(&list, &runs[i].stride);
        mw_read_varint(&list, &runs[i].count);
    }
    *kept = runs;
    *run_count = count;
    return MW_OK;
}

static enum mw_status comm_field(struct mw_load *load, const struct mw_field *field,
                                 struct mw_comm *comm)
{
    switch (field->id) {
    case MW_F_COMM_how:
        comm->how = (enum mw_comm_how)mw_field_small(field, MW_COMM_HOW_END_);
        break;
    case MW_F_COMM_parent:
        comm->parent = mw_field_less_one(field);
        break;
    case MW_F_COMM_number:
        comm->number = mw_field_number(field);
        break;
    case MW_F_COMM_size:
        comm->size = mw_field_number(field);
        break;
    case MW_F_COMM_rank:
        comm->rank = mw_field_number(field);
        break;
    case MW_F_COMM_remote_size:
        comm->remote_size = mw_field_number(field);
        break;
    case MW_F_COMM_hash:
        comm->hash = mw_field_number(field);
        break;
    case MW_F_COMM_members:
        return runs_read(load, field, &comm->members, &comm->member_runs);
    case MW_F_COMM_remote_members:
        return runs_read(load, field, &comm->remote_members, &comm->remote_member_runs);
    case MW_F_COMM_places:
        return runs_read(load, field, &comm->places, &comm->place_runs);
    case MW_F_COMM_place_hash:
        comm->place_hash = mw_field_number(field);
        break;
    case MW_F_COMM_name:
        return mw_field_text(load->trace, field, &comm->name);
    case MW_F_COMM_freed:
        comm->freed = mw_field_number(field);
        break;
    case MW_F_COMM_began:
        comm->began = mw_field_number(field);
        break;
    case MW_F_COMM_made:
        comm->made = mw_field_number(field);
        break;
    case MW_F_COMM_port:
        comm->port = mw_field_number(field);
        break;
    }
    return MW_OK;
}

enum mw_status mw_load_comm(struct mw_load *load)
{
    struct mw_comm_chunk chunk = {.comm = {.parent = -1, .name = ""}};
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_COMM_id)
            chunk.comm.id = mw_field_number(&field);
        if (field.id < 32)
            chunk.given |= UINT32_C(1) << field.id;
        status = comm_field(load, &field, &chunk.comm);
    }
    struct mw_comm_chunk *added = NULL;
    if (status == MW_OK)
        added =
            mw_vector_add(&load->trace->account, &load->entry->comm_chunks, sizeof *added, &status);
    if (added)
        *added = chunk;
    return status;
}

static void comm_merge(void *earlier, void *later)
{
    const struct mw_comm *from = &((struct mw_comm_chunk *)earlier)->comm;
    struct mw_comm_chunk *chunk = later;
    struct mw_comm *to = &chunk->comm;
#define KEEP(field) (!(chunk->given & UINT32_C(1) << MW_F_COMM_##field))
    to->how = KEEP(how) ? from->how : to->how;
    to->parent = KEEP(parent) ? from->parent : to->parent;
    to->number = KEEP(number) ? from->number : to->number;
    to->size = KEEP(size) ? from->size : to->size;
    to->rank = KEEP(rank) ? from->rank : to->rank;
    to->remote_size = KEEP(remote_size) ? from->remote_size : to->remote_size;
    to->hash = KEEP(hash) ? from->hash : to->hash;
    to->name = KEEP(name) ? from->name : to->name;
    to->freed = KEEP(freed) ? from->freed : to->freed;
    to->began = KEEP(began) ? from->began : to->began;
    to->made = KEEP(made) ? from->made : to->made;
    to->port = KEEP(port) ? from->port : to->port;
    if (KEEP(members)) {
        to->members = from->members;
        to->member_runs = from->member_runs;
    }
    if (KEEP(remote_members)) {
        to->remote_members = from->remote_members;
        to->remote_member_runs = from->remote_member_runs;
    }
    to->place_hash = KEEP(place_hash) ? from->place_hash : to->place_hash;
    if (KEEP(places)) {
        to->places = from->places;
        to->place_runs = from->place_runs;
    }
#undef KEEP
    chunk->given |= ((struct mw_comm_chunk *)earlier)->given;
}

enum mw_status mw_comms_finish(struct mw_process_entry *entry)
{
    enum mw_status status = mw_vector_settle(&entry->comm_chunks, sizeof(struct mw_comm_chunk),
                                             mw_id_order, comm_merge);
    const struct mw_comm_chunk *chunks = entry->comm_chunks.items;
    for (size_t i = 0; i < entry->comm_chunks.count && status == MW_OK; i++) {
        struct mw_comm *comm =
            mw_vector_add(&entry->trace->account, &entry->comms, sizeof *comm, &status);
        if (comm)
            *comm = chunks[i].comm;
    }
    mw_vector_free(&entry->comm_chunks);
    return status;
}
