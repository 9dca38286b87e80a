/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where each process of a job may run, and the hardware of the nodes: what distances within nodes
 * are told by. Read once from a trace's metadata, when somebody asks (mw_model_sit), and kept with
 * the model; then read-only. Main thread.
 */
#ifndef MW_MODEL_SEATS_H
#define MW_MODEL_SEATS_H

#include "analyzer/model/locality.h"
#include "analyzer/model/model.h"

struct mw_seats {
    struct mw_hardware **hardware; /* by number of node of the model */
    struct mw_seat *at; /* by number of process, of its last look; empty where it had none */
};

/* Reads them, where that has not been done yet. mw_model_free frees them. */
const struct mw_seats *mw_model_sit(struct mw_model *model);
void mw_seats_free(struct mw_seats *seats, const struct mw_model *model);

#endif
