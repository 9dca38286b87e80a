/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours of this rank on communicators with a topology, for the bytes of neighbourhood
 * collectives. MPI is asked each time (local questions): these calls are rare and topologies are
 * small.
 */
#include "record/ask.h"
#include "record/coll.h"

struct neighbours {
    int count;
    const int *ranks; /* NULL: not known, but all exist */
};

enum { CART, GRAPH, DIST_GRAPH, NONE };

/* MPI_Topo_test is safe on any communicator; a question about the wrong kind of topology would run
 * the program's error handler. The constants differ by ABI. */
static int kind_of(mw_handle comm)
{
    int topology = 0;
    if (!MW_ASK(MW_FN_Topo_test, (mw_handle, int *), comm, &topology))
        return NONE;
    switch (mw_recorder.abi->kind) {
    case MW_ABI_OPENMPI: /* CART 1, GRAPH 2, DIST_GRAPH 3 */
        return topology == 1 ? CART : topology == 2 ? GRAPH : topology == 3 ? DIST_GRAPH : NONE;
    case MW_ABI_MPICH: /* GRAPH 1, CART 2, DIST_GRAPH 3 */
        return topology == 2 ? CART : topology == 1 ? GRAPH : topology == 3 ? DIST_GRAPH : NONE;
    default: /* MPI-5: CART 211, GRAPH 212, DIST_GRAPH 213 */
        return topology == 211   ? CART
               : topology == 212 ? GRAPH
               : topology == 213 ? DIST_GRAPH
                                 : NONE;
    }
}

static struct neighbours of_cart(struct mw_thread_state *thread, mw_handle comm)
{
    int dims = 0;
    if (!MW_ASK(MW_FN_Cartdim_get, (mw_handle, int *), comm, &dims) || dims <= 0)
        return (struct neighbours){0};
    int *ranks = mw_scratch_push(thread, 2 * (size_t)dims * sizeof *ranks);
    if (!ranks)
        return (struct neighbours){0};
    for (int d = 0; d < dims; d++)
        if (!MW_ASK(MW_FN_Cart_shift, (mw_handle, int, int, int *, int *), comm, d, 1,
                    &ranks[2 * d], &ranks[2 * d + 1]))
            return (struct neighbours){0};
    return (struct neighbours){.count = 2 * dims, .ranks = ranks};
}

static struct neighbours of_graph(struct mw_thread_state *thread, mw_handle comm, int rank)
{
    int count = 0;
    if (!MW_ASK(MW_FN_Graph_neighbors_count, (mw_handle, int, int *), comm, rank, &count) ||
        count <= 0)
        return (struct neighbours){0};
    int *ranks = mw_scratch_push(thread, (size_t)count * sizeof *ranks);
    if (ranks &&
        !MW_ASK(MW_FN_Graph_neighbors, (mw_handle, int, int, int *), comm, rank, count, ranks))
        ranks = NULL;
    return (struct neighbours){.count = count, .ranks = ranks};
}

/* The weights have to be taken as well. */
static struct neighbours of_dist_graph(struct mw_thread_state *thread, mw_handle comm, int sending)
{
    int in = 0, out = 0, weighted = 0;
    if (!MW_ASK(MW_FN_Dist_graph_neighbors_count, (mw_handle, int *, int *, int *), comm, &in, &out,
                &weighted) ||
        in < 0 || out < 0)
        return (struct neighbours){0};
    int *ranks = mw_scratch_push(thread, 2 * ((size_t)in + (size_t)out + 1) * sizeof *ranks);
    int *to = ranks ? ranks + 2 * in : NULL;
    if (ranks &&
        !MW_ASK(MW_FN_Dist_graph_neighbors, (mw_handle, int, int *, int *, int, int *, int *), comm,
                in, ranks, ranks + in, out, to, to + out))
        ranks = to = NULL;
    return (struct neighbours){.count = sending ? out : in, .ranks = sending ? to : ranks};
}

static struct neighbours find(struct mw_thread_state *thread, const struct mw_comm_entry *entry,
                              int sending)
{
    mw_handle comm = atomic_load(&entry->handle);
    switch (kind_of(comm)) {
    case CART:
        return of_cart(thread, comm);
    case GRAPH:
        return of_graph(thread, comm, entry->rank);
    case DIST_GRAPH:
        return of_dist_graph(thread, comm, sending);
    default:
        return (struct neighbours){0};
    }
}

static int exists(const struct neighbours *neighbours, int index)
{
    return !neighbours->ranks || neighbours->ranks[index] != mw_recorder.abi->proc_null;
}

/* What one neighbour sends or is sent, by its place in the list. */
struct amounts {
    int64_t count; /* the same for all, where `counts` has none */
    struct mw_counts counts;
    mw_handle type; /* the same for all, where `types` has none */
    const void *types;
};

static uint64_t amount_at(struct mw_thread_state *thread, const struct amounts *amounts, size_t at)
{
    return mw_bytes(thread, amounts->counts.p ? mw_count_at(amounts->counts, at) : amounts->count,
                    amounts->types ? mw_abi_load(mw_recorder.abi, amounts->types, at)
                                   : amounts->type);
}

static uint64_t sum(struct mw_thread_state *thread, struct mw_coll_role *role, int sending,
                    const struct amounts *amounts)
{
    size_t mark = thread->scratch_used;
    uint64_t total = 0;
    if (!role->comm)
        return 0;
    struct neighbours neighbours = find(thread, role->comm, sending);
    for (int i = 0; i < neighbours.count; i++) {
        if (!exists(&neighbours, i))
            continue;
        uint64_t bytes = amount_at(thread, amounts, (size_t)i);
        total += bytes;
        if (sending && neighbours.ranks)
            mw_flow_add(role, neighbours.ranks[i], bytes);
    }
    thread->scratch_used = mark;
    if (sending)
        mw_flows_flush();
    return total;
}

uint64_t mw_neighbours_bytes(struct mw_thread_state *thread, struct mw_coll_role *role,
                             int sending, int64_t count, mw_handle type)
{
    return sum(thread, role, sending, &(struct amounts){.count = count, .type = type});
}

uint64_t mw_neighbours_bytes_v(struct mw_thread_state *thread, struct mw_coll_role *role,
                               int sending, struct mw_counts counts, mw_handle type)
{
    return sum(thread, role, sending, &(struct amounts){.counts = counts, .type = type});
}

uint64_t mw_neighbours_bytes_w(struct mw_thread_state *thread, struct mw_coll_role *role,
                               int sending, struct mw_counts counts, const void *types)
{
    return sum(thread, role, sending, &(struct amounts){.counts = counts, .types = types});
}
