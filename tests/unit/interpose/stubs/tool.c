/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling tool: defines both names, and needs the library it stands before. */
#include "stubs.h"

int MPI_Send(void)
{
    return PMPI_Init(0, 0);
}

int MPI_Init(int *argc, char ***argv)
{
    return 1;
}

#ifdef WITH_PMPI
int PMPI_Init(int *argc, char ***argv)
{
    return MPI_Init(argc, argv);
}

extern int stub_object;
int tool_uses(void);
int tool_uses(void)
{
    return stub_object;
}
#endif
