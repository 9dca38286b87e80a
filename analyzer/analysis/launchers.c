/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of launchers (launchers.h). */
#include "analyzer/analysis/launchers.h"

#include <stddef.h>
#include <string.h>

int mw_launcher_named(const char *name)
{
    static const char *const prefixes[] = {"mpirun",    "mpiexec", "orterun",    "orted", "oshrun",
                                           "prterun",   "prted",   "prun",       "prte",  "hydra_",
                                           "pmi_proxy", "srun",    "slurmstepd", "pbs_",  "palsd",
                                           "aprun",     "jsrun"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return 1;
    return 0;
}
