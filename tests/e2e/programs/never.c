/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked with MPI, asks only what may be asked before MPI_Init, and ends. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int initialized, finalized, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    printf("%d %d %d.%d %d %s\n", initialized, finalized, version, subversion, length, text);
    return 0;
}
