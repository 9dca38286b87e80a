/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of a comparison with its reasons (judgement.h). */
#include "analyzer/regression/judgement.h"

#include <stdlib.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/base/number.h"

#define SHOWN 4 /* reasons of a kind */

static void reason(struct mw_judgement *judgement, char *text)
{
    *mw_vector_add(&judgement->reasons) = text;
}

static char *value_words(const struct mw_figure *figure, double value)
{
    return mw_metric_more_is_better(figure->metric) ? mw_number_rate(value)
                                                    : mw_number_seconds(value);
}

/* "0 -> 1", "1:0 -> 2:3": as the run names its ranks. */
static char *pair_words(const struct mw_digest *run, int64_t src, int64_t dst)
{
    char *from = mw_digest_rank(run, src), *to = mw_digest_rank(run, dst);
    char *words = mw_format("%s -> %s", from, to);
    free(from);
    free(to);
    return words;
}

/* "bandwidth of other node from 1.00 MiB over cxi: 23.1 GB/s -> 2.30 GB/s" */
static char *effect_words(const struct mw_effect *effect, const struct mw_digest *run)
{
    const struct mw_figure *about = effect->about;
    char *base = value_words(about, effect->base), *new = value_words(about, effect->fresh);
    char *from = mw_number_bytes((double)mw_class_from(about->size_class)), *words;
    char *pair = pair_words(run, about->src, about->dst);
    if (about->scope == MW_SCOPE_PAIR)
        words = mw_format("%s of %s from %s: %s -> %s", mw_metric_word(about->metric), pair, from,
                          base, new);
    else if (about->scope == MW_SCOPE_CLASS)
        words = mw_format("%s of %s from %s: %s -> %s", mw_metric_word(about->metric),
                          about->distance, from, base, new);
    else
        words =
            mw_format("%s of %s: %s -> %s", mw_metric_word(about->metric), about->name, base, new);
    free(base);
    free(new);
    free(from);
    free(pair);
    return words;
}

/* Lesser ways that are sure, or those that may be chance. */
static void say_identities(const struct mw_comparison *comparison, int sure,
                           struct mw_judgement *judgement)
{
    size_t shown = 0;
    for (size_t i = 0; i < comparison->identities.count && shown < SHOWN; i++) {
        const struct mw_identity *identity = &comparison->identities.at[i];
        if (!(sure ? identity->worse : identity->doubtful))
            continue;
        shown++;
        char *pair = pair_words(comparison->fresh.at[0], identity->src, identity->dst);
        reason(judgement,
               mw_format("%s of %s: %s, was %s%s", mw_identity_word(identity->kind), pair,
                         identity->fresh, identity->base, sure ? "" : ", in some runs"));
        free(pair);
    }
}

static void say_effects(const struct mw_comparison *comparison, enum mw_effect_verdict verdict,
                        struct mw_judgement *judgement)
{
    size_t shown = 0;
    for (size_t i = 0; i < comparison->effects.count && shown < SHOWN; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->verdict != verdict || (verdict == MW_EFFECT_UNSURE && !effect->counts))
            continue;
        shown++;
        reason(judgement, effect_words(effect, comparison->fresh.at[0]));
    }
}

struct mw_judgement mw_comparison_judge(const struct mw_comparison *comparison)
{
    struct mw_judgement judgement = {.verdict = MW_CANNOT_TELL};
    switch (comparison->outcome) {
    case MW_OUTCOME_NO_REGRESSION:
        judgement.verdict = MW_HOLDS;
        break;
    case MW_OUTCOME_REGRESSION:
        judgement.verdict = MW_FAILS;
        say_identities(comparison, 1, &judgement);
        say_effects(comparison, MW_EFFECT_WORSE, &judgement);
        break;
    case MW_OUTCOME_NOT_SURE:
        say_identities(comparison, 0, &judgement);
        say_effects(comparison, MW_EFFECT_UNSURE, &judgement);
        if (comparison->gap)
            reason(&judgement, mw_text_copy(comparison->gap));
        break;
    default:
        for (size_t i = 0; i < comparison->obstacles.count; i++)
            reason(&judgement, mw_text_copy(comparison->obstacles.at[i]));
    }
    return judgement;
}
