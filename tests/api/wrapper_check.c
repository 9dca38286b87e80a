/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls generated wrappers, with stand-ins for the recorder and for the real MPI: all that happens
 * writes a line to a log, and the log of each call is compared with what must happen. No MPI.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/handlers.h"

static char log_text[4096];
static int failures;
static int lacking, recording; /* what the stand-in recorder shall answer */
static const void *last_caller, *last_frame;

static void log_add(const char *format, ...)
{
    size_t length = strlen(log_text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(log_text + length, sizeof log_text - length, format, arguments);
    va_end(arguments);
}

/* ---- the real functions */

static int real_send(const void *buf, int count, mw_handle type, int dest, int tag, mw_handle comm)
{
    log_add("real %s %d %zu %d %d %zu\n", (const char *)buf, count, type, dest, tag, comm);
    return 7;
}

static int real_send_c(const void *buf, int64_t count, mw_handle type, int dest, int tag,
                       mw_handle comm)
{
    log_add("real_c %s %" PRId64 " %zu %d %d %zu\n", (const char *)buf, count, type, dest, tag,
            comm);
    return 0;
}

static int real_isend(const void *buf, int count, mw_handle type, int dest, int tag, mw_handle comm,
                      void *request)
{
    log_add("real %s %d %zu %d %d %zu %s\n", (const char *)buf, count, type, dest, tag, comm,
            (const char *)request);
    return 0;
}

static int real_wait(void *request, void *status)
{
    log_add("real %s %s\n", (const char *)request, (const char *)status);
    return 0;
}

static int real_alltoallv(const void *sendbuf, const void *sendcounts, const void *sdispls,
                          mw_handle sendtype, void *recvbuf, const void *recvcounts,
                          const void *rdispls, mw_handle recvtype, mw_handle comm)
{
    log_add("real %s %s %s %zu %s %s %s %zu %zu\n", (const char *)sendbuf, (const char *)sendcounts,
            (const char *)sdispls, sendtype, (const char *)recvbuf, (const char *)recvcounts,
            (const char *)rdispls, recvtype, comm);
    return 0;
}

static int real_comm_dup(mw_handle comm, void *newcomm)
{
    log_add("real %zu %s\n", comm, (const char *)newcomm);
    return 0;
}

static int real_comm_rank(mw_handle comm, int *rank)
{
    log_add("real %zu\n", comm);
    *rank = 3;
    return 0;
}

static mw_handle real_comm_f2c(int comm)
{
    return (mw_handle)0x1122334455660000 + (mw_handle)comm;
}

static double real_wtime(void)
{
    return 1.25;
}

static intptr_t real_aint_diff(intptr_t a, intptr_t b)
{
    return a - b;
}

static void *real_of(enum mw_function function)
{
    switch ((int)function) {
    case MW_FN_Send:
        return (void *)real_send;
    case MW_FN_Send_c:
        return (void *)real_send_c;
    case MW_FN_Isend:
    case MW_FN_Send_init:
        return (void *)real_isend;
    case MW_FN_Wait:
        return (void *)real_wait;
    case MW_FN_Alltoallv:
    case MW_FN_Alltoallv_c:
        return (void *)real_alltoallv;
    case MW_FN_Comm_dup:
        return (void *)real_comm_dup;
    case MW_FN_Comm_rank:
        return (void *)real_comm_rank;
    case MW_FN_Comm_f2c:
        return (void *)real_comm_f2c;
    case MW_FN_Wtime:
        return (void *)real_wtime;
    case MW_FN_Aint_diff:
        return (void *)real_aint_diff;
    }
    return NULL;
}

/* ---- the recorder */

static void *enter(const char *what, struct mw_call *call, enum mw_function function,
                   enum mw_entry entry, const void *caller, const void *frame)
{
    memset(call, 0, sizeof *call);
    call->recorded = recording;
    last_caller = caller;
    last_frame = frame;
    log_add("%s %d %s\n", what, (int)function, entry == MW_ENTRY_PMPI ? "PMPI" : "MPI");
    return lacking ? NULL : real_of(function);
}

void *mw_call_enter(struct mw_call *call, enum mw_function function, enum mw_entry entry,
                    const void *caller, const void *frame)
{
    return enter("enter", call, function, entry, caller, frame);
}

void *mw_local_enter(struct mw_call *call, enum mw_function function, enum mw_entry entry,
                     const void *caller, const void *frame)
{
    return enter("local", call, function, entry, caller, frame);
}

void mw_local_leave(struct mw_call *call)
{
    (void)call;
    log_add("leave\n");
}

int mw_missing(enum mw_function function)
{
    log_add("missing %d\n", (int)function);
    return 99;
}

void mw_send_begin(struct mw_call *call, int64_t count, mw_handle datatype, int dest, int tag,
                   mw_handle comm)
{
    log_add("begin mode %d %s %" PRId64 " %zu %d %d %zu\n", call->mode,
            call->request ? (const char *)call->request : "-", count, datatype, dest, tag, comm);
}

void mw_send_end(struct mw_call *call, int rc, int64_t count, mw_handle datatype, int dest, int tag,
                 mw_handle comm)
{
    (void)call;
    log_add("end rc %d %" PRId64 " %zu %d %d %zu\n", rc, count, datatype, dest, tag, comm);
}

void mw_wait_begin(struct mw_call *call, void *request, void **status)
{
    (void)call;
    log_add("begin %s %s\n", (const char *)request, (const char *)*status);
    *status = (void *)"mine";
}

void mw_wait_end(struct mw_call *call, int rc, void *request, void **status)
{
    (void)call;
    log_add("end rc %d %s %s\n", rc, (const char *)request, (const char *)*status);
}

void mw_alltoallv_begin(struct mw_call *call, const void *sendbuf, struct mw_counts sendcounts,
                        mw_handle sendtype, struct mw_counts recvcounts, mw_handle recvtype,
                        mw_handle comm)
{
    (void)call;
    log_add("begin %s %s/%u %zu %s/%u %zu %zu\n", (const char *)sendbuf, (const char *)sendcounts.p,
            sendcounts.width, sendtype, (const char *)recvcounts.p, recvcounts.width, recvtype,
            comm);
}

void mw_alltoallv_end(struct mw_call *call, int rc, const void *sendbuf,
                      struct mw_counts sendcounts, mw_handle sendtype, struct mw_counts recvcounts,
                      mw_handle recvtype, mw_handle comm)
{
    (void)call, (void)sendbuf, (void)sendcounts, (void)sendtype, (void)recvcounts, (void)recvtype;
    log_add("end rc %d %zu\n", rc, comm);
}

void mw_comm_new_begin(struct mw_call *call, enum mw_comm_how how, mw_handle parent, void *newcomm)
{
    (void)call;
    log_add("begin %s %zu %s\n", how == MW_COMM_DUP ? "dup" : "other", parent,
            (const char *)newcomm);
}

void mw_comm_new_end(struct mw_call *call, int rc, enum mw_comm_how how, mw_handle parent,
                     void *newcomm)
{
    (void)call, (void)how, (void)newcomm;
    log_add("end rc %d %zu\n", rc, parent);
}

/* ---- the wrappers, as a program that uses machine words for handles would see them */

int MPI_Send(const void *, int, mw_handle, int, int, mw_handle);
int PMPI_Send(const void *, int, mw_handle, int, int, mw_handle);
int MPI_Send_c(const void *, int64_t, mw_handle, int, int, mw_handle);
int MPI_Isend(const void *, int, mw_handle, int, int, mw_handle, void *);
int MPI_Send_init(const void *, int, mw_handle, int, int, mw_handle, void *);
int MPI_Wait(void *, void *);
int MPI_Alltoallv(const void *, const int *, const int *, mw_handle, void *, const int *,
                  const int *, mw_handle, mw_handle);
int PMPI_Alltoallv_c(const void *, const int64_t *, const intptr_t *, mw_handle, void *,
                     const int64_t *, const intptr_t *, mw_handle, mw_handle);
int MPI_Comm_dup(mw_handle, void *);
int MPI_Comm_rank(mw_handle, int *);
mw_handle MPI_Comm_f2c(int);
double MPI_Wtime(void);
intptr_t MPI_Aint_diff(intptr_t, intptr_t);

static void expect_number(const char *what, long long real, long long expected)
{
    if (real != expected) {
        printf("%s: %lld, expected %lld\n", what, real, expected);
        failures++;
    }
}

static void expect_log(const char *what, const char *expected, ...)
{
    char text[sizeof log_text];
    va_list arguments;
    va_start(arguments, expected);
    vsnprintf(text, sizeof text, expected, arguments);
    va_end(arguments);
    if (strcmp(text, log_text) != 0) {
        printf("%s:\n%sexpected:\n%s", what, log_text, text);
        failures++;
    }
    log_text[0] = '\0';
}

static void check_recorded(void)
{
    recording = 1;
    expect_number("rc", MPI_Send("buf", 5, 11, 2, 3, 44), 7);
    expect_log("send",
               "enter %d MPI\nbegin mode 0 - 5 11 2 3 44\nreal buf 5 11 2 3 44\n"
               "end rc 7 5 11 2 3 44\n",
               MW_FN_Send);
    MPI_Send_c("buf", 5000000000, 11, 2, 3, 44);
    expect_log("send_c",
               "enter %d MPI\nbegin mode 0 - 5000000000 11 2 3 44\n"
               "real_c buf 5000000000 11 2 3 44\n"
               "end rc 0 5000000000 11 2 3 44\n",
               MW_FN_Send_c);
    MPI_Isend("buf", 5, 11, 2, 3, 44, (void *)"request");
    expect_log("isend",
               "enter %d MPI\nbegin mode %d request 5 11 2 3 44\nreal buf 5 11 2 3 44 request\n"
               "end rc 0 5 11 2 3 44\n",
               MW_FN_Isend, MW_STARTS);
    MPI_Send_init("buf", 5, 11, 2, 3, 44, (void *)"request");
    expect_log("send_init",
               "enter %d MPI\nbegin mode %d request 5 11 2 3 44\nreal buf 5 11 2 3 44 request\n"
               "end rc 0 5 11 2 3 44\n",
               MW_FN_Send_init, MW_PREPARES);
    MPI_Wait((void *)"request", (void *)"ignore");
    expect_log("wait: the begin handler replaces the status",
               "enter %d MPI\nbegin request ignore\nreal request mine\nend rc 0 request mine\n",
               MW_FN_Wait);
    MPI_Comm_dup(44, (void *)"new");
    expect_log("dup", "enter %d MPI\nbegin dup 44 new\nreal 44 new\nend rc 0 44\n", MW_FN_Comm_dup);
}

static void check_many_arguments(void)
{
    MPI_Alltoallv("sb", (const int *)"sc", (const int *)"sd", 1, (void *)"rb", (const int *)"rc",
                  (const int *)"rd", 2, 3);
    expect_log("alltoallv",
               "enter %d MPI\nbegin sb sc/4 1 rc/4 2 3\nreal sb sc sd 1 rb rc rd 2 3\nend rc 0 3\n",
               MW_FN_Alltoallv);
    PMPI_Alltoallv_c("sb", (const int64_t *)"sc", (const intptr_t *)"sd", 1, (void *)"rb",
                     (const int64_t *)"rc", (const intptr_t *)"rd", 2, 3);
    expect_log("alltoallv_c",
               "enter %d PMPI\nbegin sb sc/8 1 rc/8 2 3\nreal sb sc sd 1 rb rc rd 2 3\n"
               "end rc 0 3\n",
               MW_FN_Alltoallv_c);
}

static void check_unrecorded_and_missing(void)
{
    recording = 0;
    expect_number("rc", PMPI_Send("buf", 5, 11, 2, 3, 44), 7);
    expect_log("unrecorded", "enter %d PMPI\nreal buf 5 11 2 3 44\n", MW_FN_Send);
    lacking = 1;
    expect_number("rc", MPI_Send("buf", 5, 11, 2, 3, 44), 99);
    expect_log("missing", "enter %d MPI\nmissing %d\n", MW_FN_Send, MW_FN_Send);
    expect_number("handle", (long long)MPI_Comm_f2c(5), 0);
    expect_log("missing f2c", "local %d MPI\n", MW_FN_Comm_f2c);
    lacking = 0;
}

static void check_local(void)
{
    int rank = 0;
    MPI_Comm_rank(44, &rank);
    expect_number("rank", rank, 3);
    expect_log("rank", "local %d MPI\nreal 44\nleave\n", MW_FN_Comm_rank);
    expect_number("handle", (long long)MPI_Comm_f2c(5), 0x1122334455660005);
    expect_number("seconds times 100", (long long)(MPI_Wtime() * 100), 125);
    expect_number("addresses", MPI_Aint_diff((intptr_t)1 << 40, 1), ((intptr_t)1 << 40) - 1);
    log_text[0] = '\0';
}

/* Two calls of one function: two return addresses in this function, one frame just below it. */
static void check_callers(void)
{
    char here;
    const void *first;
    MPI_Send("buf", 5, 11, 2, 3, 44);
    first = last_caller;
    MPI_Send("buf", 5, 11, 2, 3, 44);
    expect_number("callers differ", first != last_caller, 1);
    expect_number("caller", (uintptr_t)first - (uintptr_t)check_callers < 4096, 1);
    expect_number("frame", (uintptr_t)&here - (uintptr_t)last_frame + 2048 < 4096, 1);
    log_text[0] = '\0';
}

int main(void)
{
    check_recorded();
    check_many_arguments();
    check_unrecorded_and_missing();
    check_local();
    check_callers();
    printf("%d failures\n", failures);
    return failures != 0;
}
