/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the programs that start ranks: MPI's launchers and their daemons, and those of batch
 * systems. By the name that the kernel keeps, which is the first 15 bytes of the program's. Both
 * halves: the job looks for its launcher, the analyzer says who started what. Any thread.
 */
#ifndef MW_TRACE_LAUNCHERS_H
#define MW_TRACE_LAUNCHERS_H

#include <string.h>

static inline int mw_name_begins(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
            return 1;
    return 0;
}

/* One of MPI's own, on whose command line its parameters may stand, or a daemon of such a one. */
static inline int mw_is_mpi_launcher(const char *name)
{
    static const char *const prefixes[] = {"mpirun", "mpiexec", "orterun", "orted",
                                           "oshrun", "prterun", "prted",   "prun",
                                           "prte",   "hydra_",  "pmi_proxy", NULL};
    return mw_name_begins(name, prefixes);
}

static inline int mw_is_launcher(const char *name)
{
    static const char *const prefixes[] = {"srun",  "slurmstepd", "pbs_", "palsd",
                                           "aprun", "jsrun",      NULL};
    return mw_is_mpi_launcher(name) || mw_name_begins(name, prefixes);
}

#endif
