/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half round trips and rates of a process's pairs (tally_speed.h), in ticks of its clock. All sums
 * are integers.
 */
#include "analyzer/analysis/tally_speed.h"

#include <stdlib.h>

#include "analyzer/analysis/cover.h"
#include "analyzer/analysis/histogram.h"

struct peer {
    int64_t rank;
    uint64_t sends, receives; /* messages of any size, started and completed */
    int64_t lag, need;
    struct mw_histogram trips;
    struct mw_cover cover; /* of large receives */
    uint64_t rate_bytes, rate_samples, rate_unsized;
    int skipped; /* some of its messages are known in sums only */
};

struct mw_speed_meter {
    struct mw_index index;
    MW_VECTOR(struct peer) peers;
    /* the small message that may be the first half of a round trip */
    int64_t asked;
    uint64_t asked_start;
    int64_t asked_number;
};

struct mw_speed_meter *mw_speed_meter_create(void)
{
    struct mw_speed_meter *meter = mw_alloc(1, sizeof(*meter));
    meter->asked = -1;
    return meter;
}

void mw_speed_meter_free(struct mw_speed_meter *meter)
{
    for (size_t i = 0; i < meter->peers.count; i++)
        mw_histogram_free(&meter->peers.at[i].trips);
    free(meter->peers.at);
    mw_index_free(&meter->index);
    free(meter);
}

static struct peer *meter_peer(struct mw_speed_meter *meter, int64_t rank)
{
    size_t at = mw_index_put(&meter->index, (uint64_t)rank);
    if (at == meter->peers.count) {
        struct peer *added = mw_vector_add(&meter->peers);
        added->rank = rank;
        added->lag = INT64_MAX;
        added->need = INT64_MIN;
    }
    return &meter->peers.at[at];
}

static void meter_send(struct mw_speed_meter *meter, const struct mw_operation *operation,
                       const struct mw_event *call, int alone)
{
    struct peer *peer = meter_peer(meter, operation->peer);
    int64_t lag = (int64_t)(peer->receives - peer->sends);
    if (lag < peer->lag)
        peer->lag = lag;
    peer->sends++;
    meter->asked = alone && operation->bytes <= MW_SPEED_SMALL ? operation->peer : -1;
    meter->asked_start = call->start;
    meter->asked_number = (int64_t)peer->sends;
}

static void meter_receive(struct mw_speed_meter *meter, const struct mw_operation *operation,
                          const struct mw_event *call, int alone)
{
    struct peer *peer = meter_peer(meter, operation->peer);
    int blocking = operation->starts && operation->ends;
    peer->receives++;
    if (meter->asked == operation->peer && alone && blocking &&
        operation->bytes <= MW_SPEED_SMALL && call->end > meter->asked_start) {
        int64_t need = meter->asked_number - (int64_t)peer->receives + 1;
        mw_histogram_add(&peer->trips, call->end - meter->asked_start);
        if (need > peer->need)
            peer->need = need;
    }
    meter->asked = -1;
    uint64_t posted = blocking ? call->start : operation->start;
    if (operation->bytes >= MW_SPEED_LARGE && posted && posted < call->end) {
        mw_cover_add(&peer->cover, (int64_t)posted, (int64_t)call->end);
        peer->rate_bytes += operation->known ? operation->bytes : 0;
        peer->rate_unsized += !operation->known;
        peer->rate_samples++;
    }
}

void mw_speed_operation(struct mw_speed_meter *meter, const struct mw_operation *operation,
                        const struct mw_event *call, int alone)
{
    int is_rank = operation->peer >= 0 && operation->peer <= INT32_MAX;
    if (operation->kind == MW_OPERATION_SEND && operation->starts) {
        if (is_rank && !operation->failed)
            meter_send(meter, operation, call, alone);
        else
            meter->asked = -1;
    } else if (operation->kind == MW_OPERATION_RECV && operation->ends) {
        if (is_rank && !operation->failed && !operation->cancelled && !operation->freed)
            meter_receive(meter, operation, call, alone);
        else
            meter->asked = -1;
    } else if (operation->kind == MW_OPERATION_COLL) {
        meter->asked = -1;
    }
}

void mw_speed_skip(struct mw_speed_meter *meter, int64_t peer, uint64_t sends, uint64_t receives)
{
    struct peer *to = meter_peer(meter, peer);
    to->skipped = 1;
    meter->asked = -1;
    if (sends) { /* the last of them may have gone before anything came */
        int64_t lag = (int64_t)(to->receives - (to->sends + sends - 1));
        if (lag < to->lag)
            to->lag = lag;
    }
    to->sends += sends;
    to->receives += receives;
}

static uint64_t to_ns(const struct mw_process *process, uint64_t ticks)
{
    double ns = ticks ? mw_process_span_ns(process, ticks) : 0;
    return ns > 0 && ns < 1.8e19 ? (uint64_t)(ns + 0.5) : 0;
}

static struct mw_pair_speed *tally_add(struct mw_tally *tally, int64_t src, int64_t dst)
{
    struct mw_pair_speed *added = mw_vector_add(&tally->speeds);
    added->src = src;
    added->dst = dst;
    added->lag = INT64_MAX;
    added->need = INT64_MIN;
    return added;
}

/* One entry for each direction and process; mw_speed_join puts those of a pair together. */
void mw_speed_merge(struct mw_tally *tally, const struct mw_speed_meter *meter, int64_t own,
                    const struct mw_process *process)
{
    for (size_t i = 0; i < meter->peers.count; i++) {
        const struct peer *peer = &meter->peers.at[i];
        struct mw_pair_speed *to = tally_add(tally, own, peer->rank);
        to->lag = peer->sends ? peer->lag : INT64_MAX;
        uint64_t least = to_ns(process, peer->trips.least);
        if (peer->trips.count && least) {
            to->need = peer->need;
            to->half_samples = peer->trips.count;
            to->half_min = (least + 1) / 2;
            to->half_median = (to_ns(process, mw_histogram_quantile(&peer->trips, 0.5)) + 1) / 2;
        }
        uint64_t time = to_ns(process, mw_cover_time(&peer->cover));
        /* the sender's sizes are those of all messages, the time is not */
        uint64_t unsized = peer->skipped ? 0 : peer->rate_unsized;
        uint64_t samples = peer->rate_samples - (peer->rate_unsized - unsized);
        if (!samples || !time)
            continue;
        struct mw_pair_speed *from = tally_add(tally, peer->rank, own);
        from->rate_bytes = peer->rate_bytes;
        from->rate_samples = samples;
        from->rate_unsized = unsized;
        from->rate_time = time;
    }
}

static int speed_compare(const void *left, const void *right)
{
    const struct mw_pair_speed *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    /* of two processes with one rank the one with more samples speaks for it */
    return (a->half_samples < b->half_samples) - (a->half_samples > b->half_samples);
}

static void speed_add(struct mw_pair_speed *to, const struct mw_pair_speed *from)
{
    if (from->lag < to->lag)
        to->lag = from->lag;
    if (!to->half_samples && from->half_samples) {
        to->half_samples = from->half_samples;
        to->half_min = from->half_min;
        to->half_median = from->half_median;
        to->need = from->need;
    }
    to->rate_bytes += from->rate_bytes;
    to->rate_time += from->rate_time;
    to->rate_samples += from->rate_samples;
    to->rate_unsized += from->rate_unsized;
}

/* What the sender sent in large messages, where the receiver does not know all sizes. */
static void speed_sizes(const struct mw_tally *tally, struct mw_pair_speed *speed)
{
    uint64_t messages = 0, bytes = 0;
    size_t count;
    const struct mw_pair_class *classes = mw_tally_classes(tally, speed->src, speed->dst, &count);
    for (size_t i = 0; i < count && mw_model_rank(tally->model, speed->src) >= 0; i++) {
        if (classes[i].class < mw_size_class(MW_SPEED_LARGE))
            continue;
        messages += classes[i].messages;
        bytes += classes[i].bytes;
    }
    if (messages && messages <= speed->rate_samples) {
        speed->rate_samples = messages;
        speed->rate_bytes = bytes;
    } else { /* the time is that of all, so that the rate is still a lower bound */
        speed->rate_samples -= speed->rate_unsized;
    }
    if (!speed->rate_samples)
        speed->rate_bytes = speed->rate_time = 0;
}

void mw_speed_join(struct mw_tally *tally)
{
    size_t kept = 0;
    if (!tally->speeds.count)
        return;
    struct mw_pair_speed *at = tally->speeds.at;
    qsort(at, tally->speeds.count, sizeof(at[0]), speed_compare);
    for (size_t i = 0; i < tally->speeds.count; i++) {
        if (kept && at[kept - 1].src == at[i].src && at[kept - 1].dst == at[i].dst)
            speed_add(&at[kept - 1], &at[i]);
        else
            at[kept++] = at[i];
    }
    tally->speeds.count = kept;
    for (size_t i = 0; i < kept; i++) {
        if (at[i].rate_unsized)
            speed_sizes(tally, &at[i]);
        if (!at[i].half_samples)
            continue;
        const struct mw_pair_speed *back = mw_tally_speed(tally, at[i].dst, at[i].src);
        if (back && back->lag != INT64_MAX && back->lag >= at[i].need)
            continue;
        at[i].half_unsure = at[i].half_samples;
        at[i].half_samples = at[i].half_min = at[i].half_median = 0;
    }
    tally->speeds.count = 0;
    for (size_t i = 0; i < kept; i++) /* the others were there for their lag */
        if (at[i].half_samples || at[i].half_unsure || at[i].rate_samples)
            at[tally->speeds.count++] = at[i];
}

const struct mw_pair_speed *mw_tally_speed(const struct mw_tally *tally, int64_t src, int64_t dst)
{
    size_t low = 0, high = tally->speeds.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mw_pair_speed *at = &tally->speeds.at[middle];
        if (at->src < src || (at->src == src && at->dst < dst))
            low = middle + 1;
        else
            high = middle;
    }
    const struct mw_pair_speed *found = &tally->speeds.at[low];
    return low < tally->speeds.count && found->src == src && found->dst == dst ? found : NULL;
}
