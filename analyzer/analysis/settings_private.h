/* SPDX-License-Identifier: BSD-3-Clause */
/* What settings.c (places and variants), settings_libraries.c (files of the job's libraries),
 * settings_names.c (verdicts on names), settings_spelling.c (names made of pieces) and
 * settings_values.c (lists of names) share. Main thread, while settings are built. */
#ifndef MW_ANALYSIS_SETTINGS_PRIVATE_H
#define MW_ANALYSIS_SETTINGS_PRIVATE_H

#include "analyzer/analysis/settings.h"
#include "analyzer/analysis/texts.h"

#define MW_FAMILIES (MW_FAMILY_PSM3 + 1)

/* A plug-in that is installed beside the libraries of a family. */
struct mw_plugin {
    char *path;
    const char *name; /* "mca_btl_tcp.so", part of path */
    int loaded;
    struct mw_image_texts *texts; /* its own, once asked for */
    const char *reason;           /* why there are none */
};

/* The libraries of one family that the job had loaded. */
struct mw_library_set {
    int looked;
    size_t loaded;                /* objects, of all processes */
    struct mw_image_texts *texts; /* NULL: cannot be judged, and reason says why */
    char *reason;
    MW_VECTOR(struct mw_plugin) plugins;
    int hidden; /* there is a folder of plug-ins that is not on this machine */
};

struct mw_libraries {
    const struct mw_model *model;
    MW_VECTOR(const struct mw_module *) modules; /* each file once */
    struct mw_library_set sets[MW_FAMILIES];
    struct mw_image_texts *all; /* of whatever else was loaded */
    int all_looked, all_read;
    enum mw_abi_kind abi; /* 0 where processes differ */
    const char *version;  /* as MPI_Get_library_version said; "" */
};

void mw_libraries_init(struct mw_libraries *libraries, const struct mw_model *model);
void mw_libraries_free(struct mw_libraries *libraries);
struct mw_library_set *mw_libraries_set(struct mw_libraries *libraries,
                                        enum mw_setting_family family);
/* One more folder of plug-ins, that a setting names. */
void mw_libraries_folder(struct mw_libraries *libraries, enum mw_setting_family family,
                         const char *folder);
struct mw_image_texts *mw_plugin_texts(struct mw_plugin *plugin);
/* Does any loaded file have this text whole? 0 no, 1 yes (*file: its base name), -1 not all could
 * be read. */
int mw_libraries_anywhere(struct mw_libraries *libraries, const char *name, const char **file);
/* Was libfabric ("libfabric") or UCX ("ucx") there? 1 yes, 0 certainly not, -1 not known. */
int mw_libraries_came(struct mw_libraries *libraries, enum mw_setting_family family);
/* "ch4:ucx" of MPICH; "" unknown. Free it. */
char *mw_libraries_device(const struct mw_libraries *libraries);
const char *mw_libraries_mpi(const struct mw_libraries *libraries); /* "MPICH"; "" unknown */

/* How names of a family are made: PREFIX and one to `pieces` texts. */
struct mw_spelling {
    const char *prefix;
    unsigned pieces;
    int joint;      /* the pieces but the last end in "_" themselves */
    unsigned flags; /* enum mw_image_texts_flags */
    int upper;      /* names are in capitals */
    int (*known_first)(const char *word,
                       size_t length); /* words to be preferred in front; or NULL */
};
/* The name can be made of texts of these sets (more: a second one, or NULL). */
enum mw_image_texts_found mw_spelling_find(const struct mw_spelling *spelling,
                                           const struct mw_image_texts *texts,
                                           const struct mw_image_texts *more, const char *name,
                                           const char **file);
/* A name close by that can be made of them; NULL none. Free it. */
char *mw_spelling_suggest(const struct mw_spelling *spelling, const struct mw_image_texts *texts,
                          const struct mw_image_texts *more, const char *name);

struct mw_settings {
    const struct mw_model *model;
    MW_VECTOR(struct mw_setting) list;
    struct mw_libraries libraries;
    MW_VECTOR(void *) owned; /* texts and arrays, freed with it */
};
void *mw_settings_keep(struct mw_settings *settings, void *memory);

int mw_framework_known(const char *word, size_t length);
int mw_setting_by_launcher(const char *name);
enum mw_setting_family mw_setting_family_of(const char *name);
void mw_setting_judge(struct mw_settings *settings, struct mw_setting *setting);
void mw_setting_judge_values(struct mw_settings *settings, struct mw_setting *setting);

#endif
