/* SPDX-License-Identifier: BSD-3-Clause */
/* What some processes really used (used.h). */
#include "analyzer/findings/used.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/analysis/transport_totals.h"
#include "analyzer/base/number.h"
#include "analyzer/model/labels.h"

#define CONTROL_BYTES    4096 /* as many bytes, in as few messages, may be anything */
#define CONTROL_MESSAGES 16

static void use_add(struct mw_use *use, const struct mw_route *route, uint32_t pair)
{
    uint64_t bytes = route->messages ? route->bytes : route->carried;
    if (!use->pairs++)
        use->first_class = MW_SIZE_CLASSES;
    use->messages += route->messages;
    use->bytes += route->bytes;
    use->carried += route->carried;
    use->seen |= route->certainty == MW_SEEN;
    if (bytes > use->pair_bytes || use->pairs == 1) {
        use->pair_bytes = bytes;
        use->pair = pair;
    }
    if (!route->messages)
        return;
    if (route->first_class < use->first_class)
        use->first_class = route->first_class;
    if (route->last_class > use->last_class)
        use->last_class = route->last_class;
}

static int use_compare(const void *left, const void *right)
{
    const struct mw_use *a = left, *b = right;
    uint64_t first = a->messages ? a->bytes : a->carried;
    uint64_t second = b->messages ? b->bytes : b->carried;
    if (first != second)
        return first > second ? -1 : 1;
    return a->messages != b->messages ? (a->messages > b->messages ? -1 : 1)
                                      : (a->way > b->way) - (a->way < b->way);
}

/* A pair that used one way for several ranges of sizes has it counted once. */
static void count_pairs_once(struct mw_used *used, const struct mw_pair_transport *pair)
{
    for (size_t r = 1; r < pair->routes.count; r++)
        if (mw_route_repeats(pair, r))
            used->uses.at[pair->routes.at[r].way].pairs--;
}

static void pair_add(struct mw_used *used, uint32_t number)
{
    const struct mw_pair_transport *pair = &used->in->transports->pairs.at[number];
    used->pairs++;
    used->messages += pair->messages;
    used->bytes += pair->bytes;
    used->unknown += pair->messages && !pair->routes.count;
    for (size_t r = 0; r < pair->routes.count; r++)
        use_add(&used->uses.at[pair->routes.at[r].way], &pair->routes.at[r], number);
    count_pairs_once(used, pair);
}

void mw_used_begin(struct mw_used *used, const struct mw_finding_input *in,
                   const struct mw_crowd *crowd, unsigned wheres)
{
    const struct mw_transports *transports = in->transports;
    *used = (struct mw_used){.in = in};
    for (uint32_t i = 0; i < transports->ways.count; i++)
        mw_vector_add(&used->uses)->way = i;
    for (uint32_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        if (pair->src == pair->dst || !(wheres & 1u << pair->where))
            continue;
        if (!crowd || mw_crowd_has_rank(crowd, pair->src) || mw_crowd_has_rank(crowd, pair->dst))
            pair_add(used, i);
    }
    size_t kept = 0;
    for (size_t i = 0; i < used->uses.count; i++)
        if (used->uses.at[i].pairs)
            used->uses.at[kept++] = used->uses.at[i];
    used->uses.count = kept;
    if (kept)
        qsort(used->uses.at, kept, sizeof(used->uses.at[0]), use_compare);
}

void mw_used_end(struct mw_used *used)
{
    free(used->uses.at);
    *used = (struct mw_used){0};
}

int mw_way_slow(const struct mw_way *way)
{
    static const char *const sockets[] = {"tcp", "sock", "sockets", "udp", "ip"};
    if (way->kind != MW_WAY_NETWORK)
        return 0;
    for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
        if (!strcmp(way->name, sockets[i]))
            return 1;
    return way->software;
}

int mw_way_native(const struct mw_way *way)
{
    return way->kind == MW_WAY_NETWORK && !mw_way_slow(way);
}

int mw_use_matters(const struct mw_use *use)
{
    uint64_t bytes = use->messages ? use->bytes : use->carried;
    return bytes > CONTROL_BYTES || use->messages > CONTROL_MESSAGES;
}

const struct mw_use *mw_used_first(const struct mw_used *used,
                                   int (*test)(const struct mw_way *way))
{
    for (size_t i = 0; i < used->uses.count; i++)
        if (mw_use_matters(&used->uses.at[i]) &&
            test(&used->in->transports->ways.at[used->uses.at[i].way]))
            return &used->uses.at[i];
    return NULL;
}

char *mw_way_words(const struct mw_way *way)
{
    if (!way->layer[0] && !way->device[0])
        return mw_text_copy(way->name);
    return mw_format("%s (%s%s%s)", way->name, way->layer,
                     way->layer[0] && way->device[0] ? ", " : "", way->device);
}

char *mw_use_words(const struct mw_used *used, const struct mw_use *use)
{
    char *way = mw_way_words(&used->in->transports->ways.at[use->way]), *words;
    char *bytes = mw_number_bytes((double)(use->messages ? use->bytes : use->carried));
    char *messages = mw_number_count((double)use->messages);
    const char *seen = use->seen ? "" : " (concluded)";
    if (use->messages)
        words = mw_format("%s in %s message%s of %" PRIu64 " pair%s went over %s%s", bytes,
                          messages, use->messages == 1 ? "" : "s", use->pairs,
                          use->pairs == 1 ? "" : "s", way, seen);
    else
        words = mw_format("%s of %" PRIu64 " pair%s went over %s%s, not as point-to-point "
                          "messages",
                          bytes, use->pairs, use->pairs == 1 ? "" : "s", way, seen);
    free(way);
    free(bytes);
    free(messages);
    return words;
}

char *mw_line_rate_words(uint64_t bits)
{
    return mw_number_rate((double)bits / 8);
}

char *mw_reached_words(const struct mw_speed *speed, double whole)
{
    int bound;
    double rate = mw_speed_in_flight(speed, &bound);
    char *number = whole > 0 ? mw_number_rate_of(rate, whole) : mw_number_rate(rate);
    char *words = mw_format("%s%s", bound ? "at least " : "", number);
    free(number);
    return words;
}

/* "1.10 of 25.0 GB/s (cxi0's line rate)"; bits: that rate, 0 not known. */
static char *rate_words(const struct mw_speed *large, uint64_t bits, const char *device)
{
    char *reached = mw_reached_words(large, (double)bits / 8);
    char *words = !bits       ? mw_text_copy(reached)
                  : device[0] ? mw_format("%s (%s's line rate)", reached, device)
                              : mw_format("%s (the line rate)", reached);
    free(reached);
    return words;
}

char *mw_speed_words(const struct mw_used *used, const struct mw_use *use, uint64_t speed,
                     const char *what)
{
    const struct mw_transports *transports = used->in->transports;
    const struct mw_speeds *speeds = used->in->exchange->speeds;
    const struct mw_pair_transport *pair = &transports->pairs.at[use->pair];
    const struct mw_way *way = &transports->ways.at[use->way];
    const struct mw_speed *large = mw_speeds_large(speeds, pair->src, pair->dst);
    const struct mw_speed *small = mw_speeds_small(speeds, pair->src, pair->dst);
    /* speeds are those of a pair: do they tell about this way? */
    int rated = large && mw_speed_way(transports, large) == use->way;
    int answered = small && mw_speed_way(transports, small) == use->way;
    if (!rated && !answered)
        return NULL;
    char *rate = !rated  ? mw_text_copy("")
                 : speed ? rate_words(large, speed, what)
                         : rate_words(large, way->speed, way->device);
    char *latency = answered ? mw_number_seconds((double)small->latency_median / 1e9) : NULL;
    char *label = mw_pair_label(used->in->model, pair->src, pair->dst);
    char *words =
        mw_format("pair %s reached %s%s%s%s over %s", label, rate, rated && answered ? " and " : "",
                  answered ? "a latency of " : "", answered ? latency : "", way->name);
    free(label);
    free(rate);
    free(latency);
    return words;
}

char *mw_classes_words(unsigned first, unsigned last)
{
    if (first > last)
        return mw_text_copy("no messages");
    char *from = mw_number_bytes((double)mw_class_from(first));
    char *to = mw_number_bytes((double)mw_class_to(last));
    char *words =
        first == last && first <= 1 ? mw_text_copy(from) : mw_format("%s to %s", from, to);
    free(from);
    free(to);
    return words;
}
