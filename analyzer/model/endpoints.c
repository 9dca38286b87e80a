/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes, fabrics and reads of memory (endpoints.h). Names are hashed with the scope in which they
 * are unique: an address of this host (loopback, shared memory) with the host, a pid with its
 * namespace.
 */
#include "analyzer/model/endpoints.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/endpoints_join.h"

/* addr_format of libfabric (rdma/fabric.h), numbers of its interface. */
enum { FORMAT_SOCKADDR = 1, FORMAT_IN = 2, FORMAT_IN6 = 3, FORMAT_STR = 9 };
/* Families as they stand in a sockaddr of Linux. */
enum { FAMILY_INET = 2, FAMILY_INET6 = 10 };

/* From names to the one process that has them. */
struct owner_names {
    struct mw_index index;
    MW_VECTOR(uint32_t) owner; /* process, or MW_SEVERAL */
};

static void owner_names_add(struct owner_names *names, uint64_t key, uint32_t process)
{
    size_t at = mw_index_put(&names->index, key);
    if (at == names->owner.count)
        *mw_vector_add(&names->owner) = process;
    else if (names->owner.at[at] != process)
        names->owner.at[at] = MW_SEVERAL;
}

static uint32_t owner_names_find(const struct owner_names *names, uint64_t key)
{
    size_t at = mw_index_find(&names->index, key);
    return at == MW_INDEX_NONE ? MW_NOBODY : names->owner.at[at];
}

static void owner_names_free(struct owner_names *names)
{
    mw_index_free(&names->index);
    free(names->owner.at);
}

struct mw_flow *mw_flow_add(struct mw_endpoints *endpoints, enum mw_flow_kind kind,
                            uint32_t process, int64_t src, int64_t dst)
{
    struct mw_flow *flow = mw_vector_add(&endpoints->flows);
    flow->kind = kind;
    flow->process = process;
    flow->src = src;
    flow->dst = dst;
    flow->interface = "";
    return flow;
}

const char *mw_process_fact(const struct mw_process *process, const char *section, const char *key)
{
    for (size_t i = 0; i < process->fact_count; i++)
        if (!strcmp(process->facts[i].key, key) && !strcmp(process->facts[i].section, section))
            return process->facts[i].value;
    return "";
}

/* --- nodes ----------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

/* Joins two processes' nodes if one before had the same key. */
static void same_key(struct mw_index *index, uint32_t *first, uint32_t *parent, uint64_t key,
                     uint32_t process)
{
    size_t known = index->count, at = mw_index_put(index, key);
    if (at == known)
        first[at] = process;
    else
        parent[root_of(parent, process)] = root_of(parent, first[at]);
}

/* One node: one boot of one kernel, and one host name or one network namespace: containers that
 * share the host's network are on one node, network namespaces with names of their own are nodes.
 */
static void join_nodes(struct mw_endpoints *endpoints)
{
    size_t count = endpoints->model->process_count;
    uint32_t *parent = mw_alloc(count, sizeof(*parent)),
             *first = mw_alloc(2 * count, sizeof(*first));
    struct mw_index keys = {0}, numbers = {0};
    for (uint32_t i = 0; i < count; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        const struct mw_process *process = mw_trace_process(endpoints->model->trace, i);
        const char *net = mw_process_fact(process, "namespace", "net");
        uint64_t boot = mw_hash_text(1, process->boot_id);
        same_key(&keys, first, parent, mw_hash_text(boot, process->host), i);
        if (!*net)
            continue;
        endpoints->owners[i].net = mw_hash_text(boot ^ 2, net);
        if (*process->boot_id)
            same_key(&keys, first, parent, endpoints->owners[i].net, i);
    }
    for (uint32_t i = 0; i < count; i++)
        endpoints->owners[i].node = (uint32_t)mw_index_put(&numbers, root_of(parent, i));
    endpoints->node_count = (uint32_t)numbers.count;
    mw_index_free(&keys);
    mw_index_free(&numbers);
    free(parent);
    free(first);
}

/* --- fabrics --------------------------------------------------------------------------------- */

static int is_loopback(const uint8_t *address, size_t size)
{
    static const uint8_t six[16] = {[15] = 1};
    return size == 4 ? address[0] == 127 : !memcmp(address, six, 16);
}

static int is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return 0;
    return 1;
}

/* The bytes of a sockaddr that name an endpoint: family, port, address. 0: it is none, or names
 * nobody. */
static size_t sockaddr_name(const uint8_t *address, size_t size, uint8_t out[20], int *local)
{
    unsigned family = size >= 2 ? address[0] | (unsigned)address[1] << 8 : 0;
    size_t length = family == FAMILY_INET ? 4 : 16, offset = family == FAMILY_INET ? 4 : 8;
    if ((family != FAMILY_INET && family != FAMILY_INET6) || size < offset + length)
        return 0;
    if (is_zero(address + offset, length) || is_zero(address + 2, 2))
        return 0;
    memcpy(out, address, 4);
    memcpy(out + 4, address + offset, length);
    *local = is_loopback(address + offset, length);
    return 4 + length;
}

/* Key 0: the address names nobody. `owner` is who knows the address: where it holds for one host
 * only, that host's. */
static uint64_t address_key(const struct mw_endpoints *endpoints, uint32_t process,
                            const struct mw_endpoint *endpoint, const uint8_t *address, size_t size)
{
    const struct mw_endpoint_owner *owner = &endpoints->owners[process];
    uint64_t seed = mw_hash_text(3, endpoint->library), scope = 0;
    uint8_t name[20];
    int local = 0;
    if (!size)
        return 0;
    if (!strcmp(endpoint->library, "ucx"))
        return is_zero(address, size) ? 0 : mw_hash_bytes(seed, address, size) | 1;
    if (endpoint->format >= FORMAT_SOCKADDR && endpoint->format <= FORMAT_IN6) {
        size_t length = sockaddr_name(address, size, name, &local);
        if (!length)
            return 0;
        if (local)
            scope = owner->net ? owner->net : owner->node + 1;
        return mw_hash_bytes(seed ^ scope, name, length) | 1;
    }
    if (endpoint->format == FORMAT_STR) { /* may or may not be terminated */
        size = strnlen((const char *)address, size);
        if (!strncmp((const char *)address, "fi_shm", size < 6 ? size : 6) ||
            !strncmp((const char *)address, "fi_sm2", size < 6 ? size : 6))
            scope = owner->node + 1;
    }
    return mw_hash_bytes(seed ^ scope, address, size) | 1;
}

static void name_endpoints(struct mw_endpoints *endpoints, struct owner_names *names)
{
    for (uint32_t i = 0; i < endpoints->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(endpoints->model->trace, i);
        for (size_t e = 0; e < process->endpoint_count; e++) {
            const struct mw_endpoint *endpoint = &process->endpoints[e];
            if (endpoint->inner)
                continue;
            endpoints->owners[i].fabrics++;
            uint64_t key =
                address_key(endpoints, i, endpoint, endpoint->address, endpoint->address_size);
            if (key)
                owner_names_add(names, key, i);
        }
    }
}

static void peer_flows(struct mw_endpoints *endpoints, uint32_t process,
                       const struct mw_endpoint *endpoint, const struct mw_peer *peer,
                       int64_t other)
{
    int64_t own = endpoints->owners[process].rank;
    enum mw_flow_kind kind = strcmp(endpoint->library, "ucx") ? MW_FLOW_LIBFABRIC : MW_FLOW_UCX;
    if (peer->sends + peer->puts) {
        struct mw_flow *flow = mw_flow_add(endpoints, kind, process, own, other);
        flow->operations = peer->sends + peer->puts;
        flow->bytes = peer->sent + peer->put;
        flow->sends = peer->sends > 0;
        flow->unsized = peer->unsized;
        flow->endpoint = endpoint;
        flow->peer = peer;
    }
    if (peer->gets) {
        struct mw_flow *flow = mw_flow_add(endpoints, kind, process, other, own);
        flow->operations = peer->gets;
        flow->bytes = peer->got;
        flow->endpoint = endpoint;
        flow->peer = peer;
    }
}

static void join_peer(struct mw_endpoints *endpoints, const struct owner_names *names,
                      uint32_t process, const struct mw_endpoint *endpoint,
                      const struct mw_peer *peer)
{
    struct mw_endpoint_owner *owner = &endpoints->owners[process];
    uint64_t key = address_key(endpoints, process, endpoint, peer->address, peer->address_size);
    uint32_t other = key ? owner_names_find(names, key) : MW_NOBODY;
    if (!(peer->sends | peer->puts | peer->gets))
        return;
    if (!key)
        owner->nameless++;
    else if (other == MW_SEVERAL)
        owner->ambiguous++;
    else if (other == MW_NOBODY || endpoints->owners[other].rank < 0)
        owner->unjoined++;
    else
        peer_flows(endpoints, process, endpoint, peer, endpoints->owners[other].rank);
}

static void join_fabrics(struct mw_endpoints *endpoints)
{
    struct owner_names names = {0};
    name_endpoints(endpoints, &names);
    for (uint32_t i = 0; i < endpoints->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(endpoints->model->trace, i);
        if (endpoints->owners[i].rank < 0)
            continue;
        for (size_t e = 0; e < process->endpoint_count; e++)
            for (size_t p = 0; !process->endpoints[e].inner && p < process->endpoints[e].peer_count;
                 p++)
                join_peer(endpoints, &names, i, &process->endpoints[e],
                          &process->endpoints[e].peers[p]);
    }
    owner_names_free(&names);
}

/* --- memory of other processes --------------------------------------------------------------- */

static uint64_t pid_key(const struct mw_process *process, uint64_t pid)
{
    uint64_t scope = mw_hash_text(5, process->boot_id);
    scope = process->pid_ns ? mw_mix(scope ^ process->pid_ns) : mw_hash_text(scope, process->host);
    return mw_mix(scope ^ mw_mix(pid + 1));
}

static void cma_flow(struct mw_endpoints *endpoints, uint32_t process, int64_t src, int64_t dst,
                     uint64_t calls, uint64_t bytes, uint64_t refused)
{
    if (!calls && !refused)
        return;
    struct mw_flow *flow = mw_flow_add(endpoints, MW_FLOW_CMA, process, src, dst);
    flow->operations = calls;
    flow->bytes = bytes;
    flow->refused = refused;
}

static void join_cma(struct mw_endpoints *endpoints)
{
    struct owner_names names = {0};
    for (uint32_t i = 0; i < endpoints->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(endpoints->model->trace, i);
        owner_names_add(&names, pid_key(process, process->pid), i);
    }
    for (uint32_t i = 0; i < endpoints->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(endpoints->model->trace, i);
        int64_t own = endpoints->owners[i].rank;
        for (size_t c = 0; own >= 0 && c < process->cma_count; c++) {
            const struct mw_cma_peer *peer = &process->cma[c];
            uint32_t other = owner_names_find(&names, pid_key(process, peer->pid));
            if (other >= MW_SEVERAL || other == i || endpoints->owners[other].rank < 0)
                continue; /* itself: MPI tries whether the kernel allows it */
            int64_t rank = endpoints->owners[other].rank;
            /* which of the two kinds was refused is not recorded: said with the reads */
            cma_flow(endpoints, i, rank, own, peer->reads, peer->read, peer->refused);
            cma_flow(endpoints, i, own, rank, peer->writes, peer->written, 0);
        }
    }
    owner_names_free(&names);
}

/* --- all -------------------------------------------------------------------------------------- */

static int flow_compare(const void *left, const void *right)
{
    const struct mw_flow *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return strcmp(a->interface, b->interface);
}

static void note_owners(struct mw_endpoints *endpoints)
{
    for (uint32_t i = 0; i < endpoints->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(endpoints->model->trace, i);
        struct mw_endpoint_owner *owner = &endpoints->owners[i];
        int64_t rank = mw_model_place(endpoints->model, i);
        owner->rank = rank >= 0 && mw_model_rank(endpoints->model, rank) == (int64_t)i ? rank : -1;
        owner->recorded =
            (process->attempt_count | process->endpoint_count | process->log_count |
             process->sockets_count | process->cma_count | process->choice_count) != 0;
    }
}

struct mw_endpoints *mw_endpoints_create(const struct mw_model *model)
{
    struct mw_endpoints *endpoints = mw_alloc(1, sizeof(*endpoints));
    endpoints->model = model;
    endpoints->owners = mw_alloc(model->process_count, sizeof(endpoints->owners[0]));
    note_owners(endpoints);
    join_nodes(endpoints);
    join_fabrics(endpoints);
    mw_join_sockets(endpoints);
    join_cma(endpoints);
    if (endpoints->flows.count)
        qsort(endpoints->flows.at, endpoints->flows.count, sizeof(endpoints->flows.at[0]),
              flow_compare);
    return endpoints;
}

void mw_endpoints_free(struct mw_endpoints *endpoints)
{
    if (!endpoints)
        return;
    free(endpoints->owners);
    free(endpoints->flows.at);
    free(endpoints);
}
