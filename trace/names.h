/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of MPI functions by their number in traces. Both halves; any thread.
 */
#ifndef MW_TRACE_NAMES_H
#define MW_TRACE_NAMES_H

/* "MPI_Send"; NULL for a number that the table of this version does not have. Static storage. */
const char *mw_function_name(unsigned id);

#endif
