/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program without a GPU finds of GPU runtimes in its process: functions by dlsym and by weak
 * references, objects in its memory. Rank 0 prints them, a line each, and "done".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int hipMalloc(void **, size_t) __attribute__((weak));
int cudaMalloc(void **, size_t) __attribute__((weak));
int cuInit(unsigned) __attribute__((weak));
int hsa_init(void) __attribute__((weak));

static void look(void)
{
    static const char *const names[] = {"hipMalloc",
                                        "hipFree",
                                        "hipInit",
                                        "hipGetDeviceCount",
                                        "cudaMalloc",
                                        "cudaFree",
                                        "cudaHostRegister",
                                        "cuInit",
                                        "cuMemAlloc_v2",
                                        "hsa_init",
                                        "hsa_amd_pointer_info"};
    char line[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dlsym(RTLD_DEFAULT, names[i]))
            printf("dlsym finds %s\n", names[i]);
    if (hipMalloc || cudaMalloc || cuInit || hsa_init)
        puts("a weak reference is bound");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "libamdhip") || strstr(line, "libhsa") || strstr(line, "libcuda"))
            printf("%s", line);
}

int main(int argc, char **argv)
{
    int value = 0, sum, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) /* lines of two ranks may mix */
        look();
    MPI_Finalize();
    if (rank == 0)
        puts("done");
    return 0;
}
