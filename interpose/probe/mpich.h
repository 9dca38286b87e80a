/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests: what mpich.c concludes from the text of MPI_Get_library_version, told by mw_choice.
 */
#ifndef MW_PROBE_MPICH_H
#define MW_PROBE_MPICH_H

void mw_mpich_version(const char *text);

#endif
