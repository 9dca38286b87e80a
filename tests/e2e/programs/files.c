/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO beside what rma_io.c has: nonblocking collectives, requests on the shared pointer, the split calls in order,
 * and what a program asks of a file or sets. Two ranks; every call is written down (expect.h), data is checked.
 * MWTEST_FILE: the file to use.
 */
#include <string.h>

#include "expect.h"

#ifndef EXTENT
#define EXTENT MPI_Aint
#endif

enum { N = 16, BYTES = N * (int)sizeof(int) };

static int rank, mine, in[N], out[N];
static MPI_File file;
static MPI_Request request;

/* A transfer of N ints that `start` begins, with its end; `flags` and `more` of its record. */
static void ended(const char *name, const char *kind, const char *flags, const char *more)
{
    int read = kind[0] == 'R';
    expect("MPI_File_%s | %s request %s bytes=%d file=0 comm=world %s", name, kind, flags, BYTES, more);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (read)
        expect("MPI_Wait | DONE of=MPI_File_%s in!=%d", name, BYTES);
    else
        expect("MPI_Wait | DONE of=MPI_File_%s", name);
    CHECK(!read || in[N - 1] == out[N - 1]);
    memset(in, 0, sizeof in);
}

static void seek(void)
{
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    expect("MPI_File_seek | FILE offset=%d file=0 comm=world", mine);
}

static void requests(void)
{
    char offset[32];
    snprintf(offset, sizeof offset, "offset=%d", mine);
    seek();
    MPI_File_iwrite_all(file, out, N, MPI_INT, &request);
    ended("iwrite_all", "WRITE", "collective", "");
    seek();
    MPI_File_iread_all(file, in, N, MPI_INT, &request);
    ended("iread_all", "READ", "collective", "");
    MPI_File_iwrite_at_all(file, mine, out, N, MPI_INT, &request);
    ended("iwrite_at_all", "WRITE", "collective", offset);
    MPI_File_iread_at_all(file, mine, in, N, MPI_INT, &request);
    ended("iread_at_all", "READ", "collective", offset);
    seek();
    MPI_File_write_all_begin(file, out, N, MPI_INT);
    expect("MPI_File_write_all_begin | WRITE request collective bytes=%d file=0 comm=world", BYTES);
    MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE);
    expect("MPI_File_write_all_end | DONE collective of=MPI_File_write_all_begin");
}

static void rewind_shared(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    expect("MPI_File_seek_shared | FILE collective offset=0 file=0 comm=world");
}

static void shared_pointer(void)
{
    MPI_Offset at;
    rewind_shared();
    MPI_File_write_ordered_begin(file, out, N, MPI_INT);
    expect("MPI_File_write_ordered_begin | WRITE request collective bytes=%d file=0 comm=world", BYTES);
    MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE);
    expect("MPI_File_write_ordered_end | DONE collective of=MPI_File_write_ordered_begin");
    rewind_shared();
    MPI_File_read_ordered_begin(file, in, N, MPI_INT);
    expect("MPI_File_read_ordered_begin | READ request collective bytes=%d file=0 comm=world", BYTES);
    MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE);
    expect("MPI_File_read_ordered_end | DONE collective of=MPI_File_read_ordered_begin in!=%d", BYTES);
    CHECK(in[0] == out[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    MPI_File_get_position_shared(file, &at);
    expect("MPI_File_get_position_shared | FILE file=0 comm=world");
    CHECK(at == 2 * N);
    rewind_shared();
    for (int turn = 0; turn < 2; turn++) { /* one after the other: whose data lies where is known */
        if (turn == rank) {
            MPI_File_iwrite_shared(file, out, N, MPI_INT, &request);
            ended("iwrite_shared", "WRITE", "", "");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    }
    rewind_shared();
    for (int turn = 0; turn < 2; turn++) {
        if (turn == rank) {
            MPI_File_iread_shared(file, in, N, MPI_INT, &request);
            ended("iread_shared", "READ", "", "");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    }
}

static void settings(void)
{
    MPI_Offset size;
    MPI_Info info;
    MPI_File_preallocate(file, 4 * BYTES);
    expect("MPI_File_preallocate | FILE collective offset=%d file=0 comm=world", 4 * BYTES);
    MPI_Barrier(MPI_COMM_WORLD); /* Open MPI's ranks do not wait for the one that does it */
    expect("MPI_Barrier | COLL root=-1 out=0 in=0 comm=world");
    MPI_File_get_size(file, &size);
    expect("MPI_File_get_size | FILE file=0 comm=world");
    CHECK(size == 4 * BYTES);
    if (MPI_File_set_atomicity(file, 1) == MPI_SUCCESS)
        expect("MPI_File_set_atomicity | FILE collective file=0 comm=world");
    else /* Open MPI 4.1's rank 1, by chance */
        expect("MPI_File_set_atomicity error");
    CALL(MPI_Info_create)(&info);
    CALL(MPI_Info_set)(info, "collective_buffering", "true");
    MPI_File_set_info(file, info);
    expect("MPI_File_set_info | FILE collective file=0 comm=world");
    CALL(MPI_Info_free)(&info);
}

/* What only counts. */
static void questions(void)
{
    MPI_Offset displacement, at, byte;
    MPI_Datatype element, filetype;
    MPI_Group group;
    MPI_Info info;
    EXTENT extent;
    char representation[MPI_MAX_DATAREP_STRING];
    int atomic, mode, size;
    CALL(MPI_File_get_view)(file, &displacement, &element, &filetype, representation);
    CALL(MPI_File_get_position)(file, &at);
    CALL(MPI_File_get_byte_offset)(file, 3, &byte);
    CALL(MPI_File_get_atomicity)(file, &atomic);
    CALL(MPI_File_get_amode)(file, &mode);
    CALL(MPI_File_get_group)(file, &group);
    CALL(MPI_Group_size)(group, &size);
    CALL(MPI_Group_free)(&group);
    CALL(MPI_File_get_type_extent)(file, MPI_INT, &extent);
    CALL(MPI_File_get_info)(file, &info);
    CALL(MPI_Info_free)(&info);
    CHECK(CALL(MPI_File_f2c)(CALL(MPI_File_c2f)(file)) == file);
    if (rank == 0)
        printf("displacement %lld, %s, position %lld, byte %lld, atomic %d, mode %d, %d ranks, extent %lld\n",
               (long long)displacement, representation, (long long)at, (long long)byte, atomic, mode, size,
               (long long)extent);
}

int main(int argc, char **argv)
{
    char *name = getenv("MWTEST_FILE");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_open(rank);
    expect("MPI_Init");
    mine = rank * N;
    for (int i = 0; i < N; i++)
        out[i] = 100 * (rank + 1) + i;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    expect("MPI_File_open | COLL root=-1 out=0 in=0 comm=world");
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    expect("MPI_File_set_view | FILE collective offset=0 file=0 comm=world");
    requests();
    shared_pointer();
    settings();
    questions();
    MPI_File_close(&file);
    expect("MPI_File_close | FILE collective file=0 comm=world");
    if (rank == 0) {
        MPI_File_delete(name, MPI_INFO_NULL);
        expect("MPI_File_delete");
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) != MPI_SUCCESS);
        expect("MPI_File_delete error");
        puts("done");
    }
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
