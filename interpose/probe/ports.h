/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests: the counters of a node's ports, read below another root folder ("" is the real one).
 */
#ifndef MW_PROBE_PORTS_H
#define MW_PROBE_PORTS_H

#include "mpiwatch/format.h"

/* Writes PORTS chunks. */
void mw_ports_write(const char *root, enum mw_when when);

#endif
