/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to windows, from the call that starts them to the one after which they are complete, as
 * their origin sees it: a flush, an unlock, the end of an epoch, or the completion of a request
 * that only fetches. Given out as messages both of whose ends are the origin's. Main thread only.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/matching_private.h"

#define OPEN_MAX 65536 /* accesses of a process that may be open; beyond, they are left out */

/* Which accesses a call completes. */
struct completer {
    const char *name;
    int fetched_only; /* what was sent may still be on its way */
    int waits_only;   /* it waits for nothing but the accesses: its end is that of the transfer */
};

static const struct completer completers[] = {
    {"MPI_Win_flush", 0, 1},           {"MPI_Win_flush_all", 0, 1}, {"MPI_Win_flush_local", 1, 1},
    {"MPI_Win_flush_local_all", 1, 1}, {"MPI_Win_unlock", 0, 0},    {"MPI_Win_unlock_all", 0, 0},
    {"MPI_Win_fence", 0, 0},           {"MPI_Win_complete", 0, 0},  {"MPI_Win_free", 0, 0},
};

static const struct completer *completer_of(const char *name)
{
    for (size_t i = 0; i < sizeof(completers) / sizeof(completers[0]); i++)
        if (!strcmp(name, completers[i].name))
            return &completers[i];
    return NULL;
}

/* The list of a window and target. */
static struct mw_window_accesses *accesses_to(struct mw_party *party, int64_t window, int64_t peer)
{
    uint64_t key = mw_mix((uint64_t)window + 1) ^ (uint64_t)peer;
    size_t at = mw_index_put(&party->window_index, key);
    if (at == party->windows.count)
        *mw_vector_add(&party->windows) =
            (struct mw_window_accesses){.window = window, .peer = peer};
    struct mw_window_accesses *list = &party->windows.at[at];
    if (!list->listed)
        *mw_vector_add(&party->open_windows) = (uint32_t)at;
    list->listed = 1;
    return list;
}

void mw_accesses_start(struct mw_matching *matching, struct mw_party *party, int64_t window,
                       int64_t peer, const struct mw_access *access)
{
    if (party->accesses == OPEN_MAX) {
        matching->counts->accesses_left_out++;
        return;
    }
    party->accesses++;
    *mw_vector_add(&accesses_to(party, window, peer)->open) = *access;
}

/* The one way of an access's data. */
static void access_give(struct mw_matching *matching, const struct mw_access_end *end,
                        const struct mw_access *access, int64_t peer, int fetched)
{
    struct mw_message message = {.bytes = fetched ? access->in : access->out};
    struct mw_end both = {.process = end->process,
                          .start = access->start,
                          .started = end->waits_only ? access->start + (end->away - access->away)
                                                     : end->done,
                          .wait = access->start,
                          .done = end->done,
                          .back = end->done,
                          .group = end->group,
                          .mates = end->mates,
                          .flags = end->mates == 1 ? MW_HALF_ALONE | MW_HALF_ONE_PAIR
                                   : end->one_pair ? MW_HALF_ONE_PAIR
                                                   : 0,
                          .outside = access->outside,
                          .barriers = access->barriers};
    message.send = message.recv = both;
    message.send.rank = fetched ? peer : end->rank;
    message.recv.rank = fetched ? end->rank : peer;
    matching->counts->accesses++;
    if (matching->sink->access)
        matching->sink->access(matching->sink->context, &message);
}

void mw_access_complete(struct mw_matching *matching, const struct mw_access_end *end,
                        const struct mw_access *access, int64_t peer)
{
    if (access->out || !access->in)
        access_give(matching, end, access, peer, 0);
    if (access->in)
        access_give(matching, end, access, peer, 1);
}

static int is_completed(const struct mw_access *access, const struct mw_access_end *end)
{
    return !end->fetched_only || !access->out;
}

/* How many messages the completed ones of a list are, and whether all go one way. */
static void list_count(const struct mw_window_accesses *list, struct mw_access_end *end)
{
    unsigned before = end->mates, sent = 0, fetched = 0;
    for (size_t i = 0; i < list->open.count; i++) {
        const struct mw_access *access = &list->open.at[i];
        if (!is_completed(access, end))
            continue;
        fetched += access->in != 0;
        sent += access->out || !access->in;
    }
    end->mates += sent + fetched;
    end->one_pair &= !(sent && fetched) && (!before || end->mates == before);
}

static void list_complete(struct mw_matching *matching, struct mw_party *party,
                          struct mw_window_accesses *list, const struct mw_access_end *end)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->open.count; i++) {
        struct mw_access access = list->open.at[i];
        if (is_completed(&access, end))
            mw_access_complete(matching, end, &access, list->peer);
        else
            list->open.at[kept++] = access;
    }
    party->accesses -= list->open.count - kept;
    list->open.count = kept;
}

/* Whether a call on `window` and `peer` (negative: all) is for the list. */
static int is_meant(const struct mw_window_accesses *list, int64_t window, int64_t peer)
{
    return list->window == window && (peer < 0 || list->peer == peer);
}

void mw_accesses_end(struct mw_matching *matching, struct mw_party *party, const char *name,
                     int64_t window, int64_t peer, struct mw_access_end *end)
{
    const struct completer *completer = party->open_windows.count ? completer_of(name) : NULL;
    size_t kept = 0;
    if (!completer)
        return;
    end->fetched_only = completer->fetched_only;
    end->waits_only = completer->waits_only;
    end->one_pair = 1;
    for (size_t i = 0; i < party->open_windows.count; i++) {
        const struct mw_window_accesses *list = &party->windows.at[party->open_windows.at[i]];
        if (is_meant(list, window, peer))
            list_count(list, end);
    }
    for (size_t i = 0; i < party->open_windows.count; i++) {
        uint32_t at = party->open_windows.at[i];
        struct mw_window_accesses *list = &party->windows.at[at];
        if (is_meant(list, window, peer))
            list_complete(matching, party, list, end);
        list->listed = list->open.count != 0;
        if (list->listed)
            party->open_windows.at[kept++] = at;
    }
    party->open_windows.count = kept;
}

void mw_accesses_free(struct mw_party *party)
{
    for (size_t i = 0; i < party->windows.count; i++)
        free(party->windows.at[i].open.at);
    free(party->windows.at);
    free(party->open_windows.at);
    mw_index_free(&party->window_index);
}
