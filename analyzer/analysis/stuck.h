/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who sat in which call when the job ended or was looked at, and which collectives did not come
 * together: for every instance that a call was open on, who is in it, who is past it, who never
 * reached it.
 */
#ifndef MW_ANALYSIS_STUCK_H
#define MW_ANALYSIS_STUCK_H

#include "analyzer/analysis/tally.h"

struct mw_stuck_call {
    uint32_t process; /* number */
    int nested;       /* begun inside another open call of this thread */
    const struct mw_open_call *call;
    int64_t comm;   /* number of the joined one; -1 none */
    double since_s; /* seconds since 1970; NaN not known */
    double held_s;  /* how long, when it was read; NaN not known */
};

struct mw_stuck_member {
    uint32_t process;
    uint64_t next; /* instances started by it: it came up to next - 1 */
};

struct mw_stuck_function {
    const char *name;
    MW_VECTOR(uint32_t) processes;
};

struct mw_stuck_instance {
    size_t comm; /* number of the joined one */
    uint64_t instance;
    MW_VECTOR(struct mw_stuck_function)
    inside; /* by function: more than one is an error of the program */
    MW_VECTOR(struct mw_stuck_member) behind; /* never reached it */
    size_t inside_count, passed;
    uint64_t unrecorded; /* members that no process of the trace is */
};

struct mw_stuck {
    MW_VECTOR(struct mw_stuck_call) calls;
    MW_VECTOR(struct mw_stuck_instance) instances;
    MW_VECTOR(uint32_t) idle; /* read from their mapping, without an open call: outside MPI */
};

struct mw_stuck *mw_stuck_create(const struct mw_tally *tally);
void mw_stuck_free(struct mw_stuck *stuck);
/* The open call of a process that a reader should see first; NULL when it has none. */
const struct mw_stuck_call *mw_stuck_find(const struct mw_stuck *stuck, uint32_t process);

#endif
