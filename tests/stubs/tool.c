/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another profiling tool, as people have them in LD_PRELOAD: counts the program's calls of a few
 * functions and writes the counts when the program calls MPI_Finalize. STYLE 1 forwards to PMPI_X,
 * as the standard has it; STYLE 2 to dlsym(RTLD_NEXT, "MPI_X"). Knows no mpi.h: arguments are
 * passed on as machine words, so one object fits all ABIs.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef uintptr_t W;
static void report(void);

#if STYLE == 1
#define NEXT(name, types)    extern int P##name types;
#define FORWARD(name, types) P##name
#else
#define NEXT(name, types)
#define FORWARD(name, types) ((int(*) types)dlsym(RTLD_NEXT, #name))
#endif

#define TOOL(name, types, parameters, arguments)                                                   \
    int name parameters;                                                                           \
    NEXT(name, types)                                                                              \
    static long count_##name;                                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        __atomic_add_fetch(&count_##name, 1, __ATOMIC_RELAXED);                                    \
        return FORWARD(name, types) arguments;                                                     \
    }

#define T6 (W, W, W, W, W, W)
#define P6 (W a, W b, W c, W d, W e, W f)
#define A6 (a, b, c, d, e, f)
#define T7 (W, W, W, W, W, W, W)
#define P7 (W a, W b, W c, W d, W e, W f, W g)
#define A7 (a, b, c, d, e, f, g)

TOOL(MPI_Init, (W, W), (W a, W b), (a, b))
TOOL(MPI_Send, T6, P6, A6)
TOOL(MPI_Recv, T7, P7, A7)
TOOL(MPI_Isend, T7, P7, A7)
TOOL(MPI_Irecv, T7, P7, A7)
TOOL(MPI_Wait, (W, W), (W a, W b), (a, b))
TOOL(MPI_Waitall, (W, W, W), (W a, W b, W c), (a, b, c))
TOOL(MPI_Barrier, (W), (W a), (a))
TOOL(MPI_Allreduce, T6, P6, A6)
TOOL(MPI_Bcast, (W, W, W, W, W), (W a, W b, W c, W d, W e), (a, b, c, d, e))
TOOL(MPI_Comm_rank, (W, W), (W a, W b), (a, b))
TOOL(MPI_Comm_dup, (W, W), (W a, W b), (a, b))
TOOL(MPI_Comm_free, (W), (W a), (a))
TOOL(MPI_Sendrecv, (W, W, W, W, W, W, W, W, W, W, W, W),
     (W a, W b, W c, W d, W e, W f, W g, W h, W i, W j, W k, W l),
     (a, b, c, d, e, f, g, h, i, j, k, l))

int MPI_Finalize(void);
NEXT(MPI_Finalize, (void))
int MPI_Finalize(void)
{
    report();
    return FORWARD(MPI_Finalize, (void))();
}

static void report(void)
{
    const char *prefix = getenv("MWTOOL_OUT");
    char path[4096];
    if (!prefix)
        return;
    snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
    FILE *file = fopen(path, "w");
    if (!file)
        return;
#define SHOW(name) fprintf(file, #name " %ld\n", count_##name);
    SHOW(MPI_Init)
    SHOW(MPI_Send)
    SHOW(MPI_Recv)
    SHOW(MPI_Isend)
    SHOW(MPI_Irecv)
    SHOW(MPI_Wait)
    SHOW(MPI_Waitall)
    SHOW(MPI_Barrier)
    SHOW(MPI_Allreduce)
    SHOW(MPI_Bcast)
    SHOW(MPI_Comm_rank)
    SHOW(MPI_Comm_dup)
    SHOW(MPI_Comm_free)
    SHOW(MPI_Sendrecv)
    fclose(file);
}
