/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What makes a trace too little to say that nothing is wrong, or to set it beside another: ranks
 * that were not recorded, processes that did not end well, events that are missing. Sentences
 * without a full stop, newly allocated; NULL where there is nothing to say. Main thread only.
 */
#ifndef MW_FINDINGS_WHOLE_H
#define MW_FINDINGS_WHOLE_H

#include "analyzer/analysis/tally.h"

/* "rank 3 called MPI_Abort, and 2 more did not end well". Who leaves by exit without MPI_Finalize
 * may have failed: the code is not recorded. */
char *mw_bad_ends_words(const struct mw_model *model);
/* "12 calls are missing in the trace" */
char *mw_missing_events_words(const struct mw_tally *tally);
/* "ranks 2-3 were not recorded" */
char *mw_missing_ranks_words(const struct mw_model *model);

#endif
