/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests, datatypes and communicators treated as badly as the standard allows, and a little worse; N of them. "free": active
 * requests are freed. "copies": completed through copies. "alias": all statuses are one. "million": as many in one
 * wait. "types": datatypes thirty deep, freed while in use, in MPI_Alltoallw. "comm": communicators freed with
 * messages under way. "negative": counts below zero. "generalized": requests whose functions call MPI. "wild":
 * peers, tags, handles out of range. "persistent": freed while active, started again through copies. One rank.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const MPI_Comm self = MPI_COMM_SELF;
static int count;
static int *values;
static long sum;

static void receive_all(int tag)
{
    for (int i = 0; i < count; i++) {
        MPI_Recv(&values[i], 1, MPI_INT, 0, tag, self, MPI_STATUS_IGNORE);
        sum += values[i];
    }
}

static void active_requests_are_freed(void)
{
    MPI_Request request;
    for (int i = 0; i < count; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, 0, 1, self, &request);
        MPI_Request_free(&request);
    }
    receive_all(1);
}

static void completed_through_copies(void)
{
    MPI_Request request[4], copy[4], again;
    for (int i = 0; i < count; i++) {
        int to[2] = {-1, -1}, from[2] = {i, -i}, index, flag;
        for (int k = 0; k < 2; k++) {
            MPI_Irecv(&to[k], 1, MPI_INT, 0, k, self, &request[k]);
            MPI_Isend(&from[k], 1, MPI_INT, 0, k, self, &request[2 + k]);
        }
        memcpy(copy, request, sizeof copy);
        memset(request, 0x5a, sizeof request);
        again = copy[1];
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        copy[1] = MPI_REQUEST_NULL;
        MPI_Waitany(4, copy, &index, MPI_STATUS_IGNORE);
        do
            MPI_Testall(4, copy, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        sum += to[0] - to[1];
    }
}

static void one_status(void)
{
    MPI_Request request[2];
    MPI_Status status;
    int to = -1, received;
    for (int i = 0; i < count; i++) {
        MPI_Irecv(&to, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, self, &request[0]);
        MPI_Isend(&i, 1, MPI_INT, 0, i % 99, self, &request[1]);
        MPI_Wait(&request[1], &status);
        MPI_Wait(&request[0], &status);
        MPI_Get_count(&status, MPI_INT, &received);
        sum += to + received + status.MPI_TAG;
        MPI_Sendrecv(&i, 1, MPI_INT, 0, 3, &to, 1, MPI_INT, MPI_ANY_SOURCE, 3, self, (MPI_Status *)&status);
    }
}

static void all_in_one_wait(void)
{
    MPI_Request *request = malloc(2 * (size_t)count * sizeof *request);
    for (int i = 0; i < count; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 0, i % 1000, self, &request[i]);
    for (int i = 0; i < count; i++)
        MPI_Isend(&(int){1}, 1, MPI_INT, 0, i % 1000, self, &request[count + i]);
    MPI_Waitall(2 * count, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        sum += values[i];
    free(request);
}

static MPI_Datatype deep(int levels)
{
    MPI_Datatype type, outer;
    MPI_Type_contiguous(1, MPI_INT, &type);
    for (int i = 0; i < levels; i++) {
        int one = 1, zero = 0;
        MPI_Aint far = 0;
        if (i % 3 == 0)
            MPI_Type_vector(1, 1, 2, type, &outer);
        else if (i % 3 == 1)
            MPI_Type_create_struct(1, &one, &far, &type, &outer);
        else
            MPI_Type_indexed(1, &one, &zero, type, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    MPI_Type_commit(&type);
    return type;
}

static void deep_types(void)
{
    for (int i = 0; i < count; i++) {
        MPI_Datatype send = deep(30), receive = deep(29);
        MPI_Request request[2];
        int to = -1, other = -1, one = 1, zero = 0;
        MPI_Ialltoallw(&i, &one, &zero, &send, &to, &one, &zero, &receive, self, &request[0]);
        MPI_Irecv(&other, 1, receive, 0, 4, self, &request[1]);
        MPI_Type_free(&receive);
        MPI_Send(&i, 1, send, 0, 4, self);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        MPI_Type_free(&send);
        sum += to + other;
    }
}

static void pending_communicators(void)
{
    for (int i = 0; i < count; i++) {
        MPI_Comm comm;
        MPI_Request request[2];
        int to = -1;
        MPI_Comm_dup(self, &comm);
        MPI_Irecv(&to, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &request[0]);
        MPI_Isend(&i, 1, MPI_INT, 0, 5, comm, &request[1]);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        sum += to;
    }
}

#define FAILS(call) sum = 3 * sum + ((call) != MPI_SUCCESS)

static void negative_counts(void)
{
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[2];
    MPI_Datatype type;
    MPI_Win window;
    int index, flag, indices[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    for (int bad = -1; bad != 0; bad = bad == -1 ? INT_MIN : 0) {
        FAILS(MPI_Waitall(bad, request, status));
        FAILS(MPI_Waitany(bad, request, &index, status));
        FAILS(MPI_Waitsome(bad, request, &index, indices, status));
        FAILS(MPI_Testall(bad, request, &flag, status));
        FAILS(MPI_Testany(bad, request, &index, &flag, status));
        FAILS(MPI_Testsome(bad, request, &index, indices, status));
        FAILS(MPI_Startall(bad, request));
        FAILS(MPI_Send(values, bad, MPI_INT, 0, 0, self));
        FAILS(MPI_Irecv(values, bad, MPI_INT, 0, 0, self, request));
        FAILS(MPI_Bcast(values, bad, MPI_INT, 0, self));
        FAILS(MPI_Type_contiguous(bad, MPI_INT, &type));
        FAILS(MPI_Win_create(values, bad, 1, MPI_INFO_NULL, self, &window));
    }
}

static void out_of_range(void)
{
    int flag;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    const int ranks[] = {INT_MAX, INT_MIN, -100, 1, 1 << 20};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        FAILS(MPI_Send(values, 1, MPI_INT, ranks[i], 0, self));
        FAILS(MPI_Isend(values, 1, MPI_INT, ranks[i], 0, self, &request));
        FAILS(MPI_Irecv(values, 1, MPI_INT, ranks[i], 0, self, &request));
        FAILS(MPI_Bcast(values, 1, MPI_INT, ranks[i], self));
        FAILS(MPI_Iprobe(ranks[i], 0, self, &flag, MPI_STATUS_IGNORE));
        FAILS(MPI_Reduce(values, values + 1, 1, MPI_INT, MPI_SUM, ranks[i], self));
        FAILS(MPI_Gather(values, 1, MPI_INT, values + 1, 1, MPI_INT, ranks[i], self));
    }
    FAILS(MPI_Send(values, 1, MPI_INT, 0, INT_MAX, MPI_COMM_NULL));
    FAILS(MPI_Send(values, 1, MPI_DATATYPE_NULL, 0, 0, self));
    FAILS(MPI_Send(values, 1, MPI_INT, 0, INT_MIN, self));
    FAILS(MPI_Allreduce(values, values + 1, 1, MPI_INT, MPI_OP_NULL, self));
    FAILS(MPI_Alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, MPI_COMM_NULL));
    FAILS(MPI_Comm_split(self, -7, 0, &(MPI_Comm){0}));
}

static int told(void *state, MPI_Status *status)
{
    int value = 1, result = 0;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 6, &result, 1, MPI_INT, 0, 6, self, MPI_STATUS_IGNORE);
    *(int *)state += result;
    status->MPI_SOURCE = 0;
    status->MPI_TAG = 7;
    MPI_Status_set_elements(status, MPI_INT, 2);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int freed(void *state)
{
    int value = 1, result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, self);
    *(int *)state += result;
    return MPI_SUCCESS;
}

static int cancelled(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    for (int i = 0; i < count; i++) {
        MPI_Request request[3];
        int state = 0, to = -1;
        MPI_Grequest_start(told, freed, cancelled, &state, &request[0]);
        MPI_Irecv(&to, 1, MPI_INT, 0, 8, self, &request[1]);
        MPI_Isend(&i, 1, MPI_INT, 0, 8, self, &request[2]);
        MPI_Grequest_complete(request[0]);
        if (i % 2)
            MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
        else
            for (int k = 0; k < 3; k++)
                MPI_Wait(&request[k], MPI_STATUS_IGNORE);
        sum += state + to;
    }
}

static void persistent(void)
{
    for (int i = 0; i < count; i++) {
        MPI_Request request[2], copy[2];
        int to = -1;
        MPI_Send_init(&i, 1, MPI_INT, 0, 9, self, &request[0]);
        MPI_Recv_init(&to, 1, MPI_INT, 0, 9, self, &request[1]);
        for (int k = 0; k < 3; k++) {
            memcpy(copy, request, sizeof copy);
            MPI_Startall(2, copy);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
            sum += to;
        }
        MPI_Startall(2, request);
        MPI_Request_free(&request[0]);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        MPI_Request_free(&request[1]);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"free", active_requests_are_freed}, {"copies", completed_through_copies},
    {"alias", one_status},               {"million", all_in_one_wait},
    {"types", deep_types},               {"comm", pending_communicators},
    {"negative", negative_counts},       {"wild", out_of_range},
    {"generalized", generalized},        {"persistent", persistent},
};

int main(int argc, char **argv)
{
    count = argc > 2 ? atoi(argv[2]) : 10;
    values = calloc((size_t)count + 4, sizeof *values);
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0)
            modes[i].run();
    MPI_Finalize();
    printf("%ld\n", sum);
    return 0;
}
