/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sides of one or more runs set against each other: can they be compared, what took another
 * way, what got slower, what could explain it, and the verdict. docs/regression.md has the rules.
 * Built once from digests, which must outlive it, then read-only; prints nothing. One thread.
 */
#ifndef MW_REGRESSION_COMPARE_H
#define MW_REGRESSION_COMPARE_H

#include "analyzer/regression/digest.h"
#include "analyzer/regression/statistics.h"

enum mw_compare_part {
    MW_COMPARE_TRANSPORTS = 1, /* which ways messages took, and where ranks sat */
    MW_COMPARE_CLASSES = 2,
    MW_COMPARE_PAIRS = 4,
    MW_COMPARE_CALLS = 8, /* with places in the program, waits and collectives */
    MW_COMPARE_ALL = 15,
};

struct mw_compare_options {
    double threshold; /* 0.05 */
    unsigned parts;
    int force;    /* goes on though they cannot be compared */
    size_t looks; /* at growing sets of runs, of which this is one; 1: this is the only one */
};

struct mw_runs { /* a side */
    const struct mw_digest *const *at;
    size_t count;
};

/* What is the same thing in another way. X(IDENTIFIER, name) */
#define MW_IDENTITY_LIST(X)                                                                        \
    X(TRANSPORT, "transport")                                                                      \
    X(LAYER, "layer") /* who drives it */                                                          \
    X(DEVICE, "device")                                                                            \
    X(BUFFER, "buffer")     /* memory that messages come from */                                   \
    X(DISTANCE, "distance") /* between two ranks */                                                \
    X(PLACEMENT, "placement")

enum mw_identity_kind {
#define MW_IDENTITY_ENUM(id, name) MW_IDENTITY_##id,
    MW_IDENTITY_LIST(MW_IDENTITY_ENUM)
#undef MW_IDENTITY_ENUM
        MW_IDENTITY_KINDS
};

struct mw_identity {
    enum mw_identity_kind kind;
    int64_t src, dst; /* of a pair; -1: of all pairs of a distance, or of the job */
    const char *distance;
    char *name; /* of a fact of placement; "" */
    char *base, *fresh;
    uint64_t messages, bytes; /* in the first new run */
    int steady;               /* equal in all runs of each side */
    int worse;                /* the new way is a lesser one, however fast it was here */
    int doubtful;             /* so it is, but only in some new runs, or in some base runs, too */
};

enum mw_effect_verdict {
    MW_EFFECT_WORSE,
    MW_EFFECT_UNSURE, /* looks worse, but that may be chance */
    MW_EFFECT_BETTER,
    MW_EFFECT_SAME,
    MW_EFFECT_UNJUDGED, /* `why` says why */
};

/* One figure on both sides. */
struct mw_effect {
    const struct mw_figure *about; /* of the first base run that has it */
    const char *fresh_transport;
    size_t base_runs, fresh_runs;
    double base, fresh;      /* the geometric means that were compared, in the figure's unit; of
                                what was not measured the medians over the runs */
    int measured;            /* `change` is known */
    struct mw_change change; /* of what it costs: a ratio above 1 is slower, of bandwidths, too */
    enum mw_effect_verdict verdict;
    const char *why;    /* static; NULL */
    int counts;         /* large enough a part of the job that not being sure matters */
    size_t runs_needed; /* a side, to be sure; 0 not known, or too many */
};

/* A difference that could explain the changes. */
struct mw_suspect {
    enum mw_fact_kind kind;
    const char *name;
    char *base, *fresh;               /* values; "" not there */
    char *base_detail, *fresh_detail; /* path, source */
    unsigned rank;                    /* 0: on the way that changed itself; more: farther off */
};

enum mw_outcome {
    MW_OUTCOME_NO_REGRESSION,
    MW_OUTCOME_REGRESSION,
    MW_OUTCOME_NOT_SURE,
    MW_OUTCOME_INCOMPARABLE,
};

struct mw_comparison {
    struct mw_runs base, fresh;
    struct mw_compare_options options;
    MW_VECTOR(char *) obstacles; /* why they cannot be compared */
    MW_VECTOR(char *) notes;     /* what the reader should know: disturbed runs, other amounts */
    MW_VECTOR(struct mw_identity) identities; /* worse ones first, pairs before all of a distance */
    MW_VECTOR(struct mw_effect) effects;      /* by verdict, then by scope and size of the effect */
    MW_VECTOR(struct mw_suspect) suspects;    /* nearest first */
    MW_VECTOR(struct mw_figure *) merged;     /* of messages that went several ways; for effects */
    size_t ways_known, ways_lost; /* pairs whose way is known on both sides, no longer known */
    size_t too_few;               /* figures of which neither side has enough samples */
    double judged_messages, judged_bytes; /* the part of the job that has a verdict; NaN: of none */
    char *gap;                            /* why that does not speak for the job; NULL: it does */
    int times_compare;                    /* both sides did the same work, to 1 % */
    int disturbed; /* so that what looks slower is not sure: mw_compare_obstacles */
    enum mw_outcome outcome;
    size_t runs_needed; /* a side, where the outcome is not sure; 0 not known */
};

struct mw_comparison *mw_comparison_create(struct mw_runs base, struct mw_runs fresh,
                                           const struct mw_compare_options *options);
void mw_comparison_free(struct mw_comparison *comparison);

/* Whether it is known if the figure got worse. */
int mw_effect_is_judged(const struct mw_effect *effect);

const char *mw_identity_word(enum mw_identity_kind kind);
const char *mw_effect_word(enum mw_effect_verdict verdict); /* "slower", "not sure" ... */
const char *mw_outcome_word(enum mw_outcome outcome);       /* "regression", "not sure" ... */

/* The parts, in their order; for compare.c only. */
void mw_compare_obstacles(struct mw_comparison *comparison);
void mw_compare_identities(struct mw_comparison *comparison);
void mw_compare_effects(struct mw_comparison *comparison);
void mw_compare_coverage(struct mw_comparison *comparison); /* of effects; called by them */
void mw_compare_explain(struct mw_comparison *comparison);

#endif
