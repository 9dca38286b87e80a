/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What /proc/.../stat says of a process or a thread, of ours or of others. Any thread; one read.
 */
#ifndef MW_PROBE_PROCSTAT_H
#define MW_PROBE_PROCSTAT_H

#include <stdint.h>

struct mw_procstat {
    char name[64];
    uint64_t parent, flags;
    uint64_t ticks; /* of processor time, 100 a second */
    uint64_t start; /* ticks after boot */
    uint64_t cpu;   /* on which it was last */
};
#define MW_PROCSTAT_KERNEL 0x00200000u /* in flags: a thread of the kernel's */
#define MW_TICKS_A_SECOND  100u        /* whatever the kernel's own rate is */

/* 0, or -1: there is no such file, or it is none. */
int mw_procstat_read(const char *path, struct mw_procstat *stat);

#endif
