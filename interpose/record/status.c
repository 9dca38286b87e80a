/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Status by layout; see status.h. On the calling thread, inside its MPI call. */
#include "record/status.h"

#include <string.h>

/* Where the layout does not tell, MPI does: local questions about a status that MPI has filled. */
static uint64_t ask_bytes(const void *status)
{
    int (*elements)(const void *, mw_handle, int64_t *) =
        (int (*)(const void *, mw_handle, int64_t *))mw_libmpi_own(mw_recorder.lib,
                                                                   MW_FN_Get_elements_x);
    int64_t bytes = 0;
    if (!elements || elements(status, mw_recorder.abi->datatype_byte, &bytes) != 0 || bytes < 0)
        return 0;
    return (uint64_t)bytes;
}

static int ask_cancelled(const void *status)
{
    int (*test)(const void *, int *) =
        (int (*)(const void *, int *))mw_libmpi_own(mw_recorder.lib, MW_FN_Test_cancelled);
    int flag = 0;
    return test && test(status, &flag) == 0 && flag;
}

struct mw_status_view mw_status_read(const void *status)
{
    const struct mw_abi *abi = mw_recorder.abi;
    int64_t bytes = abi->status_bytes(status);
    int cancelled = abi->status_cancelled(status);
    return (struct mw_status_view){
        .source = mw_abi_status_int(status, abi->status_source),
        .tag = mw_abi_status_int(status, abi->status_tag),
        .error = mw_abi_status_int(status, abi->status_error),
        .cancelled = cancelled < 0 ? ask_cancelled(status) : cancelled,
        .bytes = bytes < 0 ? ask_bytes(status) : (uint64_t)bytes,
    };
}

void mw_status_borrow(struct mw_thread_state *thread, void **status, int needed)
{
    if (!needed || *status != mw_recorder.abi->status_ignore)
        return;
    void *own = mw_scratch_push(thread, mw_recorder.abi->status_size);
    if (own) {
        memset(own, 0, mw_recorder.abi->status_size);
        *status = own;
    }
}

void mw_statuses_borrow(struct mw_thread_state *thread, void **statuses, size_t count, int needed)
{
    if (!needed || !count || *statuses != mw_recorder.abi->statuses_ignore)
        return;
    void *own = mw_scratch_push(thread, count * mw_recorder.abi->status_size);
    if (own) {
        memset(own, 0, count * mw_recorder.abi->status_size);
        *statuses = own;
    }
}
