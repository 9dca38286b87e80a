/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators joined over processes: two processes hold the same one when how, number, member
 * hash and, recursively, parent are equal (docs/format.md). Those of several worlds are seen
 * differently from each; bridges.c finds which sides belong together. Built once, then read-only.
 */
#ifndef MW_MODEL_COMMS_H
#define MW_MODEL_COMMS_H

#include "analyzer/model/model.h"

/* A communicator as the processes of one world see it. */
struct mw_comm_side {
    uint32_t world;             /* number */
    const struct mw_comm *comm; /* of one that wrote its members, if any did */
    uint64_t *starts;           /* rank of the first member of each of its runs */
    const struct mw_comm *placed; /* of one that wrote the ranks in the parent, if any did */
    uint64_t *place_starts;       /* of each of their runs */
};

struct mw_joined_comm {
    uint64_t key;
    enum mw_comm_how how;
    const char *name; /* "" where no process gave one */
    const struct mw_comm
        *sample;    /* of the first process that holds it, or the one that wrote the members */
    int64_t parent; /* number of the joined parent; -1 none or unknown */
    uint64_t size, remote_size;
    size_t holders; /* processes that hold it */
    uint64_t freed; /* of these, how many freed it */
    size_t side, side_count; /* in sides, where the trace has several worlds */
};

struct mw_comms {
    const struct mw_model *model;
    struct mw_index index;
    MW_VECTOR(struct mw_joined_comm) joined;
    uint32_t **by_process; /* number of the joined one, parallel to process->comms */
    struct mw_comm_side *sides;
    size_t side_count;
};

/* Whether it is of a kind that is collective over the parent, and has one; the others are told apart by their members
 * alone. */
int mw_comm_has_parent(const struct mw_comm *comm);
struct mw_comms *mw_comms_create(const struct mw_model *model);
void mw_comms_free(struct mw_comms *comms);
/* The number of the joined communicator for an id of a process; -1 unknown. */
int64_t mw_comms_find(const struct mw_comms *comms, size_t process, int64_t id);
/* The place (model.h) of a peer as an event of this process on its communicator `id` has it, also
 * of one in another world, where the trace tells which; else MW_PEER_*. */
int64_t mw_comms_peer(const struct mw_comms *comms, size_t process, int64_t id, int64_t peer);

#endif
