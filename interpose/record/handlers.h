/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the generated wrappers call. A wrapper only describes the call; the behaviour stands in the
 * handlers of record/ and lifecycle.c. Everything here runs on the thread that calls MPI, inside that
 * call: no allocation, no I/O other than a bounded flush, nothing that MPI could notice.
 */
#ifndef MW_RECORD_HANDLERS_H
#define MW_RECORD_HANDLERS_H

#include <stddef.h>
#include <stdint.h>

#include "mpi_functions.h"
#include "mpiwatch/format.h"

typedef uintptr_t mw_handle; /* an MPI handle as it arrives; bits above the ABI's width are garbage */

enum mw_entry { MW_ENTRY_MPI, MW_ENTRY_PMPI };
enum mw_mode { MW_BLOCKS, MW_STARTS, MW_PREPARES }; /* MPI_X, MPI_Ix, MPI_X_init */

struct mw_thread_state;

/* What the parts of a call that makes sums were (record/aggregate.h). */
struct mw_call_parts {
    uint32_t count, comm;
    int32_t peer;
    uint8_t kind, several;
};

/* One call in progress; lives in the wrapper's frame. */
struct mw_call {
    int recorded;       /* handlers are to be called */
    uint16_t function;  /* enum mw_function */
    uint8_t mode;       /* enum mw_mode */
    uint8_t nested;     /* user code called it from inside another call */
    struct mw_thread_state *thread;
    const void *caller, *frame;  /* return address and frame address of the wrapper */
    const struct mw_call *outer; /* the guard's value to restore */
    void *request;              /* MW_STARTS, MW_PREPARES: where MPI puts the request */
    const void *sends, *receives; /* the buffers, as given; of a call that has one it is both */
    uint64_t start, end;
    uint32_t site, comm, instance; /* comm: id + 1 */
    int32_t peer, tag;
    uint32_t reduced; /* makes sums instead of events: enum mw_aggregate_why; 0: events */
    struct mw_call_parts parts; /* where it does */
    union { /* what a begin handler hands to its end handler */
        uint64_t word[8];
        void *pointer[8];
    } keep;
};

struct mw_counts { /* an array of int (width 4) or MPI_Count (width 8) */
    const void *p;
    unsigned width;
};
static inline struct mw_counts mw_counts_of(const void *p, size_t width)
{
    return (struct mw_counts){p, (unsigned)width};
}

/* Enters a call: raises the depth, counts it, says in call->recorded whether handlers follow, and returns the real
 * function for the caller (NULL when the running MPI lacks it). */
void *mw_call_enter(struct mw_call *call, enum mw_function function, enum mw_entry entry,
                    const void *caller, const void *frame);
/* The same for purely local functions, which are only counted. */
void *mw_local_enter(struct mw_call *call, enum mw_function function, enum mw_entry entry,
                     const void *caller, const void *frame);
void mw_local_leave(struct mw_call *call);
/* What a wrapper returns when the running MPI lacks the function. */
int mw_missing(enum mw_function function);

/* Every handler pair: begin before the real call, end after it with its return code. The last end handler of a
 * call leaves it (lowers the depth). */
#define MW_HANDLER(name, ...)                                    \
    void mw_##name##_begin(struct mw_call *call, ##__VA_ARGS__); \
    void mw_##name##_end(struct mw_call *call, int rc, ##__VA_ARGS__)

#define MW_AMOUNT int64_t count, mw_handle datatype
MW_HANDLER(call, mw_handle comm);
MW_HANDLER(send, MW_AMOUNT, int dest, int tag, mw_handle comm);
MW_HANDLER(recv, MW_AMOUNT, int source, int tag, mw_handle comm, void **status);
MW_HANDLER(recv_start, MW_AMOUNT, int source, int tag, mw_handle comm);
#define MW_SENDRECV                                                                           \
    int64_t sendcount, mw_handle sendtype, int dest, int sendtag, int64_t recvcount,          \
        mw_handle recvtype, int source, int recvtag, mw_handle comm
MW_HANDLER(sendrecv, MW_SENDRECV, void **status);
MW_HANDLER(sendrecv_start, MW_SENDRECV);
MW_HANDLER(probe, int source, int tag, mw_handle comm);
MW_HANDLER(poll, int *flag, mw_handle comm);
MW_HANDLER(mprobe, int source, int tag, mw_handle comm, void *message, void **status);
MW_HANDLER(improbe, int source, int tag, mw_handle comm, int *flag, void *message, void **status);
MW_HANDLER(mrecv, MW_AMOUNT, void *message, void **status);
MW_HANDLER(mrecv_start, MW_AMOUNT, void *message);

MW_HANDLER(part_send, int partitions, MW_AMOUNT, int dest, int tag, mw_handle comm);
MW_HANDLER(part_recv, int partitions, MW_AMOUNT, int source, int tag, mw_handle comm);
MW_HANDLER(part_ready, mw_handle request);
MW_HANDLER(part_arrived, mw_handle request, int *flag);

MW_HANDLER(wait, void *request, void **status);
MW_HANDLER(waitany, int count, void *requests, int *index, void **status);
MW_HANDLER(waitsome, int count, void *requests, int *outcount, int *indices, void **statuses);
MW_HANDLER(waitall, int count, void *requests, void **statuses);
MW_HANDLER(test, void *request, int *flag, void **status);
MW_HANDLER(testany, int count, void *requests, int *index, int *flag, void **status);
MW_HANDLER(testsome, int count, void *requests, int *outcount, int *indices, void **statuses);
MW_HANDLER(testall, int count, void *requests, int *flag, void **statuses);
MW_HANDLER(request_poll, mw_handle request, int *flag);
MW_HANDLER(request_free, void *request);
MW_HANDLER(cancel, void *request);
MW_HANDLER(start, void *request);
MW_HANDLER(startall, int count, void *requests);

#define MW_BOTH int64_t sendcount, mw_handle sendtype, int64_t recvcount, mw_handle recvtype
#define MW_BOTH_RV \
    int64_t sendcount, mw_handle sendtype, struct mw_counts recvcounts, mw_handle recvtype
#define MW_BOTH_SV \
    struct mw_counts sendcounts, mw_handle sendtype, int64_t recvcount, mw_handle recvtype
#define MW_BOTH_V \
    struct mw_counts sendcounts, mw_handle sendtype, struct mw_counts recvcounts, mw_handle recvtype
#define MW_BOTH_W                                                                       \
    struct mw_counts sendcounts, const void *sendtypes, struct mw_counts recvcounts,    \
        const void *recvtypes
MW_HANDLER(barrier, mw_handle comm);
MW_HANDLER(bcast, MW_AMOUNT, int root, mw_handle comm);
MW_HANDLER(reduce, const void *sendbuf, MW_AMOUNT, int root, mw_handle comm);
MW_HANDLER(allreduce, MW_AMOUNT, mw_handle comm);
MW_HANDLER(reduce_scatter_block, MW_AMOUNT, mw_handle comm);
MW_HANDLER(reduce_scatter, struct mw_counts recvcounts, mw_handle datatype, mw_handle comm);
MW_HANDLER(gather, const void *sendbuf, MW_BOTH, int root, mw_handle comm);
MW_HANDLER(gatherv, const void *sendbuf, MW_BOTH_RV, int root, mw_handle comm);
MW_HANDLER(scatter, const void *recvbuf, MW_BOTH, int root, mw_handle comm);
MW_HANDLER(scatterv, const void *recvbuf, MW_BOTH_SV, int root, mw_handle comm);
MW_HANDLER(allgather, const void *sendbuf, MW_BOTH, mw_handle comm);
MW_HANDLER(allgatherv, const void *sendbuf, MW_BOTH_RV, mw_handle comm);
MW_HANDLER(alltoall, const void *sendbuf, MW_BOTH, mw_handle comm);
MW_HANDLER(alltoallv, const void *sendbuf, MW_BOTH_V, mw_handle comm);
MW_HANDLER(alltoallw, const void *sendbuf, MW_BOTH_W, mw_handle comm);
MW_HANDLER(neighbor_allgather, MW_BOTH, mw_handle comm);
MW_HANDLER(neighbor_allgatherv, MW_BOTH_RV, mw_handle comm);
MW_HANDLER(neighbor_alltoall, MW_BOTH, mw_handle comm);
MW_HANDLER(neighbor_alltoallv, MW_BOTH_V, mw_handle comm);
MW_HANDLER(neighbor_alltoallw, MW_BOTH_W, mw_handle comm);

MW_HANDLER(win_new, enum mw_window_flavour flavour, mw_handle comm, int64_t size, int64_t unit, void *win);
MW_HANDLER(win_free, void *win);
MW_HANDLER(win_name, mw_handle win, const char *name);
MW_HANDLER(rma_put, MW_AMOUNT, int target, mw_handle win);
MW_HANDLER(rma_get, MW_AMOUNT, int target, mw_handle win);
MW_HANDLER(rma_fetch, MW_BOTH, int target, mw_handle op, mw_handle win);
MW_HANDLER(rma_fetch_one, mw_handle datatype, int target, mw_handle op, mw_handle win);
MW_HANDLER(epoch, int32_t peer, mw_handle win);
MW_HANDLER(epoch_target, int target, mw_handle win);
MW_HANDLER(epoch_group, mw_handle group, mw_handle win);
MW_HANDLER(epoch_poll, mw_handle win, int *flag);

/* kind: MW_EVENT_READ or MW_EVENT_WRITE; collective and at: flags, MW_EVENT_COLLECTIVE, MW_EVENT_OFFSET or 0. */
MW_HANDLER(file_open, mw_handle comm, const char *name, int mode, void *file);
MW_HANDLER(file_close, void *file);
MW_HANDLER(file_move, int kind, uint32_t collective, uint32_t at, mw_handle file, int64_t offset, MW_AMOUNT,
           void **status);
MW_HANDLER(file_start, int kind, uint32_t collective, uint32_t at, mw_handle file, int64_t offset, MW_AMOUNT);
MW_HANDLER(file_begin, int kind, uint32_t at, mw_handle file, int64_t offset, MW_AMOUNT);
MW_HANDLER(file_end, int kind, mw_handle file, void **status);
MW_HANDLER(file_call, mw_handle file, uint32_t collective);
MW_HANDLER(file_call_at, mw_handle file, int64_t offset, uint32_t collective);

MW_HANDLER(comm_new, enum mw_comm_how how, mw_handle parent, void *newcomm);
MW_HANDLER(comm_port, enum mw_comm_how how, const char *port, int root, mw_handle comm, void *newcomm);
MW_HANDLER(comm_free, void *comm);
MW_HANDLER(comm_name, mw_handle comm, const char *name);
MW_HANDLER(type_free, void *datatype);

MW_HANDLER(init);
MW_HANDLER(init_thread, int *provided);
MW_HANDLER(finalize);
MW_HANDLER(abort, mw_handle comm, int errorcode);
MW_HANDLER(session_init, void *session);
MW_HANDLER(session_finalize, void *session);

#endif
