/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives, blocking, nonblocking and persistent. Bytes are what this rank contributed and what it
 * received by the standard's data flow (docs/metrics.md), whatever algorithm MPI uses.
 * Arguments that are not significant on this rank are never looked at.
 */
#include "record/coll.h"

#include "record/requests.h"
#include "record/spaces.h"

void mw_coll_open(struct mw_call *call, mw_handle comm, int root)
{
    struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    uint32_t instance = 0;
    call->keep.word[0] = 0;
    if (entry && call->mode != MW_PREPARES) {
        instance = atomic_fetch_add_explicit(&entry->instances, 1, memory_order_relaxed) + 1;
        call->keep.word[0] = 1;
    }
    mw_open(call, mw_comm_id(entry), root == MW_NO_ROOT ? MW_PEER_ANY : mw_comm_peer(entry, root), 0,
            instance);
}

int mw_coll_failed(struct mw_call *call, uint64_t end, int rc, mw_handle comm)
{
    struct mw_comm_entry *entry = call->instance ? mw_comm_find(call->thread, comm) : NULL;
    int refused = mw_is_refused(rc);
    if (!call->instance || refused) {
        uint32_t number = call->instance;
        if (entry && mw_comm_id(entry) == call->comm)
            atomic_compare_exchange_strong(&entry->instances, &number, number - 1);
        mw_call_failed(call, end, rc);
        return refused;
    }
    struct mw_raw_event detail = {.comm = call->comm,
                                  .peer = call->peer,
                                  .bytes = (uint64_t)(int64_t)rc,
                                  .ordinal = call->instance - 1};
    mw_call_event(call, end, MW_EVENT_COLL, MW_EVENT_ERROR | MW_EVENT_COUNTED, &detail);
    return 0;
}

int mw_coll_succeeded(struct mw_call *call, uint64_t end, int rc, mw_handle comm, int root,
                      struct mw_coll_role *role)
{
    if (rc != 0) {
        mw_coll_failed(call, end, rc, comm);
        mw_leave(call);
        return 0;
    }
    struct mw_comm_entry *entry = mw_comm_learn(call->thread, comm);
    *role = (struct mw_coll_role){.comm = entry};
    if (!entry)
        return 1;
    if (!call->keep.word[0] && call->mode != MW_PREPARES)
        call->instance = atomic_fetch_add_explicit(&entry->instances, 1, memory_order_relaxed) + 1;
    call->comm = mw_comm_id(entry);
    role->prepares = call->mode == MW_PREPARES;
    role->peers = entry->inter ? entry->remote_size : entry->size;
    if (entry->inter) {
        role->is_root = root == mw_recorder.abi->root;
        role->idle = root == mw_recorder.abi->proc_null;
    } else {
        role->is_root = root == entry->rank;
    }
    if (root != MW_NO_ROOT)
        call->peer = role->is_root ? mw_recorder.rank : mw_comm_peer(entry, root);
    return 1;
}

static struct mw_request request_of(const struct mw_call *call, const struct mw_coll_role *role,
                                    const struct mw_raw_event *detail, uint32_t flags)
{
    return (struct mw_request){.flags = flags,
                               .kind = MW_EVENT_COLL,
                               .origin = (uint16_t)call->thread->index,
                               .comm = detail->comm,
                               .peer = detail->peer,
                               .function = call->function,
                               .bytes = detail->bytes,
                               .bytes_in = detail->bytes_in,
                               .flow = role->prepared,
                               .comm_entry = role->comm};
}

void mw_coll_close(struct mw_call *call, uint64_t end, const struct mw_coll_role *role,
                   uint64_t bytes, uint64_t bytes_in)
{
    struct mw_raw_event detail = {.comm = call->comm,
                                  .peer = call->peer,
                                  .bytes = role->idle ? 0 : bytes,
                                  .bytes_in = role->idle ? 0 : bytes_in};
    uint32_t flags = role->comm && role->comm->inter ? MW_EVENT_INTER : 0;
    int kind = MW_EVENT_COLL;
    if (call->mode == MW_PREPARES) {
        uint32_t spaces = mw_spaces_of(call, MW_EVENT_COLL, flags, &detail);
        struct mw_request request =
            request_of(call, role, &detail, flags | MW_EVENT_PERSISTENT | spaces);
        request.tag = call->function; /* what MPI_Start starts */
        mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &request);
        kind = MW_EVENT_CALL;
        detail.bytes = detail.bytes_in = 0;
    } else if (call->mode == MW_STARTS) {
        struct mw_request request = request_of(call, role, &detail, flags);
        request.active = 1;
        request.number = detail.request = call->thread->requests++;
        mw_request_started_by(&request, call);
        mw_request_add(mw_abi_load(mw_recorder.abi, call->request, 0), &request);
        flags |= MW_EVENT_REQUEST;
    }
    if (call->instance && kind == MW_EVENT_COLL) {
        detail.ordinal = call->instance - 1;
        flags |= MW_EVENT_COUNTED;
    }
    mw_call_event(call, end, kind, flags, &detail);
    mw_leave(call);
}

static uint64_t sum(struct mw_thread_state *thread, struct mw_counts counts, int n, mw_handle type)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++)
        total += mw_count_at(counts, (size_t)i);
    return mw_bytes(thread, total, type);
}

static uint64_t sum_w(struct mw_thread_state *thread, struct mw_counts counts, int n,
                      const void *types)
{
    uint64_t total = 0;
    for (int i = 0; i < n; i++)
        total += mw_bytes(thread, mw_count_at(counts, (size_t)i),
                          mw_abi_load(mw_recorder.abi, types, (size_t)i));
    return total;
}

/* To each rank what its count says, which is counted by rank; in all. */
static uint64_t deal_v(struct mw_thread_state *thread, struct mw_coll_role *role,
                       struct mw_counts counts, mw_handle type)
{
    uint64_t total = 0;
    for (int i = 0; i < role->peers; i++) {
        uint64_t bytes = mw_bytes(thread, mw_count_at(counts, (size_t)i), type);
        mw_flow_add(role, i, bytes);
        total += bytes;
    }
    mw_flows_flush();
    return total;
}

static uint64_t deal_w(struct mw_thread_state *thread, struct mw_coll_role *role,
                       struct mw_counts counts, const void *types)
{
    uint64_t total = 0;
    for (int i = 0; i < role->peers; i++) {
        uint64_t bytes = mw_bytes(thread, mw_count_at(counts, (size_t)i),
                                  mw_abi_load(mw_recorder.abi, types, (size_t)i));
        mw_flow_add(role, i, bytes);
        total += bytes;
    }
    mw_flows_flush();
    return total;
}

static int in_place(const void *buffer)
{
    return buffer == mw_recorder.abi->in_place;
}

/* Declares begin and end of a collective; the body computes `out` and `in` of this rank, whose arguments
 * mean nothing where it is idle. */
#define COLLECTIVE(name, root, params, body)                               \
    void mw_##name##_begin(struct mw_call *call, PARAMS params)            \
    {                                                                      \
        mw_coll_open(call, comm, root);                                    \
    }                                                                      \
    void mw_##name##_end(struct mw_call *call, int rc, PARAMS params)      \
    {                                                                      \
        uint64_t end = mw_close(call);                                     \
        struct mw_coll_role role;                                          \
        if (!mw_coll_succeeded(call, end, rc, comm, root, &role))          \
            return;                                                        \
        struct mw_thread_state *thread = call->thread;                     \
        uint64_t out = 0, in = 0;                                          \
        if (!role.idle)                                                    \
            body;                                                          \
        (void)thread;                                                      \
        mw_coll_close(call, end, &role, out, in);                          \
    }
#define PARAMS(...) __VA_ARGS__

COLLECTIVE(barrier, MW_NO_ROOT, (mw_handle comm), {})

COLLECTIVE(bcast, root, (MW_AMOUNT, int root, mw_handle comm), {
    uint64_t bytes = mw_bytes(thread, count, datatype);
    *(role.is_root ? &out : &in) = bytes;
})

COLLECTIVE(reduce, root, (const void *sendbuf, MW_AMOUNT, int root, mw_handle comm), {
    int inter = role.comm && role.comm->inter;
    uint64_t bytes = mw_bytes(thread, count, datatype);
    out = inter && role.is_root ? 0 : bytes;
    in = role.is_root ? bytes : 0;
})

COLLECTIVE(allreduce, MW_NO_ROOT, (MW_AMOUNT, mw_handle comm),
           { out = in = mw_bytes(thread, count, datatype); })

COLLECTIVE(reduce_scatter_block, MW_NO_ROOT, (MW_AMOUNT, mw_handle comm), {
    in = mw_bytes(thread, count, datatype);
    out = in * (uint64_t)(role.comm ? role.comm->size : 0);
})

COLLECTIVE(reduce_scatter, MW_NO_ROOT,
           (struct mw_counts recvcounts, mw_handle datatype, mw_handle comm), {
               if (role.comm) {
                   out = sum(thread, recvcounts, role.comm->size, datatype);
                   in = mw_bytes(thread, mw_count_at(recvcounts, (size_t)role.comm->rank), datatype);
               }
           })

/* What this rank puts in: on an inter-communicator the root only takes (or only gives). */
static int takes_part_beside_root(const struct mw_coll_role *role)
{
    return !(role->is_root && role->comm && role->comm->inter);
}

COLLECTIVE(gather, root, (const void *sendbuf, MW_BOTH, int root, mw_handle comm), {
    uint64_t share = role.is_root ? mw_bytes(thread, recvcount, recvtype) : 0;
    in = share * (uint64_t)role.peers;
    if (takes_part_beside_root(&role))
        out = in_place(sendbuf) ? share : mw_bytes(thread, sendcount, sendtype);
})

COLLECTIVE(gatherv, root, (const void *sendbuf, MW_BOTH_RV, int root, mw_handle comm), {
    if (role.is_root)
        in = sum(thread, recvcounts, role.peers, recvtype);
    if (takes_part_beside_root(&role))
        out = in_place(sendbuf) ? mw_bytes(thread, mw_count_at(recvcounts, (size_t)root), recvtype)
                                : mw_bytes(thread, sendcount, sendtype);
})

COLLECTIVE(scatter, root, (const void *recvbuf, MW_BOTH, int root, mw_handle comm), {
    uint64_t share = role.is_root ? mw_bytes(thread, sendcount, sendtype) : 0;
    out = share * (uint64_t)role.peers;
    if (takes_part_beside_root(&role))
        in = in_place(recvbuf) ? share : mw_bytes(thread, recvcount, recvtype);
})

COLLECTIVE(scatterv, root, (const void *recvbuf, MW_BOTH_SV, int root, mw_handle comm), {
    if (role.is_root)
        out = sum(thread, sendcounts, role.peers, sendtype);
    if (takes_part_beside_root(&role))
        in = in_place(recvbuf) ? mw_bytes(thread, mw_count_at(sendcounts, (size_t)root), sendtype)
                               : mw_bytes(thread, recvcount, recvtype);
})

COLLECTIVE(allgather, MW_NO_ROOT, (const void *sendbuf, MW_BOTH, mw_handle comm), {
    uint64_t share = mw_bytes(thread, recvcount, recvtype);
    out = in_place(sendbuf) ? share : mw_bytes(thread, sendcount, sendtype);
    in = share * (uint64_t)role.peers;
})

COLLECTIVE(allgatherv, MW_NO_ROOT, (const void *sendbuf, MW_BOTH_RV, mw_handle comm), {
    in = sum(thread, recvcounts, role.peers, recvtype);
    if (!in_place(sendbuf))
        out = mw_bytes(thread, sendcount, sendtype);
    else if (role.comm)
        out = mw_bytes(thread, mw_count_at(recvcounts, (size_t)role.comm->rank), recvtype);
})

COLLECTIVE(alltoall, MW_NO_ROOT, (const void *sendbuf, MW_BOTH, mw_handle comm), {
    in = mw_bytes(thread, recvcount, recvtype) * (uint64_t)role.peers;
    out = in_place(sendbuf) ? in : mw_bytes(thread, sendcount, sendtype) * (uint64_t)role.peers;
})

/* In place what is received from a rank is as much as what it is sent. */
COLLECTIVE(alltoallv, MW_NO_ROOT, (const void *sendbuf, MW_BOTH_V, mw_handle comm), {
    if (in_place(sendbuf)) {
        in = out = deal_v(thread, &role, recvcounts, recvtype);
    } else {
        in = sum(thread, recvcounts, role.peers, recvtype);
        out = deal_v(thread, &role, sendcounts, sendtype);
    }
})

COLLECTIVE(alltoallw, MW_NO_ROOT, (const void *sendbuf, MW_BOTH_W, mw_handle comm), {
    if (in_place(sendbuf)) {
        in = out = deal_w(thread, &role, recvcounts, recvtypes);
    } else {
        in = sum_w(thread, recvcounts, role.peers, recvtypes);
        out = deal_w(thread, &role, sendcounts, sendtypes);
    }
})

COLLECTIVE(neighbor_allgather, MW_NO_ROOT, (MW_BOTH, mw_handle comm), {
    out = mw_bytes(thread, sendcount, sendtype);
    (void)mw_neighbours_bytes(thread, &role, 1, sendcount, sendtype); /* counted by rank */
    in = mw_neighbours_bytes(thread, &role, 0, recvcount, recvtype);
})

COLLECTIVE(neighbor_allgatherv, MW_NO_ROOT, (MW_BOTH_RV, mw_handle comm), {
    out = mw_bytes(thread, sendcount, sendtype);
    (void)mw_neighbours_bytes(thread, &role, 1, sendcount, sendtype); /* counted by rank */
    in = mw_neighbours_bytes_v(thread, &role, 0, recvcounts, recvtype);
})

COLLECTIVE(neighbor_alltoall, MW_NO_ROOT, (MW_BOTH, mw_handle comm), {
    out = mw_neighbours_bytes(thread, &role, 1, sendcount, sendtype);
    in = mw_neighbours_bytes(thread, &role, 0, recvcount, recvtype);
})

COLLECTIVE(neighbor_alltoallv, MW_NO_ROOT, (MW_BOTH_V, mw_handle comm), {
    out = mw_neighbours_bytes_v(thread, &role, 1, sendcounts, sendtype);
    in = mw_neighbours_bytes_v(thread, &role, 0, recvcounts, recvtype);
})

COLLECTIVE(neighbor_alltoallw, MW_NO_ROOT, (MW_BOTH_W, mw_handle comm), {
    out = mw_neighbours_bytes_w(thread, &role, 1, sendcounts, sendtypes);
    in = mw_neighbours_bytes_w(thread, &role, 0, recvcounts, recvtypes);
})
