/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What somebody expects of a job ("transport=cxi", "no-finding>=warning"), and whether it holds. A
 * trace from which it cannot be told, as a part of it is missing or the job crashed, is neither.
 * Main thread only; prints nothing.
 */
#ifndef MW_FINDINGS_EXPECTATION_H
#define MW_FINDINGS_EXPECTATION_H

#include "analyzer/findings/finding.h"

extern const char *const mw_expectation_grammar[]; /* a line each, NULL ends it */

enum mw_expectation_kind {
    MW_EXPECT_TRANSPORT,     /* every pair uses these ways only */
    MW_EXPECT_NOT_TRANSPORT, /* no pair uses one of these */
    MW_EXPECT_NO_FINDING,
    MW_EXPECT_FINDING,
    MW_EXPECT_RANKS,
    MW_EXPECT_ENDED,
    MW_EXPECT_SPEED,
};

enum mw_speed_metric {
    MW_SPEED_BANDWIDTH,
    MW_SPEED_THROUGHPUT,
    MW_SPEED_LATENCY,
    MW_SPEED_METRICS
};

struct mw_expectation {
    const char *text; /* as given */
    enum mw_expectation_kind kind;
    enum mw_where where;       /* of pairs; MW_WHERE_UNKNOWN: anywhere */
    MW_VECTOR(char *) names;   /* of transports; the one of a rule or of an end */
    enum mw_severity severity; /* NO_FINDING: from which on */
    int64_t ranks;
    /* SPEED: */
    enum mw_speed_metric metric;
    int distance;                /* enum mw_distance; -1: any */
    uint64_t size_from, size_to; /* bytes, both included */
    int at_least, or_equal;      /* the limit is the least or the most; it may be reached */
    double limit;                /* bytes per second, seconds */
};

/* 0, or -1 with what is wrong in *error, newly allocated. */
int mw_expectation_parse(const char *text, struct mw_expectation *expectation, char **error);
void mw_expectation_free(struct mw_expectation *expectation);

enum mw_verdict { MW_HOLDS, MW_FAILS, MW_CANNOT_TELL };

struct mw_judgement {
    enum mw_verdict verdict;
    MW_VECTOR(char *) reasons; /* what was found instead and where, or why it cannot be told */
};

struct mw_judgement mw_expectation_judge(const struct mw_expectation *expectation,
                                         const struct mw_finding_input *in,
                                         const struct mw_findings *findings);
void mw_judgement_free(struct mw_judgement *judgement);
const char *mw_verdict_word(enum mw_verdict verdict); /* "holds", "fails", "cannot be judged" */

#endif
