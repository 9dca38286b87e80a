/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of blocking collectives (collective.h). */
#include "analyzer/model/collective.h"

#include <stddef.h>
#include <string.h>

static const struct mw_collective table[] = {
    {"MPI_Barrier", MW_COLLECTIVE_BARRIER, 1, 0, 0},
    {"MPI_Allreduce", MW_COLLECTIVE_NXN, 1, 4, 0},
    {"MPI_Allgather", MW_COLLECTIVE_NXN, 1, 2, 1},
    {"MPI_Allgatherv", MW_COLLECTIVE_NXN, 0, 2, 1},
    {"MPI_Alltoall", MW_COLLECTIVE_NXN, 1, 2, 0},
    {"MPI_Alltoallv", MW_COLLECTIVE_NXN, 0, 2, 0},
    {"MPI_Alltoallw", MW_COLLECTIVE_NXN, 0, 2, 0},
    {"MPI_Reduce_scatter", MW_COLLECTIVE_NXN, 0, 2, 0},
    {"MPI_Reduce_scatter_block", MW_COLLECTIVE_NXN, 1, 2, 0},
    {"MPI_Bcast", MW_COLLECTIVE_ONE_TO_ALL, 0, 0, 1},
    {"MPI_Scatter", MW_COLLECTIVE_ONE_TO_ALL, 0, 0, 1},
    {"MPI_Scatterv", MW_COLLECTIVE_ONE_TO_ALL, 0, 0, 1},
    {"MPI_Reduce", MW_COLLECTIVE_ALL_TO_ONE, 0, 0, 0},
    {"MPI_Gather", MW_COLLECTIVE_ALL_TO_ONE, 0, 0, 0},
    {"MPI_Gatherv", MW_COLLECTIVE_ALL_TO_ONE, 0, 0, 0},
};

const struct mw_collective *mw_collective_of(const char *name)
{
    static const struct mw_collective other = {"", MW_COLLECTIVE_OTHER, 0, 0, 0};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!strcmp(name, table[i].name))
            return &table[i];
    return &other;
}
