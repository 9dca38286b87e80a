/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process learned of the kernel and of MPI's choice: connections, ports, reads and writes of
 * other processes' memory. Runs while a trace is opened, on one thread. Lists are checked before
 * they come here; rows of the same key are joined by rows.c.
 */
#include "trace/reader/reader.h"

static const struct mw_member sockets_table[] = {
    {MW_F_SOCKETS_when, MW_MEMBER_WHEN, offsetof(struct mw_sockets, when), 0},
    {MW_F_SOCKETS_time, MW_MEMBER_NUMBER, offsetof(struct mw_sockets, time), 0},
    {MW_F_SOCKETS_unseen, MW_MEMBER_NUMBER, offsetof(struct mw_sockets, unseen), 0},
};
static const struct mw_members sockets_members = MW_MEMBERS(sockets_table, mw_sockets);

#define CONNECTION(id, member, kind)                                                               \
    {                                                                                              \
        MW_F_CONNECTION_##id, MW_MEMBER_##kind, offsetof(struct mw_connection, member), 0          \
    }
static const struct mw_member connection_table[] = {
    {MW_F_CONNECTION_local, MW_MEMBER_BYTES, offsetof(struct mw_connection, local),
     offsetof(struct mw_connection, local_size)},
    {MW_F_CONNECTION_remote, MW_MEMBER_BYTES, offsetof(struct mw_connection, remote),
     offsetof(struct mw_connection, remote_size)},
    CONNECTION(sent, sent, NUMBER),
    CONNECTION(received, received, NUMBER),
    CONNECTION(rtt, rtt_us, NUMBER),
    CONNECTION(retransmits, retransmits, NUMBER),
    CONNECTION(interface, interface, TEXT),
    CONNECTION(cookie, cookie, NUMBER),
    CONNECTION(state, state, NUMBER),
    CONNECTION(fd, fd, NUMBER),
    CONNECTION(waiting, waiting, NUMBER),
    CONNECTION(min_rtt, min_rtt_us, NUMBER),
};
static const struct mw_members connection_members = MW_MEMBERS(connection_table, mw_connection);

static const struct mw_member ports_table[] = {
    {MW_F_PORTS_when, MW_MEMBER_WHEN, offsetof(struct mw_ports, when), 0},
    {MW_F_PORTS_time, MW_MEMBER_NUMBER, offsetof(struct mw_ports, time), 0},
};
static const struct mw_members ports_members = MW_MEMBERS(ports_table, mw_ports);

#define PORT(id, kind) MW_MEMBER(PORT, mw_port, id, kind)
static const struct mw_member port_table[] = {
    PORT(name, TEXT),       PORT(kind, TEXT),     PORT(number, NUMBER),
    PORT(received, NUMBER), PORT(sent, NUMBER),   PORT(rate, NUMBER),
    PORT(state, TEXT),      PORT(errors, NUMBER), PORT(address, TEXT),
};
static const struct mw_members port_members = MW_MEMBERS(port_table, mw_port);

#define CMA(id) MW_MEMBER(CMAPEER, mw_cma_peer, id, NUMBER)
static const struct mw_member cma_table[] = {
    CMA(pid),     CMA(reads),   CMA(read),  CMA(writes),
    CMA(written), CMA(refused), CMA(error), CMA(error_time),
};
static const struct mw_members cma_members = MW_MEMBERS(cma_table, mw_cma_peer);

#define CHOICE(id) MW_MEMBER(CHOICEITEM, mw_choice, id, TEXT)
static const struct mw_member choice_table[] = {CHOICE(what), CHOICE(name), CHOICE(how),
                                                CHOICE(source)};
static const struct mw_members choice_members = MW_MEMBERS(choice_table, mw_choice);

static void address_judge(const uint8_t **address, size_t *size)
{
    if (*size == 6 || *size == 18)
        return;
    *address = (const uint8_t *)"";
    *size = 0;
}

enum mw_status mw_load_sockets(struct mw_load *load)
{
    struct mw_sockets_row row = {0};
    struct mw_field field;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &sockets_members, &row.sockets, &row.given);
    if (status != MW_OK)
        return status;
    struct mw_sockets_row *look = mw_rows_add(load->entry, MW_TABLE_SOCKETS, &status);
    if (look)
        *look = row;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id != MW_F_SOCKETS_connection || !field.is_bytes)
            continue;
        struct mw_connection_row added = {.look = {row.sockets.when, row.sockets.time}};
        status = mw_members_read(load->trace, mw_field_reader(&field), &connection_members,
                                 &added.connection, NULL);
        if (status != MW_OK)
            break;
        address_judge(&added.connection.local, &added.connection.local_size);
        address_judge(&added.connection.remote, &added.connection.remote_size);
        struct mw_connection_row *slot = mw_rows_add(load->entry, MW_TABLE_CONNECTIONS, &status);
        if (slot)
            *slot = added;
    }
    return status;
}

enum mw_status mw_load_ports(struct mw_load *load)
{
    struct mw_ports ports;
    struct mw_field field;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &ports_members, &ports, NULL);
    if (status != MW_OK)
        return status;
    struct mw_ports *look = mw_rows_add(load->entry, MW_TABLE_PORTS, &status);
    if (look)
        *look = ports;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id != MW_F_PORTS_port || !field.is_bytes)
            continue;
        struct mw_port_row added = {.look = {ports.when, ports.time}};
        status =
            mw_members_read(load->trace, mw_field_reader(&field), &port_members, &added.port, NULL);
        struct mw_port_row *slot =
            status == MW_OK ? mw_rows_add(load->entry, MW_TABLE_PORT_ROWS, &status) : NULL;
        if (slot)
            *slot = added;
    }
    return status;
}

enum mw_status mw_load_cma(struct mw_load *load)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        if (field.id == MW_F_CMA_time)
            load->entry->process.cma_time = mw_field_number(&field);
        if (field.id != MW_F_CMA_peer || !field.is_bytes)
            continue;
        struct mw_cma_peer *peer = mw_rows_add(load->entry, MW_TABLE_CMA, &status);
        if (peer)
            status =
                mw_members_read(load->trace, mw_field_reader(&field), &cma_members, peer, NULL);
    }
    return status;
}

enum mw_status mw_load_choice(struct mw_load *load)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        struct mw_choice choice;
        if (field.id != MW_F_CHOICE_item || !field.is_bytes)
            continue;
        status =
            mw_members_read(load->trace, mw_field_reader(&field), &choice_members, &choice, NULL);
        struct mw_choice *slot =
            status == MW_OK ? mw_rows_add(load->entry, MW_TABLE_CHOICES, &status) : NULL;
        if (slot)
            *slot = choice;
    }
    return status;
}
