/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions that the program marks by MPI_Pcontrol(level, name): a stack by level, one for the
 * process, and for each different place in it how often and for how long it was open. They live in
 * the crash-safe mapping. Any thread; a lock while one begins or ends.
 */
#ifndef MW_RECORD_REGIONS_H
#define MW_RECORD_REGIONS_H

#include <stdatomic.h>
#include <stdint.h>

/* Level and name of MPI_Pcontrol, at `time`; name: NULL where it gave none. */
void mw_region_mark(int level, const char *name, uint64_t time);
/* Ends what is open, at the end of the recording; and writes all regions. */
void mw_regions_end(uint64_t time);
void mw_regions_write(void);

extern _Atomic uint32_t mw_region_open; /* id of the innermost one; 0 none */
static inline uint32_t mw_region_current(void)
{
    return atomic_load_explicit(&mw_region_open, memory_order_relaxed);
}

/* The text that a pointer leads to, if it is one: readable, 1 to 63 bytes of printable UTF-8 that
 * begin with a letter, a digit or an underscore. The pointer may be anything. */
int mw_region_name(const void *pointer, char name[64]);

#endif
