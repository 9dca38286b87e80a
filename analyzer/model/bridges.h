/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that reach over worlds: each world has written its own side (model/comms.h), in
 * which the others are strangers. Joins the sides of one communicator by how it was made, sizes,
 * port and time, where only one way fits; docs/metrics.md has the rules. Part of building the
 * communicators: runs once, on the main thread, only where a trace has several worlds.
 */
#ifndef MW_MODEL_BRIDGES_H
#define MW_MODEL_BRIDGES_H

#include "analyzer/model/comms.h"

/* Joins sides and numbers the communicators anew; fills their sides. */
void mw_comms_bridge(struct mw_comms *comms);

#endif
