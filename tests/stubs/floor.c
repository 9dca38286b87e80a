/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor of what a recorder can cost: a preload that takes two time stamps and counts, nothing
 * else. Knows no mpi.h, like tool.c. The cost of everything else that mpiwatch does is measured
 * against it.
 */
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define STAMP() __rdtsc()
#elif defined(__aarch64__)
static inline uint64_t STAMP(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

typedef uintptr_t W;
static uint64_t total[16];
static uint64_t calls[16];

#define FLOOR(number, name, types, parameters, arguments)                                          \
    int name parameters;                                                                           \
    extern int P##name types;                                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        uint64_t start = STAMP();                                                                  \
        int rc = P##name arguments;                                                                \
        total[number] += STAMP() - start;                                                          \
        calls[number]++;                                                                           \
        return rc;                                                                                 \
    }

FLOOR(0, MPI_Iprobe, (W, W, W, W, W), (W a, W b, W c, W d, W e), (a, b, c, d, e))
FLOOR(1, MPI_Irecv, (W, W, W, W, W, W, W), (W a, W b, W c, W d, W e, W f, W g),
      (a, b, c, d, e, f, g))
FLOOR(2, MPI_Isend, (W, W, W, W, W, W, W), (W a, W b, W c, W d, W e, W f, W g),
      (a, b, c, d, e, f, g))
FLOOR(3, MPI_Waitall, (W, W, W), (W a, W b, W c), (a, b, c))
FLOOR(4, MPI_Allreduce, (W, W, W, W, W, W), (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f))
FLOOR(5, MPI_Send, (W, W, W, W, W, W), (W a, W b, W c, W d, W e, W f), (a, b, c, d, e, f))
FLOOR(6, MPI_Recv, (W, W, W, W, W, W, W), (W a, W b, W c, W d, W e, W f, W g),
      (a, b, c, d, e, f, g))
