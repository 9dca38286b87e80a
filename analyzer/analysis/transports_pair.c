/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules by which a pair's evidence becomes routes (docs/metrics.md, "Which way"). Evidence is
 * taken in this order: bytes that fabrics counted between the two, connections, reads of memory;
 * then what is left over where all other ways are excluded. Where none of it says anything the
 * reason is given. Main thread.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports_lanes.h"
#include "analyzer/analysis/transports_pair.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define BTL         "Open MPI BTL"
#define MEMORY      "memory"
#define OB1_HEADER  14u    /* bytes that ob1 puts before a message, at least */
#define FIT_LEAST   65536u /* bytes from which on a sum that fits is no chance */

/* Whether both are in one network namespace: the kernel carries what one address of it sends to
 * another through lo, whatever interface has the address. */
static int is_inside(const struct mw_pair_work *work)
{
    if (work->src < 0 || work->dst < 0 || work->pair->where == MW_WHERE_NETWORK)
        return 0;
    uint64_t src = mw_work_owner(work, work->src)->net, dst = mw_work_owner(work, work->dst)->net;
    return src == dst || !src || !dst;
}

static const char *cma_evidence(struct mw_pair_work *work)
{
    return mw_text_keep_format(work->building->out->texts,
                               "%llu calls of process_vm_readv or writev",
                               (unsigned long long)work->cma_calls);
}

/* A way through shared memory, and what the kernel copied at once. */
static void add_memory(struct mw_pair_work *work, const char *name, const char *layer,
                       enum mw_certainty certainty, uint64_t carried, const char *evidence)
{
    int exact = 0;
    uint32_t way = mw_way(work->building, MW_WAY_SHARED, name, layer, MEMORY, 0);
    uint32_t cma = 0;
    const char *unknown = mw_pair_copies_unknown(work);
    if (work->cma_bytes) {
        cma = mw_way(work->building, MW_WAY_SINGLE_COPY, "cma", layer, MEMORY, 0);
        mw_route_split_at(work, work->cma_bytes, work->cma_calls, &exact);
    }
    size_t small = 0;
    while (small < work->class_count && work->classes[small].class < MW_SPLIT_FROM)
        small++;
    if (unknown && !exact && small < work->class_count) {
        mw_route_add(work, way, 0, small, MW_CONCLUDED, 0, evidence);
        if (work->cma_bytes)
            mw_route_extra(work, cma, MW_SEEN, work->cma_bytes, cma_evidence(work));
        work->pair->unknown = mw_work_keep(work, unknown);
    } else if (!work->cma_bytes) {
        mw_route_all(work, way, certainty, carried, evidence);
    } else {
        uint64_t rest = carried > work->cma_bytes ? carried - work->cma_bytes : 0;
        mw_route_split(work, way, rest, MW_CONCLUDED, evidence, cma, work->cma_bytes,
                       work->cma_calls, cma_evidence(work));
    }
}

/* --- fabrics ---------------------------------------------------------------------------------- */

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

static void sum_fabrics(struct mw_pair_work *work)
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

/* What MPI opened beside the part that moves its messages: one-sided components, collective
 * libraries. */
static int flow_is_beside(const struct mw_pair_work *work, const struct mw_flow *flow)
{
    if (flow->kind != MW_FLOW_LIBFABRIC && flow->kind != MW_FLOW_UCX)
        return 0;
    return mw_caller_is_mpi(mw_work_process(work, flow->process), flow->endpoint->caller) &&
           !flow_carries_messages(work, flow);
}

static void beside_routes(struct mw_pair_work *work)
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
    if (count)
        work->interface = mw_join_devices(work->building, names, kept, work->flows[0].process,
                                          &work->interface_rate);
}

static const char *libfabric_evidence(struct mw_pair_work *work)
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
    const char *evidence = libfabric_evidence(work);
    if (way.kind == MW_WAY_SHARED)
        add_memory(work, way.name, way.layer, work->cma_bytes ? MW_CONCLUDED : MW_SEEN,
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
        bw = cma_evidence(work);
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

static int fabric_carries(const struct mw_pair_work *work)
{
    if (!work->fabric)
        return 0;
    if (!work->pair->messages)
        return work->fabric_bytes + work->fabric_unsized > 0;
    if (!work->pair->bytes || work->fabric_unsized)
        return work->fabric_operations * 2 >= work->pair->messages;
    return work->fabric_bytes >= work->pair->bytes / 2 && work->fabric_bytes > 0;
}

/* --- Open MPI's BTLs ---------------------------------------------------------------------------
 */

/* The BTL for shared memory that both have; NULL none. */
static const char *memory_btl(const struct mw_pair_work *work)
{
    static const char *const names[] = {"vader", "sm", "smcuda"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (work->src >= 0 && work->dst >= 0 &&
            mw_has_btl(work->building, (uint32_t)work->src, names[i]) &&
            mw_has_btl(work->building, (uint32_t)work->dst, names[i]))
            return names[i];
    return NULL;
}

static int has_memory_btl(const struct mw_pair_work *work)
{
    return mw_has_btl(work->building, (uint32_t)work->src, "vader") ||
           mw_has_btl(work->building, (uint32_t)work->src, "sm") ||
           mw_has_btl(work->building, (uint32_t)work->src, "smcuda");
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

static uint32_t tcp_way(struct mw_pair_work *work, const char *layer)
{
    const char *device = work->inside ? "lo" : work->interface ? work->interface : "";
    uint64_t rate = work->inside ? 0 : work->interface_rate;
    return mw_way(work->building, MW_WAY_NETWORK, "tcp", layer, device, rate);
}

static const char *tcp_evidence(struct mw_pair_work *work)
{
    int other =
        work->inside && work->interface && *work->interface && strcmp(work->interface, "lo");
    return mw_text_keep_format(work->building->out->texts, "TCP_INFO of %llu connection%s%s%s",
                               (unsigned long long)work->connections,
                               work->connections == 1 ? "" : "s",
                               other ? " between addresses of " : "", other ? work->interface : "");
}

/* Whether the connections carried what the kernel did not copy. */
static int sockets_carry(const struct mw_pair_work *work)
{
    uint64_t rest = work->pair->bytes > work->cma_bytes ? work->pair->bytes - work->cma_bytes : 0;
    if (!work->socket_bytes)
        return 0;
    if (!work->pair->messages)
        return 1;
    return work->socket_bytes >= rest - rest / 50 &&
           work->socket_bytes >= OB1_HEADER * (work->pair->messages - work->pair->messages / 50);
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
    uint64_t most = rest + rest / 50 + 128 * work->pair->messages + 4096;
    return !strcmp(a->host, b->host) && one_space(a, b, "mnt") && one_space(a, b, "ipc") &&
           (!sockets_carry(work) || rest < FIT_LEAST || work->socket_bytes > most);
}

static void ob1_memory(struct mw_pair_work *work, const char *btl)
{
    const char *evidence = mw_text_keep_format(
        work->building->out->texts, "same node, BTL %s is in use, no connection %s", btl,
        work->connections && !work->socket_bytes ? "is MPI's"
                                                 : "between the two carried the messages");
    add_memory(work, btl, BTL, MW_CONCLUDED, 0, evidence);
    if (work->socket_bytes)
        mw_route_extra(work, tcp_way(work, ""), MW_SEEN, work->socket_bytes, tcp_evidence(work));
}

static void ob1_network(struct mw_pair_work *work)
{
    const char *btl = network_btl(work);
    if (work->socket_bytes) { /* counted too early, or by a process that died */
        mw_route_all(work, tcp_way(work, BTL), MW_CONCLUDED, work->socket_bytes,
                     tcp_evidence(work));
    } else if (btl && (work->pair->where == MW_WHERE_NETWORK || !has_memory_btl(work))) {
        int node = work->pair->where == MW_WHERE_NODE;
        const char *evidence = mw_text_keep_format(work->building->out->texts,
                                                   "BTL %s is the only one that reaches other %s",
                                                   btl, node ? "ranks" : "nodes");
        const char *device = work->inside && !strcmp(btl, "tcp") ? "lo" : "";
        mw_route_all(work, mw_way(work->building, MW_WAY_NETWORK, btl, BTL, device, 0),
                     MW_CONCLUDED, 0, evidence);
    }
}

static void ob1_routes(struct mw_pair_work *work)
{
    const char *memory = work->pair->where == MW_WHERE_NODE ? memory_btl(work) : NULL;
    if (memory && sockets_are_not_mpi(work))
        work->socket_bytes = 0;
    if (sockets_carry(work)) {
        uint32_t tcp = tcp_way(work, BTL);
        if (!work->cma_bytes)
            mw_route_all(work, tcp, MW_SEEN, work->socket_bytes, tcp_evidence(work));
        else
            mw_route_split(work, tcp, work->socket_bytes, MW_SEEN, tcp_evidence(work),
                           mw_way(work->building, MW_WAY_SINGLE_COPY, "cma", BTL, MEMORY, 0),
                           work->cma_bytes, work->cma_calls, cma_evidence(work));
        return;
    }
    if (!work->pair->messages && !work->cma_bytes)
        return;
    if (memory)
        ob1_memory(work, memory);
    else
        ob1_network(work);
}

/* --- the others ------------------------------------------------------------------------------- */

/* MPICH beside its netmod. */
static void mpich_routes(struct mw_pair_work *work, enum mw_stack stack)
{
    const struct mw_process_choice *choice = &work->building->out->choices[work->src];
    const char *probe = !strcmp(choice->netmod, "ucx") ? "ucx" : "libfabric";
    const char *how = mw_probe_how(mw_work_process(work, work->src), probe, NULL);
    int looked = stack == MW_STACK_CH3 || !strcmp(how, "on");
    int shm = *choice->shm && strcmp(choice->shm, "none");
    if (work->pair->where == MW_WHERE_NODE && shm && looked && !sockets_carry(work)) {
        add_memory(
            work, choice->shm, "MPICH", MW_CONCLUDED, 0,
            "same node, shared memory is built in, the network carried less than the messages");
        if (work->fabric && work->fabric->kind == MW_FLOW_LIBFABRIC)
            mw_route_extra(work,
                           mw_way_libfabric(work->building, work->fabric->endpoint,
                                            work->fabric->process, work->inside),
                           MW_SEEN, work->fabric_bytes, libfabric_evidence(work));
    } else if (stack == MW_STACK_CH3 && sockets_carry(work)) {
        mw_route_all(work, tcp_way(work, "MPICH"), MW_SEEN, work->socket_bytes, tcp_evidence(work));
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
        ob1_routes(work);
        return;
    }
    if (sockets_carry(work))
        mw_route_all(work, tcp_way(work, ""), MW_SEEN, work->socket_bytes, tcp_evidence(work));
    else if (work->cma_bytes)
        mw_route_extra(work, mw_way(work->building, MW_WAY_SINGLE_COPY, "cma", "", MEMORY, 0),
                       MW_SEEN, work->cma_bytes, cma_evidence(work));
}

static void self_routes(struct mw_pair_work *work)
{
    static const char *const layers[] = {[MW_STACK_OB1] = BTL,
                                         [MW_STACK_CH4] = "MPICH",
                                         [MW_STACK_CH3] = "MPICH",
                                         [MW_STACK_CM] = ""};
    enum mw_stack stack = work->src < 0 ? MW_STACK_UNKNOWN : work->building->stacks[work->src];
    const char *layer = stack < COUNT(layers) && layers[stack] ? layers[stack] : "";
    if (work->pair->messages)
        mw_route_all(work, mw_way(work->building, MW_WAY_SELF, "self", layer, MEMORY, 0),
                     MW_CONCLUDED, 0, "a rank's messages to itself");
}

/* --- all -------------------------------------------------------------------------------------- */

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
    return (a->way > b->way) - (a->way < b->way);
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
    if (fabric_carries(work)) {
        if (work->fabric->kind == MW_FLOW_UCX)
            ucx_routes(work);
        else
            libfabric_routes(work);
    } else if (work->pair->where == MW_WHERE_SELF) {
        self_routes(work);
    } else if (work->src >= 0 && stack == MW_STACK_OB1) {
        ob1_routes(work);
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
    find_where(&work);
    work.inside = is_inside(&work);
    sum_fabrics(&work);
    sum_kernel(&work);
    find_interfaces(&work);
    find_routes(&work);
    beside_routes(&work);
    uint64_t known = 0;
    for (size_t i = 0; i < pair->routes.count; i++)
        known += pair->routes.at[i].messages;
    if (!pair->unknown && known < pair->messages)
        pair->unknown = mw_work_keep(&work, mw_pair_why(&work));
    mw_pair_remainder(&work, fabric_carries(&work));
    if (pair->routes.count > 1)
        qsort(pair->routes.at, pair->routes.count, sizeof(pair->routes.at[0]), route_compare);
}
