/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from and into memory of GPUs, by HIP or (-DWITH_CUDA) by CUDA, over the stubs in
 * tests/stubs/gpu. gpu calls: everything, and writes into MWTEST_EXPECT.RANK what each call that
 * moves bytes moves from and into, a line each; gpu late: the runtime is used for the first time
 * after some messages; gpu exchange: rank r has device r (or its only one) and exchanges with every
 * other; gpu killed: the same, and then the process is.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WITH_CUDA
#include "../../stubs/gpu/cudart.c"
#define GPU(name)    cuda##name
#define GpuHostAlloc cudaHostAlloc
#define GpuHostFree  cudaFreeHost
#define REGISTERED   "pinned" /* the driver does not tell them apart */
#define MANAGED      "managed"
#else
int hipMalloc(void **, size_t);
int hipHostMalloc(void **, size_t, unsigned);
int hipMallocManaged(void **, size_t, unsigned);
int hipFree(void *);
int hipHostFree(void *);
int hipHostRegister(void *, size_t, unsigned);
int hipHostUnregister(void *);
int hipSetDevice(int);
int hipGetLastError(void);
int hipPeekAtLastError(void);
#define GPU(name)    hip##name
#define GpuHostAlloc hipHostMalloc
#define GpuHostFree  hipHostFree
#define REGISTERED   "registered"
#define MANAGED      "host" /* HSA does not know it */
#endif

enum { COUNT = 4096, BYTES = COUNT * (int)sizeof(int), ERROR = 1 };

static int rank, size, peer;
static FILE *expected;
static int *device, *pinned, *managed, *registered;
static int host[COUNT], more[COUNT];
static char device_word[32] = "device:0";

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* The next call that moves something: from what, into what ("-": nothing). */
static void moves(const char *from, const char *into)
{
    if (expected)
        fprintf(expected, "%s %s\n", from, into);
}

static void fill(int *buffer, int seed)
{
    for (int i = 0; i < COUNT; i++)
        buffer[i] = seed + i;
}

static void holds(const int *buffer, int seed, const char *what)
{
    for (int i = 0; i < COUNT; i++)
        require(buffer[i] == seed + i, what);
}

static void ping(int *buffer, const char *word)
{
    if (rank == 0) {
        fill(buffer, 7);
        MPI_Send(buffer, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD);
        moves(word, "-");
    } else {
        memset(buffer, 0, BYTES);
        MPI_Recv(buffer, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        moves("-", word);
        holds(buffer, 7, "wrong data");
    }
}

static void point_to_point(void)
{
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;
    ping(host, "host");
    ping(device, device_word);
    ping(pinned, "pinned");
    ping(managed, MANAGED);
    ping(registered, REGISTERED);
    ping(registered - COUNT, "host"); /* before what was registered */

    MPI_Irecv(host, COUNT, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[0]);
    moves("-", "host");
    MPI_Isend(device, COUNT, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]);
    moves(device_word, "-");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    MPI_Sendrecv(device, COUNT, MPI_INT, peer, 3, pinned, COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD,
                 &status);
    moves(device_word, "-");
    moves("-", "pinned");
    MPI_Sendrecv_replace(device, COUNT, MPI_INT, peer, 4, peer, 4, MPI_COMM_WORLD, &status);
    moves(device_word, "-");
    moves("-", device_word);

    MPI_Recv_init(pinned, COUNT, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(device, COUNT, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[0]);
        moves("-", "pinned");
        MPI_Start(&requests[1]);
        moves(device_word, "-");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    if (rank == 0) {
        MPI_Send(host, COUNT, MPI_INT, peer, 6, MPI_COMM_WORLD);
        moves("host", "-");
    } else {
        MPI_Mprobe(peer, 6, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(device, COUNT, MPI_INT, &message, &status);
        moves("-", device_word);
    }
    MPI_Sendrecv(NULL, 0, MPI_INT, peer, 7, NULL, 0, MPI_INT, peer, 7, MPI_COMM_WORLD, &status);
}

/* A datatype that holds addresses. */
static void absolute(void)
{
    MPI_Datatype type;
    MPI_Aint address;
    int length = COUNT;
    MPI_Status status;
    MPI_Get_address(device, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(MPI_BOTTOM, 1, type, peer, 8, host, COUNT, MPI_INT, peer, 8, MPI_COMM_WORLD,
                 &status);
    moves("unknown", "-");
    moves("-", "host");
    MPI_Type_free(&type);
}

static void collectives(void)
{
    MPI_Request request;
    MPI_Bcast(device, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    moves(rank == 0 ? device_word : "-", rank == 0 ? "-" : device_word);
    MPI_Allreduce(device, host, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    moves(device_word, "host");
    MPI_Allreduce(MPI_IN_PLACE, pinned, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    moves("pinned", "pinned");
    MPI_Reduce(device, rank == 0 ? pinned : NULL, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    moves(device_word, rank == 0 ? "pinned" : "-");
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : host, COUNT / 2, MPI_INT, rank == 0 ? device : NULL,
               COUNT / 2, MPI_INT, 0, MPI_COMM_WORLD);
    moves(rank == 0 ? device_word : "host", rank == 0 ? device_word : "-");
    MPI_Alltoall(pinned, COUNT / 2, MPI_INT, device, COUNT / 2, MPI_INT, MPI_COMM_WORLD);
    moves("pinned", device_word);
    MPI_Iallreduce(device, more, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    moves(device_word, "host");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    MPI_Allreduce_init(device, host, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    MPI_Start(&request);
    moves(device_word, "host");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#endif
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one_sided(void)
{
    MPI_Win window;
    MPI_Win_create(more, BYTES, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(device, COUNT / 2, MPI_INT, peer, 0, COUNT / 2, MPI_INT, window);
    moves(device_word, "-");
    MPI_Win_fence(0, window);
    MPI_Get(pinned, COUNT / 2, MPI_INT, peer, 0, COUNT / 2, MPI_INT, window);
    moves("-", "pinned");
    MPI_Win_fence(0, window);
    MPI_Accumulate(registered, COUNT / 2, MPI_INT, peer, 0, COUNT / 2, MPI_INT, MPI_SUM, window);
    moves(REGISTERED, "-");
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void files(void)
{
    MPI_File file;
    MPI_Status status;
    const char *name = getenv("MWTEST_FILE");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * BYTES, device, COUNT, MPI_INT, &status);
    moves(device_word, "-");
    MPI_File_read_at(file, rank * BYTES, pinned, COUNT, MPI_INT, &status);
    moves("-", "pinned");
    MPI_File_close(&file);
}

/* The same address is another kind of memory later. */
static void reused(void)
{
    void *memory;
    require(GPU(Malloc)(&memory, BYTES) == 0, "allocation");
    ping(memory, device_word);
    GPU(Free)(memory);
    require(mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) == memory,
            "mmap");
    for (int i = 0; i < 3; i++)
        ping(memory, "host");
    require(GPU(HostRegister)(memory, BYTES, 0) == 0, "registration");
    ping(memory, REGISTERED);
    GPU(HostUnregister)(memory);
    ping(memory, "host");
    munmap(memory, BYTES);
}

static void *allocate(void *out)
{
    GPU(SetDevice)(0);
    GPU(Malloc)(out, BYTES);
    return NULL;
}

static void other_thread(void)
{
    pthread_t thread;
    void *memory = NULL;
    pthread_create(&thread, NULL, allocate, &memory);
    pthread_join(thread, NULL);
    require(memory != NULL, "allocation in a thread");
    ping(memory, "device:0");
    GPU(Free)(memory);
}

static void obtain(int number)
{
    void *memory[4];
    require(GPU(SetDevice)(number) == 0, "no such device");
    snprintf(device_word, sizeof device_word, "device:%d", number);
    require(GPU(Malloc)(&memory[0], BYTES) == 0, "device memory");
    require(GpuHostAlloc(&memory[1], BYTES, 0) == 0, "pinned memory");
    require(GPU(MallocManaged)(&memory[2], BYTES, 1) == 0, "managed memory");
    memory[3] = calloc(3, BYTES);
    registered = (int *)memory[3] + COUNT;
    require(GPU(HostRegister)(registered, BYTES, 0) == 0, "registration");
    device = memory[0];
    pinned = memory[1];
    managed = memory[2];
}

/* Two runs over everything: with an error that the program has not asked for yet, and without. */
static void calls(void)
{
    obtain(1);
    for (int run = 0; run < 2; run++) {
        int error = run == 0 ? 0 : ERROR;
        if (run)
            GPU(Free)((void *)8); /* fails */
        require(GPU(PeekAtLastError)() == error, "the error before");
        point_to_point();
        absolute();
        collectives();
        one_sided();
        files();
        require(GPU(GetLastError)() == error, "the last error has changed");
        require(GPU(GetLastError)() == 0, "the error stays");
        reused();
        other_thread();
    }
}

static void late(void)
{
    for (int i = 0; i < 100; i++)
        ping(host, "host");
    obtain(0);
    ping(device, device_word);
    for (int i = 0; i < 100; i++)
        ping(host, "host");
}

static void exchange(const char *number)
{
    MPI_Status status;
    obtain(number ? atoi(number) : rank);
    for (int other = 0; other < size; other++)
        for (int i = 0; other != rank && i < 3; i++) {
            MPI_Sendrecv(device, COUNT, MPI_INT, other, 9, device, COUNT, MPI_INT, other, 9,
                         MPI_COMM_WORLD, &status);
            moves(device_word, "-");
            moves("-", device_word);
        }
}

int main(int argc, char **argv)
{
    const char *prefix = getenv("MWTEST_EXPECT"), *mode = argc > 1 ? argv[1] : "calls";
    char path[4096];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = rank ^ 1;
    if (prefix) {
        snprintf(path, sizeof path, "%s.%d", prefix, rank);
        expected = fopen(path, "w");
    }
    if (strcmp(mode, "calls") == 0)
        calls();
    else if (strcmp(mode, "late") == 0)
        late();
    else
        exchange(argc > 2 ? argv[2] : NULL);
    if (expected)
        fclose(expected);
    if (strcmp(mode, "killed") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        kill(getpid(), SIGKILL);
    }
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    return 0;
}
