/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels: where the n-th send meets the n-th receive of one communicator, source, destination and
 * tag. A channel of which nothing waits is forgotten, as the numbers in the trace go on; but for
 * those of processes with several threads, whose numbers add up, and where something was cancelled.
 * Main thread only.
 */
#include "analyzer/model/matching_private.h"

#include <stdlib.h>

#define SLACK   4096u  /* numbers by which ends may come out of order */
#define WAITING 65536u /* halves that a side keeps: what another end has not recorded never comes  \
                        */

static struct mw_side *half_side(struct mw_matching *matching, const struct mw_half *half)
{
    return &matching->channels.at[half->channel].sides[half->receives];
}

static uint64_t channel_key(const struct mw_half *half)
{
    int64_t src = half->receives ? half->peer : half->end.rank;
    int64_t dst = half->receives ? half->end.rank : half->peer;
    uint64_t key = mw_mix(mw_mix((uint64_t)src << 32 | (uint64_t)dst) ^ half->part);
    return mw_mix(key ^ ((uint64_t)half->comm << 32 | (uint32_t)half->tag)) ^ (uint64_t)src;
}

static uint32_t channel_new(struct mw_matching *matching, uint64_t key)
{
    uint32_t channel = (uint32_t)matching->channels.count;
    if (matching->free_channels.count)
        channel = matching->free_channels.at[--matching->free_channels.count];
    else
        mw_vector_add(&matching->channels);
    struct mw_channel *made = &matching->channels.at[channel];
    *made = (struct mw_channel){.key = key};
    for (int i = 0; i < 2; i++)
        made->sides[i].first = made->sides[i].last = MW_HALF_NONE;
    mw_map_put(&matching->channel_map, key, channel);
    return channel;
}

static uint32_t channel_of(struct mw_matching *matching, const struct mw_half *half)
{
    uint64_t key = channel_key(half);
    uint32_t channel = mw_map_find(&matching->channel_map, key);
    return channel == MW_MAP_NONE ? channel_new(matching, key) : channel;
}

static int side_is_idle(const struct mw_side *side)
{
    return side->first == MW_HALF_NONE && !side->back && !side->shared;
}

static void channel_rest(struct mw_matching *matching, uint32_t number)
{
    struct mw_channel *channel = &matching->channels.at[number];
    if (!side_is_idle(&channel->sides[0]) || !side_is_idle(&channel->sides[1]))
        return;
    mw_map_remove(&matching->channel_map, channel->key);
    *mw_vector_add(&matching->free_channels) = number;
}

/* Among several threads: all that the others have numbered came before. */
static void half_number_among_threads(struct mw_matching *matching, struct mw_half *half)
{
    struct mw_channel *channel = &matching->channels.at[half->channel];
    struct mw_side *side = &channel->sides[half->receives];
    uint64_t key = mw_mix(channel->key + (uint64_t)half->receives) ^ mw_mix(half->thread + 1);
    uint32_t own = mw_map_find(&matching->thread_totals, key);
    uint64_t before = own == MW_MAP_NONE ? 0 : own, next = half->number + 1;
    if (side->shared && side->thread != half->thread && half->end.start < side->last_end)
        matching->counts->ambiguous++;
    half->number += side->total - before;
    if (next > before) {
        side->total += next - before;
        mw_map_put(&matching->thread_totals, key, (uint32_t)next);
    }
    side->shared = 1;
    side->thread = half->thread;
    if (half->end.started > side->last_end)
        side->last_end = half->end.started;
}

/* Takes the half behind `before` (MW_HALF_NONE: the first) out of the list. */
static uint32_t side_take(struct mw_matching *matching, struct mw_side *side, uint32_t before)
{
    uint32_t *link = before == MW_HALF_NONE ? &side->first : &mw_half_at(matching, before)->next;
    uint32_t taken = *link;
    *link = mw_half_at(matching, taken)->next;
    if (side->last == taken)
        side->last = before;
    side->waiting--;
    return taken;
}

/* The first of a side: nobody will ask for it. */
static void side_drop(struct mw_matching *matching, struct mw_side *side)
{
    uint32_t number = side_take(matching, side, MW_HALF_NONE);
    struct mw_half *half = mw_half_at(matching, number);
    if (half->receives)
        matching->counts->receives++;
    else
        matching->counts->sends++;
    half->gone = 1;
    if (half->completed) /* else it goes when it completes */
        mw_half_free(matching, number);
}

/* Into the list of its side, by number. */
static void side_insert(struct mw_matching *matching, uint32_t number)
{
    struct mw_half *half = mw_half_at(matching, number);
    struct mw_side *side = half_side(matching, half);
    if (side->waiting == WAITING)
        side_drop(matching, side);
    side->waiting++;
    half->next = MW_HALF_NONE;
    if (side->first == MW_HALF_NONE) {
        side->first = side->last = number;
        return;
    }
    if (mw_half_at(matching, side->last)->number <= half->number) {
        mw_half_at(matching, side->last)->next = number;
        side->last = number;
        return;
    }
    uint32_t *link = &side->first;
    while (mw_half_at(matching, *link)->number <= half->number)
        link = &mw_half_at(matching, *link)->next;
    half->next = *link;
    *link = number;
}

/* The half of the other side with this number, taken out; what nobody will ask for goes. */
static uint32_t side_find(struct mw_matching *matching, struct mw_side *side, uint64_t number)
{
    while (side->first != MW_HALF_NONE &&
           mw_half_at(matching, side->first)->number + SLACK < number)
        side_drop(matching, side);
    uint32_t before = MW_HALF_NONE;
    for (uint32_t at = side->first; at != MW_HALF_NONE; at = mw_half_at(matching, at)->next) {
        uint64_t found = mw_half_at(matching, at)->number;
        if (found == number)
            return side_take(matching, side, before);
        if (found > number)
            break;
        before = at;
    }
    return MW_HALF_NONE;
}

/* Looks for the partner of a half that is in no list; else it waits. */
static void half_meet(struct mw_matching *matching, uint32_t number)
{
    struct mw_half *half = mw_half_at(matching, number);
    uint32_t channel = half->channel;
    struct mw_side *other = &matching->channels.at[channel].sides[!half->receives];
    uint32_t partner = side_find(matching, other, half->number);
    if (partner == MW_HALF_NONE) {
        side_insert(matching, number);
        return;
    }
    half->partner = partner;
    mw_half_at(matching, partner)->partner = number;
    channel_rest(matching, channel);
    mw_half_settle(matching, number);
}

void mw_channel_put(struct mw_matching *matching, uint32_t number)
{
    struct mw_half *half = mw_half_at(matching, number);
    half->channel = channel_of(matching, half);
    if (matching->parties[half->end.process].threads)
        half_number_among_threads(matching, half);
    half->number -= half_side(matching, half)->back;
    half_meet(matching, number);
}

/* Later ones of the side take the numbers before theirs, and may meet others then. */
static void side_close_up(struct mw_matching *matching, struct mw_side *side, uint64_t number)
{
    MW_VECTOR(uint32_t) moved = {0};
    uint32_t before = MW_HALF_NONE;
    while (before == MW_HALF_NONE ? side->first != MW_HALF_NONE
                                  : mw_half_at(matching, before)->next != MW_HALF_NONE) {
        uint32_t at = before == MW_HALF_NONE ? side->first : mw_half_at(matching, before)->next;
        if (mw_half_at(matching, at)->number < number) {
            before = at;
            continue;
        }
        *mw_vector_add(&moved) = side_take(matching, side, before);
    }
    for (size_t i = 0; i < moved.count; i++) {
        mw_half_at(matching, moved.at[i])->number--;
        half_meet(matching, moved.at[i]);
    }
    free(moved.at);
}

void mw_channel_cancel(struct mw_matching *matching, uint32_t number)
{
    struct mw_half *half = mw_half_at(matching, number);
    uint64_t taken = half->number;
    uint32_t partner = half->partner;
    int was_in = half->channel != MW_HALF_NONE;
    half->channel = channel_of(matching, half); /* the one that it was in may be forgotten */
    struct mw_side *side = half_side(matching, half);
    if (was_in && partner == MW_HALF_NONE && !half->gone)
        side_find(matching, side, taken);
    side->back++;
    if (partner != MW_HALF_NONE) { /* which is another's */
        mw_half_at(matching, partner)->partner = MW_HALF_NONE;
        mw_half_at(matching, partner)->channel = half->channel;
        side_insert(matching, partner);
    }
    mw_half_free(matching, number);
    if (was_in)
        side_close_up(matching, side, taken);
}

void mw_channels_free(struct mw_matching *matching)
{
    mw_map_free(&matching->channel_map);
    mw_map_free(&matching->thread_totals);
    free(matching->channels.at);
    free(matching->free_channels.at);
}
