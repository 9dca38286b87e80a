/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that one pass over a trace's events adds up: time by rank, call and call site,
 * messages by size and pair, collectives by communicator. Memory grows with pairs, call sites and
 * communicators, not with events. Each process is counted on its own (tally_process.c), by several
 * threads, then added to the whole. docs/metrics.md defines each figure.
 */
#ifndef MW_ANALYSIS_TALLY_H
#define MW_ANALYSIS_TALLY_H

#include "analyzer/model/comms.h"
#include "analyzer/model/model.h"
#include "analyzer/model/sites.h"

#define MW_SIZE_CLASSES 65 /* class 0: no bytes; class k: 2^(k-1) to 2^k - 1 bytes */

struct mw_amounts {
    uint64_t calls;  /* outermost calls of user code */
    uint64_t nested; /* calls from inside other calls: their time is in those */
    uint64_t errors; /* calls that returned an error */
    uint64_t time;   /* inside outermost calls; clock ticks in one process, ns in the whole */
    uint64_t nested_time;
    uint64_t sent, received; /* bytes; received as far as the size is known */
    uint64_t received_room;  /* bytes of room of receives whose size is not known */
    uint64_t unknown;        /* these receives */
};

struct mw_function_total {
    uint64_t function;
    const char *name;
    struct mw_amounts amounts;
    uint64_t counted;     /* calls by COUNTS, where events may be missing */
    uint64_t ranks;       /* processes that called it */
    uint64_t least, most; /* ns in one process that called it */
    size_t most_process;
};

struct mw_site_total {
    uint64_t key; /* of the stack; 0 not recorded */
    uint64_t function;
    const char *name;
    size_t process; /* one that has it: where to look the frames up */
    uint64_t site;
    struct mw_amounts amounts;
    uint64_t ranks, most;
    size_t most_process;
};

enum mw_time_class {
    MW_TIME_P2P,
    MW_TIME_COLL,
    MW_TIME_RMA,
    MW_TIME_IO,
    MW_TIME_POLL,
    MW_TIME_LIFE, /* MPI_Init, MPI_Finalize and the like */
    MW_TIME_OTHER,
    MW_TIME_CLASSES
};

/* Calls of which only sums are known, by enum mw_aggregate_why; [0]: for a reason that is not
 * known. */
#define MW_WHYS 4
struct mw_summed {
    uint64_t calls, from; /* from: clock reading of the first one */
};

struct mw_process_total {
    struct mw_amounts amounts;
    uint64_t time_by[MW_TIME_CLASSES]; /* ns */
    uint64_t wall; /* ns, from the initialising call to the end of recording; 0 not known */
    uint64_t events_missing, calls_missing;      /* calls_missing: by COUNTS beyond the events */
    uint64_t threads;                            /* that made calls */
    uint64_t incomplete;                         /* operations of calls that never ended */
    int timed;                                   /* times are known */
    enum mw_status status;                       /* of reading its events */
    uint64_t last_function, last_site, last_end; /* the call that ended last; last_end 0: none */
    const char *last_name;
    struct mw_summed summed[MW_WHYS];
};

/* A region that the program named, by its place among the others; in all processes. */
struct mw_region_total {
    const char *name;
    int64_t level;
    size_t parent; /* in the list, before this one; SIZE_MAX none */
    uint64_t processes, entries;
    uint64_t wall, least, most; /* ns from begin to end, of all and of one process that was in it */
    size_t most_process;
    uint64_t calls, time; /* of MPI, in it and in the regions within */
    uint64_t open;        /* processes in which it never ended */
};

/* Messages by the memory that they came from (or, counted at the receiver, went to). */
struct mw_memory_amounts {
    uint64_t device_messages, device_bytes; /* a GPU's, also managed memory */
    uint64_t unsure_messages, unsure_bytes; /* of which it is not known; the rest is the host's */
};

struct mw_pair {
    int64_t src, dst;
    uint64_t messages, bytes, time; /* time: ns */
    uint64_t upper;                 /* messages whose size is an upper bound */
    struct mw_memory_amounts memory;
};

/* Messages of a pair in one size class, counted as those of the pair: all of them (`classes`), or
 * those of one kind of memory other than ordinary host memory (`buffers`). */
struct mw_pair_class {
    int64_t src, dst;
    unsigned class;           /* mw_size_class */
    enum mw_memory_kind kind; /* MW_MEMORY_HOST in `classes` */
    uint64_t messages, bytes;
};

struct mw_size_total {
    uint64_t messages, bytes, collectives, collective_bytes;
};

struct mw_comm_total {
    uint64_t collectives, messages, bytes, collective_bytes, time; /* time: ns in collectives */
};

/* How far a process came in a communicator's collectives. */
struct mw_progress_entry {
    uint32_t process, comm; /* numbers; comm of mw_comms */
    uint64_t next;          /* instances that it started, by number: all below */
};

/* Events that turned out to be unreadable: what mw_trace_damage does not know yet. */
struct mw_event_damage {
    char *file, *text;
    uint64_t offset, length;
};

struct mw_flows;

struct mw_tally {
    const struct mw_model *model;
    const struct mw_comms *comms;
    struct mw_index function_index, site_index, pair_index, progress_index, region_index;
    MW_VECTOR(struct mw_function_total) functions;
    MW_VECTOR(struct mw_site_total) sites;
    MW_VECTOR(struct mw_pair) pairs;
    MW_VECTOR(struct mw_pair_class) classes;      /* by src, dst, class */
    MW_VECTOR(struct mw_pair_class) buffers;      /* by src, dst, class, kind */
    MW_VECTOR(struct mw_progress_entry) progress; /* of communicators that a call was open on */
    struct mw_process_total *processes;           /* by number */
    struct mw_comm_total *comm_totals;            /* by number of the joined one */
    struct mw_size_total sizes[MW_SIZE_CLASSES];
    uint64_t collective_sizes;
    uint64_t p2p_time;      /* ns in calls that sent, received or completed messages */
    uint64_t pair_time;     /* of these, ns that belong to one pair */
    struct mw_pair outside; /* messages with processes outside this MPI_COMM_WORLD */
    struct mw_pair unknown; /* messages whose peer is not known */
    uint64_t cancelled;     /* messages */
    uint64_t upper;         /* messages in `pairs` whose size is an upper bound */
    uint64_t
        receiver_side; /* messages counted at the receiver because the sender was not recorded */
    uint64_t events;
    MW_VECTOR(struct mw_region_total) regions;
    MW_VECTOR(struct mw_event_damage) damage; /* by file and offset */
    size_t timed;                             /* processes whose times are known */
    struct mw_flows *flows;                   /* what moved other than by messages (flows.h) */
};

/* Reads all events. `progress` may be NULL; it is called now and then, from any thread, with the
 * number of events read since. */
struct mw_tally *mw_tally_create(const struct mw_model *model, const struct mw_comms *comms,
                                 void (*progress)(uint64_t events));
void mw_tally_free(struct mw_tally *tally);

static inline int mw_is_rank(int64_t peer)
{
    return peer >= 0 && peer <= INT32_MAX;
}

unsigned mw_size_class(uint64_t bytes);
/* Smallest and largest message of a size class. */
uint64_t mw_class_from(unsigned size_class);
uint64_t mw_class_to(unsigned size_class);
/* NULL where the pair exchanged no messages. */
const struct mw_pair *mw_tally_pair(const struct mw_tally *tally, int64_t src, int64_t dst);
/* The size classes of an ordered pair, ascending; NULL and 0 where it has none. */
const struct mw_pair_class *mw_tally_classes(const struct mw_tally *tally, int64_t src, int64_t dst,
                                             size_t *count);
/* The same of messages that came from (counted at the receiver: went to) other than ordinary host
 * memory. */
const struct mw_pair_class *mw_tally_buffers(const struct mw_tally *tally, int64_t src, int64_t dst,
                                             size_t *count);
/* The number of instances that a process started on a communicator; 0 where it is not known. */
uint64_t mw_tally_progress(const struct mw_tally *tally, size_t process, size_t comm);

#endif
