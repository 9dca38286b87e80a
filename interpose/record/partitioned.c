/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned messages: prepared like persistent ones, with all partitions as the amount, so that
 * each MPI_Start is one message. The calls that say which partitions are ready, or ask whether one
 * has arrived, are calls with the message's peer and tag. On the thread that calls MPI, inside that
 * call.
 */
#include "record/partitioned.h"

#include "record/probes.h"
#include "record/requests.h"

static int is_partitioned(unsigned function)
{
    switch (function) {
    case MW_FN_Psend_init:
    case MW_FN_Psend_init_c:
    case MW_FN_Precv_init:
    case MW_FN_Precv_init_c:
        return 1;
    default:
        return 0;
    }
}

uint32_t mw_part_number(const struct mw_call *call, int kind, const struct mw_raw_event *detail)
{
    if (!is_partitioned(call->function))
        return 0;
    uint32_t number = mw_ordinal_next(call->thread, kind, detail->comm | MW_ORDINAL_PARTITIONED,
                                      detail->peer, detail->tag);
    return number == MW_NO_ORDINAL ? 0 : number + 1;
}

void mw_part_mark(struct mw_raw_event *detail, int kind, uint32_t number)
{
    if (kind == MW_EVENT_SEND)
        detail->bytes_in = number;
    else
        detail->bytes = number;
}

/* MPI has taken the arguments, so that their product is an amount of memory. */
static int64_t elements(int partitions, int64_t count)
{
    int64_t all;
    return __builtin_mul_overflow(count, partitions, &all) ? 0 : all;
}

void mw_part_send_begin(struct mw_call *call, int partitions, int64_t count, mw_handle datatype,
                        int dest, int tag, mw_handle comm)
{
    mw_send_begin(call, count, datatype, dest, tag, comm);
}

void mw_part_send_end(struct mw_call *call, int rc, int partitions, int64_t count,
                      mw_handle datatype, int dest, int tag, mw_handle comm)
{
    mw_send_end(call, rc, elements(partitions, count), datatype, dest, tag, comm);
}

void mw_part_recv_begin(struct mw_call *call, int partitions, int64_t count, mw_handle datatype,
                        int source, int tag, mw_handle comm)
{
    mw_recv_start_begin(call, count, datatype, source, tag, comm);
}

void mw_part_recv_end(struct mw_call *call, int rc, int partitions, int64_t count,
                      mw_handle datatype, int source, int tag, mw_handle comm)
{
    mw_recv_start_end(call, rc, elements(partitions, count), datatype, source, tag, comm);
}

static void open_on(struct mw_call *call, mw_handle request)
{
    struct mw_request known = {.peer = MW_PEER_NONE};
    mw_request_peek(mw_abi_handle(mw_recorder.abi, request), &known);
    mw_open(call, known.comm, known.peer, known.tag, 0);
}

void mw_part_ready_begin(struct mw_call *call, mw_handle request)
{
    open_on(call, request);
}

void mw_part_ready_end(struct mw_call *call, int rc, mw_handle request)
{
    mw_probe_close(call, mw_close(call), rc);
}

void mw_part_arrived_begin(struct mw_call *call, mw_handle request, int *flag)
{
    open_on(call, request);
}

void mw_part_arrived_end(struct mw_call *call, int rc, mw_handle request, int *flag)
{
    mw_probe_close_poll(call, mw_close(call), rc, flag);
}
