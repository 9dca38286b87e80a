/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that probes and matched probes share. On the calling thread, inside its MPI call. */
#ifndef MW_RECORD_PROBES_H
#define MW_RECORD_PROBES_H

#include "record/record.h"

void mw_probe_open(struct mw_call *call, mw_handle comm, int rank, int tag);
/* Record what was opened as a CALL and leave; the second as a poll where the flag is 0. */
void mw_probe_close(struct mw_call *call, uint64_t end, int rc);
void mw_probe_close_poll(struct mw_call *call, uint64_t end, int rc, const int *flag);

#endif
