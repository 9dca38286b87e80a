/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which part a loaded object plays for MPI: the library itself, a binding for another language, a
 * tool that stands between, or the program. Judged by what the object defines, and only then by its
 * name, as vendors name their libraries freely. Any thread, no allocation.
 */
#include <string.h>

#include "probe/modules.h"

static int defines(const struct mw_elf *elf, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mw_elf_lookup(elf, names[i]))
            return 1;
    return 0;
}
#define DEFINES(elf, names) defines(elf, names, sizeof(names) / sizeof *(names))

static int named(const char *base, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(base, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}
#define NAMED(base, prefixes) named(base, prefixes, sizeof(prefixes) / sizeof *(prefixes))

/* Objects inside of which only known MPI implementations keep their world. */
static const char *const internals[] = {"ompi_mpi_comm_world", "MPIR_Err_return_comm",
                                        "MPIR_Process", "MPII_Version_CXX"};
/* Libraries of an MPI that do not define PMPI_Init themselves, and components of it. */
static const char *const families[] = {"libmpi.so",     "libmpich.so",   "libpmpi.so",
                                       "libmpi_abi.so", "libopen_mpi",   "libopen-pal",
                                       "libopen-rte",   "libmca_common", "mca_"};
static const char *const providers_needed[] = {"libmpi.so", "libmpich.so", "libmpi_"};
static const char *const c_functions[] = {
    "MPI_Init",  "MPI_Init_thread", "MPI_Finalize", "MPI_Send",  "MPI_Recv",      "MPI_Isend",
    "MPI_Irecv", "MPI_Wait",        "MPI_Waitall",  "MPI_Bcast", "MPI_Allreduce", "MPI_Barrier"};
/* A binding has the profiling names too (a tool for Fortran calls them, it does not define them),
 * or is one of the module libraries. */
static const char *const foreign_functions[] = {"pmpi_send_",
                                                "pmpi_send__",
                                                "pmpi_send",
                                                "PMPI_SEND",
                                                "mpi_send_f08_",
                                                "mpi_send_f08ts_",
                                                "mpi_sizeof_character_r1_",
                                                "_ZN3MPI10COMM_WORLDE",
                                                "Java_mpi_Comm_send",
                                                "PyInit_MPI"};
static const char *const fortran_functions[] = {"mpi_send_", "mpi_init_", "mpi_send__",
                                                "mpi_init__", "MPI_INIT"};
static const char *const binding_names[] = {"libmpi_mpifh", "libmpi_usempi", "libmpi_cxx",
                                            "libmpi_java",  "libmpifort",    "libmpichfort",
                                            "libmpicxx",    "libmpichcxx",   "libfmpich"};

static int needs_mpi(const struct mw_elf *elf)
{
    for (size_t i = 0; i < sizeof providers_needed / sizeof *providers_needed; i++)
        if (mw_elf_needs(elf, providers_needed[i]))
            return 1;
    return 0;
}

int mw_module_is_surely_mpi(const struct mw_elf *elf, const char *name)
{
    static const char *const standard[] = {"libmpi_abi.so"};
    const char *base = strrchr(name, '/');
    return DEFINES(elf, internals) || NAMED(base ? base + 1 : name, standard);
}

static int is_mpi(const struct mw_elf *elf, const char *base)
{
    if (NAMED(base, families))
        return 1;
    if (!mw_elf_lookup(elf, "PMPI_Init"))
        return 0;
    /* A tool may define PMPI names as well. Most are linked with the library that they stand before; of the
     * others one only knows when a library that is surely one is loaded too (modules.c). */
    return mw_module_is_surely_mpi(elf, base) || !needs_mpi(elf);
}

enum mw_module_role mw_module_role_of(const struct mw_elf *elf, const char *name, int is_main)
{
    uintptr_t own = (uintptr_t)mw_module_role_of;
    const char *base = strrchr(name, '/');
    base = base ? base + 1 : name;
    if (is_main)
        return MW_MODULE_PROGRAM;
    if (own >= elf->start && own < elf->end)
        return MW_MODULE_MPIWATCH;
    if (is_mpi(elf, base))
        return MW_MODULE_MPI;
    if (DEFINES(elf, c_functions))
        return MW_MODULE_TOOL;
    if (DEFINES(elf, foreign_functions) || NAMED(base, binding_names))
        return MW_MODULE_BINDING;
    return DEFINES(elf, fortran_functions) ? MW_MODULE_TOOL : MW_MODULE_PROGRAM;
}
