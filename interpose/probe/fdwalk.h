/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that this process may have open, by number. Nothing is done to them. Any
 * thread; no allocation.
 */
#ifndef MW_PROBE_FDWALK_H
#define MW_PROBE_FDWALK_H

#include "probe/sysfile.h"

struct mw_fdwalk {
    int next, end;     /* numbers are tried one by one; end 0: the folder below is read */
    struct mw_dir dir; /* /proc/self/fd */
};

/* From descriptor `from` on. 0, or -1: /proc cannot be read. */
int mw_fdwalk_open(struct mw_fdwalk *walk, int from);
/* The same by the folder, whatever the length of the table; for tests. */
int mw_fdwalk_open_folder(struct mw_fdwalk *walk, int from);
/* The next number, ascending; -1 when there are no more. It need not be open. */
int mw_fdwalk_next(struct mw_fdwalk *walk);
void mw_fdwalk_close(struct mw_fdwalk *walk);
/* How many of the numbers that have not been given are open, at most `most`. Ends the walk. */
unsigned mw_fdwalk_rest(struct mw_fdwalk *walk, unsigned most);

#endif
