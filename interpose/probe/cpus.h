/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of CPUs or of memory nodes as runs of the kernel's numbers, from its lists ("0-3,64-67") and
 * masks, to a trace. Any thread; no allocation. What has more runs than there is room for is cut
 * off at the end.
 */
#ifndef MW_PROBE_CPUS_H
#define MW_PROBE_CPUS_H

#include <stddef.h>
#include <stdint.h>

#include "probe/sysfile.h"
#include "trace/fields.h"

#define MW_CPU_RUNS   512u  /* every second one of 1024 */
#define MW_CPUS_BYTES 1024u /* of a mask: 8192 CPUs */

struct mw_cpus {
    uint32_t count;
    struct {
        uint32_t first, count;
    } run[MW_CPU_RUNS];
};

/* Up to the first character that is of no list. */
void mw_cpus_of_list(struct mw_cpus *cpus, const char *list);
void mw_cpus_of_mask(struct mw_cpus *cpus, const void *mask, size_t bytes);
/* Where a thread may run (tid 0: this one). 0, or -1: it cannot be told, cpus are then none. */
int mw_cpus_of_thread(struct mw_cpus *cpus, int tid);
int mw_cpus_equal(const struct mw_cpus *a, const struct mw_cpus *b);
uint64_t mw_cpus_total(const struct mw_cpus *cpus);
/* As the kernel writes lists: "0-3,8". */
void mw_cpus_text(struct mw_text *text, const struct mw_cpus *cpus);
/* A packed field of pairs; nothing where there are none. */
void mw_cpus_put(struct mw_buffer *buffer, unsigned id, const struct mw_cpus *cpus);

#endif
