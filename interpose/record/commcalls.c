/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that make, name and free communicators. They are collective over their parent, so they count as
 * instances of collectives on it where they are that for all of its ranks.
 */
#include <string.h>

#include "output/output.h"
#include "record/coll.h"
#include "record/requests.h"
#include "trace/chunk.h"

#define PORT_MOST 4096u /* MPI_MAX_PORT_NAME is 1024 at most */

/* What begin keeps for end, behind mw_coll_open's word. */
enum { KEEP_NUMBER = 1, KEEP_PORT };

void mw_comm_new_begin(struct mw_call *call, enum mw_comm_how how, mw_handle parent, void *newcomm)
{
    call->keep.word[KEEP_PORT] = 0;
    if (!mw_comm_counts_on_parent(how)) {
        const struct mw_comm_entry *entry = parent ? mw_comm_find(call->thread, parent) : NULL;
        mw_open(call, mw_comm_id(entry), MW_PEER_NONE, 0, 0);
        return;
    }
    struct mw_comm_entry *entry = mw_comm_find(call->thread, parent);
    call->keep.word[KEEP_NUMBER] =
        entry ? atomic_fetch_add_explicit(&entry->created[how], 1, memory_order_relaxed) : 0;
    mw_coll_open(call, parent, MW_NO_ROOT);
}

/* Of the null communicator none is made, although MPICH 5 says so when it has run the program's error handler. */
static void created(struct mw_call *call, enum mw_comm_how how, mw_handle parent, void *newcomm)
{
    if (mw_abi_handle(mw_recorder.abi, parent) == mw_recorder.abi->comm_null)
        return;
    const struct mw_comm_entry *entry = parent ? mw_comm_find(call->thread, parent) : NULL;
    mw_comm_created(call->thread, how, entry, (uint32_t)call->keep.word[KEEP_NUMBER],
                    mw_abi_load(mw_recorder.abi, newcomm, 0), call->mode != MW_BLOCKS);
}

/* The child's number goes the way of the collective's. */
static void new_failed(struct mw_call *call, uint64_t end, int rc, enum mw_comm_how how,
                       mw_handle parent)
{
    int counted = call->instance != 0;
    struct mw_comm_entry *entry = mw_comm_find(call->thread, parent);
    uint32_t next = (uint32_t)call->keep.word[KEEP_NUMBER] + 1;
    if (mw_coll_failed(call, end, rc, parent) && counted && entry)
        atomic_compare_exchange_strong(&entry->created[how], &next, next - 1);
    mw_leave(call);
}

/* To processes outside this world, or perhaps to such: who they are a reader finds by when it was made, and at which
 * port. */
static int reaches_out(enum mw_comm_how how)
{
    return how == MW_COMM_SPAWN || how == MW_COMM_CONNECT || how == MW_COMM_ACCEPT ||
           how == MW_COMM_JOIN || how == MW_COMM_INTERCOMM;
}

void mw_comm_new_end(struct mw_call *call, int rc, enum mw_comm_how how, mw_handle parent,
                     void *newcomm)
{
    uint64_t end = mw_close(call);
    struct mw_coll_role role;
    if (mw_comm_counts_on_parent(how)) {
        if (rc != 0) {
            new_failed(call, end, rc, how, parent);
            return;
        }
        if (!mw_coll_succeeded(call, end, rc, parent, MW_NO_ROOT, &role))
            return;
        created(call, how, parent, newcomm);
        mw_coll_close(call, end, &role, 0, 0);
        return;
    }
    if (rc != 0) {
        mw_call_failed(call, end, rc);
    } else {
        struct mw_raw_event detail = {.comm = call->comm, .peer = MW_PEER_NONE};
        created(call, how, parent, newcomm);
        if (reaches_out(how))
            mw_comm_reached(call->thread, mw_abi_load(mw_recorder.abi, newcomm, 0), call->start,
                            end, call->keep.word[KEEP_PORT]);
        mw_call_event(call, end, MW_EVENT_CALL, 0, &detail);
    }
    mw_leave(call);
}

/* The port's name counts in the root alone: elsewhere the argument may be anything. */
void mw_comm_port_begin(struct mw_call *call, enum mw_comm_how how, const char *port, int root,
                        mw_handle comm, void *newcomm)
{
    const struct mw_comm_entry *entry = mw_comm_find(call->thread, comm);
    uint64_t hash =
        entry && entry->rank == root && port ? mw_hash64(port, strnlen(port, PORT_MOST)) : 0;
    mw_comm_new_begin(call, how, comm, newcomm);
    call->keep.word[KEEP_PORT] = hash;
}

void mw_comm_port_end(struct mw_call *call, int rc, enum mw_comm_how how, const char *port,
                      int root, mw_handle comm, void *newcomm)
{
    mw_comm_new_end(call, rc, how, comm, newcomm);
}

void mw_comm_free_begin(struct mw_call *call, void *comm)
{
    mw_handle handle = comm ? mw_abi_load(mw_recorder.abi, comm, 0) : mw_recorder.abi->comm_null;
    call->keep.word[1] = mw_abi_handle(mw_recorder.abi, handle);
    mw_coll_open(call, handle, MW_NO_ROOT);
}

void mw_comm_free_end(struct mw_call *call, int rc, void *comm)
{
    uint64_t end = mw_close(call);
    struct mw_coll_role role = {.comm = NULL};
    if (rc != 0) {
        mw_coll_failed(call, end, rc, call->keep.word[1]);
        mw_leave(call);
        return;
    }
    mw_comm_freed(call->keep.word[1], call->comm, end);
    mw_coll_close(call, end, &role, 0, 0);
}

void mw_comm_name_begin(struct mw_call *call, mw_handle comm, const char *name)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

/* Local: counted, not an event. */
void mw_comm_name_end(struct mw_call *call, int rc, mw_handle comm, const char *name)
{
    if (rc == 0)
        mw_comm_named(call->thread, comm, name);
    mw_leave(call);
}
