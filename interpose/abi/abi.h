/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between the binary interfaces of MPI libraries: how wide a handle is, how MPI_Status is
 * laid out, what the predefined constants are. One descriptor per ABI (openmpi.c, mpich.c, standard.c);
 * tests/api compares each with the real mpi.h. Pure data and pure functions; any thread.
 */
#ifndef MW_ABI_ABI_H
#define MW_ABI_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/format.h"
#include "record/handlers.h"

struct mw_abi {
    enum mw_abi_kind kind;
    const char *name;
    unsigned handle_width; /* bytes of every handle but MPI_File's, which is a pointer everywhere */

    size_t status_size, status_source, status_tag, status_error; /* bytes, offsets of int fields */
    /* Bytes received and whether it was cancelled, from the status alone; -1 where only MPI can tell. */
    int64_t (*status_bytes)(const void *status);
    int (*status_cancelled)(const void *status);
    const void *status_ignore, *statuses_ignore, *in_place;

    int any_source, any_tag, proc_null, root, undefined;
    int err_in_status, err_unsupported, err_truncate; /* error classes */
    int err_arg; /* MPI_ERR_ARG, the last of the classes that say what is wrong with an argument */
    int (*error_class)(int code); /* of a return code, without calling MPI */

    mw_handle comm_world, comm_self, comm_null, request_null, datatype_byte, datatype_null,
        op_no_op;
    /* Names of the objects whose addresses are these handles; NULL where they are constants (above). */
    const char *comm_world_object, *comm_self_object, *comm_null_object, *request_null_object,
        *datatype_byte_object, *datatype_null_object, *op_no_op_object;
};

extern const struct mw_abi mw_abi_openmpi, mw_abi_mpich, mw_abi_standard;

/* A handle as the ABI has it: garbage above its width removed. */
static inline mw_handle mw_abi_handle(const struct mw_abi *abi, mw_handle handle)
{
    return abi->handle_width == 4 ? (uint32_t)handle : handle;
}

/* The handle number `index` of an array. */
static inline mw_handle mw_abi_load(const struct mw_abi *abi, const void *handles, size_t index)
{
    if (abi->handle_width == 4)
        return ((const uint32_t *)handles)[index];
    return ((const uintptr_t *)handles)[index];
}

static inline int mw_abi_status_int(const void *status, size_t offset)
{
    return *(const int *)((const char *)status + offset);
}

#endif
