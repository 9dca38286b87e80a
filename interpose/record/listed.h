/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which communicators, windows and files the trace describes. A program may make any number of them, and the trace's
 * budget holds for what describes them, too: once it is used up, what is made is counted, and calls on it are added up
 * under no name. Asking takes no lock; a new one is told about under the lock of its table.
 */
#ifndef MW_RECORD_LISTED_H
#define MW_RECORD_LISTED_H

#include <stdatomic.h>
#include <stdint.h>

/* Ids of things that the trace describes (communicators, windows, files) are given in order, so that one number tells
 * those from later ones, which the budget had no room for. */
#define MW_LISTED_ALWAYS 256u /* the first ones of each kind, and names, whatever the budget */

struct mw_listed {
    _Atomic uint32_t least_unlisted; /* id + 1; 0: all are listed */
};
/* Whether a name that the program gives something, or who a thread is that has another's place, may be written: there may
 * be any number of them. */
int mw_budget_allows_name(void);
/* A new one: whether it is listed. What is not is counted in a health note. */
int mw_listed_new(struct mw_listed *listed, uint32_t id);
static inline int mw_is_listed(const struct mw_listed *listed, uint32_t id)
{
    uint32_t least = atomic_load_explicit(&listed->least_unlisted, memory_order_relaxed);
    return !least || id < least - 1;
}

#endif
