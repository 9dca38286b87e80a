/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways of a pair under Open MPI's PML ob1: its BTLs (transports_pair.h). Main thread.
 */
#include <string.h>

#include "analyzer/analysis/transports_pair.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define FIT_LEAST   65536u /* bytes from which on a sum that fits is no chance */

static const char *const memory_btls[] = {"vader", "sm", "smcuda"};

/* The BTL for shared memory that both have; NULL none. */
static const char *memory_btl(const struct mw_pair_work *work)
{
    for (size_t i = 0; i < COUNT(memory_btls); i++)
        if (work->src >= 0 && work->dst >= 0 &&
            mw_has_btl(work->building, (uint32_t)work->src, memory_btls[i]) &&
            mw_has_btl(work->building, (uint32_t)work->dst, memory_btls[i]))
            return memory_btls[i];
    return NULL;
}

static int has_memory_btl(const struct mw_pair_work *work)
{
    for (size_t i = 0; i < COUNT(memory_btls); i++)
        if (mw_has_btl(work->building, (uint32_t)work->src, memory_btls[i]))
            return 1;
    return 0;
}

/* The only BTL of the sender that reaches other nodes; NULL none or several. */
static const char *network_btl(const struct mw_pair_work *work)
{
    static const char *const names[] = {"tcp", "openib", "uct", "ofi", "usnic", "portals4", "ugni"};
    const char *found = NULL;
    for (size_t i = 0; i < COUNT(names); i++)
        if (mw_has_btl(work->building, (uint32_t)work->src, names[i])) {
            if (found)
                return NULL;
            found = names[i];
        }
    return found;
}

static int one_space(const struct mw_process *a, const struct mw_process *b, const char *space)
{
    const char *one = mw_process_fact(a, "namespace", space);
    const char *other = mw_process_fact(b, "namespace", space);
    return !*one || !*other || !strcmp(one, other);
}

/* Programs have connections of their own, too. Where nothing keeps the BTL for memory from its peer
 * (Open MPI goes by host names, and maps a file of the peer), Open MPI has no use for another: then
 * connections are MPI's only if they carried as much as the messages come to. */
static int sockets_are_not_mpi(const struct mw_pair_work *work)
{
    const struct mw_process *a = mw_work_process(work, work->src);
    const struct mw_process *b = mw_work_process(work, work->dst);
    uint64_t rest = work->pair->bytes > work->cma_bytes ? work->pair->bytes - work->cma_bytes : 0;
    uint64_t most = rest + mw_control_most(rest, work->pair->messages);
    return !strcmp(a->host, b->host) && one_space(a, b, "mnt") && one_space(a, b, "ipc") &&
           (!mw_sockets_carry(work) || rest < FIT_LEAST || work->socket_bytes > most);
}

static void ob1_memory(struct mw_pair_work *work, const char *btl)
{
    const char *evidence = mw_text_keep_format(
        work->building->out->texts, "same node, BTL %s is in use, no connection %s", btl,
        work->connections && !work->socket_bytes ? "is MPI's"
                                                 : "between the two carried the messages");
    mw_memory_routes(work, btl, MW_LAYER_BTL, MW_CONCLUDED, 0, evidence);
    if (work->socket_bytes)
        mw_route_extra(work, mw_tcp_way(work, ""), MW_SEEN, work->socket_bytes,
                       mw_tcp_evidence(work));
}

static void ob1_network(struct mw_pair_work *work)
{
    const char *btl = network_btl(work);
    if (work->socket_bytes) { /* counted too early, or by a process that died */
        mw_route_all(work, mw_tcp_way(work, MW_LAYER_BTL), MW_CONCLUDED, work->socket_bytes,
                     mw_tcp_evidence(work));
    } else if (btl && (work->pair->where == MW_WHERE_NETWORK || !has_memory_btl(work))) {
        int node = work->pair->where == MW_WHERE_NODE;
        const char *evidence = mw_text_keep_format(work->building->out->texts,
                                                   "BTL %s is the only one that reaches other %s",
                                                   btl, node ? "ranks" : "nodes");
        const char *device = work->inside && !strcmp(btl, "tcp") ? "lo" : "";
        mw_route_all(work, mw_way(work->building, MW_WAY_NETWORK, btl, MW_LAYER_BTL, device, 0),
                     MW_CONCLUDED, 0, evidence);
    }
}

void mw_ob1_routes(struct mw_pair_work *work)
{
    const char *memory = work->pair->where == MW_WHERE_NODE ? memory_btl(work) : NULL;
    if (memory && sockets_are_not_mpi(work))
        work->socket_bytes = 0;
    if (mw_sockets_carry(work)) {
        uint32_t tcp = mw_tcp_way(work, MW_LAYER_BTL);
        if (!work->cma_bytes)
            mw_route_all(work, tcp, MW_SEEN, work->socket_bytes, mw_tcp_evidence(work));
        else
            mw_route_split(work, tcp, work->socket_bytes, MW_SEEN, mw_tcp_evidence(work),
                           mw_way(work->building, MW_WAY_SINGLE_COPY, "cma", MW_LAYER_BTL,
                                  MW_DEVICE_MEMORY, 0),
                           work->cma_bytes, work->cma_calls, mw_cma_evidence(work));
        return;
    }
    if (!work->pair->messages && !work->cma_bytes)
        return;
    if (memory)
        ob1_memory(work, memory);
    else
        ob1_network(work);
}
