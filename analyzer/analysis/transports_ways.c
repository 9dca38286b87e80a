/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways by which bytes travel, what is known of providers and transports by their names, and line
 * rates (transports_build.h). The names are those that libfabric and UCX give them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports_build.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *mw_text_keep(struct mw_kept_texts *texts, const char *text)
{
    size_t at = mw_index_put(&texts->index, mw_hash_text(7, text));
    if (at == texts->all.count)
        *mw_vector_add(&texts->all) = mw_text_copy(text);
    return texts->all.at[at];
}

const char *mw_text_keep_format(struct mw_kept_texts *texts, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return mw_text_keep(texts, text);
}

void mw_kept_texts_free(struct mw_kept_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->all.count; i++)
        free(texts->all.at[i]);
    free(texts->all.at);
    mw_index_free(&texts->index);
    free(texts);
}

/* --- names ------------------------------------------------------------------------------------ */

static int word_is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(at, word, length);
}

static int word_in(const char *at, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word_is(at, length, list[i]))
            return 1;
    return 0;
}

/* Calls `is` for each part of "shm+cxi:lnx", "tcp;ofi_rxm". */
static int any_part(const char *provider, int (*is)(const char *part, size_t length))
{
    for (const char *at = provider; *at;) {
        size_t length = strcspn(at, ";+:");
        if (is(at, length))
            return 1;
        at += length + (at[length] != '\0');
    }
    return 0;
}

/* Providers that drive a NIC themselves. */
static int part_is_native(const char *part, size_t length)
{
    static const char *const names[] = {"verbs", "cxi", "psm", "psm2",  "psm3",
                                        "efa",   "gni", "opx", "usnic", "bgq",
                                        "mlx",   "ucx", "lpp", "zhpe",  "netdir"};
    return word_in(part, length, names, COUNT(names));
}

static int part_is_socket(const char *part, size_t length)
{
    static const char *const names[] = {"tcp", "sockets", "udp", "net"};
    return word_in(part, length, names, COUNT(names));
}

static int part_is_memory(const char *part, size_t length)
{
    static const char *const names[] = {"shm", "sm2"};
    return word_in(part, length, names, COUNT(names));
}

static int begins(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strncmp(text, list[i], strlen(list[i])))
            return 1;
    return 0;
}

int mw_fabric_native(const char *library, const char *provider)
{
    /* beginnings: rc_mlx5, rc_verbs, dc_mlx5, ud_verbs … */
    static const char *const ucx[] = {"rc", "dc", "ud", "gga", "ugni", "srd", "efa", "cxi"};
    static const char *const devices[] = {"infiniband", "cxi",   "hfi1",  "opx",
                                          "efa",        "usnic", "ipath", "bxi"};
    if (!strcmp(library, "ucx"))
        return begins(provider, ucx, COUNT(ucx));
    if (!strcmp(library, "libfabric"))
        return any_part(provider, part_is_native);
    return begins(provider, devices, COUNT(devices));
}

int mw_fabric_software(const char *library, const char *provider)
{
    return !strcmp(library, "libfabric") && any_part(provider, part_is_socket) &&
           !any_part(provider, part_is_native);
}

int mw_provider_same(const char *a, const char *b)
{
    size_t length = strcspn(a, ";"), other = strcspn(b, ";");
    return length == other && !memcmp(a, b, length);
}

int mw_provider_has(const char *list, const char *provider)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ";+:,");
        if (word_is(at, length, provider))
            return 1;
        at += length + (at[length] != '\0');
    }
    return 0;
}

enum mw_way_kind mw_ucx_kind(const char *transport)
{
    static const char *const memory[] = {"posix", "sysv", "mm", "shm"};
    static const char *const copies[] = {"cma", "knem", "xpmem", "cuda_ipc", "rocm_ipc", "ze_ipc"};
    if (!strcmp(transport, "self"))
        return MW_WAY_SELF;
    if (begins(transport, memory, COUNT(memory)))
        return MW_WAY_SHARED;
    return begins(transport, copies, COUNT(copies)) ? MW_WAY_SINGLE_COPY : MW_WAY_NETWORK;
}

/* --- ways ------------------------------------------------------------------------------------- */

uint32_t mw_way(struct mw_building *building, enum mw_way_kind kind, const char *name,
                const char *layer, const char *device, uint64_t speed)
{
    uint64_t key = mw_hash_text(mw_hash_text(mw_hash_text(kind, name), layer), device);
    size_t at = mw_index_put(&building->way_index, key);
    struct mw_transports *out = building->out;
    if (at == out->ways.count)
        *mw_vector_add(&out->ways) = (struct mw_way){kind,
                                                     mw_text_keep(out->texts, name),
                                                     mw_text_keep(out->texts, layer),
                                                     mw_text_keep(out->texts, device),
                                                     speed,
                                                     mw_fabric_software(layer, name)};
    struct mw_way *way = &out->ways.at[at];
    if (speed && (!way->speed || speed < way->speed)) /* nodes differ: the slower end limits */
        way->speed = speed;
    return (uint32_t)at;
}

uint32_t mw_way_libfabric(struct mw_building *building, const struct mw_endpoint *endpoint,
                          uint32_t process, int inside)
{
    const char *device = *endpoint->device ? endpoint->device : endpoint->domain;
    uint64_t speed = endpoint->speed ? endpoint->speed : mw_port_rate(building, process, device);
    enum mw_way_kind kind = MW_WAY_NETWORK;
    if (any_part(endpoint->provider, part_is_memory) &&
        !any_part(endpoint->provider, part_is_native)) {
        kind = MW_WAY_SHARED;
        device = "memory";
    } else if (!strcmp(endpoint->provider, "self")) {
        kind = MW_WAY_SELF;
        device = "memory";
    } else if (inside && mw_fabric_software("libfabric", endpoint->provider)) {
        device = "lo";
        speed = 0;
    }
    return mw_way(building, kind, endpoint->provider, "libfabric", device,
                  kind == MW_WAY_NETWORK ? speed : 0);
}

/* --- line rates ------------------------------------------------------------------------------- */

static uint64_t rate_key(uint64_t scope, const char *name, size_t length)
{
    return mw_hash_bytes(scope, name, length);
}

static void rate_put(struct mw_building *building, uint64_t scope, const char *name, uint64_t rate)
{
    size_t at = mw_index_put(&building->rate_index, rate_key(scope, name, strlen(name)));
    if (at == building->rates.count)
        mw_vector_add(&building->rates);
    building->rates.at[at] = rate;
}

static uint64_t node_scope(const struct mw_building *building, uint32_t process)
{
    return mw_mix(building->endpoints->owners[process].node + 1);
}

/* "10000 Mbit/s" of the node's facts, for traces whose ports nobody read. */
static void facts_rates(struct mw_building *building, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(building->model->trace, number);
    for (size_t i = 0; i < process->fact_count; i++) {
        const struct mw_fact *fact = &process->facts[i];
        const char *dot = strrchr(fact->key, '.');
        if (strcmp(fact->section, "network") || !dot || strcmp(dot, ".speed"))
            continue;
        char *end, *name = mw_text_copy(fact->key);
        unsigned long long mbit = strtoull(fact->value, &end, 10);
        name[dot - fact->key] = '\0';
        if (!strcmp(end, " Mbit/s") && mbit && mbit < UINT32_MAX)
            rate_put(building, node_scope(building, number), name, mbit * 1000000);
        free(name);
    }
}

void mw_port_rates_read(struct mw_building *building)
{
    unsigned char *told = mw_alloc(building->endpoints->node_count, 1);
    building->port_readers = mw_alloc(building->endpoints->node_count, sizeof(uint32_t));
    memset(building->port_readers, 0xff, building->endpoints->node_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(building->model->trace, i);
        const struct mw_endpoint_owner *owner = &building->endpoints->owners[i];
        if (!told[owner->node]) {
            told[owner->node] = 1;
            facts_rates(building, i);
        }
        if (process->ports_count)
            building->port_readers[owner->node] = i;
        for (size_t p = 0; p < process->ports_count; p++)
            for (size_t k = 0; k < process->ports[p].port_count; k++) {
                const struct mw_port *port = &process->ports[p].ports[k];
                if (!port->rate)
                    continue;
                rate_put(building, node_scope(building, i), port->name, port->rate);
                if (owner->net)
                    rate_put(building, owner->net, port->name, port->rate);
            }
    }
    free(told);
}

static uint64_t rate_find(const struct mw_building *building, uint32_t process, const char *name,
                          size_t length)
{
    const struct mw_endpoint_owner *owner = &building->endpoints->owners[process];
    size_t at = MW_INDEX_NONE;
    if (owner->net)
        at = mw_index_find(&building->rate_index, rate_key(owner->net, name, length));
    if (at == MW_INDEX_NONE)
        at = mw_index_find(&building->rate_index,
                           rate_key(node_scope(building, process), name, length));
    return at == MW_INDEX_NONE ? 0 : building->rates.at[at];
}

uint64_t mw_port_rate(const struct mw_building *building, uint32_t process, const char *device)
{
    size_t length = strlen(device);
    uint64_t rate = rate_find(building, process, device, length);
    if (rate)
        return rate;
    length = strcspn(device, ":-@");
    return device[length] ? rate_find(building, process, device, length) : 0;
}

static int text_compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const char *mw_join_devices(struct mw_building *building, const char **devices, size_t count,
                            uint32_t process, uint64_t *rate)
{
    char *joined = mw_text_copy("");
    int all = 1;
    qsort(devices, count, sizeof(devices[0]), text_compare);
    *rate = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t one = mw_port_rate(building, process, devices[i]);
        char *longer = mw_format("%s%s%s", joined, i ? ", " : "", devices[i]);
        free(joined);
        joined = longer;
        all &= one != 0;
        *rate += one;
    }
    if (!all)
        *rate = 0;
    const char *kept = mw_text_keep(building->out->texts, joined);
    free(joined);
    return kept;
}
