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
                   offsetof(struct mw_log_line, id) == 0 &&
                   offsetof(struct mw_cma_peer, pid) == 0 &&
                   offsetof(struct mw_rma_window, id) == 0 && offsetof(struct mw_iofile, id) == 0 &&
                   offsetof(struct mw_slit, node) == 0 && offsetof(struct mw_gpu, node) == 0 &&
                   offsetof(struct mw_memory_space, id) == 0 && offsetof(struct mw_region, id) == 0,
               "mw_id_order reads the first member");
_Static_assert(offsetof(struct mw_sockets, when) == offsetof(struct mw_look, when) &&
                   offsetof(struct mw_sockets, time) == offsetof(struct mw_look, time) &&
                   offsetof(struct mw_ports, when) == offsetof(struct mw_look, when) &&
                   offsetof(struct mw_ports, time) == offsetof(struct mw_look, time) &&
                   offsetof(struct mw_placement, when) == offsetof(struct mw_look, when) &&
                   offsetof(struct mw_placement, time) == offsetof(struct mw_look, time),
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

static int pci_order(const void *a, const void *b)
{
    return strcmp(((const struct mw_pci *)a)->address, ((const struct mw_pci *)b)->address);
}

static int link_order(const void *a, const void *b)
{
    const struct mw_gpu_link *x = a, *y = b;
    int order = number_order(x->from, y->from);
    if (!order)
        order = number_order(x->to, y->to);
    return order ? order : number_order(x->type, y->type);
}

static int placed_thread_order(const void *a, const void *b)
{
    const struct mw_placed_thread_row *x = a, *y = b;
    int order = look_order(a, b);
    return order ? order : number_order(x->thread.tid, y->thread.tid);
}

static int foreign_order(const void *a, const void *b)
{
    const struct mw_foreign_row *x = a, *y = b;
    int order = look_order(a, b);
    return order ? order : number_order(x->foreign.pid, y->foreign.pid);
}

static int device_order(const void *a, const void *b)
{
    const struct mw_device *x = a, *y = b;
    int order = strcmp(x->runtime, y->runtime);
    return order ? order : number_order(x->index, y->index);
}

static void placement_merge(void *earlier, void *later)
{
    const struct mw_placement_row *from = earlier;
    struct mw_placement_row *to = later;
    mw_members_fill(&mw_placement_members, &to->placement, to->given, &from->placement);
    to->given |= from->given;
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

static int aggregate_order(const void *a, const void *b)
{
    const struct mw_aggregate *x = a, *y = b;
    int order = number_order(x->thread, y->thread);
    return order ? order : number_order(x->number, y->number);
}

/* A slice that was written while it was being emptied, or before it was full, has less in it. */
static void aggregate_merge(void *earlier, void *later)
{
    const struct mw_aggregate *from = earlier;
    struct mw_aggregate *to = later;
    if (from->weight > to->weight)
        *to = *from;
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
    [MW_TABLE_SLIT] = {sizeof(struct mw_slit), mw_id_order, NULL},
    [MW_TABLE_PCI] = {sizeof(struct mw_pci), pci_order, NULL},
    [MW_TABLE_GPUS] = {sizeof(struct mw_gpu), mw_id_order, NULL},
    [MW_TABLE_LINKS] = {sizeof(struct mw_gpu_link), link_order, NULL},
    [MW_TABLE_PLACEMENTS] = {sizeof(struct mw_placement_row), look_order, placement_merge},
    [MW_TABLE_PLACED_THREADS] = {sizeof(struct mw_placed_thread_row), placed_thread_order, NULL},
    [MW_TABLE_FOREIGN] = {sizeof(struct mw_foreign_row), foreign_order, NULL},
    [MW_TABLE_DEVICES] = {sizeof(struct mw_device), device_order, NULL},
    [MW_TABLE_SPACES] = {sizeof(struct mw_memory_space), mw_id_order, NULL},
    [MW_TABLE_AGGREGATES] = {sizeof(struct mw_aggregate), aggregate_order, aggregate_merge},
    [MW_TABLE_REGIONS] = {sizeof(struct mw_region), mw_id_order, NULL},
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

/* Rows that become an array of the process: as they are, or their beginnings alone, where a row
 * remembers more than the public sees. */
static const struct published {
    enum mw_table table;
    size_t thing;              /* bytes of what the public sees */
    size_t array_at, count_at; /* in the process */
} published[] = {
#define PUBLISH(table, type, things, count)                                                        \
    {                                                                                              \
        table, sizeof(struct type), offsetof(struct mw_process, things),                           \
            offsetof(struct mw_process, count)                                                     \
    }
    PUBLISH(MW_TABLE_ATTEMPTS, mw_attempt, attempts, attempt_count),
    PUBLISH(MW_TABLE_ENDPOINTS, mw_endpoint, endpoints, endpoint_count),
    PUBLISH(MW_TABLE_LOG, mw_log_line, log, log_count),
    PUBLISH(MW_TABLE_SOCKETS, mw_sockets, sockets, sockets_count),
    PUBLISH(MW_TABLE_PORTS, mw_ports, ports, ports_count),
    PUBLISH(MW_TABLE_CMA, mw_cma_peer, cma, cma_count),
    PUBLISH(MW_TABLE_CHOICES, mw_choice, choices, choice_count),
    PUBLISH(MW_TABLE_WINDOWS, mw_rma_window, windows, window_count),
    PUBLISH(MW_TABLE_IOFILES, mw_iofile, iofiles, iofile_count),
    PUBLISH(MW_TABLE_FLOWS, mw_coll_flow, flows, flow_count),
    PUBLISH(MW_TABLE_PLACEMENTS, mw_placement, placements, placement_count),
    PUBLISH(MW_TABLE_DEVICES, mw_device, devices, device_count),
    PUBLISH(MW_TABLE_SPACES, mw_memory_space, spaces, space_count),
    PUBLISH(MW_TABLE_AGGREGATES, mw_aggregate, aggregates, aggregate_count),
    PUBLISH(MW_TABLE_REGIONS, mw_region, regions, region_count),
#undef PUBLISH
};
_Static_assert(offsetof(struct mw_endpoint_row, endpoint) == 0 &&
                   offsetof(struct mw_sockets_row, sockets) == 0 &&
                   offsetof(struct mw_window_row, window) == 0 &&
                   offsetof(struct mw_iofile_row, iofile) == 0 &&
                   offsetof(struct mw_placement_row, placement) == 0,
               "a row begins with what the public sees");

/* Parts of such things: endpoints have their peers, a look at sockets or ports what was seen. Rows
 * of both are in order, and each part's thing is there: it came from the same chunk. */
static const struct family {
    enum mw_table parts;
    size_t thing, part;               /* bytes of what the public sees */
    size_t part_at;                   /* where a part's row has it */
    size_t array_at, count_at;        /* in the thing */
    size_t things_at, thing_count_at; /* in the process */
    int (*belongs)(const void *part, const void *thing);
} families[] = {
#define FAMILY(parts, type, row, member, part_type, array, count, things, thing_count, belongs)    \
    {                                                                                              \
        parts, sizeof(struct type), sizeof(struct part_type), offsetof(struct row, member),        \
            offsetof(struct type, array), offsetof(struct type, count),                            \
            offsetof(struct mw_process, things), offsetof(struct mw_process, thing_count), belongs \
    }
    FAMILY(MW_TABLE_PEERS, mw_endpoint, mw_peer_row, peer, mw_peer, peers, peer_count, endpoints,
           endpoint_count, mw_id_order),
    FAMILY(MW_TABLE_CONNECTIONS, mw_sockets, mw_connection_row, connection, mw_connection,
           connections, connection_count, sockets, sockets_count, look_order),
    FAMILY(MW_TABLE_PORT_ROWS, mw_ports, mw_port_row, port, mw_port, ports, port_count, ports,
           ports_count, look_order),
    FAMILY(MW_TABLE_PLACED_THREADS, mw_placement, mw_placed_thread_row, thread, mw_placed_thread,
           threads, thread_count, placements, placement_count, look_order),
    FAMILY(MW_TABLE_FOREIGN, mw_placement, mw_foreign_row, foreign, mw_foreign, foreign,
           foreign_count, placements, placement_count, look_order),
#undef FAMILY
};
_Static_assert(offsetof(struct mw_peer_row, endpoint) == 0 &&
                   offsetof(struct mw_connection_row, look) == 0 &&
                   offsetof(struct mw_port_row, look) == 0,
               "a part's row begins with the key of its thing");

/* A table's rows as an array: its own where they are what the public sees, else a copy. */
static enum mw_status array_finish(struct mw_process_entry *entry, const struct published *what)
{
    const struct mw_vector *rows = &entry->rows[what->table].vector;
    size_t count = rows->count, row = tables[what->table].row;
    void *things = rows->items;
    if (count == 0)
        return MW_OK;
    if (row != what->thing) {
        enum mw_status status = mw_pool_take(&entry->trace->pool, count * what->thing, &things);
        if (status != MW_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            memcpy((uint8_t *)things + i * what->thing, (const uint8_t *)rows->items + i * row,
                   what->thing);
        rows_drop(entry, what->table);
    }
    memcpy((uint8_t *)&entry->process + what->array_at, &things, sizeof things);
    memcpy((uint8_t *)&entry->process + what->count_at, &count, sizeof count);
    return MW_OK;
}

static enum mw_status family_finish(struct mw_process_entry *entry, const struct family *family)
{
    const struct mw_vector *rows = &entry->rows[family->parts].vector;
    size_t row = tables[family->parts].row, thing_count;
    const uint8_t *next = rows->items, *end = next ? next + rows->count * row : NULL;
    uint8_t *thing;
    void *parts;
    memcpy(&thing, (uint8_t *)&entry->process + family->things_at, sizeof thing);
    memcpy(&thing_count, (uint8_t *)&entry->process + family->thing_count_at, sizeof thing_count);
    enum mw_status status =
        mw_pool_take(&entry->trace->pool, rows->count * family->part + 1, &parts);
    if (status != MW_OK)
        return status;
    uint8_t *part = parts;
    for (size_t i = 0; i < thing_count; i++, thing += family->thing) {
        const void *array = part;
        size_t count = 0;
        for (; next < end && family->belongs(next, thing) == 0; next += row, count++) {
            memcpy(part, next + family->part_at, family->part);
            part += family->part;
        }
        memcpy(thing + family->array_at, &array, sizeof array);
        memcpy(thing + family->count_at, &count, sizeof count);
    }
    rows_drop(entry, family->parts);
    return MW_OK;
}

/* The records of a topology's chunks. */
static void topology_finish(struct mw_process_entry *entry)
{
    struct mw_topology *topology = &entry->topology;
#define TAKE(table, things, how_many)                                                              \
    (topology->things = entry->rows[table].vector.items,                                           \
     topology->how_many = entry->rows[table].vector.count)
    TAKE(MW_TABLE_SLIT, slit, slit_count);
    TAKE(MW_TABLE_PCI, pci, pci_count);
    TAKE(MW_TABLE_GPUS, gpus, gpu_count);
    TAKE(MW_TABLE_LINKS, links, link_count);
#undef TAKE
}

enum mw_status mw_rows_finish(struct mw_process_entry *entry)
{
    enum mw_status status = MW_OK;
    for (int i = 0; i < MW_TABLE_END_ && status == MW_OK; i++)
        status = rows_settle(&entry->rows[i], &tables[i]);
    for (size_t i = 0; i < sizeof published / sizeof *published && status == MW_OK; i++)
        status = array_finish(entry, &published[i]);
    for (size_t i = 0; i < sizeof families / sizeof *families && status == MW_OK; i++)
        status = family_finish(entry, &families[i]);
    if (status == MW_OK)
        topology_finish(entry);
    return status;
}
