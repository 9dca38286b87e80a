/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom a finding concerns: a set of processes, and how it is said: by rank, or by host and pid of
 * those that never learned one. Main thread only.
 */
#ifndef MW_FINDINGS_CROWD_H
#define MW_FINDINGS_CROWD_H

#include "analyzer/findings/finding.h"

struct mw_crowd {
    const struct mw_model *model;
    unsigned char *has; /* by number of process */
    size_t count;
};

void mw_crowd_begin(struct mw_crowd *crowd, const struct mw_model *model);
void mw_crowd_end(struct mw_crowd *crowd);
void mw_crowd_add(struct mw_crowd *crowd, uint32_t process);
void mw_crowd_add_all(struct mw_crowd *crowd, const uint32_t *processes, size_t count);
/* Also a rank that was not recorded: then nothing happens. */
void mw_crowd_add_rank(struct mw_crowd *crowd, int64_t rank);
void mw_crowd_add_everybody(struct mw_crowd *crowd);
int mw_crowd_has(const struct mw_crowd *crowd, uint32_t process);
int mw_crowd_has_rank(const struct mw_crowd *crowd, int64_t rank);
/* The first of them; SIZE_MAX where there is none. */
size_t mw_crowd_first(const struct mw_crowd *crowd);
/* Every one that is in both. */
size_t mw_crowd_common(const struct mw_crowd *crowd, const uint32_t *processes, size_t count);

/* "rank 3", "ranks 0-3,7", "ranks 0-1 and node1 pid 77"; cut where it gets long. */
char *mw_crowd_names(const struct mw_crowd *crowd);
/* "2 of 4 ranks"; "2 processes" where none of them has a rank. */
char *mw_crowd_share(const struct mw_crowd *crowd);
/* Hands them to a finding. */
void mw_crowd_give(const struct mw_crowd *crowd, struct mw_finding *finding);
/* The same texts for one process. */
char *mw_process_words(const struct mw_model *model, uint32_t process);
/* Does a finding of this rule already concern one of them? */
int mw_findings_concern(const struct mw_findings *findings, const char *id,
                        const struct mw_crowd *crowd);

#endif
