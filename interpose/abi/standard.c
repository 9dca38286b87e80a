/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI of the MPI-5 standard (libmpi_abi.so). Handles are pointers whose predefined values are small
 * constants; MPI_Status is {MPI_SOURCE, MPI_TAG, MPI_ERROR, int[5]}, what stands in the array is the
 * implementation's own. Constants from the mpi.h that MPI-5.0 prints.
 */
#include "abi/abi.h"

struct status {
    int source, tag, error, internal[5];
};

static int64_t status_bytes(const void *status)
{
    return -1;
}

static int status_cancelled(const void *status)
{
    return -1;
}

static int error_class(int code)
{
    return code;
}

const struct mw_abi mw_abi_standard = {
    .kind = MW_ABI_STANDARD,
    .name = "MPI-5 standard ABI",
    .handle_width = 8,
    .status_size = sizeof(struct status),
    .status_source = offsetof(struct status, source),
    .status_tag = offsetof(struct status, tag),
    .status_error = offsetof(struct status, error),
    .status_bytes = status_bytes,
    .status_cancelled = status_cancelled,
    .status_ignore = NULL,
    .statuses_ignore = NULL,
    .in_place = (const void *)1,
    .any_source = -1,
    .any_tag = -2,
    .proc_null = -3,
    .root = -4,
    .undefined = -32766,
    .err_in_status = 19,
    .err_unsupported = 55,
    .err_truncate = 15,
    .err_arg = 13,
    .error_class = error_class,
    .comm_world = 0x101,
    .comm_self = 0x102,
    .comm_null = 0x100,
    .request_null = 0x180,
    .datatype_byte = 0x247,
    .datatype_null = 0x200,
    .op_no_op = 0x3d,
};
