/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Much of one kind. "dup N": N communicators, each made, used for a message and freed. "tags N": a message with
 * each of N tags, then with the first again. "requests N": N receives under way at once. "init":
 * MPI_Init once more. "thread": MPI_Finalize is called by another thread. One rank.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void message(MPI_Comm comm, int tag)
{
    int from = tag, to = -1;
    MPI_Sendrecv(&from, 1, MPI_INT, 0, tag, &to, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE);
    if (to != tag)
        MPI_Abort(MPI_COMM_WORLD, 91);
}

static void dup_and_free(int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        message(comm, 1);
        if (i % 2)
            MPI_Comm_free(&comm);
        else
            MPI_Comm_disconnect(&comm);
    }
    message(MPI_COMM_WORLD, 1);
    message(MPI_COMM_WORLD, 1);
}

static void tags(int count)
{
    for (int i = 0; i < count; i++)
        message(MPI_COMM_WORLD, i);
    for (int i = 0; i < count; i += count / 10)
        message(MPI_COMM_WORLD, i);
}

static void requests(int count)
{
    MPI_Request *request = malloc((size_t)count * sizeof *request);
    int *to = malloc((size_t)count * sizeof *to);
    if (!request || !to)
        MPI_Abort(MPI_COMM_WORLD, 92);
    for (int i = 0; i < count; i++)
        MPI_Irecv(&to[i], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < count; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        if (to[i] != i)
            MPI_Abort(MPI_COMM_WORLD, 93);
    free(request);
    free(to);
}

static void *finalize(void *argument)
{
    MPI_Finalize();
    return argument;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 1000, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(mode, "dup") == 0)
        dup_and_free(count);
    else if (strcmp(mode, "tags") == 0)
        tags(count);
    else if (strcmp(mode, "requests") == 0)
        requests(count);
    else if (strcmp(mode, "init") == 0)
        printf("again: %s\n", MPI_Init(&argc, &argv) == MPI_SUCCESS ? "succeeded" : "failed");
    message(MPI_COMM_WORLD, 1);
    if (strcmp(mode, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, finalize, NULL);
        pthread_join(thread, NULL);
    } else {
        MPI_Finalize();
    }
    puts("done");
    return 0;
}
