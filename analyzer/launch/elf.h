/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which MPI library a program would load, found without running it: DT_NEEDED followed as the dynamic linker
 * would (RPATH, LD_LIBRARY_PATH, RUNPATH, its cache, the usual folders). Main thread only.
 */
#ifndef MW_LAUNCH_ELF_H
#define MW_LAUNCH_ELF_H

struct mw_mpi_library {
    char *path;  /* of the object that defines PMPI_Init */
    int is_mpi4; /* it has the functions that MPI-4.0 brought */
};

/* 1 and *library (free path) when the ELF program at `path` has an MPI library among its dependencies. */
int mw_elf_find_mpi(const char *path, struct mw_mpi_library *library);

#endif
