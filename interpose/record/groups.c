/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is in a communicator, as runs of world ranks. Asks MPI local questions only, through the library's
 * own functions, about communicators that are known to be valid.
 */
#include <string.h>

#include "output/output.h"
#include "record/ask.h"
#include "record/comms.h"
#include "trace/chunk.h"
#include "trace/fields.h"

#define RUNS_WRITTEN_BY_ALL 256u

static mw_handle world_group;
static int have_world_group;

int mw_groups_start_session(mw_handle session, int *rank, int *size)
{
    world_group = 0;
    have_world_group = MW_ASK(MW_FN_Group_from_session_pset, (mw_handle, const char *, mw_handle *), session,
                              "mpi://WORLD", &world_group);
    return have_world_group && MW_ASK(MW_FN_Group_rank, (mw_handle, int *), world_group, rank) &&
           MW_ASK(MW_FN_Group_size, (mw_handle, int *), world_group, size);
}

int mw_groups_have_world(void)
{
    return have_world_group;
}

void mw_groups_start(void)
{
    world_group = 0;
    have_world_group = MW_ASK(MW_FN_Comm_group, (mw_handle, mw_handle *),
                           mw_recorder.abi->comm_world, &world_group);
}

static void group_free(mw_handle group)
{
    (void)MW_ASK(MW_FN_Group_free, (mw_handle *), &group);
}

void mw_groups_stop(void)
{
    if (have_world_group)
        group_free(world_group);
    have_world_group = 0;
}

/* Ranks of a group's members in another, in order; negative: not in it. */
static int translate(mw_handle group, int size, int *ranks, mw_handle other, int32_t *others)
{
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    return MW_ASK(MW_FN_Group_translate_ranks, (mw_handle, int, const int *, mw_handle, int *), group,
                  size, ranks, other, others);
}

/* World ranks of a group's members, in order; those outside the world as MW_PEER_OUTSIDE. */
static int members(mw_handle group, int size, int *ranks, int32_t *world)
{
    if (!have_world_group || !translate(group, size, ranks, world_group, world))
        return 0;
    for (int i = 0; i < size; i++)
        if (world[i] < 0)
            world[i] = MW_PEER_OUTSIDE(i);
    return 1;
}

/* Ranks as runs, in scratch; NULL when it has no room. */
static struct mw_comm_run *pack(struct mw_thread_state *thread, const int32_t *world, int size,
                                size_t *runs_count)
{
    size_t count = 0;
    struct mw_comm_run *runs = mw_scratch_push(thread, (size_t)size * sizeof *runs);
    if (!runs)
        return NULL;
    for (int i = 0; i < size; i++) {
        struct mw_comm_run *run = count ? &runs[count - 1] : NULL;
        if (run && run->count == 1 && (world[i] < 0) == (run->start < 0)) {
            run->stride = world[i] - run->start;
            run->count = 2;
        } else if (run && run->count > 1 &&
                   world[i] == run->start + run->stride * (int32_t)run->count) {
            run->count++;
        } else {
            runs[count++] = (struct mw_comm_run){
                .start = world[i], .stride = 1, .count = 1, .first = (uint32_t)i};
        }
    }
    *runs_count = count;
    return runs;
}

int mw_comm_set_group(struct mw_comm_entry *entry, const struct mw_comm_group *group)
{
    const struct mw_comm_run *runs = group->inter ? group->remote : group->members;
    size_t count = group->inter ? group->remote_runs : group->member_runs;
    struct mw_comm_run *peers = entry->inline_runs;
    if (count > MW_COMM_INLINE_RUNS) {
        size_t size = (count * sizeof *peers + 4095) & ~(size_t)4095;
        peers = mw_pages(size);
        if (!peers)
            return 0;
        entry->pages = size;
    }
    memcpy(peers, runs, count * sizeof *peers);
    entry->peers = peers;
    entry->peer_runs = count;
    entry->size = group->size;
    entry->rank = group->rank;
    entry->inter = group->inter != 0;
    entry->remote_size = group->remote_size;
    entry->hash = group->hash;
    return 1;
}

/* The world ranks of the communicator's local (or remote) group in scratch; NULL when they cannot be had. */
static int32_t *ranks_of(struct mw_thread_state *thread, mw_handle comm, enum mw_function ask_group,
                         int size)
{
    int *ranks = mw_scratch_push(thread, (size_t)size * sizeof *ranks);
    int32_t *world = mw_scratch_push(thread, (size_t)size * sizeof *world);
    mw_handle group = 0;
    if (!ranks || !world || !MW_ASK(ask_group, (mw_handle, mw_handle *), comm, &group))
        return NULL;
    int done = members(group, size, ranks, world);
    group_free(group);
    return done ? world : NULL;
}

const int32_t *mw_group_world_ranks(struct mw_thread_state *thread, mw_handle group, int most,
                                    int *count)
{
    *count = -1;
    if (!MW_ASK(MW_FN_Group_size, (mw_handle, int *), group, count) || *count <= 0 || *count > most)
        return NULL;
    int *ranks = mw_scratch_push(thread, (size_t)*count * sizeof *ranks);
    int32_t *world = mw_scratch_push(thread, (size_t)*count * sizeof *world);
    return ranks && world && members(group, *count, ranks, world) ? world : NULL;
}

static uint64_t hash_of(struct mw_thread_state *thread, const int32_t *local, int size,
                        const int32_t *remote, int remote_size)
{
    if (!remote)
        return mw_hash64(local, (size_t)size * sizeof *local);
    size_t total = (size_t)size + (size_t)remote_size;
    int32_t *both = mw_scratch_push(thread, total * sizeof *both);
    if (!both)
        return 0;
    int local_first = local[0] <= remote[0];
    const int32_t *head = local_first ? local : remote;
    const int32_t *tail = local_first ? remote : local;
    int head_size = local_first ? size : remote_size;
    memcpy(both, head, (size_t)head_size * sizeof *both);
    memcpy(both + head_size, tail, (total - (size_t)head_size) * sizeof *both);
    return mw_hash64(both, total * sizeof *both);
}

static int has_strangers(const int32_t *world, int size)
{
    for (int i = 0; i < size; i++)
        if (world[i] < 0)
            return 1;
    return 0;
}

/* Ranks of the communicator's members in the one that it was made of, in scratch; NULL when they cannot be had. */
static int32_t *places_of(struct mw_thread_state *thread, mw_handle comm, mw_handle parent, int size)
{
    int *ranks = mw_scratch_push(thread, (size_t)size * sizeof *ranks);
    int32_t *places = mw_scratch_push(thread, (size_t)size * sizeof *places);
    mw_handle own = 0, above = 0;
    if (!ranks || !places || !MW_ASK(MW_FN_Comm_group, (mw_handle, mw_handle *), comm, &own))
        return NULL;
    int done = MW_ASK(MW_FN_Comm_group, (mw_handle, mw_handle *), parent, &above) &&
               translate(own, size, ranks, above, places) && !has_strangers(places, size);
    if (above)
        group_free(above);
    group_free(own);
    return done ? places : NULL;
}

static void ask_places(struct mw_thread_state *thread, mw_handle comm, mw_handle parent,
                       struct mw_comm_group *group)
{
    const int32_t *places = places_of(thread, comm, parent, group->size);
    if (!places)
        return;
    group->place_hash = mw_hash64(places, (size_t)group->size * sizeof *places);
    group->places = pack(thread, places, group->size, &group->place_runs);
}

static int ask(struct mw_thread_state *thread, mw_handle comm, mw_handle parent,
               struct mw_comm_group *group)
{
    if (!MW_ASK(MW_FN_Comm_size, (mw_handle, int *), comm, &group->size) ||
        !MW_ASK(MW_FN_Comm_rank, (mw_handle, int *), comm, &group->rank) ||
        !MW_ASK(MW_FN_Comm_test_inter, (mw_handle, int *), comm, &group->inter))
        return 0;
    int32_t *local = ranks_of(thread, comm, MW_FN_Comm_group, group->size);
    int32_t *remote = NULL;
    if (group->inter) {
        if (!MW_ASK(MW_FN_Comm_remote_size, (mw_handle, int *), comm, &group->remote_size))
            return 0;
        remote = ranks_of(thread, comm, MW_FN_Comm_remote_group, group->remote_size);
    }
    if (!local || (group->inter && !remote))
        return 0;
    group->hash = hash_of(thread, local, group->size, remote, group->remote_size);
    group->members = pack(thread, local, group->size, &group->member_runs);
    if (group->inter)
        group->remote = pack(thread, remote, group->remote_size, &group->remote_runs);
    if (parent && has_strangers(local, group->size))
        ask_places(thread, comm, parent, group);
    return group->members && (!group->inter || group->remote);
}

int mw_comm_ask_group(struct mw_thread_state *thread, mw_handle comm, mw_handle parent,
                      struct mw_comm_group *group)
{
    *group = (struct mw_comm_group){0};
    if (ask(thread, comm, parent, group))
        return 1;
    mw_health("group", "the members of a communicator could not be learned");
    return 0;
}

/* Long lists are written by one rank of the group only. */
static void put_runs(struct mw_buffer *buffer, unsigned id, const struct mw_comm_run *runs,
                     size_t count, int all)
{
    if (count == 0 || (count > RUNS_WRITTEN_BY_ALL && !all))
        return;
    size_t mark = mw_put_begin(buffer, id);
    for (size_t i = 0; i < count; i++) {
        mw_buffer_signed(buffer, runs[i].start);
        mw_buffer_signed(buffer, runs[i].stride);
        mw_buffer_varint(buffer, runs[i].count);
    }
    mw_put_end(buffer, mark);
}

void mw_comm_write(struct mw_thread_state *thread, const struct mw_comm_entry *entry,
                   const struct mw_comm_group *group)
{
    size_t mark = thread->scratch_used;
    size_t size = 256 + (group->member_runs + group->remote_runs + group->place_runs) * 16;
    void *memory = mw_scratch_push(thread, size);
    if (!memory)
        return;
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, size);
    mw_put_u64(&buffer, MW_F_COMM_id, entry->id);
    mw_put_u64(&buffer, MW_F_COMM_how, entry->how);
    mw_put_u64(&buffer, MW_F_COMM_parent, entry->parent);
    mw_put_u64(&buffer, MW_F_COMM_number, entry->number);
    mw_put_u64(&buffer, MW_F_COMM_size, (uint64_t)entry->size);
    mw_put_u64(&buffer, MW_F_COMM_rank, (uint64_t)entry->rank);
    mw_put_u64(&buffer, MW_F_COMM_remote_size, (uint64_t)entry->remote_size);
    mw_put_u64(&buffer, MW_F_COMM_hash, entry->hash);
    put_runs(&buffer, MW_F_COMM_members, group->members, group->member_runs, entry->rank == 0);
    put_runs(&buffer, MW_F_COMM_remote_members, group->remote, group->remote_runs,
             entry->rank == 0);
    put_runs(&buffer, MW_F_COMM_places, group->places, group->place_runs, entry->rank == 0);
    if (group->place_hash)
        mw_put_u64(&buffer, MW_F_COMM_place_hash, group->place_hash);
    if (!buffer.overflow)
        mw_output_chunk(MW_CHUNK_COMM, buffer.data, buffer.size);
    thread->scratch_used = mark;
}

int32_t mw_comm_peer(const struct mw_comm_entry *entry, int rank)
{
    const struct mw_abi *abi = mw_recorder.abi;
    if (rank == abi->any_source)
        return MW_PEER_ANY;
    if (rank == abi->proc_null || rank == abi->root)
        return MW_PEER_NONE;
    if (!entry || rank < 0 || !atomic_load_explicit(&entry->learned, memory_order_acquire))
        return MW_PEER_UNKNOWN;
    const struct mw_comm_run *runs = entry->peers;
    size_t low = 0, high = entry->peer_runs; /* the run that holds `rank` is in [low, high) */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (runs[middle].first <= (uint32_t)rank)
            low = middle;
        else
            high = middle;
    }
    if (low >= entry->peer_runs || (uint32_t)rank - runs[low].first >= runs[low].count)
        return MW_PEER_UNKNOWN;
    return runs[low].start + runs[low].stride * (int32_t)((uint32_t)rank - runs[low].first);
}
