/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting an MPI job with the library preloaded into the ranks' programs and not into the
 * launcher: each launcher has its own way to set variables for the ranks. Main thread only.
 */
#ifndef MW_LAUNCH_LAUNCHER_H
#define MW_LAUNCH_LAUNCHER_H

#include <stddef.h>

#include "analyzer/base/memory.h"

enum mw_launcher {
    MW_LAUNCHER_NONE, /* a plain program, or one that we do not know: its own environment is set */
    MW_LAUNCHER_OPENMPI,
    MW_LAUNCHER_HYDRA, /* MPICH, MVAPICH, Intel MPI */
    MW_LAUNCHER_SLURM,
};

/* By the name behind links, else by what it says with --version (only programs called mpirun,
 * mpiexec or the like are asked). */
enum mw_launcher mw_launcher_detect(const char *command);
const char *mw_launcher_name(enum mw_launcher launcher);

struct mw_variable {
    const char *name;
    char *value;
};
struct mw_variables {
    MW_VECTOR(struct mw_variable) list;
};
void mw_variables_set(struct mw_variables *variables, const char *name, char *value);
void mw_variables_free(struct mw_variables *variables);

/* The command line with what this launcher needs to give the ranks `library` as LD_PRELOAD, before
 * those that they would have anyway, and the variables. Those that can go by the environment are
 * set there (setenv). The result ends with NULL; it and its strings live until the end of the
 * program. */
char **mw_launcher_command(enum mw_launcher launcher, char *const *command, const char *library,
                           const struct mw_variables *variables);

#endif
