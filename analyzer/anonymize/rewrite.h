/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rewrites the chunks of a trace without names of people, machines and places. What each field
 * becomes stands in one table; fields and chunk types that it does not know are left out, so that
 * nothing slips through. Main thread only.
 */
#ifndef MW_ANONYMIZE_REWRITE_H
#define MW_ANONYMIZE_REWRITE_H

#include <stdio.h>

#include "analyzer/anonymize/names.h"
#include "mpiwatch/trace.h"

/* What must not appear, from the whole trace and the words that the user adds. */
void mw_rewrite_learn(struct mw_names *names, const mw_trace *trace);

enum mw_rewritten {
    MW_REWRITTEN,
    MW_REWRITE_UNKNOWN, /* a chunk of a type or version that cannot be judged: left out */
    MW_REWRITE_BROKEN,  /* its content is malformed: left out */
};
/* Writes the anonymous form of a chunk. */
enum mw_rewritten mw_rewrite_chunk(struct mw_names *names, const struct mw_chunk_view *chunk,
                                   FILE *out);

#endif
