/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the programs that start ranks: launchers, their daemons, and those of batch systems.
 * Read-only; any thread.
 */
#ifndef MW_ANALYSIS_LAUNCHERS_H
#define MW_ANALYSIS_LAUNCHERS_H

/* By the name that the kernel keeps: the first 15 bytes of the program's. */
int mw_launcher_named(const char *name);

#endif
