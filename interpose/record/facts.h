/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chunks that describe the process itself, one function each. Called by lifecycle.c.
 */
#ifndef MW_RECORD_FACTS_H
#define MW_RECORD_FACTS_H

#include "output/job.h"
#include "record/record.h"

void mw_facts_process(const struct mw_job_facts *job, uint64_t began);
void mw_facts_clock(void);
/* With sessions alone: rank and size in the process set of all, -1 unknown. */
void mw_facts_session_rank(uint64_t init_end, int rank, int size);
void mw_facts_rank(uint64_t init_end); /* asks MPI: after the real MPI_Init only */
void mw_facts_counts(void);
void mw_facts_cost(uint64_t finalize_ns);
void mw_facts_end(enum mw_end_reason reason, uint64_t time, int code, uint64_t finalize_end);
/* Facts of node and process, as differences to what the node's file has already. Where the first process of the
 * node has not written yet, the others wait for the second call, after the real MPI_Init. */
void mw_facts_environment(int last);
/* Whom modules and call sites tell of what is new. */
void mw_facts_modules(unsigned first, unsigned count, void *context);
void mw_facts_site(const struct mw_site *site, void *context);

/* The best clock of this machine, or the one that was asked for if it can be had. */
enum mw_clock_kind mw_clock_choose(int wanted);

#endif
