/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far two ranks are from each other, as a class: pairs are compared with pairs of the same
 * class. Pure functions over the model; any thread.
 */
#ifndef MW_MODEL_DISTANCE_H
#define MW_MODEL_DISTANCE_H

#include "analyzer/model/model.h"

enum mw_distance {
    MW_DISTANCE_UNKNOWN,
    MW_DISTANCE_SELF,
    MW_DISTANCE_NODE,    /* two ranks of one node */
    MW_DISTANCE_NETWORK, /* of two nodes */
    MW_DISTANCES
};

enum mw_distance mw_distance_of(const struct mw_model *model, int64_t src, int64_t dst);
/* "same node"; static. */
const char *mw_distance_word(enum mw_distance distance);

#endif
