/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites joined over processes: the same stack is the same (module by build-id or path, offset)
 * frame by frame. Fed process by process, under a lock of the caller's; then read-only.
 */
#ifndef MW_MODEL_SITES_H
#define MW_MODEL_SITES_H

#include "analyzer/model/model.h"

/* A key for a site of a process; 0 where it was not recorded. */
uint64_t mw_site_key(const struct mw_process *process, uint64_t site);
/* The frame that called MPI: the innermost one that is in no MPI library, binding or tool. The
 * index of it; 0 where there is none. */
size_t mw_site_caller(const struct mw_process *process, const struct mw_site *site);

#endif
