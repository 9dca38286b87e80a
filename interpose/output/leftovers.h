/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What dead processes of this user left on this node: appended to the traces they belong to and removed.
 * Runs in MPI_Init, bounded in number and time.
 */
#ifndef MW_OUTPUT_LEFTOVERS_H
#define MW_OUTPUT_LEFTOVERS_H

#include "config.h"

void mw_leftovers_collect(const struct mw_config *config);

#endif
