/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance classes (distance.h). */
#include "analyzer/model/distance.h"

enum mw_distance mw_distance_of(const struct mw_model *model, int64_t src, int64_t dst)
{
    int64_t from = mw_model_rank_node(model, src), to = mw_model_rank_node(model, dst);
    if (src == dst)
        return MW_DISTANCE_SELF;
    if (from < 0 || to < 0)
        return MW_DISTANCE_UNKNOWN;
    return from == to ? MW_DISTANCE_NODE : MW_DISTANCE_NETWORK;
}

const char *mw_distance_word(enum mw_distance distance)
{
    static const char *const words[MW_DISTANCES] = {"unknown", "self", "same node", "other node"};
    return words[distance];
}
