/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel counted between the two of a pair, connections and reads of memory, and the ways
 * that follow from it (transports_pair.h). Main thread.
 */
#include <string.h>

#include "analyzer/analysis/transports_pair.h"

#define HEADER_LEAST 14u /* bytes that ob1 puts before a message, at least */

/* Whether both are in one network namespace: the kernel carries what one address of it sends to
 * another through lo, whatever interface has the address. */
static int is_inside(const struct mw_pair_work *work)
{
    if (work->src < 0 || work->dst < 0 || work->pair->where == MW_WHERE_NETWORK)
        return 0;
    uint64_t src = mw_work_owner(work, work->src)->net, dst = mw_work_owner(work, work->dst)->net;
    return src == dst || !src || !dst;
}

static void sum_kernel(struct mw_pair_work *work)
{
    for (size_t i = 0; i < work->flow_count; i++) {
        const struct mw_flow *flow = &work->flows[i];
        if (flow->kind == MW_FLOW_SOCKETS) {
            work->socket_bytes += flow->bytes;
            work->connections += flow->operations;
        } else if (flow->kind == MW_FLOW_CMA) {
            work->cma_bytes += flow->bytes;
            work->cma_calls += flow->operations;
            work->cma_refused += flow->refused;
        }
    }
}

/* By which interfaces the connections leave: all that carried a twentieth of the bytes and more. */
static void find_interfaces(struct mw_pair_work *work)
{
    const char *names[MW_DEVICES_MAX];
    uint64_t bytes[MW_DEVICES_MAX] = {0};
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < work->flow_count; i++) {
        size_t at = 0;
        if (work->flows[i].kind != MW_FLOW_SOCKETS)
            continue;
        while (at < count && strcmp(names[at], work->flows[i].interface))
            at++;
        if (at == MW_DEVICES_MAX)
            continue;
        if (at == count)
            names[count++] = work->flows[i].interface;
        bytes[at] += work->flows[i].bytes;
    }
    for (size_t i = 0; i < count; i++)
        if (bytes[i] >= work->socket_bytes / 20 && *names[i])
            names[kept++] = names[i];
    if (count && work->src >= 0)
        work->interface = mw_join_devices(work->building, names, kept, (uint32_t)work->src,
                                          &work->interface_rate);
}

const char *mw_cma_evidence(struct mw_pair_work *work)
{
    return mw_text_keep_format(work->building->out->texts,
                               "%llu calls of process_vm_readv or writev",
                               (unsigned long long)work->cma_calls);
}

uint32_t mw_tcp_way(struct mw_pair_work *work, const char *layer)
{
    const char *device = work->inside ? "lo" : work->interface ? work->interface : "";
    uint64_t rate = work->inside ? 0 : work->interface_rate;
    return mw_way(work->building, MW_WAY_NETWORK, "tcp", layer, device, rate);
}

const char *mw_tcp_evidence(struct mw_pair_work *work)
{
    int other =
        work->inside && work->interface && *work->interface && strcmp(work->interface, "lo");
    return mw_text_keep_format(work->building->out->texts, "TCP_INFO of %llu connection%s%s%s",
                               (unsigned long long)work->connections,
                               work->connections == 1 ? "" : "s",
                               other ? " between addresses of " : "", other ? work->interface : "");
}

/* Whether the connections carried what the kernel did not copy. */
int mw_sockets_carry(const struct mw_pair_work *work)
{
    uint64_t rest = work->pair->bytes > work->cma_bytes ? work->pair->bytes - work->cma_bytes : 0;
    if (!work->socket_bytes)
        return 0;
    if (!work->pair->messages)
        return 1;
    return work->socket_bytes >= rest - rest / 50 &&
           work->socket_bytes >= HEADER_LEAST * (work->pair->messages - work->pair->messages / 50);
}

/* A way through shared memory, and what the kernel copied at once. */
void mw_memory_routes(struct mw_pair_work *work, const char *name, const char *layer,
                      enum mw_certainty certainty, uint64_t carried, const char *evidence)
{
    int exact = 0;
    uint32_t way = mw_way(work->building, MW_WAY_SHARED, name, layer, MW_DEVICE_MEMORY, 0);
    uint32_t cma = 0;
    const char *unknown = mw_pair_copies_unknown(work);
    if (work->cma_bytes) {
        cma = mw_way(work->building, MW_WAY_SINGLE_COPY, "cma", layer, MW_DEVICE_MEMORY, 0);
        exact = mw_route_split_find(work, work->cma_bytes, work->cma_calls).exact;
    }
    size_t small = 0;
    while (small < work->class_count && work->classes[small].class < MW_SPLIT_FROM)
        small++;
    if (unknown && !exact && small < work->class_count) {
        mw_route_add(work, way, 0, small, MW_CONCLUDED, 0, evidence);
        if (work->cma_bytes)
            mw_route_extra(work, cma, MW_SEEN, work->cma_bytes, mw_cma_evidence(work));
        work->pair->unknown = mw_work_keep(work, unknown);
    } else if (!work->cma_bytes) {
        mw_route_all(work, way, certainty, carried, evidence);
    } else {
        uint64_t rest = carried > work->cma_bytes ? carried - work->cma_bytes : 0;
        mw_route_split(work, way, rest, MW_CONCLUDED, evidence, cma, work->cma_bytes,
                       work->cma_calls, mw_cma_evidence(work));
    }
}

void mw_pair_sum_kernel(struct mw_pair_work *work)
{
    work->inside = is_inside(work);
    sum_kernel(work);
    find_interfaces(work);
}
