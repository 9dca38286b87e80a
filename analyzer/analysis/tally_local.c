/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process has counted so far, found by function, call site, communicator, pair or region
 * and made where it is not there yet (tally_process.h). The thread that counts the process.
 */
#include <string.h>

#include "analyzer/analysis/tally_process.h"

unsigned mw_size_class(uint64_t bytes)
{
    return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static int is_lifecycle(const char *name)
{
    static const char *const names[] = {"MPI_Init",         "MPI_Init_thread",      "MPI_Finalize",
                                        "MPI_Session_init", "MPI_Session_finalize", "MPI_Abort"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

struct mw_local_function *mw_local_function(struct mw_process_tally *tally, uint64_t function)
{
    size_t at = mw_index_put(&tally->function_index, function);
    if (at == tally->functions.count) {
        struct mw_local_function *added = mw_vector_add(&tally->functions);
        const char *name = mw_process_function_name(tally->process, function);
        added->function = function;
        added->lifecycle = is_lifecycle(name);
        added->marks = !strcmp(name, "MPI_Pcontrol");
    }
    return &tally->functions.at[at];
}

struct mw_amounts *mw_local_function_amounts(struct mw_process_tally *tally, uint64_t function)
{
    return &mw_local_function(tally, function)->amounts;
}

struct mw_amounts *mw_local_site_amounts(struct mw_process_tally *tally, uint64_t function,
                                         uint64_t site)
{
    size_t at = mw_index_put(&tally->site_index, mw_mix(site) ^ function);
    if (at == tally->sites.count) {
        struct mw_local_site *added = mw_vector_add(&tally->sites);
        added->function = function;
        added->site = site;
    }
    return &tally->sites.at[at].amounts;
}

struct mw_local_comm *mw_local_comm(struct mw_process_tally *tally, int64_t id)
{
    size_t at = mw_index_put(&tally->comm_index, (uint64_t)id);
    if (at == tally->comms.count)
        mw_vector_add(&tally->comms)->id = id;
    return &tally->comms.at[at];
}

struct mw_local_pair *mw_local_pair(struct mw_process_tally *tally, int64_t peer, int receives)
{
    size_t at = mw_index_put(&tally->pair_index, (uint64_t)peer << 1 | (unsigned)receives);
    if (at == tally->pairs.count) {
        struct mw_local_pair *added = mw_vector_add(&tally->pairs);
        added->peer = peer;
        added->receives = receives;
    }
    return &tally->pairs.at[at];
}

enum mw_memory_kind mw_local_memory(const struct mw_process_tally *tally, unsigned space)
{
    const struct mw_process *process = tally->process;
    for (size_t i = 0; i < process->space_count; i++)
        if (process->spaces[i].id == space)
            return process->spaces[i].kind;
    return space ? MW_MEMORY_UNKNOWN : MW_MEMORY_HOST;
}

/* To the memory that they were sent from or received into. */
static void memory_add(struct mw_process_tally *tally, struct mw_local_pair *pair, unsigned class,
                       enum mw_memory_kind kind, uint64_t messages, uint64_t bytes)
{
    uint32_t number = (uint32_t)(pair - tally->pairs.at);
    uint64_t key = ((uint64_t)number << 7 | class) << 3 | ((unsigned)kind & 7);
    size_t at = mw_index_put(&tally->buffer_index, key);
    if (kind == MW_MEMORY_DEVICE || kind == MW_MEMORY_MANAGED) {
        pair->memory.device_messages += messages;
        pair->memory.device_bytes += bytes;
    } else if (kind == MW_MEMORY_UNKNOWN) {
        pair->memory.unsure_messages += messages;
        pair->memory.unsure_bytes += bytes;
    }
    if (at == tally->buffers.count)
        *mw_vector_add(&tally->buffers) = (struct mw_local_class){number, class, kind, 0, 0};
    tally->buffers.at[at].messages += messages;
    tally->buffers.at[at].bytes += bytes;
}

struct mw_local_pair *mw_local_pair_add(struct mw_process_tally *tally, int64_t peer, int receives,
                                        unsigned class, enum mw_memory_kind kind,
                                        uint64_t messages, uint64_t bytes)
{
    struct mw_local_pair *pair = mw_local_pair(tally, peer, receives);
    uint32_t number = (uint32_t)(pair - tally->pairs.at);
    size_t at = mw_index_put(&tally->class_index, (uint64_t)number << 7 | class);
    pair->messages += messages;
    pair->bytes += bytes;
    if (at == tally->classes.count)
        *mw_vector_add(&tally->classes) =
            (struct mw_local_class){number, class, MW_MEMORY_HOST, 0, 0};
    tally->classes.at[at].messages += messages;
    tally->classes.at[at].bytes += bytes;
    if (kind != MW_MEMORY_HOST)
        memory_add(tally, pair, class, kind, messages, bytes);
    return pair;
}

void mw_local_region_add(struct mw_process_tally *tally, uint64_t id, uint64_t calls,
                         uint64_t ticks)
{
    if (!id)
        return;
    size_t at = mw_index_put(&tally->region_index, id);
    if (at == tally->regions.count)
        mw_vector_add(&tally->regions)->id = id;
    tally->regions.at[at].calls += calls;
    tally->regions.at[at].ticks += ticks;
}
