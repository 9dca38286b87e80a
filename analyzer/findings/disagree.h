/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the rule "transports-disagree". Main thread only. */
#ifndef MW_FINDINGS_DISAGREE_H
#define MW_FINDINGS_DISAGREE_H

#include "analyzer/findings/crowd.h"

/* Pairs of one kind that use another way than the usual one. */
struct mw_dissent {
    const char *kind;          /* "within nodes", "between nodes" ... */
    const char *name, *usual;  /* ways */
    MW_VECTOR(uint32_t) pairs; /* ascending */
    struct mw_crowd crowd;     /* their ranks */
};
struct mw_dissents {
    MW_VECTOR(struct mw_dissent) all;
};

void mw_dissents_find(const struct mw_finding_input *in, struct mw_dissents *out);
void mw_dissents_free(struct mw_dissents *dissents);
/* "2 pairs within nodes use tcp, the others shared memory: 0 -> 3, 3 -> 0". */
char *mw_dissent_title(const struct mw_finding_input *in, const struct mw_dissent *dissent);
/* What each of them uses, in both directions; 1 when some differ in one direction only. */
int mw_dissent_say(const struct mw_finding_input *in, const struct mw_dissent *dissent,
                   struct mw_finding *finding);

#endif
