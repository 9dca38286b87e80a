/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the stub libraries of these tests. */
#ifndef STUBS_H
#define STUBS_H

int MPI_Init(int *argc, char ***argv);
int PMPI_Init(int *argc, char ***argv);
int MPI_Send(void);
int mpi_send_(void);
int pmpi_send_(void);
int kernel_call(int fd, unsigned long request, void *argument);
int stub_ifunc(void);
int stub_call(int (*function)(void));
extern int stub_resolver_ran, stub_object;
extern __thread int stub_thread_local;

#endif
