/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that this process has open, by number, from /proc/self/fd. Nothing is done to them. Any
 * thread; no allocation; the walk holds one descriptor of its own while it is open.
 */
#ifndef MW_PROBE_FDWALK_H
#define MW_PROBE_FDWALK_H

#include "probe/sysfile.h"

struct mw_fdwalk {
    struct mw_dir dir;
    int from;
};

/* From descriptor `from` on. 0, or -1: /proc cannot be read. */
int mw_fdwalk_open(struct mw_fdwalk *walk, int from);
/* The next one, our own left out; -1 when there are no more. */
int mw_fdwalk_next(struct mw_fdwalk *walk);
void mw_fdwalk_close(struct mw_fdwalk *walk);
/* How many are open, our own left out; 0 where the kernel does not tell (before 6.2). */
unsigned mw_fdwalk_total(const struct mw_fdwalk *walk);

#endif
