/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI 4.x and 5.x. Handles are addresses of objects; MPI_Status is
 * {MPI_SOURCE, MPI_TAG, MPI_ERROR, int cancelled, size_t bytes}.
 */
#include "abi/abi.h"

struct status {
    int source, tag, error, cancelled;
    size_t bytes;
};

static int64_t status_bytes(const void *status)
{
    return (int64_t)((const struct status *)status)->bytes;
}

static int status_cancelled(const void *status)
{
    return ((const struct status *)status)->cancelled != 0;
}

/* Open MPI returns classes as codes, but for those that MPI_Add_error_code made. */
static int error_class(int code)
{
    return code;
}

const struct mw_abi mw_abi_openmpi = {
    .kind = MW_ABI_OPENMPI,
    .name = "Open MPI",
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
    .any_tag = -1,
    .proc_null = -2,
    .root = -4,
    .undefined = -32766,
    .err_in_status = 18,
    .err_unsupported = 52,
    .err_truncate = 15,
    .err_arg = 13,
    .error_class = error_class,
    .comm_world_object = "ompi_mpi_comm_world",
    .comm_self_object = "ompi_mpi_comm_self",
    .comm_null_object = "ompi_mpi_comm_null",
    .request_null_object = "ompi_request_null",
    .datatype_byte_object = "ompi_mpi_byte",
    .datatype_null_object = "ompi_mpi_datatype_null",
    .op_no_op_object = "ompi_mpi_op_no_op",
};
