/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast a process and its peers answered each other, by the process's own clock, in one pass
 * (docs/metrics.md, "Reached"). One object a process, fed by the thread that counts it; the tally
 * joins what both ends of a pair know. Memory grows with peers.
 */
#ifndef MW_ANALYSIS_TALLY_SPEED_H
#define MW_ANALYSIS_TALLY_SPEED_H

#include "analyzer/analysis/tally.h"
#include "analyzer/model/operation.h"

struct mw_speed_meter;

struct mw_speed_meter *mw_speed_meter_create(void);
void mw_speed_meter_free(struct mw_speed_meter *meter);

/* An operation with a peer, in the order of the stream; `call` is the event of its call (whose
 * times count), `alone` says that the call had no other operation. */
void mw_speed_operation(struct mw_speed_meter *meter, const struct mw_operation *operation,
                        const struct mw_event *call, int alone);

/* Messages of which only sums are known. Of a slice of time, sends are to be told before the calls
 * that ended after it began, receives after those that began before it ended: then no round trip is
 * taken for one that it may not be. */
void mw_speed_skip(struct mw_speed_meter *meter, int64_t peer, uint64_t sends, uint64_t receives);

/* The slices of a process, and telling the meter of those that lie before a call. */
struct mw_slices;
struct mw_slices *mw_slices_create(const struct mw_comms *comms, size_t number);
void mw_slices_skip(struct mw_slices *slices, struct mw_speed_meter *meter, uint64_t start,
                    uint64_t end);
void mw_slices_free(struct mw_slices *slices);

/* Adds what was measured to the tally, under the rank `own` of the process. */
void mw_speed_merge(struct mw_tally *tally, const struct mw_speed_meter *meter, int64_t own,
                    const struct mw_process *process);

/* When all processes are in: sorts, and drops the round trips that the other end does not confirm.
 * A rank's n-th send is sure to answer `lag` + n - 1 of the peer's messages, as it had received so
 * many by then. A round trip from a rank's s-th send to its m-th receive is one if the peer's lag
 * is at least s - m + 1 (`need`): then the m-th message was sent after the s-th had come. Where the
 * sizes of large receives are not known, as the program did not ask, the sender's large messages
 * are taken, if no more of them are than there was room for: what they moved has come in the time
 * that counts. */
void mw_speed_join(struct mw_tally *tally);

#endif
