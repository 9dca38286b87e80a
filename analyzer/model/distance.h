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
    /* Two ranks of one node, in the order of enum mw_locality: what surely holds both. */
    MW_DISTANCE_CPU,
    MW_DISTANCE_CORE,
    MW_DISTANCE_L3,
    MW_DISTANCE_NUMA,
    MW_DISTANCE_SOCKET,
    MW_DISTANCE_OTHER_SOCKET, /* surely in two sockets */
    MW_DISTANCE_NODE,         /* no more is known, or they move too far to tell */
    MW_DISTANCE_NETWORK,      /* of two nodes */
    MW_DISTANCES
};

/* Where the model's seats were not read (mw_model_sit), two ranks of one node are at
 * MW_DISTANCE_NODE. */
enum mw_distance mw_distance_of(const struct mw_model *model, int64_t src, int64_t dst);
static inline int mw_distance_inside(enum mw_distance distance)
{
    return distance >= MW_DISTANCE_CPU && distance <= MW_DISTANCE_NODE;
}
/* "same NUMA node"; static. */
const char *mw_distance_word(enum mw_distance distance);

#endif
