/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests: the parts of openmpi.c that read Open MPI's objects. Between open and close, on one
 * thread.
 */
#ifndef MW_PROBE_OPENMPI_H
#define MW_PROBE_OPENMPI_H

#include <stdint.h>

int mw_openmpi_memory_open(void); /* 0: not possible */
void mw_openmpi_memory_close(void);
/* Tells (mw_choice) of the BTLs in the list at this address; 0 when it is not such a list. */
int mw_openmpi_btls(uintptr_t list);

#endif
