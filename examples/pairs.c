/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast each ordered pair of ranks is: a round-robin tournament in which every rank meets every
 * other one. Usage: pairs [alone|together [BYTES [WINDOWS [host|hip|cuda]]]]. "alone" (the default):
 * one pair at a time, so that links are measured alone; "together": all pairs of a round at once.
 * "hip", "cuda": messages out of the memory of a GPU into that of another, rank r using the one of
 * number r among those that it sees; the MPI must be built for them. Prints for each
 * ordered pair the bandwidth and half a round trip of 8 bytes as the program sees them. The same
 * figures, by the messages themselves: mpiwatch matrix --metric throughput, bandwidth, latency.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 16  /* messages that are on their way at once */
#define TRIPS  200 /* of 8 bytes */

enum { DATA, ANSWER, SMALL };

struct contest {
    int rank, size, together, windows;
    int bytes;
    char *buffer; /* WINDOW messages */
};

/* Sends windows of messages; each is answered by an empty one. Seconds. */
static double send_windows(const struct contest *contest, int peer)
{
    MPI_Request requests[WINDOW];
    double start = MPI_Wtime();
    for (int n = 0; n < contest->windows; n++) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(contest->buffer + (size_t)i * (size_t)contest->bytes, contest->bytes,
                      MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(NULL, 0, MPI_CHAR, peer, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return MPI_Wtime() - start;
}

static void receive_windows(const struct contest *contest, int peer)
{
    MPI_Request requests[WINDOW];
    for (int n = 0; n < contest->windows; n++) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(contest->buffer + (size_t)i * (size_t)contest->bytes, contest->bytes,
                      MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_CHAR, peer, ANSWER, MPI_COMM_WORLD);
    }
}

/* Seconds of half a round trip, as the one that asks sees it. */
static double ping_pong(int peer, int asks)
{
    char word[8] = "";
    double start = MPI_Wtime();
    for (int n = 0; n < TRIPS; n++) {
        if (asks)
            MPI_Send(word, sizeof(word), MPI_CHAR, peer, SMALL, MPI_COMM_WORLD);
        MPI_Recv(word, sizeof(word), MPI_CHAR, peer, SMALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!asks)
            MPI_Send(word, sizeof(word), MPI_CHAR, peer, SMALL, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / TRIPS / 2;
}

/* Both directions, one after the other. figures: bytes per second to the peer, seconds. */
static void meet(const struct contest *contest, int peer, double figures[2])
{
    for (int turn = 0; turn < 2; turn++) {
        int sends = (contest->rank < peer) == (turn == 0);
        double latency = ping_pong(peer, sends);
        if (!sends) {
            receive_windows(contest, peer);
            continue;
        }
        double bytes = (double)contest->windows * WINDOW * contest->bytes;
        figures[0] = bytes / send_windows(contest, peer);
        figures[1] = latency;
    }
}

/* Whom a rank meets in a round, by the circle method: the last place stays where it is, the others
 * turn. -1: nobody, where the number of ranks is odd. */
static int opponent(int rank, int round, int size)
{
    int places = size + size % 2, circle = places - 1;
    int other = rank == places - 1 ? (round * (places / 2)) % circle
                                   : ((round - rank) % circle + circle) % circle;
    if (other == rank)
        other = places - 1;
    return other < size ? other : -1;
}

/* figures: by peer. */
static void play(const struct contest *contest, double *figures)
{
    int places = contest->size + contest->size % 2;
    for (int round = 0; round < places - 1; round++) {
        int peer = opponent(contest->rank, round, contest->size);
        for (int turn = 0; turn < (contest->together ? 1 : contest->size); turn++) {
            int lower = peer < contest->rank ? peer : contest->rank;
            MPI_Barrier(MPI_COMM_WORLD);
            if (peer >= 0 && (contest->together || lower == turn))
                meet(contest, peer, figures + 2 * peer);
        }
    }
}

static void print(const struct contest *contest, const double *figures)
{
    size_t row = 2 * (size_t)contest->size;
    double *all = contest->rank ? NULL : calloc(row * (size_t)contest->size, sizeof(*all));
    MPI_Gather(figures, (int)row, MPI_DOUBLE, all, (int)row, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int src = 0; all && src < contest->size; src++)
        for (int dst = 0; dst < contest->size; dst++)
            if (src != dst)
                printf("%d %d %.0f %.9f\n", src, dst, all[(size_t)src * row + 2 * (size_t)dst],
                       all[(size_t)src * row + 2 * (size_t)dst + 1]);
    free(all);
}

/* Runtimes of GPUs, which are loaded only where they are asked for. */
static const struct runtime {
    const char *name, *libraries[4], *count, *choose, *allocate;
} runtimes[] = {
    {"hip",
     {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
     "hipGetDeviceCount",
     "hipSetDevice",
     "hipMalloc"},
    {"cuda",
     {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"},
     "cudaGetDeviceCount",
     "cudaSetDevice",
     "cudaMalloc"},
};

/* Memory of the rank's GPU; NULL: there is none. It is never freed. */
static void *device_memory(const struct runtime *runtime, int rank, size_t size)
{
    int (*count)(int *), (*choose)(int), (*allocate)(void **, size_t), devices = 0;
    void *library = NULL, *memory = NULL;
    for (size_t i = 0; !library && i < 4; i++)
        library = dlopen(runtime->libraries[i], RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return NULL;
    *(void **)&count = dlsym(library, runtime->count);
    *(void **)&choose = dlsym(library, runtime->choose);
    *(void **)&allocate = dlsym(library, runtime->allocate);
    if (!count || !choose || !allocate || count(&devices) != 0 || devices < 1 ||
        choose(rank % devices) != 0 || allocate(&memory, size) != 0)
        return NULL;
    return memory;
}

/* Room for messages; NULL: none, or no such kind of memory. */
static char *buffer_of(const char *kind, int rank, size_t size)
{
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
        if (!strcmp(kind, runtimes[i].name))
            return device_memory(&runtimes[i], rank, size);
    char *memory = strcmp(kind, "host") ? NULL : malloc(size);
    if (memory)
        memset(memory, 1, size);
    return memory;
}

int main(int argc, char **argv)
{
    struct contest contest = {.together = argc > 1 && !strcmp(argv[1], "together"),
                              .bytes = argc > 2 ? atoi(argv[2]) : 1 << 18,
                              .windows = argc > 3 ? atoi(argv[3]) : 20};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &contest.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &contest.size);
    double *figures = calloc(2 * (size_t)contest.size, sizeof(*figures));
    if (contest.bytes > 0)
        contest.buffer = buffer_of(argc > 4 ? argv[4] : "host", contest.rank,
                                   WINDOW * (size_t)contest.bytes);
    if (!contest.buffer || !figures || contest.windows < 1) {
        fprintf(stderr, "usage: pairs [alone|together [BYTES [WINDOWS [host|hip|cuda]]]]; "
                        "or there is no such memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    play(&contest, figures);
    print(&contest, figures);
    free(figures);
    MPI_Finalize();
    return 0;
}
