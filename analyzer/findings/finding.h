/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: what is wrong with a job, in plain words, with evidence, cost and advice. One rule, one
 * file; rules read the analyses and never print. docs/findings.md explains each. No finding on a
 * healthy run: a rule that does not know says nothing. Main thread only.
 */
#ifndef MW_FINDINGS_FINDING_H
#define MW_FINDINGS_FINDING_H

#include "analyzer/analysis/exchange.h"
#include "analyzer/analysis/placement.h"
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
    char *title;                   /* one sentence: what is wrong, on how many of how many ranks */
    MW_VECTOR(char *) evidence;    /* one fact each: numbers, ranks, log lines */
    char *cost;                    /* what it costs here, measured; NULL where that is not known */
    char *advice;                  /* what to do about it */
    MW_VECTOR(uint32_t) processes; /* whom it concerns, ascending */
};

struct mw_finding_input {
    const struct mw_model *model;
    const struct mw_tally *tally;
    const struct mw_transports *transports;
    const struct mw_settings *settings;
    const struct mw_placements *placements;
    const struct mw_exchange *exchange;
};

struct mw_findings {
    MW_VECTOR(struct mw_finding) all; /* most severe first, then by rule, then by first rank */
};

/* Rules run in their order and may look at what the ones before them found, so that one cause is
 * one finding. */
struct mw_rule {
    const char *id, *title; /* title: what the rule is about, in a few words */
    void (*find)(const struct mw_finding_input *in, struct mw_findings *out);
};
extern const struct mw_rule *const mw_rules[]; /* NULL ends it */
extern const struct mw_rule mw_rule_fallback, mw_rule_software_provider, mw_rule_excluded,
    mw_rule_idle_fabric, mw_rule_network_inside_node, mw_rule_single_copy_refused,
    mw_rule_transports_disagree, mw_rule_dead_setting, mw_rule_shared_cpu, mw_rule_far_from_nic,
    mw_rule_uneven_nics, mw_rule_gpu_staged, mw_rule_gpu_links, mw_rule_migrated, mw_rule_slow_link,
    mw_rule_slit_flat, mw_rule_late_rank, mw_rule_slow_pair, mw_rule_slower_inside,
    mw_rule_asymmetric_pair, mw_rule_size_cliff;

struct mw_findings *mw_findings_create(const struct mw_finding_input *in);
void mw_findings_free(struct mw_findings *findings);
/* The first (most severe) finding of a rule, NULL where it found nothing. */
const struct mw_finding *mw_findings_of(const struct mw_findings *findings, const char *id);

/* For rules: adds an empty finding, and facts to it. Texts are newly allocated and taken over. A
 * finding stays where it is until the next one is added. */
struct mw_finding *mw_finding_add(struct mw_findings *out, const char *id,
                                  enum mw_severity severity, char *title);
void mw_finding_evidence(struct mw_finding *finding, char *text);
const char *mw_severity_word(enum mw_severity severity); /* "notice", "warning", "critical" */

#endif
