/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of datatypes, from a small cache per thread. MPI is asked only about types that a successful
 * call has just used, since asking about an invalid one would run the program's error handler; and
 * never about the null type, as MPICH 5 says that a call succeeded when it has run such a handler.
 * MPI_Type_free raises a generation that outdates all caches: handles are reused.
 */
#include "record/record.h"

static int64_t ask(mw_handle type)
{
    int (*size_x)(mw_handle, int64_t *) =
        (int (*)(mw_handle, int64_t *))mw_libmpi_own(mw_recorder.lib, MW_FN_Type_size_x);
    int64_t wide = 0;
    if (size_x)
        return size_x(type, &wide) == 0 && wide > 0 ? wide : 0;
    int (*size)(mw_handle, int *) =
        (int (*)(mw_handle, int *))mw_libmpi_own(mw_recorder.lib, MW_FN_Type_size);
    int narrow = 0;
    return size && size(type, &narrow) == 0 && narrow > 0 ? narrow : 0;
}

static size_t slot_of(mw_handle type)
{
    return ((uint64_t)type * 0x9e3779b97f4a7c15u) >> 58; /* MW_TYPE_CACHE is 2^6 */
}

uint64_t mw_bytes(struct mw_thread_state *thread, int64_t count, mw_handle type)
{
    type = mw_abi_handle(mw_recorder.abi, type);
    if (count <= 0 || type == mw_recorder.abi->datatype_null)
        return 0;
    struct mw_type_size *slot = &thread->types[slot_of(type)];
    uint32_t generation =
        atomic_load_explicit(&mw_recorder.type_generation, memory_order_relaxed) + 1;
    if (slot->type != type || slot->generation != generation) {
        slot->size = ask(type);
        slot->type = type;
        slot->generation = generation;
    }
    return (uint64_t)count * (uint64_t)slot->size;
}

/* Before the call: once it has begun, another thread may be given the handle for a new type. */
void mw_type_free_begin(struct mw_call *call, void *datatype)
{
    atomic_fetch_add_explicit(&mw_recorder.type_generation, 1, memory_order_relaxed);
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_type_free_end(struct mw_call *call, int rc, void *datatype)
{
    mw_leave(call); /* local: counted, not an event */
}
