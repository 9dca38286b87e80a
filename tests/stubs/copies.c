/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport that got slower, for comparisons: preloaded behind the library under test, it copies a share of
 * each message that MPI_Irecv asked for once more before MPI_Waitall returns. COPIES_PERCENT says how much. For
 * programs of one thread whose receives are completed so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_MAX 1024

static struct {
    const char *data;
    size_t size;
} pending[PENDING_MAX];
static int pending_count;

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int each;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "MPI_Irecv");
    PMPI_Type_size(type, &each);
    if (pending_count < PENDING_MAX) {
        pending[pending_count].data = data;
        pending[pending_count++].size = (size_t)count * (size_t)each;
    }
    return next(data, count, type, from, tag, comm, request);
}

/* Again and again through a buffer that stays in the cache. */
static void copy(const char *data, double left)
{
    static char room[65536];

    while (left >= 1) {
        size_t piece = left < (double)sizeof(room) ? (size_t)left : sizeof(room);

        memcpy(room, data, piece);
        __asm__ volatile("" : : "r"(room) : "memory"); /* nobody reads it */
        data += piece;
        left -= (double)piece;
    }
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    static int (*next)(int, MPI_Request *, MPI_Status *);
    static double percent = -1;
    int result;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "MPI_Waitall");
    if (percent < 0)
        percent = getenv("COPIES_PERCENT") ? atof(getenv("COPIES_PERCENT")) : 0;
    result = next(count, requests, statuses);
    for (; pending_count > 0; pending_count--)
        copy(pending[pending_count - 1].data, (double)pending[pending_count - 1].size * percent / 100);
    return result;
}
