/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What some processes really used: the ways of their pairs added up, and how fast the pairs on them
 * went. Built for one question of a rule, then thrown away. Main thread only.
 */
#ifndef MW_FINDINGS_USED_H
#define MW_FINDINGS_USED_H

#include "analyzer/findings/crowd.h"

/* Where pairs are, as a set. Pairs whose place is not known count as of other nodes, as nothing
 * shows that they share memory. */
enum mw_wheres {
    MW_IN_NODE = 1 << MW_WHERE_NODE,
    MW_BETWEEN_NODES = 1 << MW_WHERE_NETWORK | 1 << MW_WHERE_UNKNOWN,
    MW_ANYWHERE = MW_IN_NODE | MW_BETWEEN_NODES, /* but not to themselves */
};

struct mw_use { /* of one way */
    uint32_t way;
    uint64_t pairs, messages, bytes, carried;
    int seen;      /* bytes were counted on it, not only concluded */
    uint32_t pair; /* number of the one with the most bytes on it */
    uint64_t pair_bytes;
    unsigned first_class, last_class; /* of its messages; first > last: none */
};

struct mw_used {
    const struct mw_finding_input *in;
    MW_VECTOR(struct mw_use) uses;   /* most bytes first */
    uint64_t pairs, messages, bytes; /* of all, known or not */
    uint64_t unknown;                /* pairs with messages whose way is not known */
};

/* Of pairs with a process of the crowd at either end; NULL: of all. */
void mw_used_begin(struct mw_used *used, const struct mw_finding_input *in,
                   const struct mw_crowd *crowd, unsigned wheres);
void mw_used_end(struct mw_used *used);

/* Drives a NIC itself: no sockets, nothing emulated on them. */
int mw_way_native(const struct mw_way *way);
/* Through sockets: TCP itself, or a fabric emulated on it. */
int mw_way_slow(const struct mw_way *way);
/* Do bytes go this way at all (more than a handful that may be control)? */
int mw_use_matters(const struct mw_use *use);
/* The largest use for which a test holds; NULL none. */
const struct mw_use *mw_used_first(const struct mw_used *used,
                                   int (*test)(const struct mw_way *way));

/* "tcp (Open MPI BTL, eth0)". */
char *mw_way_words(const struct mw_way *way);
/* "2.00 MiB in 100 messages of 2 pairs went over tcp (Open MPI BTL, eth0)". */
char *mw_use_words(const struct mw_used *used, const struct mw_use *use);
/* "1.10 of 25.0 GB/s", "at least 1.10 GB/s": what a pair's messages of a size class reached, of
 * `whole` bytes a second; 0: that is not known. */
char *mw_reached_words(const struct mw_speed *speed, double whole);
/* "pair 0 -> 1 reached 1.10 of 25.0 GB/s (cxi0's line rate) and a latency of 31 us over tcp";
 * `speed`: the line rate to compare with, bit/s, of device `what`; 0: that of the way. NULL:
 * nothing was measured. */
char *mw_speed_words(const struct mw_used *used, const struct mw_use *use, uint64_t speed,
                     const char *what);
/* "25.0 GB/s". */
char *mw_line_rate_words(uint64_t bits);
/* "8 B to 4 KiB", "from 8 KiB on": the sizes of classes. */
char *mw_classes_words(unsigned first, unsigned last);

#endif
