/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What env_params.c (which files are read), env_paramfile.c (what stands in one) and env_launcher.c
 * (command lines above this process) share. One thread; memory is pages of the caller's.
 */
#ifndef MW_PROBE_ENV_PARAMS_H
#define MW_PROBE_ENV_PARAMS_H

#include "probe/env_run.h"

#define MW_PARAMS_SEEN                                                                             \
    1024u /* different names; of more, only the strongest places are kept apart */

/* Places are taken from the strongest to the weakest. Sections: "parameter" is the strongest of the
 * files that the environment beats, "parameter.override" of those that it does not;
 * "parameter.weaker" are the others of the same name, "parameter.perhaps" are places that a library
 * may or may not obey (keys NAME#1, NAME#2 … there); "launcher" is a command line's that the
 * environment does not show. */
struct mw_params {
    struct mw_env_run *run;
    struct {
        uint64_t hash;
        uint32_t weaker; /* places already taken beside the strongest */
    } seen[2 * MW_PARAMS_SEEN];
    unsigned seen_count, left_out; /* left_out: places of names that found no room */
    const char *words;             /* said of the source after file:line: "" */
};

enum mw_params_format {
    MW_PARAMS_OPENMPI, /* name = value, or options of mpirun */
    MW_PARAMS_INI,     /* NAME=value, comments, sections that may not apply */
    MW_PARAMS_PLAIN,   /* NAME=value, nothing else */
};
enum mw_params_rank {
    MW_PARAMS_ORDINARY,
    MW_PARAMS_OVERRIDE, /* wins over the environment */
    MW_PARAMS_PERHAPS,
    MW_PARAMS_TOLD, /* a launcher was to set it: a source of the environment where that agrees */
};

/* All that a file sets. Prefix: "OMPI_MCA_", or "" where the file has whole names. */
void mw_params_file(struct mw_params *params, const char *prefix, const char *path,
                    enum mw_params_format format, enum mw_params_rank rank);
/* One place. */
void mw_params_place(struct mw_params *params, const char *key, const char *value,
                     const char *source, enum mw_params_rank rank);

/* What is set, in whichever way, by an option of a launcher: at[0] is the option, at[1], at[2] what
 * follows (NULL: nothing). Gives how many arguments belong to it, 0 when it is no such option;
 * *name is the variable's whole name, *value stays inside the arguments. */
int mw_params_option(const char *const at[3], char *name, size_t capacity, const char **value);

/* env_launcher.c */
void mw_params_launchers(struct mw_params *params);

#endif
