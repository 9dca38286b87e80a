/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF files of one build, by build-id: a wrong name is worse than none. Paths may come from a trace
 * and are not trusted: only regular files are read. Any thread.
 */
#ifndef MW_MODEL_DEBUGFILES_H
#define MW_MODEL_DEBUGFILES_H

#include <stddef.h>

struct mw_build_id {
    const unsigned char *bytes;
    size_t size;
};

/* What opening says instead of a descriptor. */
enum { MW_ELF_MISSING = -1, MW_ELF_OTHER_BUILD = -2, MW_ELF_NONE = -3 /* is no ELF file */ };

/* A descriptor of the file if it is of that build. */
int mw_elf_open(const char *path, struct mw_build_id id);
/* The same of its separate debug information, which also has its symbols: below the folders of
 * MPIWATCH_DEBUGINFO and /usr/lib/debug, and in what debuginfod has fetched before. *path is newly
 * allocated. */
int mw_debug_file_open(struct mw_build_id id, char **path);

#endif
