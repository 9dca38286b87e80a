/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves what dead processes left in shared memory into their traces. For `mpiwatch collect` and the
 * end of `mpiwatch run`. Main thread only.
 */
#ifndef MW_LAUNCH_COLLECT_H
#define MW_LAUNCH_COLLECT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mw_collected {
    size_t processes; /* collected */
    uint64_t bytes;
    size_t alive, foreign,
        failed; /* left alone: running, or of another namespace; could not be collected */
};

/* Everything of this user, or of the trace in `folder` only. Tells what it does to `out`, where not
 * NULL; failures go to stderr. */
void mw_collect(const char *folder, FILE *out, struct mw_collected *result);

#endif
