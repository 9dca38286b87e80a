/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and collectives with all their ends (docs/metrics.md, "Matching"): the n-th send meets
 * the n-th receive of the same communicator, source, destination and tag, in the order in which the
 * receives were posted; the members of a collective meet by communicator and instance. One pass
 * over all processes; memory grows with pairs and with what is under way. Main thread only.
 */
#ifndef MW_MODEL_MATCHING_H
#define MW_MODEL_MATCHING_H

#include "analyzer/model/clock.h"
#include "analyzer/model/comms.h"

enum mw_end_flag {
    MW_HALF_ALONE = 1,    /* the call that completed it completed nothing else */
    MW_HALF_ONE_PAIR = 2, /* all that it completed were receives from (sends to) one rank */
    MW_HALF_UNKNOWN = 4,  /* when it was complete is not known */
    MW_HALF_SYNC = 8,     /* a synchronous send */
    MW_HALF_FAILED = 16,  /* the call returned an error */
    MW_HALF_POLLED = 32,  /* unsuccessful tests came right before; `wait` is when they began */
};

/* One end of a message. Times: ns on the common clock. */
struct mw_end {
    uint32_t process;
    int64_t rank;
    unsigned flags;
    int64_t start, started;  /* the call that started it, its end */
    int64_t wait, done;      /* the call that completed it: the same one where it blocked */
    int64_t back;            /* when that call was back in the program, recording being done */
    uint64_t group;          /* the same for all that one call completed */
    unsigned mates;          /* of how many messages */
    uint64_t function, site; /* of the call that completed it */
    int64_t outside;         /* ns that the process had spent outside MPI when it started, */
    uint64_t barriers;       /* and barriers that it had passed */
};

struct mw_message {
    uint32_t comm; /* number in mw_comms */
    int64_t tag;
    uint64_t bytes; /* sent */
    struct mw_end send, recv;
};

struct mw_member {
    uint32_t process;
    int64_t start, end;
    uint64_t site;
    uint64_t bytes, received;
    int blocking, failed;
};

struct mw_instance {
    uint32_t comm;
    uint64_t number, function; /* function: of the first member */
    int64_t root;              /* rank; -1 none */
    const char *name;          /* "MPI_Allreduce" */
    const struct mw_member *members;
    size_t count;
    int whole; /* all processes that hold the communicator are there */
    int mixed; /* the functions differ, or it is on an inter-communicator */
};

struct mw_matching_sink {
    void *context;
    void (*message)(void *context, const struct mw_message *message);
    void (*collective)(void *context, const struct mw_instance *instance);
    /* The data of an access to a window, by its origin alone, whose process and times both ends
     * have: it began to move between `start` and `started`. */
    void (*access)(void *context, const struct mw_message *message);
};

struct mw_matching_counts {
    uint64_t messages;   /* with both ends */
    uint64_t sends;      /* without a receive */
    uint64_t receives;   /* without a send */
    uint64_t unfinished; /* with both ends, but one never completed */
    uint64_t outside;    /* to or from another MPI_COMM_WORLD, or a rank that is not known */
    uint64_t uncounted;  /* ends without a running number */
    uint64_t ambiguous;  /* in pairs by chance: concurrent threads, or too many open wildcards */
    uint64_t instances, instances_partial;
    uint64_t accesses, accesses_left_out; /* to windows; left out: too many were open */
    uint64_t events;
    size_t untimed; /* processes whose times are not known, left out */
};

void mw_matching_run(const struct mw_model *model, const struct mw_comms *comms,
                     const struct mw_clock *clock, const struct mw_matching_sink *sink,
                     struct mw_matching_counts *counts, void (*progress)(uint64_t events));

#endif
