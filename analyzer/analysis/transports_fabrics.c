/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What endpoints of libfabric and workers of UCX counted between the two of a pair, and the ways
 * that follow from it (transports_pair.h). Main thread.
 */
#include <string.h>

#include "analyzer/analysis/transports_lanes.h"
#include "analyzer/analysis/transports_pair.h"

/* Whether a flow may carry MPI's messages. Under Open MPI's ob1 only BTLs do: the workers of
 * one-sided components and of collective libraries do not. */
static int flow_is_mpi(const struct mw_pair_work *work, const struct mw_flow *flow)
{
    const struct mw_process *process = mw_work_process(work, flow->process);
    if (!mw_caller_is_mpi(process, flow->endpoint->caller))
        return 0;
    if (work->building->stacks[flow->process] != MW_STACK_OB1)
        return 1;
    return flow->kind == MW_FLOW_LIBFABRIC ||
           !strncmp(mw_module_base(process, flow->endpoint->caller), "mca_btl", 7);
}

static int stack_wants(enum mw_stack stack, const char *netmod, enum mw_flow_kind kind)
{
    if (stack == MW_STACK_CM)
        return kind == MW_FLOW_LIBFABRIC;
    if (stack == MW_STACK_UCX || (stack == MW_STACK_CH4 && !strcmp(netmod, "ucx")))
        return kind == MW_FLOW_UCX;
    if (stack == MW_STACK_CH4 && !strcmp(netmod, "ofi"))
        return kind == MW_FLOW_LIBFABRIC;
    return 1;
}

static int flow_carries_messages(const struct mw_pair_work *work, const struct mw_flow *flow)
{
    return flow_is_mpi(work, flow) &&
           stack_wants(work->building->stacks[flow->process],
                       work->building->out->choices[flow->process].netmod, flow->kind);
}

void mw_pair_sum_fabrics(struct mw_pair_work *work)
{
    uint64_t most = 0;
    for (size_t i = 0; i < work->flow_count; i++) {
        const struct mw_flow *flow = &work->flows[i];
        if ((flow->kind != MW_FLOW_LIBFABRIC && flow->kind != MW_FLOW_UCX) ||
            !flow_carries_messages(work, flow))
            continue;
        work->fabric_bytes += flow->bytes;
        work->fabric_operations += flow->operations;
        work->fabric_unsized += flow->unsized;
        if (!work->fabric || flow->bytes > most) {
            work->fabric = flow;
            most = flow->bytes;
        }
    }
}

int mw_fabric_carries(const struct mw_pair_work *work)
{
    if (!work->fabric)
        return 0;
    if (!work->pair->messages)
        return work->fabric_bytes + work->fabric_unsized > 0;
    if (!work->pair->bytes || work->fabric_unsized)
        return work->fabric_operations * 2 >= work->pair->messages;
    return work->fabric_bytes >= work->pair->bytes / 2 && work->fabric_bytes > 0;
}

/* What MPI opened beside the part that moves its messages: one-sided components, collective
 * libraries. */
static int flow_is_beside(const struct mw_pair_work *work, const struct mw_flow *flow)
{
    if (flow->kind != MW_FLOW_LIBFABRIC && flow->kind != MW_FLOW_UCX)
        return 0;
    return mw_caller_is_mpi(mw_work_process(work, flow->process), flow->endpoint->caller) &&
           !flow_carries_messages(work, flow);
}

void mw_beside_routes(struct mw_pair_work *work)
{
    for (size_t i = 0; i < work->flow_count; i++) {
        const struct mw_flow *flow = &work->flows[i];
        struct mw_lane_sets lanes;
        uint32_t way;
        if (!flow_is_beside(work, flow))
            continue;
        work->other_bytes += flow->bytes;
        if (flow->kind == MW_FLOW_LIBFABRIC)
            way = mw_way_libfabric(work->building, flow->endpoint, flow->process, work->inside);
        else if (mw_lane_sets(flow->peer, &lanes))
            way = mw_lane_way(work->building, &lanes, MW_LANES_ALL, flow->process, work->inside);
        else
            continue;
        mw_route_extra(work, way, MW_SEEN, flow->bytes,
                       "counts of an endpoint beside the one for messages");
    }
}

const char *mw_libfabric_evidence(struct mw_pair_work *work)
{
    return mw_text_keep_format(work->building->out->texts,
                               "counts of the libfabric endpoint (%llu operations)",
                               (unsigned long long)work->fabric_operations);
}

static void libfabric_routes(struct mw_pair_work *work)
{
    struct mw_building *building = work->building;
    uint32_t main_way =
        mw_way_libfabric(building, work->fabric->endpoint, work->fabric->process, work->inside);
    struct mw_way way = building->out->ways.at[main_way];
    const char *evidence = mw_libfabric_evidence(work);
    if (way.kind == MW_WAY_SHARED)
        mw_memory_routes(work, way.name, way.layer, work->cma_bytes ? MW_CONCLUDED : MW_SEEN,
                         work->fabric_bytes, evidence);
    else
        mw_route_all(work, main_way, MW_SEEN, work->fabric_bytes, evidence);
    for (size_t i = 0; i < work->flow_count; i++) { /* rails, and endpoints of other components */
        const struct mw_flow *flow = &work->flows[i];
        if (flow->kind != MW_FLOW_LIBFABRIC || !flow_carries_messages(work, flow))
            continue;
        uint32_t other = mw_way_libfabric(building, flow->endpoint, flow->process, work->inside);
        int known = other == main_way;
        for (size_t r = 0; r < work->pair->routes.count; r++)
            known |= work->pair->routes.at[r].way == other;
        if (!known)
            mw_route_extra(work, other, MW_SEEN, flow->bytes, evidence);
    }
}

static void ucx_single(struct mw_pair_work *work, const struct mw_lane_sets *lanes, int sure)
{
    const char *evidence = mw_text_keep_format(
        work->building->out->texts, "UCX lane %s, counts of the worker (%llu operations)",
        lanes->small, (unsigned long long)work->fabric_operations);
    uint32_t way =
        mw_lane_way(work->building, lanes, MW_LANES_ALL, work->fabric->process, work->inside);
    mw_route_all(work, way, sure ? MW_SEEN : MW_CONCLUDED, work->fabric_bytes, evidence);
}

static void ucx_double(struct mw_pair_work *work, const struct mw_lane_sets *lanes)
{
    struct mw_building *building = work->building;
    struct mw_kept_texts *texts = building->out->texts;
    uint32_t small =
        mw_lane_way(building, lanes, MW_LANES_SMALL, work->fabric->process, work->inside);
    uint32_t large =
        mw_lane_way(building, lanes, MW_LANES_LARGE, work->fabric->process, work->inside);
    const char *am = mw_text_keep_format(texts, "UCX lane am (%s)", lanes->small);
    const char *bw = mw_text_keep_format(texts, "UCX lane rma_bw (%s)", lanes->large);
    uint64_t counted = 0, calls = 0;
    if (!strcmp(lanes->large, "cma")) {
        counted = work->cma_bytes;
        calls = work->cma_calls;
        bw = mw_cma_evidence(work);
        if (!counted &&
            strcmp(mw_probe_how(mw_work_process(work, work->fabric->process), "cma", NULL), "on") ==
                0) {
            mw_route_all(work, small, MW_CONCLUDED, work->fabric_bytes, am);
            return;
        }
    } else if (!strcmp(lanes->large, "tcp")) {
        counted = work->socket_bytes;
        bw = mw_text_keep_format(texts, "TCP_INFO of %llu connections",
                                 (unsigned long long)work->connections);
    }
    uint64_t rest = work->fabric_bytes > counted ? work->fabric_bytes - counted : 0;
    if (counted) {
        mw_route_split(work, small, rest, MW_CONCLUDED, am, large, counted, calls, bw);
        return;
    }
    mw_route_all(work, small, MW_CONCLUDED, work->fabric_bytes, am);
    mw_route_extra(work, large, MW_CONCLUDED, 0, bw);
    work->pair->unknown =
        mw_text_keep_format(texts, "from which size on UCX uses %s instead of %s is not recorded",
                            lanes->large, lanes->small);
}

static void ucx_routes(struct mw_pair_work *work)
{
    struct mw_lane_sets lanes;
    if (!mw_lane_sets(work->fabric->peer, &lanes)) {
        work->pair->unknown = mw_work_keep(work, "the lanes of the UCX endpoint were not recorded");
        return;
    }
    if (!strcmp(lanes.small, lanes.large))
        ucx_single(work, &lanes, lanes.sure);
    else
        ucx_double(work, &lanes);
}

void mw_fabric_routes(struct mw_pair_work *work)
{
    if (work->fabric->kind == MW_FLOW_UCX)
        ucx_routes(work);
    else
        libfabric_routes(work);
}
