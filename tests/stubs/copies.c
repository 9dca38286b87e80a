/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport that got slower, for comparisons: preloaded behind the library under test, it copies a share of
 * each message once more before it is sent. COPIES_PERCENT says how much; beyond 100 it copies again. One
 * thread sends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void copy(const void *data, int count, MPI_Datatype type)
{
    static char *room;
    static size_t size;
    static double percent = -1;
    int each;

    if (percent < 0)
        percent = getenv("COPIES_PERCENT") ? atof(getenv("COPIES_PERCENT")) : 0;
    PMPI_Type_size(type, &each);
    size_t whole = (size_t)count * (size_t)each;
    if (whole > size) {
        room = realloc(room, whole);
        size = whole;
    }
    for (double left = (double)whole * percent / 100; left >= 1; left -= (double)whole) {
        memcpy(room, data, left > (double)whole ? whole : (size_t)left);
        __asm__ volatile("" : : "r"(room) : "memory"); /* nobody reads it */
    }
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "MPI_Isend");
    copy(data, count, type);
    return next(data, count, type, to, tag, comm, request);
}
