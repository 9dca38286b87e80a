/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the stub libmpi_abi share; see libmpi_abi.c. */
#ifndef MPI_STUB_H
#define MPI_STUB_H

#include <stddef.h>

#include "mpi.h"

enum { STUB_RANKS = 8 };

struct MPI_ABI_Comm {
    int context; /* its messages; context + 1: those of its collectives */
    int size, rank;
    int members[STUB_RANKS]; /* world ranks */
    int created;
    int errors_return;
};

struct MPI_ABI_Group {
    int size, rank;
    int members[STUB_RANKS];
};

/* Both names of each function, as MPI libraries have them. */
#define STUB_ALIAS(result, name, parameters)                                                       \
    __attribute__((weak, alias("PMPI_" #name))) result MPI_##name parameters;

extern int stub_rank, stub_size; /* in MPI_COMM_WORLD */
void stub_connect(void);
void stub_disconnect(void);
struct MPI_ABI_Comm *stub_comm(MPI_Comm comm); /* NULL: no communicator */
size_t stub_type_size(MPI_Datatype type);      /* 0: no type */
int stub_error(struct MPI_ABI_Comm *comm, int code, const char *function);
void stub_send(const void *data, size_t length, int world_rank, int tag, int context);
/* Receives exactly `length` bytes. */
void stub_receive(void *data, size_t length, int world_rank, int tag, int context);

#endif
