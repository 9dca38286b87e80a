/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When something is written again that grows with time and not with what happens: at first once a
 * period, and ever more rarely, so that a long run writes few more of them than a short one. No
 * thread of its own: who uses it looks at it in a call of the program.
 */
#ifndef MW_RECORD_PACE_H
#define MW_RECORD_PACE_H

#include <stdint.h>

#define MW_PACE_ROUNDS 60u /* after which the period doubles */

struct mw_pace {
    uint64_t due, period; /* in the caller's own unit of time */
    uint32_t rounds;
};

static inline void mw_pace_start(struct mw_pace *pace, uint64_t now, uint64_t period)
{
    *pace = (struct mw_pace){.due = now + period, .period = period};
}

/* A round is over; `rarer`: the next one shall be further away than this one was. */
static inline void mw_pace_next(struct mw_pace *pace, uint64_t now, int rarer)
{
    if (++pace->rounds % MW_PACE_ROUNDS == 0 || rarer)
        pace->period *= 2;
    pace->due = now + pace->period;
}

#endif
