/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the probe that looks where a process may run and does (placement*.c, foreign.c).
 * Steps of probes.c, on the thread that makes the call of MPI. `root` is "" but in tests.
 */
#ifndef MW_PROBE_PLACEMENT_H
#define MW_PROBE_PLACEMENT_H

#include "mpiwatch/format.h"
#include "probe/cpus.h"
#include "trace/fields.h"

/* One look, as a PLACEMENT chunk. MW_WHEN_DURING: only where something that matters is other than
 * at the look before. */
void mw_placement_look(const char *root, enum mw_when when);

/* What the cpuset of this process allows; none where there is no such thing. */
void mw_placement_cgroup(struct mw_cpus *cpus, const char *root);
/* The threads of this process that have used the processor, as records; `own`: where the calling
 * thread may run. */
void mw_placement_threads(struct mw_buffer *buffer, const char *root, const struct mw_cpus *own);

/* A reading of all processes of the node, compared with that before: the busy ones, as records. The
 * first finds none. */
void mw_foreign_look(struct mw_buffer *buffer, const char *root);

/* The end of a record in a look: one that leaves no room for the numbers behind the records is left
 * out. */
static inline void mw_placement_record_end(struct mw_buffer *buffer, size_t mark)
{
    enum { NUMBERS = 32 };
    mw_put_end(buffer, mark);
    if (buffer->capacity - buffer->size < NUMBERS)
        buffer->size = mark;
    buffer->overflow = 0;
}

#endif
