/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules by which a pair's evidence becomes routes (docs/metrics.md, "Which way"). Evidence is
 * taken in this order: bytes that fabrics counted between the two, connections, reads of memory;
 * then what is left over where all other ways are excluded. Where none of it says anything the
 * reason is given. What MPI libraries other than Open MPI with ob1 do is here. Main thread.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports_pair.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* MPICH beside its netmod. */
static void mpich_routes(struct mw_pair_work *work, enum mw_stack stack)
{
    const struct mw_process_choice *choice = &work->building->out->choices[work->src];
    const char *probe = !strcmp(choice->netmod, "ucx") ? "ucx" : "libfabric";
    const char *how = mw_probe_how(mw_work_process(work, work->src), probe, NULL);
    int looked = stack == MW_STACK_CH3 || !strcmp(how, "on");
    int shm = *choice->shm && strcmp(choice->shm, "none");
    if (work->pair->where == MW_WHERE_NODE && shm && looked && !mw_sockets_carry(work)) {
        mw_memory_routes(
            work, choice->shm, "MPICH", MW_CONCLUDED, 0,
            "same node, shared memory is built in, the network carried less than the messages");
        if (work->fabric && work->fabric->kind == MW_FLOW_LIBFABRIC)
            mw_route_extra(work,
                           mw_way_libfabric(work->building, work->fabric->endpoint,
                                            work->fabric->process, work->inside),
                           MW_SEEN, work->fabric_bytes, mw_libfabric_evidence(work));
    } else if (stack == MW_STACK_CH3 && mw_sockets_carry(work)) {
        mw_route_all(work, mw_tcp_way(work, "MPICH"), MW_SEEN, work->socket_bytes,
                     mw_tcp_evidence(work));
    }
}

/* Everything goes by one MTL, also where nothing could be joined, or the MTL is none of
 * libfabric's. */
static void cm_routes(struct mw_pair_work *work)
{
    struct mw_building *building = work->building;
    const struct mw_process *process = mw_work_process(work, work->src);
    const char *mtl = building->out->choices[work->src].mtl;
    const struct mw_endpoint *only = NULL;
    if (*mtl && strcmp(mtl, "ofi")) {
        enum mw_way_kind kind =
            work->pair->where == MW_WHERE_NETWORK ? MW_WAY_NETWORK : MW_WAY_UNKNOWN;
        mw_route_all(work, mw_way(building, kind, mtl, "Open MPI MTL", "", 0), MW_CONCLUDED, 0,
                     "PML cm sends every message through its MTL");
        return;
    }
    for (size_t i = 0; i < process->endpoint_count; i++) {
        const struct mw_endpoint *endpoint = &process->endpoints[i];
        if (endpoint->inner || strcmp(endpoint->library, "libfabric") ||
            !mw_caller_is_mpi(process, endpoint->caller))
            continue;
        if (only &&
            (strcmp(only->provider, endpoint->provider) || strcmp(only->domain, endpoint->domain)))
            return;
        only = endpoint;
    }
    if (only)
        mw_route_all(work, mw_way_libfabric(building, only, (uint32_t)work->src, work->inside),
                     MW_CONCLUDED, 0,
                     "PML cm sends every message through the one endpoint that the sender opened");
}

/* A PML that stands before another (monitoring, v): where no fabric was opened and that was
 * watched, BTLs are what is left. */
static int only_btls(const struct mw_pair_work *work)
{
    static const char *const probes[] = {"ucx", "libfabric"};
    const struct mw_process *process = mw_work_process(work, work->src);
    if (work->src < 0 || work->building->stacks[work->src] != MW_STACK_OTHER ||
        mw_work_owner(work, work->src)->fabrics || !*work->building->out->choices[work->src].btls)
        return 0;
    for (size_t i = 0; i < COUNT(probes); i++) {
        const char *how = mw_probe_how(process, probes[i], NULL);
        if (strcmp(how, "on") && strcmp(how, "absent"))
            return 0;
    }
    return 1;
}

static void other_routes(struct mw_pair_work *work)
{
    if (only_btls(work)) {
        mw_ob1_routes(work);
        return;
    }
    if (mw_sockets_carry(work))
        mw_route_all(work, mw_tcp_way(work, ""), MW_SEEN, work->socket_bytes,
                     mw_tcp_evidence(work));
    else if (work->cma_bytes)
        mw_route_extra(work,
                       mw_way(work->building, MW_WAY_SINGLE_COPY, "cma", "", MW_DEVICE_MEMORY, 0),
                       MW_SEEN, work->cma_bytes, mw_cma_evidence(work));
}

static void self_routes(struct mw_pair_work *work)
{
    static const char *const layers[] = {[MW_STACK_OB1] = MW_LAYER_BTL,
                                         [MW_STACK_CH4] = "MPICH",
                                         [MW_STACK_CH3] = "MPICH",
                                         [MW_STACK_CM] = ""};
    enum mw_stack stack = work->src < 0 ? MW_STACK_UNKNOWN : work->building->stacks[work->src];
    const char *layer = stack < COUNT(layers) && layers[stack] ? layers[stack] : "";
    if (work->pair->messages)
        mw_route_all(work, mw_way(work->building, MW_WAY_SELF, "self", layer, MW_DEVICE_MEMORY, 0),
                     MW_CONCLUDED, 0, "a rank's messages to itself");
}

static int route_compare(const void *left, const void *right)
{
    const struct mw_route *a = left, *b = right;
    if ((a->messages == 0) != (b->messages == 0))
        return a->messages == 0 ? 1 : -1;
    if (a->first_class != b->first_class)
        return a->first_class < b->first_class ? -1 : 1;
    if (a->messages != b->messages)
        return a->messages > b->messages ? -1 : 1;
    if (a->carried != b->carried)
        return a->carried > b->carried ? -1 : 1;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static void find_where(struct mw_pair_work *work)
{
    if (work->pair->src == work->pair->dst)
        work->pair->where = MW_WHERE_SELF;
    else if (work->src < 0 || work->dst < 0)
        work->pair->where = MW_WHERE_UNKNOWN;
    else
        work->pair->where =
            mw_work_owner(work, work->src)->node == mw_work_owner(work, work->dst)->node
                ? MW_WHERE_NODE
                : MW_WHERE_NETWORK;
}

static void find_routes(struct mw_pair_work *work)
{
    enum mw_stack stack = work->src < 0 ? MW_STACK_UNKNOWN : work->building->stacks[work->src];
    if (mw_fabric_carries(work)) {
        mw_fabric_routes(work);
    } else if (work->pair->where == MW_WHERE_SELF) {
        self_routes(work);
    } else if (work->src >= 0 && stack == MW_STACK_OB1) {
        mw_ob1_routes(work);
    } else if (work->src >= 0 && stack == MW_STACK_CM) {
        cm_routes(work);
    } else if (work->src >= 0 && (stack == MW_STACK_CH4 || stack == MW_STACK_CH3)) {
        mpich_routes(work, stack);
    } else if (stack == MW_STACK_UNKNOWN || stack == MW_STACK_OTHER) {
        other_routes(work);
    }
}

void mw_pair_routes(struct mw_building *building, struct mw_pair_transport *pair,
                    const struct mw_flow *flows, size_t flow_count)
{
    struct mw_pair_work work = {
        .building = building, .pair = pair, .flows = flows, .flow_count = flow_count};
    work.src = mw_model_rank(building->model, pair->src);
    work.dst = mw_model_rank(building->model, pair->dst);
    work.classes = mw_tally_classes(building->tally, pair->src, pair->dst, &work.class_count);
    work.buffers = mw_tally_buffers(building->tally, pair->src, pair->dst, &work.buffer_count);
    find_where(&work);
    mw_pair_sum_kernel(&work);
    mw_pair_sum_fabrics(&work);
    find_routes(&work);
    mw_beside_routes(&work);
    uint64_t known = 0;
    for (size_t i = 0; i < pair->routes.count; i++)
        known += pair->routes.at[i].messages;
    if (!pair->unknown && known < pair->messages)
        pair->unknown = mw_work_keep(&work, mw_pair_why(&work));
    mw_pair_remainder(&work, mw_fabric_carries(&work));
    if (pair->routes.count > 1)
        qsort(pair->routes.at, pair->routes.count, sizeof(pair->routes.at[0]), route_compare);
}
