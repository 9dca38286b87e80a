/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of MPI and the fabric that a job ran with: which value was in force, where it came
 * from, which others it overrode, on which ranks, and whether anybody reads it at all. Verdicts on
 * names come from the texts in the very libraries that the job had loaded (same build-id); where
 * those are not on this machine the verdict is "not checked". Built once, then read-only: any
 * thread may read it.
 */
#ifndef MW_ANALYSIS_SETTINGS_H
#define MW_ANALYSIS_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/model.h"

enum mw_setting_family {
    MW_FAMILY_OTHER,   /* listed where it steers MPI or the fabric, not judged */
    MW_FAMILY_OPENMPI, /* OMPI_MCA_ */
    MW_FAMILY_PMIX,    /* PMIX_MCA_ */
    MW_FAMILY_PRRTE,   /* PRTE_MCA_ */
    MW_FAMILY_MPICH,   /* MPIR_CVAR_, MPICH_ */
    MW_FAMILY_INTEL,   /* I_MPI_ */
    MW_FAMILY_MVAPICH, /* MV2_, MVP_ */
    MW_FAMILY_LIBFABRIC,
    MW_FAMILY_UCX,
    MW_FAMILY_PSM2,
    MW_FAMILY_PSM3,
};

enum mw_setting_verdict {
    MW_SETTING_UNCHECKED,  /* reason: why */
    MW_SETTING_KNOWN,      /* a loaded library has its name */
    MW_SETTING_LAUNCHER,   /* for mpirun and its helpers, or set by them: not for the ranks */
    MW_SETTING_UNKNOWN,    /* no loaded library knows it; suggestion where there is a close one */
    MW_SETTING_NOT_LOADED, /* known to `component`, which is installed and was not loaded */
    MW_SETTING_IDLE, /* its library never came, or it is another MPI's; reason: what is here */
};

enum mw_setting_origin {
    MW_ORIGIN_ENVIRONMENT,  /* also from the launcher's command line: the source says so */
    MW_ORIGIN_FILE,         /* source: "path:line" */
    MW_ORIGIN_OVERRIDE,     /* a file that wins over the environment */
    MW_ORIGIN_COMMAND_LINE, /* of the launcher, and not in the environment of the rank */
    MW_ORIGIN_PERHAPS,      /* a file that the library may or may not obey: in force only where no
                               other place sets it, and then not certain */
};

/* A place that sets it. */
struct mw_setting_place {
    enum mw_setting_origin origin;
    const char *value, *source;
};

/* A name in a list of values that nothing installed has. */
struct mw_setting_stranger {
    const char *word, *suggestion; /* suggestion: NULL none */
    const char *reason;            /* one sentence, no full stop */
};

/* What is in force on some processes. */
struct mw_setting_variant {
    struct mw_setting_place in_force;
    const struct mw_setting_place *overridden; /* the strongest first */
    size_t overridden_count;
    const uint32_t *processes; /* numbers in the model, ascending */
    size_t process_count;
    const struct mw_setting_stranger *strangers;
    size_t stranger_count;
};

struct mw_setting {
    const char *name; /* as a variable: "OMPI_MCA_btl", also where a file sets "btl" */
    enum mw_setting_family family;
    const struct mw_setting_variant *variants; /* that of most processes first */
    size_t variant_count;
    int everywhere;  /* one variant, all processes whose environment is known */
    int by_launcher; /* the launcher sets it in each of its jobs: says nothing about this one */
    enum mw_setting_verdict verdict;
    const char *suggestion; /* the name that may be meant; NULL none */
    const char *component;  /* with NOT_LOADED: "pml/ucx"; else NULL */
    const char *library;    /* with KNOWN: base name of the file that has it; else NULL */
    const char *reason;     /* one sentence in words, no full stop; "" for KNOWN */
};

struct mw_settings;

struct mw_settings *mw_settings_create(const struct mw_model *model);
void mw_settings_free(struct mw_settings *settings);

/* By name. Names and texts live as long as the settings and the trace. */
size_t mw_settings_count(const struct mw_settings *settings);
const struct mw_setting *mw_settings_at(const struct mw_settings *settings, size_t index);
const struct mw_setting *mw_settings_find(const struct mw_settings *settings, const char *name);
/* What is in force on one process (number in the model); NULL where it is not set there. */
const struct mw_setting_variant *mw_setting_on(const struct mw_setting *setting, uint32_t process);

/* "unknown", "idle" …, for JSON. Static. */
const char *mw_setting_verdict_word(enum mw_setting_verdict verdict);
const char *mw_setting_family_word(enum mw_setting_family family);
const char *mw_setting_origin_word(enum mw_setting_origin origin);

/* A component that a list of names keeps out. */
struct mw_exclusion {
    const struct mw_setting *setting;
    const struct mw_setting_variant *variant; /* value, source, processes */
    int by_name;                              /* "^ucx"; 0: a list of others */
};
/* Is component `name` of `framework` kept out on any process? Framework: one of Open MPI's ("pml",
 * "mtl", "btl"), or a variable with a list of names ("FI_PROVIDER", "UCX_TLS" with UCX's aliases,
 * "UCX_NET_DEVICES"). 0: it is not; 1: yes, *out is the variant that concerns most processes. */
int mw_setting_excludes(const struct mw_settings *settings, const char *framework, const char *name,
                        struct mw_exclusion *out);
/* The same for one value: -1 kept out by "^", -2 kept out by a list of others, 1 may be used. */
int mw_list_allows(const char *variable, const char *list, const char *name);

#endif
