/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance classes (distance.h). */
#include "analyzer/model/distance.h"

#include "analyzer/model/seats.h"

#define INSIDE(locality) (MW_DISTANCE_CPU + ((locality)-MW_LOCALITY_CPU))
_Static_assert(INSIDE(MW_LOCALITY_L3) == MW_DISTANCE_L3 &&
                   INSIDE(MW_LOCALITY_OTHER_PACKAGE) == MW_DISTANCE_OTHER_SOCKET &&
                   INSIDE(MW_LOCALITY_NODE) == MW_DISTANCE_NODE,
               "distances within a node are localities");

/* Of two recorded ranks of one node. */
static enum mw_distance distance_inside(const struct mw_model *model, int64_t src, int64_t dst)
{
    int64_t one = mw_model_rank(model, src), other = mw_model_rank(model, dst);
    if (!model->seats || one < 0 || other < 0)
        return MW_DISTANCE_NODE;
    const struct mw_seats *seats = model->seats;
    return INSIDE(mw_locality_held(seats->hardware[model->process_node[one]], &seats->at[one],
                                   &seats->at[other]));
}

enum mw_distance mw_distance_of(const struct mw_model *model, int64_t src, int64_t dst)
{
    int64_t from = mw_model_rank_node(model, src), to = mw_model_rank_node(model, dst);
    if (src == dst)
        return MW_DISTANCE_SELF;
    if (from < 0 || to < 0)
        return MW_DISTANCE_UNKNOWN;
    return from == to ? distance_inside(model, src, dst) : MW_DISTANCE_NETWORK;
}

const char *mw_distance_word(enum mw_distance distance)
{
    if (distance == MW_DISTANCE_UNKNOWN || distance == MW_DISTANCE_SELF)
        return distance == MW_DISTANCE_SELF ? "self" : "unknown";
    return mw_locality_title(MW_LOCALITY_CPU + (distance - MW_DISTANCE_CPU));
}
