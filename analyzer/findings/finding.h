/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: what is wrong with a job, in plain words, with evidence, cost and advice. One rule, one file;
 * rules read the analyses and never print. docs/findings.md explains each. No finding on a healthy run:
 * a rule that does not know says nothing. Main thread only.
 */
#ifndef MW_FINDINGS_FINDING_H
#define MW_FINDINGS_FINDING_H

#include "analyzer/analysis/settings.h"
#include "analyzer/analysis/transports.h"

enum mw_severity {
    MW_NOTICE,   /* worth knowing; costs nothing that is known */
    MW_WARNING,  /* costs time, or will under other conditions */
    MW_CRITICAL, /* the job does not use what it should */
};

struct mw_finding {
    const char *id; /* of its rule: "fallback"; the anchor in docs/findings.md */
    enum mw_severity severity;
    char *title;    /* one sentence: what is wrong, on how many of how many ranks */
    MW_VECTOR(char *) evidence; /* one fact each: numbers, ranks, log lines */
    char *cost;     /* what it costs here, measured; NULL where that is not known */
    char *advice;   /* what to do about it */
    MW_VECTOR(uint32_t) processes; /* whom it concerns */
};

struct mw_finding_input {
    const struct mw_model *model;
    const struct mw_tally *tally;
    const struct mw_transports *transports;
    const struct mw_settings *settings;
};

struct mw_findings {
    MW_VECTOR(struct mw_finding) all; /* most severe first, then by rule, then by first rank */
};

struct mw_rule {
    const char *id, *title; /* title: what the rule is about, in a few words */
    void (*find)(const struct mw_finding_input *in, struct mw_findings *out);
};
extern const struct mw_rule *const mw_rules[]; /* NULL ends it */

struct mw_findings *mw_findings_create(const struct mw_finding_input *in);
void mw_findings_free(struct mw_findings *findings);

/* For rules: adds an empty finding, and facts to it. Texts are newly allocated and taken over. */
struct mw_finding *mw_finding_add(struct mw_findings *out, const char *id, enum mw_severity severity, char *title);
void mw_finding_evidence(struct mw_finding *finding, char *text);
const char *mw_severity_word(enum mw_severity severity); /* "notice", "warning", "critical" */

#endif
