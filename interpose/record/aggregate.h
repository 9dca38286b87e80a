/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums instead of events, where the trace's budget is used up, MPIWATCH_MODE=summary asks for it or
 * MPI_Pcontrol(0) was called: what of a call counts where (docs/format.md: AGGREGATE). A call is
 * decided about when it is entered (call->reduced) and has then either events or sums, with all its
 * parts. Runs on the thread that calls MPI, in the place of what would have made events.
 */
#ifndef MW_RECORD_AGGREGATE_H
#define MW_RECORD_AGGREGATE_H

#include "record/record.h"
#include "record/requests.h"

/* Why detail is reduced: bits of mw_recorder.reduced. The lowest set one is the reason that counts.
 */
enum { MW_REDUCED_SUMMARY = 1, MW_REDUCED_BUDGET = 2, MW_REDUCED_PCONTROL = 4 };

/* A call that makes events so far (call->reduced is 0) makes sums from here on. 0: there is no memory for them. */
int mw_aggregate_begin(struct mw_call *call, uint32_t reduced);
/* The call's own event, or one of its parts; what it starts or does, not what it completes. */
void mw_aggregate_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags,
                        const struct mw_raw_event *detail);
void mw_aggregate_part(struct mw_call *call, int kind, uint32_t flags,
                       const struct mw_raw_event *detail);
/* The completion of a request: all that the call did, or one of its parts. */
void mw_aggregate_done(struct mw_call *call, uint64_t end, const struct mw_request *request,
                       uint32_t flags, const struct mw_raw_event *detail);
void mw_aggregate_done_part(struct mw_call *call, const struct mw_request *request, uint32_t flags,
                            const struct mw_raw_event *detail);
void mw_aggregate_poll(struct mw_call *call, uint64_t end);

/* Ends detail where what has been written comes near the budget: calls make sums, and what is made from now on is not
 * described any more (listed.h). Where it is over that, new call sites get no number either. */
void mw_budget_check(void);

#endif
