/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of what the job did the judged figures are about (compare.h): so that "no regression" is
 * not said of a job by its 1-byte answers alone. Main thread only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/index.h"
#include "analyzer/regression/effects_parts.h"

#define MOST 0.5 /* of the messages and of the bytes: less says nothing of the job */

struct amounts {
    double messages, bytes; /* a call of a collective is as a message of each rank */
};

/* What its figures, one a metric, are about together. */
struct subject {
    struct amounts amounts;
    int judged;
};

struct ledger {
    struct mw_index index;
    MW_VECTOR(struct subject) subjects;
};

/* Figures that stand for parts of what was done, each part once: messages by class or by pair, or
 * none, and collectives. */
static int stands_for_work(const struct mw_comparison *comparison, enum mw_figure_scope messages,
                           const struct mw_figure *figure)
{
    return figure->scope == messages ||
           (figure->scope == MW_SCOPE_COLLECTIVE && comparison->options.parts & MW_COMPARE_CALLS);
}

/* Throughput is known of all messages, the other speeds of some. */
static struct amounts amounts_of(const struct mw_comparison *comparison,
                                 const struct mw_figure *figure)
{
    double ranks = (double)comparison->base.at[0]->recorded_ranks;
    if (figure->scope == MW_SCOPE_COLLECTIVE)
        return (struct amounts){ranks * (double)figure->samples, ranks * mw_figure_bytes(figure)};
    if (figure->metric != MW_METRIC_THROUGHPUT)
        return (struct amounts){0};
    return (struct amounts){(double)figure->samples, mw_figure_bytes(figure)};
}

static void add(struct amounts *sum, struct amounts amounts)
{
    sum->messages += amounts.messages;
    sum->bytes += amounts.bytes;
}

static int is_measured(const struct mw_digest *run, const char *distance)
{
    for (size_t f = 0; f < run->figures.count; f++) { /* by scope */
        if (run->figures.at[f].scope != MW_SCOPE_CLASS)
            return 0;
        if (!strcmp(run->figures.at[f].distance, distance))
            return 1;
    }
    return 0;
}

/* Messages over a distance of which no speed is known at all, as where nothing ties the clocks of
 * two nodes together. */
static void add_unmeasured(const struct mw_digest *run, struct amounts *sum)
{
    for (size_t i = 0; i < run->pairs.count; i++) {
        const struct mw_digest_pair *pair = &run->pairs.at[i];
        if (!is_measured(run, pair->distance))
            add(sum, (struct amounts){(double)pair->messages, (double)pair->bytes});
    }
}

static struct amounts whole_of(const struct mw_comparison *comparison,
                               enum mw_figure_scope messages)
{
    const struct mw_digest *run = comparison->base.at[0];
    struct amounts whole = {0};
    for (size_t f = 0; f < run->figures.count; f++)
        if (stands_for_work(comparison, messages, &run->figures.at[f]))
            add(&whole, amounts_of(comparison, &run->figures.at[f]));
    if (messages != MW_SCOPE_COLLECTIVE)
        add_unmeasured(run, &whole);
    return whole;
}

static uint64_t subject_key(const struct mw_figure *about)
{
    uint64_t key = mw_hash_text(about->scope + 1, about->distance);
    key = mw_hash_text(mw_mix(key + about->size_class), about->transport);
    key = mw_hash_text(mw_mix(key + (uint64_t)about->src), about->buffer);
    return mw_hash_text(mw_mix(key + (uint64_t)about->dst), about->name);
}

/* What one of its figures was judged of. */
static struct amounts judged_of(const struct mw_comparison *comparison,
                                enum mw_figure_scope messages)
{
    struct ledger ledger = {0};
    struct amounts judged = {0};
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (!stands_for_work(comparison, messages, effect->about))
            continue;
        size_t at = mw_index_put(&ledger.index, subject_key(effect->about));
        if (at == ledger.subjects.count)
            *mw_vector_add(&ledger.subjects) = (struct subject){0};
        add(&ledger.subjects.at[at].amounts, amounts_of(comparison, effect->about));
        ledger.subjects.at[at].judged |= mw_effect_is_judged(effect);
    }
    for (size_t i = 0; i < ledger.subjects.count; i++)
        if (ledger.subjects.at[i].judged)
            add(&judged, ledger.subjects.at[i].amounts);
    mw_index_free(&ledger.index);
    free(ledger.subjects.at);
    return judged;
}

/* The time in MPI is about all that was done there. */
static int any_judged(const struct mw_comparison *comparison, const char *job_time)
{
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (mw_effect_is_judged(effect) && (!job_time || (effect->about->scope == MW_SCOPE_JOB &&
                                                          !strcmp(effect->about->name, job_time))))
            return 1;
    }
    return 0;
}

static double share(double part, double whole)
{
    return whole > 0 ? fmin(part / whole, 1) : NAN;
}

static char *gap_text(double messages, double bytes)
{
    if (isnan(bytes))
        return mw_format("only speeds of %.0f %% of the messages could be judged", 100 * messages);
    return mw_format(
        "only speeds of %.0f %% of the messages, which have %.0f %% of the bytes, could "
        "be judged",
        100 * messages, 100 * bytes);
}

/* The shares that have a verdict, with messages by class or by pair: what is better known. Where
 * ranks moved to another distance only pairs can be compared. */
static void find_shares(struct mw_comparison *comparison, enum mw_figure_scope messages)
{
    struct amounts whole = whole_of(comparison, messages);
    struct amounts judged = judged_of(comparison, messages);
    double of_messages = share(judged.messages, whole.messages);
    double of_bytes = share(judged.bytes, whole.bytes);
    if (fmin(of_messages, of_bytes) > fmin(comparison->judged_messages, comparison->judged_bytes) ||
        isnan(comparison->judged_messages)) {
        comparison->judged_messages = of_messages;
        comparison->judged_bytes = of_bytes;
    }
}

void mw_compare_coverage(struct mw_comparison *comparison)
{
    unsigned parts = comparison->options.parts;
    if (parts == MW_COMPARE_TRANSPORTS)
        return;
    if (parts & MW_COMPARE_CLASSES)
        find_shares(comparison, MW_SCOPE_CLASS);
    if (parts & MW_COMPARE_PAIRS)
        find_shares(comparison, MW_SCOPE_PAIR);
    if (!(parts & (MW_COMPARE_CLASSES | MW_COMPARE_PAIRS)))
        find_shares(comparison, MW_SCOPE_COLLECTIVE);
    if (!any_judged(comparison, NULL))
        comparison->gap = mw_text_copy("no speed could be judged");
    else if (!any_judged(comparison, "mpi") &&
             (comparison->judged_messages < MOST || comparison->judged_bytes < MOST))
        comparison->gap = gap_text(comparison->judged_messages, comparison->judged_bytes);
}
