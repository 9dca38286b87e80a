/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ways messages took, over all pairs and pair by pair (digest.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports.h"
#include "analyzer/model/distance.h"
#include "analyzer/regression/digest_build.h"

#define CONTROL_BYTES 4096 /* that nobody counted as messages */

/* Ways while pairs are added, by what tells them apart. */
struct gathering {
    struct mw_digest *digest;
    struct mw_index index;
};

/* Its texts need live until this returns only. */
static void way_add(struct gathering *gathering, const struct mw_digest_way *way)
{
    uint64_t key = mw_hash_text(1, way->distance);
    key = mw_hash_text(mw_mix(key), way->buffer);
    key = mw_hash_text(mw_mix(key), way->transport);
    key = mw_hash_text(mw_mix(key), way->layer);
    key = mw_hash_text(mw_mix(key), way->device);
    size_t at = mw_index_put(&gathering->index, key);
    if (at == gathering->digest->ways.count) {
        mw_digest_put_way(gathering->digest, way);
        return;
    }
    struct mw_digest_way *known = &gathering->digest->ways.at[at];
    if (way->first_class < known->first_class)
        known->first_class = way->first_class;
    if (way->last_class > known->last_class)
        known->last_class = way->last_class;
    known->pairs += way->pairs;
    known->messages += way->messages;
    known->bytes += way->bytes;
}

static struct mw_digest_way way_of(const struct mw_way *way, const struct mw_route *route)
{
    struct mw_digest_way made = {.transport = (char *)way->name,
                                 .layer = (char *)way->layer,
                                 .device = (char *)way->device,
                                 .first_class = route->first_class,
                                 .last_class = route->last_class,
                                 .pairs = 1,
                                 .messages = route->messages,
                                 .bytes = route->bytes};
    if (!route->messages) { /* collectives, or one-sided operations */
        made.last_class = MW_SIZE_CLASSES - 1;
        made.bytes = route->carried;
    }
    return made;
}

static void pair_ways(struct gathering *gathering, const struct mw_transports *transports,
                      const struct mw_pair_transport *pair, const char *distance)
{
    for (size_t i = 0; i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        if (!route->messages && (pair->messages || route->carried <= CONTROL_BYTES))
            continue;
        struct mw_digest_way way = way_of(&transports->ways.at[route->way], route);
        way.distance = distance;
        way.buffer = mw_buffer_word(route->buffer);
        way_add(gathering, &way);
    }
    if (!pair->routes.count && pair->messages)
        way_add(gathering, &(struct mw_digest_way){.distance = distance,
                                                   .buffer = "",
                                                   .transport = (char *)"unknown",
                                                   .layer = (char *)"",
                                                   .device = (char *)"",
                                                   .last_class = MW_SIZE_CLASSES - 1,
                                                   .pairs = 1,
                                                   .messages = pair->messages,
                                                   .bytes = pair->bytes});
}

/* Without what it used besides its messages, which differs from run to run. */
static char *pair_label(const struct mw_transports *transports,
                        const struct mw_pair_transport *pair)
{
    char *label = mw_transports_label(transports, pair);
    char *also = pair->messages ? strstr(label, ", also ") : NULL;
    if (also)
        *also = '\0';
    return label;
}

void mw_digest_add_ways(struct mw_digest *digest, const struct mw_analysis *analysis)
{
    const struct mw_transports *transports = analysis->transports;
    struct gathering gathering = {.digest = digest};
    for (size_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        if (pair->src == pair->dst)
            continue;
        const char *distance =
            mw_distance_word(mw_distance_of(analysis->model, pair->src, pair->dst));
        pair_ways(&gathering, transports, pair, distance);
        char *label = pair_label(transports, pair);
        mw_digest_put_pair(digest, &(struct mw_digest_pair){.src = pair->src,
                                                            .dst = pair->dst,
                                                            .distance = distance,
                                                            .transport = label,
                                                            .messages = pair->messages,
                                                            .bytes = pair->bytes});
        free(label);
    }
    mw_index_free(&gathering.index);
}
