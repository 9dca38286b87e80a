/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one line that a job may get on stderr, from its first rank, when the trace is not where it was
 * wanted or not complete. Nothing is ever printed when all is well.
 */
#ifndef MW_OUTPUT_MESSAGE_H
#define MW_OUTPUT_MESSAGE_H

#include "output/job.h"

void mw_message_start(const struct mw_job_facts *job);
/* "mpiwatch: WHAT SUBJECT (MORE)". Only rank 0 (by its launcher's word) prints, once. */
void mw_message_once(const char *what, const char *subject, const char *more);

#endif
