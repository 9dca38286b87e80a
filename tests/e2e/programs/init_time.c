/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the processor time that it had used when MPI_Init returned, in microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rusage used;
    MPI_Init(&argc, &argv);
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L +
                        used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    MPI_Finalize();
    return 0;
}
