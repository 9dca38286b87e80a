/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes of a trace are of one MPI_COMM_WORLD, in which order the worlds stand, and where
 * their ranks are in the row of all (model.h). Part of building the model: runs once, on the main
 * thread. Trusts no size: what a trace claims beyond what can be counted has no place.
 */
#ifndef MW_MODEL_WORLDS_H
#define MW_MODEL_WORLDS_H

#include "analyzer/model/model.h"

/* Fills worlds, process_world and process_place of a model that knows its processes. */
void mw_worlds_find(struct mw_model *model);

#endif
