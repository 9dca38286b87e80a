/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stub libmpi_abi: communicators, groups, types and collectives, the latter all through rank 0
 * of the communicator. One thread only, like libmpi_abi.c.
 */
#include "stub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct MPI_ABI_Comm world = {.context = 0}, self = {.context = 2};
static int next_context = 4;

struct MPI_ABI_Comm *stub_comm(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD) {
        world.size = stub_size;
        world.rank = stub_rank;
        for (int i = 0; i < stub_size; i++)
            world.members[i] = i;
        return &world;
    }
    if (comm == MPI_COMM_SELF) {
        self.size = 1;
        self.members[0] = stub_rank;
        return &self;
    }
    return comm == MPI_COMM_NULL ? NULL : comm;
}

size_t stub_type_size(MPI_Datatype type)
{
    if (type == MPI_INT)
        return sizeof(int);
    if (type == MPI_LONG)
        return sizeof(long);
    if (type == MPI_DOUBLE)
        return sizeof(double);
    return type == MPI_CHAR || type == MPI_BYTE;
}

int stub_error(struct MPI_ABI_Comm *comm, int code, const char *function)
{
    if (!comm)
        comm = stub_comm(MPI_COMM_WORLD);
    if (!comm->errors_return) {
        fprintf(stderr, "libmpi_abi stub: error class %d in %s\n", code, function);
        _exit(97);
    }
    return code;
}

int PMPI_Error_class(int code, int *errorclass)
{
    *errorclass = code;
    return MPI_SUCCESS;
}

int PMPI_Type_size(MPI_Datatype type, int *size)
{
    *size = (int)stub_type_size(type);
    return *size ? MPI_SUCCESS : stub_error(NULL, MPI_ERR_TYPE, "MPI_Type_size");
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    *size = (MPI_Count)stub_type_size(type);
    return *size ? MPI_SUCCESS : stub_error(NULL, MPI_ERR_TYPE, "MPI_Type_size_x");
}

int PMPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = MPI_ABI_VERSION;
    *minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *length)
{
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "stub of the standard ABI 1.0");
    return MPI_SUCCESS;
}

int PMPI_Get_processor_name(char *name, int *length)
{
    gethostname(name, MPI_MAX_PROCESSOR_NAME);
    name[MPI_MAX_PROCESSOR_NAME - 1] = 0;
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

/* ---- Communicators and groups */

int PMPI_Comm_rank(MPI_Comm handle, int *rank)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    if (!comm)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Comm_rank");
    *rank = comm->rank;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm handle, int *size)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    if (!comm)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Comm_size");
    *size = comm->size;
    return MPI_SUCCESS;
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    (void)size;
    return stub_error(stub_comm(comm), MPI_ERR_COMM, "MPI_Comm_remote_size");
}

int PMPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler errhandler)
{
    stub_comm(handle)->errors_return = errhandler == MPI_ERRORS_RETURN;
    return MPI_SUCCESS;
}

/* Gathers one int of each member. */
static void gather_ints(struct MPI_ABI_Comm *comm, int mine, int all[STUB_RANKS])
{
    MPI_Comm handle = comm == &world ? MPI_COMM_WORLD : comm == &self ? MPI_COMM_SELF : comm;
    PMPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, handle);
}

static struct MPI_ABI_Comm *comm_new(struct MPI_ABI_Comm *parent)
{
    int contexts[STUB_RANKS];
    struct MPI_ABI_Comm *comm = calloc(1, sizeof *comm);
    gather_ints(parent, next_context, contexts);
    for (int i = 0; i < parent->size; i++)
        if (contexts[i] > next_context)
            next_context = contexts[i];
    comm->context = next_context;
    comm->errors_return = parent->errors_return;
    comm->created = 1;
    next_context += 2;
    return comm;
}

int PMPI_Comm_dup(MPI_Comm handle, MPI_Comm *newcomm)
{
    return PMPI_Comm_split(handle, 0, 0, newcomm);
}

int PMPI_Comm_split(MPI_Comm handle, int color, int key, MPI_Comm *newcomm)
{
    struct MPI_ABI_Comm *parent = stub_comm(handle);
    int colors[STUB_RANKS], keys[STUB_RANKS];
    if (!parent)
        return stub_error(parent, MPI_ERR_COMM, "MPI_Comm_split");
    gather_ints(parent, color, colors);
    gather_ints(parent, key, keys);
    struct MPI_ABI_Comm *comm = comm_new(parent);
    if (color == MPI_UNDEFINED) {
        free(comm);
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    for (int i = 0; i < parent->size; i++) {
        int place = 0;
        if (colors[i] != color)
            continue;
        for (int j = 0; j < parent->size; j++)
            place += colors[j] == color && (keys[j] < keys[i] || (keys[j] == keys[i] && j < i));
        comm->members[place] = parent->members[i];
        comm->size++;
        if (i == parent->rank)
            comm->rank = place;
    }
    *newcomm = comm;
    return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *handle)
{
    struct MPI_ABI_Comm *comm = stub_comm(*handle);
    if (!comm || !comm->created)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Comm_free");
    PMPI_Barrier(*handle);
    free(comm);
    *handle = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int PMPI_Comm_group(MPI_Comm handle, MPI_Group *result)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    struct MPI_ABI_Group *group = calloc(1, sizeof *group);
    group->size = comm->size;
    group->rank = comm->rank;
    memcpy(group->members, comm->members, sizeof group->members);
    *result = group;
    return MPI_SUCCESS;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
    *size = group->size;
    return MPI_SUCCESS;
}

int PMPI_Group_rank(MPI_Group group, int *rank)
{
    *rank = group->rank;
    return MPI_SUCCESS;
}

int PMPI_Group_translate_ranks(MPI_Group a, int n, const int ranks[], MPI_Group b, int translated[])
{
    for (int i = 0; i < n; i++) {
        translated[i] = MPI_UNDEFINED;
        for (int j = 0; j < b->size; j++)
            if (b->members[j] == a->members[ranks[i]])
                translated[i] = j;
    }
    return MPI_SUCCESS;
}

int PMPI_Group_free(MPI_Group *group)
{
    free(*group);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/* ---- Collectives */

int PMPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm handle)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    if (!comm)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Bcast");
    size_t length = count * stub_type_size(type);
    if (comm->rank != root)
        stub_receive(buf, length, comm->members[root], 1, comm->context + 1);
    for (int i = 0; comm->rank == root && i < comm->size; i++)
        if (i != root)
            stub_send(buf, length, comm->members[i], 1, comm->context + 1);
    return MPI_SUCCESS;
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm handle)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    if (!comm)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Allgather");
    size_t length = recvcount * stub_type_size(recvtype);
    char *all = recvbuf;
    (void)sendcount;
    (void)sendtype;
    if (sendbuf != MPI_IN_PLACE)
        memcpy(all + comm->rank * length, sendbuf, length);
    if (comm->rank)
        stub_send(all + comm->rank * length, length, comm->members[0], 2, comm->context + 1);
    for (int i = 1; comm->rank == 0 && i < comm->size; i++)
        stub_receive(all + i * length, length, comm->members[i], 2, comm->context + 1);
    return PMPI_Bcast(recvbuf, recvcount * comm->size, recvtype, 0, handle);
}

int PMPI_Barrier(MPI_Comm handle)
{
    int all[STUB_RANKS], mine = 0;
    return PMPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, handle);
}

#define COMBINE(T)                                                                                 \
    do {                                                                                           \
        T *to = into;                                                                              \
        const T *from = other;                                                                     \
        for (int i = 0; i < count; i++)                                                            \
            if (op == MPI_SUM)                                                                     \
                to[i] += from[i];                                                                  \
            else if (op == MPI_MAX ? from[i] > to[i] : from[i] < to[i])                            \
                to[i] = from[i];                                                                   \
    } while (0)

static void combine(void *into, const void *other, int count, MPI_Datatype type, MPI_Op op)
{
    if (type == MPI_INT)
        COMBINE(int);
    else if (type == MPI_LONG)
        COMBINE(long);
    else if (type == MPI_DOUBLE)
        COMBINE(double);
    else
        COMBINE(signed char);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm handle)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    if (!comm)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Allreduce");
    size_t length = count * stub_type_size(type);
    char *all = calloc(comm->size, length ? length : 1);
    PMPI_Allgather(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type, all, count, type,
                   handle);
    memcpy(recvbuf, all, length);
    for (int i = 1; i < comm->size; i++)
        combine(recvbuf, all + i * length, count, type, op);
    free(all);
    return MPI_SUCCESS;
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm handle)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    if (!comm)
        return stub_error(comm, MPI_ERR_COMM, "MPI_Reduce");
    char *scratch = calloc(count + 1, stub_type_size(type));
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    PMPI_Allreduce(mine, scratch, count, type, op, handle);
    if (comm->rank == root)
        memcpy(recvbuf, scratch, count * stub_type_size(type));
    free(scratch);
    return MPI_SUCCESS;
}

/* ---- The MPI_ names */

STUB_ALIAS(int, Get_version, (int *version, int *subversion))
STUB_ALIAS(int, Get_library_version, (char *version, int *length))
STUB_ALIAS(int, Get_processor_name, (char *name, int *length))
STUB_ALIAS(int, Abi_get_version, (int *major, int *minor))
STUB_ALIAS(int, Error_class, (int code, int *errorclass))
STUB_ALIAS(int, Type_size, (MPI_Datatype type, int *size))
STUB_ALIAS(int, Type_size_x, (MPI_Datatype type, MPI_Count *size))
STUB_ALIAS(int, Comm_rank, (MPI_Comm comm, int *rank))
STUB_ALIAS(int, Comm_size, (MPI_Comm comm, int *size))
STUB_ALIAS(int, Comm_remote_size, (MPI_Comm comm, int *size))
STUB_ALIAS(int, Comm_test_inter, (MPI_Comm comm, int *flag))
STUB_ALIAS(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
STUB_ALIAS(int, Comm_group, (MPI_Comm comm, MPI_Group *group))
STUB_ALIAS(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
STUB_ALIAS(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
STUB_ALIAS(int, Comm_free, (MPI_Comm * comm))
STUB_ALIAS(int, Group_size, (MPI_Group group, int *size))
STUB_ALIAS(int, Group_rank, (MPI_Group group, int *rank))
STUB_ALIAS(int, Group_translate_ranks,
           (MPI_Group a, int n, const int ranks[], MPI_Group b, int translated[]))
STUB_ALIAS(int, Group_free, (MPI_Group * group))
STUB_ALIAS(int, Barrier, (MPI_Comm comm))
STUB_ALIAS(int, Bcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm))
STUB_ALIAS(int, Reduce,
           (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm))
STUB_ALIAS(int, Allreduce,
           (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm))
STUB_ALIAS(int, Allgather,
           (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm))
