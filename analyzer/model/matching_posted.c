/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives of one process in the order in which they were posted, as far as a wildcard makes that
 * matter: which message it took is known when it completes, and those posted after it that might
 * have taken the same wait until then. Their running numbers are then dealt out anew in the order
 * of posting. Main thread only.
 */
#include "analyzer/model/matching_private.h"

#define POSTED_MAX                                                                                 \
    1024 /* that are kept in order for a process; beyond, numbers are taken as they are */

/* Whether what the entry waits for, or has matched, is in a channel that the wildcard may serve. */
static int wildcard_covers(const struct mw_half *wildcard, const struct mw_half *half)
{
    return wildcard->comm == half->comm &&
           (wildcard->peer == MW_PEER_ANY || wildcard->peer == half->peer) &&
           (wildcard->tag == MW_TAG_ANY || wildcard->tag == half->tag);
}

static int half_is_open(const struct mw_half *half)
{
    return !half->gone && (half->peer == MW_PEER_ANY || half->tag == MW_TAG_ANY);
}

/* Whether a wildcard among the first `count` entries may still take the message before it. */
static int half_must_wait(struct mw_matching *matching, const struct mw_party *party, size_t count,
                          const struct mw_half *half)
{
    for (size_t i = 0; i < count; i++) {
        const struct mw_half *before = mw_half_at(matching, party->posted.at[i]);
        if (half_is_open(before) && wildcard_covers(before, half))
            return 1;
    }
    return 0;
}

/* Gives out what waits for no wildcard any more; all of it where `all`. */
static void posted_release(struct mw_matching *matching, struct mw_party *party, int all)
{
    size_t kept = 0;
    for (size_t i = 0; i < party->posted.count; i++) {
        uint32_t number = party->posted.at[i];
        struct mw_half *half = mw_half_at(matching, number);
        int open = half_is_open(half);
        if (open || (!all && half_must_wait(matching, party, kept, half)))
            party->posted.at[kept++] = number;
        else if (half->gone)
            mw_half_free(matching, number);
        else
            mw_channel_put(matching, number);
    }
    party->posted.count = kept;
}

void mw_posted_add(struct mw_matching *matching, struct mw_party *party, uint32_t number, int open)
{
    struct mw_half *half = mw_half_at(matching, number);
    if (!open &&
        (!party->open_wildcards || !half_must_wait(matching, party, party->posted.count, half))) {
        mw_channel_put(matching, number);
        return;
    }
    if (party->posted.count >= POSTED_MAX) {
        matching->counts->ambiguous += party->posted.count - party->open_wildcards;
        posted_release(matching, party, 1);
    }
    party->open_wildcards += open != 0;
    *mw_vector_add(&party->posted) = number;
}

/* The numbers of one channel ascend in the order of posting: the wildcard takes that of the next
 * one posted, that one the next, and so on. */
static void posted_renumber(struct mw_matching *matching, struct mw_party *party, size_t at)
{
    struct mw_half *half = mw_half_at(matching, party->posted.at[at]);
    uint64_t number = half->number;
    for (size_t i = at + 1; i < party->posted.count; i++) {
        struct mw_half *later = mw_half_at(matching, party->posted.at[i]);
        if (later->gone || later->comm != half->comm || later->peer != half->peer ||
            later->tag != half->tag || later->thread != half->thread || later->number > number)
            continue;
        half->number = later->number;
        half = later;
    }
    half->number = number;
}

void mw_posted_resolve(struct mw_matching *matching, struct mw_party *party, uint32_t number)
{
    size_t at = 0;
    while (at < party->posted.count && party->posted.at[at] != number)
        at++;
    party->open_wildcards--;
    if (!mw_half_at(matching, number)->gone)
        posted_renumber(matching, party, at);
    posted_release(matching, party, 0);
}

void mw_posted_cancel(struct mw_matching *matching, struct mw_party *party, uint32_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < party->posted.count; i++)
        if (party->posted.at[i] != number)
            party->posted.at[kept++] = party->posted.at[i];
    party->posted.count = kept;
    mw_channel_cancel(matching, number);
}

void mw_posted_finish(struct mw_matching *matching, struct mw_party *party)
{
    posted_release(matching, party, 1);
}
