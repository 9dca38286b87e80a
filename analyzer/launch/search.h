/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the dynamic linker would find a library. An approximation that is good enough to tell which
 * MPI a program uses: RPATH of all objects so far, LD_LIBRARY_PATH, RUNPATH, /etc/ld.so.cache, the
 * usual folders.
 */
#ifndef MW_LAUNCH_SEARCH_H
#define MW_LAUNCH_SEARCH_H

#include <stddef.h>

struct mw_search {
    unsigned machine;      /* e_machine of the program */
    char *rpath, *runpath; /* with $ORIGIN filled in; runpath of the current object */
    unsigned char *cache;
    size_t cache_size;
};

void mw_search_init(struct mw_search *search);
void mw_search_free(struct mw_search *search);
/* Goes on to the needs of an object: its own paths, NULL where it has none. */
void mw_search_object(struct mw_search *search, const char *path, const char *rpath,
                      const char *runpath);
/* The path of a library, or NULL. Free it. */
char *mw_search_find(const struct mw_search *search, const char *name);
/* The path of a program as the shell would find it, or NULL. Free it. */
char *mw_search_program(const char *name);

#endif
