/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of matching share: halves of messages, the channels in which they meet
 * (matching_channels.c), receives that wait for a wildcard before them (matching_posted.c),
 * collectives (matching_instances.c), and accesses to windows (matching_accesses.c). Main thread
 * only.
 */
#ifndef MW_MODEL_MATCHING_PRIVATE_H
#define MW_MODEL_MATCHING_PRIVATE_H

#include "analyzer/base/index.h"
#include "analyzer/base/map.h"
#include "analyzer/model/matching.h"
#include "analyzer/model/operation.h"

#define MW_HALF_NONE UINT32_MAX

/* A send or a receive from its start until its message is given out. */
struct mw_half {
    struct mw_end end;
    int used, receives, completed;
    int gone; /* cancelled, or nobody will ask for it */
    uint32_t comm;
    int64_t peer, tag; /* of a receive as asked, until it is matched */
    uint64_t bytes;    /* of a send */
    uint64_t part;     /* of a partitioned message: 1 + number of its initialisation; else 0 */
    uint64_t number;   /* running number in its channel; before that: of its thread */
    uint32_t next, partner;
    uint32_t channel; /* MW_HALF_NONE: in none yet */
    uint64_t thread;
};

/* One side of a channel. */
struct mw_side {
    uint32_t first, last; /* halves that wait for their partner, by number */
    uint32_t waiting;
    uint64_t thread;  /* that had the last one */
    uint64_t total;   /* numbers given by all threads */
    uint64_t back;    /* cancelled ones, whose numbers the later ones take */
    int64_t last_end; /* of the last call */
    int shared;       /* its process has several threads */
};

struct mw_channel {
    uint64_t key;
    struct mw_side sides[2]; /* sends, receives */
};

/* An access to a window. */
struct mw_access {
    uint64_t out, in; /* bytes to the target, and from it */
    int64_t start;
    int64_t outside, away; /* of its process, when it started */
    uint64_t barriers;
};

/* Those of a process that are not known to be complete, of one window and target. */
struct mw_window_accesses {
    int64_t window, peer;
    int listed; /* among the open ones */
    MW_VECTOR(struct mw_access) open;
};

/* A process on its way through its calls. */
struct mw_party {
    struct mw_requests *requests;
    MW_VECTOR(uint32_t) posted; /* receives that wait, with the wildcards that they wait for */
    size_t open_wildcards;
    int64_t last_end, outside;
    uint64_t barriers; /* blocking ones that it passed */
    int64_t away;      /* ns outside MPI, and in calls that are not on windows */
    MW_VECTOR(struct mw_window_accesses) windows;
    struct mw_index window_index;
    MW_VECTOR(uint32_t) open_windows;        /* those that have open accesses */
    size_t accesses;                         /* that are open */
    int threads;                             /* several */
    uint64_t polled_thread, polled_function; /* the last call was an unsuccessful poll of */
    int64_t polled_since;                    /* 0: it was not */
};

struct mw_instances;

struct mw_matching {
    const struct mw_model *model;
    const struct mw_comms *comms;
    const struct mw_clock *clock;
    const struct mw_matching_sink *sink;
    struct mw_matching_counts *counts;
    struct mw_party *parties;
    MW_VECTOR(struct mw_half) halves;
    uint32_t free_half;
    MW_VECTOR(struct mw_channel) channels;
    MW_VECTOR(uint32_t) free_channels;
    struct mw_map channel_map;
    struct mw_map thread_totals; /* of channels that several threads of a process may use */
    struct mw_instances *instances;
    MW_VECTOR(struct mw_operation) operations; /* of the call at hand */
    uint64_t groups;                           /* calls so far */
};

static inline struct mw_half *mw_half_at(struct mw_matching *matching, uint32_t half)
{
    return &matching->halves.at[half];
}

/* Halves: new ones are empty; one that is freed must be in no list. */
uint32_t mw_half_new(struct mw_matching *matching);
void mw_half_free(struct mw_matching *matching, uint32_t half);
/* A half was completed, or met its partner: gives the message out where all of it is known. */
void mw_half_settle(struct mw_matching *matching, uint32_t half);

/* Puts a half with peer, tag and its thread's number into its channel, where it may meet another.
 */
void mw_channel_put(struct mw_matching *matching, uint32_t half);
/* A half was cancelled: nobody will meet it, and later ones take its number. */
void mw_channel_cancel(struct mw_matching *matching, uint32_t half);
void mw_channels_free(struct mw_matching *matching);

/* A receive was posted; `open`: what it will match is not known yet. */
void mw_posted_add(struct mw_matching *matching, struct mw_party *party, uint32_t half, int open);
/* Such a one was matched (peer, tag and number are set), or not (`gone` is: it is freed). */
void mw_posted_resolve(struct mw_matching *matching, struct mw_party *party, uint32_t half);
/* A send or receive with peer and tag was cancelled; it is freed. */
void mw_posted_cancel(struct mw_matching *matching, struct mw_party *party, uint32_t half);
void mw_posted_finish(struct mw_matching *matching, struct mw_party *party);

/* What completes accesses. */
struct mw_access_end {
    uint32_t process; /* the origin, */
    int64_t rank;     /* and its place */
    int64_t done;
    int64_t away; /* of the process */
    uint64_t group;
    int fetched_only, waits_only; /* as of struct completer */
    int one_pair;
    unsigned mates;
};

void mw_accesses_start(struct mw_matching *matching, struct mw_party *party, int64_t window,
                       int64_t peer, const struct mw_access *access);
/* A call on a window, of which the name tells whether it completes anything; peer: negative all.
 * Mates start at 0. */
void mw_accesses_end(struct mw_matching *matching, struct mw_party *party, const char *name,
                     int64_t window, int64_t peer, struct mw_access_end *end);
/* A single one that is complete. */
void mw_access_complete(struct mw_matching *matching, const struct mw_access_end *end,
                        const struct mw_access *access, int64_t peer);
void mw_accesses_free(struct mw_party *party);

struct mw_instances *mw_instances_create(const struct mw_comms *comms,
                                         const struct mw_clock *clock);
void mw_instances_free(struct mw_instances *instances);
void mw_instances_add(struct mw_matching *matching, uint32_t comm, const struct mw_event *event,
                      const struct mw_member *member);
void mw_instances_finish(struct mw_matching *matching);

#endif
