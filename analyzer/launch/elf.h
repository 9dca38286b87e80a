/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which MPI library a program would load, found without running it: DT_NEEDED followed as the
 * dynamic linker would (RPATH, LD_LIBRARY_PATH, RUNPATH, its cache, the usual folders). Main thread
 * only.
 */
#ifndef MW_LAUNCH_ELF_H
#define MW_LAUNCH_ELF_H

/* Which functions beyond MPI-3.1 an MPI library has. */
enum mw_mpi_extent {
    MW_MPI_OLD,   /* not all of MPI-4.0's */
    MW_MPI_SMALL, /* MPI-4.0's, but not the large-count forms (Open MPI 5) */
    MW_MPI_FULL,
};

struct mw_mpi_library {
    char *path; /* of the object that defines PMPI_Init */
    enum mw_mpi_extent extent;
};

/* 1 and *library (free path) when the ELF program at `path` has an MPI library among its
 * dependencies. */
int mw_elf_find_mpi(const char *path, struct mw_mpi_library *library);

#endif
