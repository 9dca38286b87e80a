/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that plays an MPI of an unknown vendor: functions, an IFUNC, a thread-local, an object.
 */
#include "stubs.h"

int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}

int PMPI_Init(int *argc, char ***argv)
{
    return argc && argv ? 41 : 40;
}

static int chosen(void)
{
    return 7;
}

int stub_resolver_ran;
static int (*resolve(void))(void)
{
    stub_resolver_ran++;
    return chosen;
}
int stub_ifunc(void) __attribute__((ifunc("resolve")));
__thread int stub_thread_local = 3;
int stub_object = 5;
