/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "mpiwatch: reading events: 35 %" on stderr, when work takes longer than a second and stderr is a
 * terminal. A thread of its own does it; mw_progress_add may be called from any thread, the others
 * from the main one.
 */
#ifndef MW_RENDER_PROGRESS_H
#define MW_RENDER_PROGRESS_H

#include <stdint.h>

/* Begins a piece of work, or its next phase; total 0: how much there is to do is not known. */
void mw_progress_begin(const char *what, uint64_t total);
void mw_progress_add(uint64_t done);
/* Removes the line. Before anything else is printed. */
void mw_progress_end(void);

#endif
