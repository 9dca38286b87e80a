/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of what a process saw of fabrics and of the kernel. Chunks give rows; rows of the same key
 * are joined, the later one counting, now and then while chunks are read (a long job repeats its
 * counters at every flush) and at the end, when endpoints get their peers and looks what was seen.
 * Runs while a trace is opened, on one thread.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct mw_attempt, id) == 0 && offsetof(struct mw_endpoint, id) == 0 &&
                   offsetof(struct mw_log_line, id) == 0 && offsetof(struct mw_cma_peer, pid) == 0 &&
                   offsetof(struct mw_rma_window, id) == 0 && offsetof(struct mw_iofile, id) == 0,
               "mw_id_order reads the first member");
_Static_assert(offsetof(struct mw_sockets, when) == offsetof(struct mw_look, when) &&
                   offsetof(struct mw_sockets, time) == offsetof(struct mw_look, time) &&
                   offsetof(struct mw_ports, when) == offsetof(struct mw_look, when) &&
                   offsetof(struct mw_ports, time) == offsetof(struct mw_look, time),
               "look_order reads the first members");

static int number_order(uint64_t x, uint64_t y)
{
    return x < y ? -1 : x > y;
}

static int peer_order(const void *a, const void *b)
{
    const struct mw_peer_row *x = a, *y = b;
    if (x->endpoint != y->endpoint)
        return number_order(x->endpoint, y->endpoint);
    const struct mw_peer *p = &x->peer, *q = &y->peer;
    size_t both = p->address_size < q->address_size ? p->address_size : q->address_size;
    int order = memcmp(p->address, q->address, both);
    return order ? order : number_order(p->address_size, q->address_size);
}

static int look_order(const void *a, const void *b)
{
    struct mw_look x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    int order = number_order(x.time, y.time);
    return order ? order : number_order(x.when, y.when);
}

static int connection_order(const void *a, const void *b)
{
    const struct mw_connection *x = &((const struct mw_connection_row *)a)->connection;
    const struct mw_connection *y = &((const struct mw_connection_row *)b)->connection;
    int order = look_order(a, b);
    if (!order)
        order = number_order(x->fd, y->fd);
    return order ? order : number_order(x->cookie, y->cookie);
}

static int port_order(const void *a, const void *b)
{
    const struct mw_port *x = &((const struct mw_port_row *)a)->port;
    const struct mw_port *y = &((const struct mw_port_row *)b)->port;
    int order = look_order(a, b);
    if (!order)
        order = strcmp(x->kind, y->kind);
    if (!order)
        order = strcmp(x->name, y->name);
    return order ? order : number_order(x->number, y->number);
}

static int choice_order(const void *a, const void *b)
{
    const struct mw_choice *x = a, *y = b;
    int order = strcmp(x->what, y->what);
    return order ? order : strcmp(x->name, y->name);
}

static int flow_order(const void *a, const void *b)
{
    const struct mw_coll_flow *x = a, *y = b;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return x->peer < y->peer ? -1 : x->peer > y->peer;
}

static void window_merge(void *earlier, void *later)
{
    const struct mw_window_row *from = earlier;
    struct mw_window_row *to = later;
    mw_members_fill(&mw_window_members, &to->window, to->given, &from->window);
    to->given |= from->given;
}

static void iofile_merge(void *earlier, void *later)
{
    const struct mw_iofile_row *from = earlier;
    struct mw_iofile_row *to = later;
    mw_members_fill(&mw_iofile_members, &to->iofile, to->given, &from->iofile);
    to->given |= from->given;
}

static void endpoint_merge(void *earlier, void *later)
{
    const struct mw_endpoint_row *from = earlier;
    struct mw_endpoint_row *to = later;
    mw_members_fill(&mw_endpoint_members, &to->endpoint, to->given, &from->endpoint);
    to->given |= from->given;
}

static void sockets_merge(void *earlier, void *later)
{
    const struct mw_sockets_row *from = earlier;
    struct mw_sockets_row *to = later;
    if (!(to->given & UINT32_C(1) << MW_F_SOCKETS_unseen))
        to->sockets.unseen = from->sockets.unseen;
    to->given |= from->given;
}

static const struct table {
    size_t row;
    int (*order)(const void *, const void *);
    void (*merge)(void *earlier, void *later);
} tables[MW_TABLE_END_] = {
    [MW_TABLE_ATTEMPTS] = {sizeof(struct mw_attempt), mw_id_order, NULL},
    [MW_TABLE_ENDPOINTS] = {sizeof(struct mw_endpoint_row), mw_id_order, endpoint_merge},
    [MW_TABLE_PEERS] = {sizeof(struct mw_peer_row), peer_order, NULL},
    [MW_TABLE_LOG] = {sizeof(struct mw_log_line), mw_id_order, NULL},
    [MW_TABLE_SOCKETS] = {sizeof(struct mw_sockets_row), look_order, sockets_merge},
    [MW_TABLE_CONNECTIONS] = {sizeof(struct mw_connection_row), connection_order, NULL},
    [MW_TABLE_PORTS] = {sizeof(struct mw_ports), look_order, NULL},
    [MW_TABLE_PORT_ROWS] = {sizeof(struct mw_port_row), port_order, NULL},
    [MW_TABLE_CMA] = {sizeof(struct mw_cma_peer), mw_id_order, NULL},
    [MW_TABLE_CHOICES] = {sizeof(struct mw_choice), choice_order, NULL},
    [MW_TABLE_WINDOWS] = {sizeof(struct mw_window_row), mw_id_order, window_merge},
    [MW_TABLE_IOFILES] = {sizeof(struct mw_iofile_row), mw_id_order, iofile_merge},
    [MW_TABLE_FLOWS] = {sizeof(struct mw_coll_flow), flow_order, NULL},
};

static enum mw_status rows_settle(struct mw_rows *rows, const struct table *table)
{
    enum mw_status status = mw_vector_settle(&rows->vector, table->row, table->order, table->merge);
    rows->settled = rows->vector.count;
    return status;
}

void *mw_rows_add(struct mw_process_entry *entry, enum mw_table which, enum mw_status *status)
{
    struct mw_rows *rows = &entry->rows[which];
    if (rows->vector.count == rows->vector.capacity &&
        rows->vector.count >= 2 * rows->settled + 16) {
        *status = rows_settle(rows, &tables[which]);
        if (*status != MW_OK)
            return NULL;
    }
    return mw_vector_add(&entry->trace->account, &rows->vector, tables[which].row, status);
}

static void rows_drop(struct mw_process_entry *entry, enum mw_table which)
{
    struct mw_vector *vector = &entry->rows[which].vector;
    entry->trace->account.used -= vector->capacity * tables[which].row;
    mw_vector_free(vector);
}

void mw_rows_free(struct mw_process_entry *entry)
{
    for (int i = 0; i < MW_TABLE_END_; i++)
        mw_vector_free(&entry->rows[i].vector);
}

/* Things that have parts: endpoints their peers, a look at sockets or ports what was seen. Rows of
 * both are in order, and each part's thing is there: it came from the same chunk. */
static const struct family {
    enum mw_table things, parts;
    size_t thing, part;        /* bytes of what the public sees, with which a thing's row begins */
    size_t part_at;            /* where a part's row has it */
    size_t array_at, count_at; /* in the thing */
    size_t things_at, thing_count_at; /* in the process */
    int (*belongs)(const void *part, const void *thing);
} families[] = {
    {MW_TABLE_ENDPOINTS, MW_TABLE_PEERS, sizeof(struct mw_endpoint), sizeof(struct mw_peer),
     offsetof(struct mw_peer_row, peer), offsetof(struct mw_endpoint, peers),
     offsetof(struct mw_endpoint, peer_count), offsetof(struct mw_process, endpoints),
     offsetof(struct mw_process, endpoint_count), mw_id_order},
    {MW_TABLE_SOCKETS, MW_TABLE_CONNECTIONS, sizeof(struct mw_sockets),
     sizeof(struct mw_connection), offsetof(struct mw_connection_row, connection),
     offsetof(struct mw_sockets, connections), offsetof(struct mw_sockets, connection_count),
     offsetof(struct mw_process, sockets), offsetof(struct mw_process, sockets_count), look_order},
    {MW_TABLE_PORTS, MW_TABLE_PORT_ROWS, sizeof(struct mw_ports), sizeof(struct mw_port),
     offsetof(struct mw_port_row, port), offsetof(struct mw_ports, ports),
     offsetof(struct mw_ports, port_count), offsetof(struct mw_process, ports),
     offsetof(struct mw_process, ports_count), look_order},
};
_Static_assert(offsetof(struct mw_endpoint_row, endpoint) == 0 &&
                   offsetof(struct mw_sockets_row, sockets) == 0 &&
                   offsetof(struct mw_peer_row, endpoint) == 0,
               "a row begins with the thing, or with the key of its thing");

static enum mw_status family_finish(struct mw_process_entry *entry, const struct family *family)
{
    struct mw_pool *pool = &entry->trace->pool;
    const struct mw_vector *rows = &entry->rows[family->things].vector;
    const struct mw_vector *part_rows = &entry->rows[family->parts].vector;
    size_t row = tables[family->things].row, part_row = tables[family->parts].row;
    const uint8_t *next = part_rows->items;
    const uint8_t *end = next ? next + part_rows->count * part_row : NULL;
    void *things, *parts;
    if (rows->count == 0)
        return MW_OK;
    enum mw_status status = mw_pool_take(pool, rows->count * family->thing, &things);
    if (status == MW_OK)
        status = mw_pool_take(pool, part_rows->count * family->part + 1, &parts);
    if (status != MW_OK)
        return status;
    uint8_t *part = parts;
    for (size_t i = 0; i < rows->count; i++) {
        const uint8_t *from = (const uint8_t *)rows->items + i * row;
        uint8_t *thing = (uint8_t *)things + i * family->thing;
        const void *array = part;
        size_t count = 0;
        for (; next < end && family->belongs(next, from) == 0; next += part_row, count++) {
            memcpy(part, next + family->part_at, family->part);
            part += family->part;
        }
        memcpy(thing, from, family->thing);
        memcpy(thing + family->array_at, &array, sizeof array);
        memcpy(thing + family->count_at, &count, sizeof count);
    }
    memcpy((uint8_t *)&entry->process + family->things_at, &things, sizeof things);
    memcpy((uint8_t *)&entry->process + family->thing_count_at, &rows->count, sizeof(size_t));
    rows_drop(entry, family->things);
    rows_drop(entry, family->parts);
    return MW_OK;
}

/* Rows of which the public sees the beginning only. */
static enum mw_status beginnings_finish(struct mw_process_entry *entry, enum mw_table which,
                                        size_t thing, const void **things, size_t *count)
{
    const struct mw_vector *rows = &entry->rows[which].vector;
    void *memory;
    *count = 0;
    if (rows->count == 0)
        return MW_OK;
    enum mw_status status = mw_pool_take(&entry->trace->pool, rows->count * thing, &memory);
    if (status != MW_OK)
        return status;
    for (size_t i = 0; i < rows->count; i++)
        memcpy((uint8_t *)memory + i * thing,
               (const uint8_t *)rows->items + i * tables[which].row, thing);
    *things = memory;
    *count = rows->count;
    rows_drop(entry, which);
    return MW_OK;
}

#define PUBLISH(entry, table, items_, count_)                                                      \
    ((entry)->process.items_ = (entry)->rows[table].vector.items,                                  \
     (entry)->process.count_ = (entry)->rows[table].vector.count)

enum mw_status mw_rows_finish(struct mw_process_entry *entry)
{
    enum mw_status status = MW_OK;
    for (int i = 0; i < MW_TABLE_END_ && status == MW_OK; i++)
        status = rows_settle(&entry->rows[i], &tables[i]);
    if (status != MW_OK)
        return status;
    PUBLISH(entry, MW_TABLE_ATTEMPTS, attempts, attempt_count);
    PUBLISH(entry, MW_TABLE_LOG, log, log_count);
    PUBLISH(entry, MW_TABLE_CMA, cma, cma_count);
    PUBLISH(entry, MW_TABLE_CHOICES, choices, choice_count);
    PUBLISH(entry, MW_TABLE_FLOWS, flows, flow_count);
    status = beginnings_finish(entry, MW_TABLE_WINDOWS, sizeof(struct mw_rma_window),
                               (const void **)&entry->process.windows,
                               &entry->process.window_count);
    if (status == MW_OK)
        status = beginnings_finish(entry, MW_TABLE_IOFILES, sizeof(struct mw_iofile),
                                   (const void **)&entry->process.iofiles,
                                   &entry->process.iofile_count);
    for (size_t i = 0; i < sizeof families / sizeof *families && status == MW_OK; i++)
        status = family_finish(entry, &families[i]);
    return status;
}
