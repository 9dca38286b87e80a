/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As much of the MPI-5 standard ABI's mpi.h as the tests need: values and layouts are those of the
 * standard, so that a program compiled with it is one of that ABI. The functions are those of the
 * stub libmpi_abi.so.0 beside it.
 */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#define MPI_VERSION        5
#define MPI_SUBVERSION     0
#define MPI_ABI_VERSION    1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

#define MPI_STUB_HANDLE(kind, value) ((kind)(intptr_t)(value))

typedef struct MPI_ABI_Op *MPI_Op;
#define MPI_OP_NULL MPI_STUB_HANDLE(MPI_Op, 0x20)
#define MPI_SUM     MPI_STUB_HANDLE(MPI_Op, 0x21)
#define MPI_MIN     MPI_STUB_HANDLE(MPI_Op, 0x22)
#define MPI_MAX     MPI_STUB_HANDLE(MPI_Op, 0x23)

typedef struct MPI_ABI_Comm *MPI_Comm;
#define MPI_COMM_NULL  MPI_STUB_HANDLE(MPI_Comm, 0x100)
#define MPI_COMM_WORLD MPI_STUB_HANDLE(MPI_Comm, 0x101)
#define MPI_COMM_SELF  MPI_STUB_HANDLE(MPI_Comm, 0x102)

typedef struct MPI_ABI_Group *MPI_Group;
#define MPI_GROUP_NULL  MPI_STUB_HANDLE(MPI_Group, 0x108)
#define MPI_GROUP_EMPTY MPI_STUB_HANDLE(MPI_Group, 0x109)

typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
#define MPI_ERRORS_ARE_FATAL MPI_STUB_HANDLE(MPI_Errhandler, 0x141)
#define MPI_ERRORS_RETURN    MPI_STUB_HANDLE(MPI_Errhandler, 0x142)

typedef struct MPI_ABI_Request *MPI_Request;
#define MPI_REQUEST_NULL MPI_STUB_HANDLE(MPI_Request, 0x180)

typedef struct MPI_ABI_Datatype *MPI_Datatype;
#define MPI_DATATYPE_NULL MPI_STUB_HANDLE(MPI_Datatype, 0x200)
#define MPI_INT           MPI_STUB_HANDLE(MPI_Datatype, 0x209)
#define MPI_LONG          MPI_STUB_HANDLE(MPI_Datatype, 0x20a)
#define MPI_DOUBLE        MPI_STUB_HANDLE(MPI_Datatype, 0x214)
#define MPI_CHAR          MPI_STUB_HANDLE(MPI_Datatype, 0x243)
#define MPI_BYTE          MPI_STUB_HANDLE(MPI_Datatype, 0x247)

enum {
    MPI_SUCCESS = 0,
    MPI_ERR_COUNT = 2,
    MPI_ERR_TYPE = 3,
    MPI_ERR_COMM = 5,
    MPI_ERR_RANK = 6,
    MPI_ERR_TRUNCATE = 15,
    MPI_ERR_OTHER = 16
};

enum {
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -2,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766
};
enum {
    MPI_THREAD_SINGLE = 0,
    MPI_THREAD_FUNNELED = 1024,
    MPI_THREAD_SERIALIZED = 2048,
    MPI_THREAD_MULTIPLE = 4096
};

#define MPI_IN_PLACE                   ((void *)1)
#define MPI_STATUS_IGNORE              ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE            ((MPI_Status *)0)
#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

/* Each function as MPI_X and PMPI_X. */
/* clang-format off */
#define MPI_STUB_FUNCTIONS(F)                                                                                  \
    F(int, Init, (int *argc, char ***argv))                                                                    \
    F(int, Init_thread, (int *argc, char ***argv, int required, int *provided))                                \
    F(int, Initialized, (int *flag))                                                                           \
    F(int, Finalize, (void))                                                                                   \
    F(int, Finalized, (int *flag))                                                                             \
    F(int, Abort, (MPI_Comm comm, int code))                                                                   \
    F(int, Query_thread, (int *provided))                                                                      \
    F(int, Get_version, (int *version, int *subversion))                                                       \
    F(int, Get_library_version, (char *version, int *length))                                                  \
    F(int, Get_processor_name, (char *name, int *length))                                                      \
    F(int, Abi_get_version, (int *major, int *minor))                                                          \
    F(double, Wtime, (void))                                                                                   \
    F(int, Error_class, (int code, int *errorclass))                                                           \
    F(int, Type_size, (MPI_Datatype type, int *size))                                                          \
    F(int, Type_size_x, (MPI_Datatype type, MPI_Count *size))                                                  \
    F(int, Get_count, (const MPI_Status *status, MPI_Datatype type, int *count))                               \
    F(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype type, MPI_Count *count))                    \
    F(int, Test_cancelled, (const MPI_Status *status, int *flag))                                              \
    F(int, Comm_rank, (MPI_Comm comm, int *rank))                                                              \
    F(int, Comm_size, (MPI_Comm comm, int *size))                                                              \
    F(int, Comm_remote_size, (MPI_Comm comm, int *size))                                                       \
    F(int, Comm_test_inter, (MPI_Comm comm, int *flag))                                                        \
    F(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))                                    \
    F(int, Comm_group, (MPI_Comm comm, MPI_Group *group))                                                      \
    F(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))                                                       \
    F(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))                                 \
    F(int, Comm_free, (MPI_Comm *comm))                                                                        \
    F(int, Group_size, (MPI_Group group, int *size))                                                           \
    F(int, Group_rank, (MPI_Group group, int *rank))                                                           \
    F(int, Group_translate_ranks, (MPI_Group a, int n, const int ranks[], MPI_Group b, int translated[]))      \
    F(int, Group_free, (MPI_Group *group))                                                                     \
    F(int, Send, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))            \
    F(int, Send_c, (const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))    \
    F(int, Ssend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))           \
    F(int, Isend,                                                                                              \
      (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)) \
    F(int, Recv, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)) \
    F(int, Irecv,                                                                                              \
      (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request))     \
    F(int, Sendrecv,                                                                                           \
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,        \
       int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status))      \
    F(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))                                    \
    F(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))                        \
    F(int, Wait, (MPI_Request *request, MPI_Status *status))                                                   \
    F(int, Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]))                                \
    F(int, Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status))                       \
    F(int, Test, (MPI_Request *request, int *flag, MPI_Status *status))                                        \
    F(int, Cancel, (MPI_Request *request))                                                                     \
    F(int, Request_free, (MPI_Request *request))                                                               \
    F(int, Barrier, (MPI_Comm comm))                                                                           \
    F(int, Bcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm))                          \
    F(int, Reduce,                                                                                             \
      (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm))  \
    F(int, Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) \
    F(int, Allgather,                                                                                          \
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,                \
       MPI_Datatype recvtype, MPI_Comm comm))

/* clang-format on */
#define MPI_STUB_DECLARE(result, name, parameters)                                                 \
    result MPI_##name parameters;                                                                  \
    result PMPI_##name parameters;
MPI_STUB_FUNCTIONS(MPI_STUB_DECLARE)

#endif
