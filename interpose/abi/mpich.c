/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPICH ABI: MPICH, Intel MPI, Cray MPICH, MVAPICH. Handles are 32-bit integers; MPI_Status is
 * {int count_lo, int count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR}: the byte count is
 * count_lo and the upper 31 bits of the second word, whose lowest bit says "cancelled".
 */
#include "abi/abi.h"

struct status {
    int count_lo, count_hi_and_cancelled, source, tag, error;
};

static int64_t status_bytes(const void *status)
{
    const struct status *s = status;
    return (int64_t)((uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32 |
                     (uint32_t)s->count_lo);
}

static int status_cancelled(const void *status)
{
    return ((const struct status *)status)->count_hi_and_cancelled & 1;
}

/* The class is the low seven bits of an MPICH error code. */
static int error_class(int code)
{
    return code & 0x7f;
}

const struct mw_abi mw_abi_mpich = {
    .kind = MW_ABI_MPICH,
    .name = "MPICH",
    .handle_width = 4,
    .status_size = sizeof(struct status),
    .status_source = offsetof(struct status, source),
    .status_tag = offsetof(struct status, tag),
    .status_error = offsetof(struct status, error),
    .status_bytes = status_bytes,
    .status_cancelled = status_cancelled,
    .status_ignore = (const void *)1,
    .statuses_ignore = (const void *)1,
    .in_place = (const void *)-1,
    .any_source = -2,
    .any_tag = -1,
    .proc_null = -1,
    .root = -3,
    .undefined = -32766,
    .err_in_status = 17,
    .err_unsupported = 44,
    .err_truncate = 14,
    .err_arg = 12,
    .error_class = error_class,
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .request_null = 0x2c000000,
    .datatype_byte = 0x4c00010d,
    .datatype_null = 0x0c000000,
    .op_no_op = 0x5800000e,
};
