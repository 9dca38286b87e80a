/* SPDX-License-Identifier: BSD-3-Clause */
/* A Fortran binding, or with TOOL a tool for Fortran, which lacks the profiling names. */
#include "stubs.h"

int mpi_send_(void)
{
    return 1;
}

#ifndef TOOL
int pmpi_send_(void)
{
    return 2;
}
#endif
