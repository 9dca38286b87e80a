/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: four threads of each of two ranks send 5,000 messages of 100 bytes each to
 * the other rank, all at once, and receive as many. Exactly 2,000,000 bytes in each direction.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, MESSAGES = 5000, BYTES = 100, BATCH = 50 };

static int rank;

static void *talk(void *argument)
{
    int tag = *(int *)argument;
    char out[BYTES] = {0}, in[BATCH][BYTES];
    MPI_Request requests[2 * BATCH];
    for (int i = 0; i < MESSAGES / BATCH; i++) {
        for (int j = 0; j < BATCH; j++) {
            MPI_Irecv(in[j], BYTES, MPI_BYTE, !rank, tag, MPI_COMM_WORLD, &requests[j]);
            MPI_Isend(out, BYTES, MPI_BYTE, !rank, tag, MPI_COMM_WORLD, &requests[BATCH + j]);
        }
        MPI_Waitall(2 * BATCH, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, tags[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 4);
    for (int i = 0; i < THREADS; i++) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, talk, &tags[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    return 0;
}
