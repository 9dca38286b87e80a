/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a comparison, and its verdict (compare.h). */
#include "analyzer/regression/compare.h"

#include <math.h>
#include <stdlib.h>

/* Where nothing else is asked for, ways that cannot be told are no answer. */
static int ways_say_nothing(const struct mw_comparison *comparison)
{
    return comparison->options.parts == MW_COMPARE_TRANSPORTS &&
           (!comparison->ways_known || comparison->ways_lost);
}

/* A lesser way, or something sure to be slower; else not being sure of what matters. */
static enum mw_outcome outcome_of(const struct mw_comparison *comparison)
{
    int unsure = ways_say_nothing(comparison) || comparison->gap;
    if (comparison->obstacles.count && !comparison->options.force)
        return MW_OUTCOME_INCOMPARABLE;
    for (size_t i = 0; i < comparison->identities.count; i++) {
        if (comparison->identities.at[i].worse)
            return MW_OUTCOME_REGRESSION;
        unsure |= comparison->identities.at[i].doubtful;
    }
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->verdict == MW_EFFECT_WORSE)
            return MW_OUTCOME_REGRESSION;
        unsure |= effect->verdict == MW_EFFECT_UNSURE && effect->counts;
    }
    return unsure ? MW_OUTCOME_NOT_SURE : MW_OUTCOME_NO_REGRESSION;
}

static void note_doubts(struct mw_comparison *comparison)
{
    size_t doubtful = 0;
    for (size_t i = 0; i < comparison->identities.count; i++)
        doubtful += comparison->identities.at[i].doubtful;
    if (doubtful)
        *mw_vector_add(&comparison->notes) = mw_text_copy(
            "a lesser way was taken in some runs only, which may be chance: more runs would tell");
    if (ways_say_nothing(comparison))
        *mw_vector_add(&comparison->notes) = mw_text_copy(
            comparison->ways_lost ? "which way messages took is no longer known of each pair"
                                  : "of no pair it is known on both sides which way its messages "
                                    "took");
    if (comparison->gap)
        *mw_vector_add(&comparison->notes) = mw_text_copy(comparison->gap);
}

static size_t runs_needed(const struct mw_comparison *comparison)
{
    size_t most = 0;
    for (size_t i = 0; i < comparison->effects.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->verdict == MW_EFFECT_UNSURE && effect->counts && effect->runs_needed > most)
            most = effect->runs_needed;
    }
    return most;
}

struct mw_comparison *mw_comparison_create(struct mw_runs base, struct mw_runs fresh,
                                           const struct mw_compare_options *options)
{
    struct mw_comparison *comparison = mw_alloc(1, sizeof(*comparison));
    comparison->base = base;
    comparison->fresh = fresh;
    comparison->options = *options;
    comparison->judged_messages = comparison->judged_bytes = NAN;
    mw_compare_obstacles(comparison);
    if (!comparison->obstacles.count || options->force) {
        if (options->parts & MW_COMPARE_TRANSPORTS)
            mw_compare_identities(comparison);
        mw_compare_effects(comparison);
        mw_compare_explain(comparison);
        note_doubts(comparison);
    }
    comparison->outcome = outcome_of(comparison);
    if (comparison->outcome == MW_OUTCOME_NOT_SURE)
        comparison->runs_needed = runs_needed(comparison);
    return comparison;
}

void mw_comparison_free(struct mw_comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->obstacles.count; i++)
        free(comparison->obstacles.at[i]);
    for (size_t i = 0; i < comparison->notes.count; i++)
        free(comparison->notes.at[i]);
    for (size_t i = 0; i < comparison->identities.count; i++) {
        free(comparison->identities.at[i].name);
        free(comparison->identities.at[i].base);
        free(comparison->identities.at[i].fresh);
    }
    for (size_t i = 0; i < comparison->suspects.count; i++) {
        free(comparison->suspects.at[i].base);
        free(comparison->suspects.at[i].fresh);
        free(comparison->suspects.at[i].base_detail);
        free(comparison->suspects.at[i].fresh_detail);
    }
    for (size_t i = 0; i < comparison->merged.count; i++) {
        free(comparison->merged.at[i]->transport);
        free(comparison->merged.at[i]);
    }
    free(comparison->gap);
    free(comparison->merged.at);
    free(comparison->obstacles.at);
    free(comparison->notes.at);
    free(comparison->identities.at);
    free(comparison->effects.at);
    free(comparison->suspects.at);
    free(comparison);
}

const char *mw_identity_word(enum mw_identity_kind kind)
{
#define WORD(id, name) name,
    static const char *const words[] = {MW_IDENTITY_LIST(WORD)};
#undef WORD
    return words[kind];
}

int mw_effect_is_judged(const struct mw_effect *effect)
{
    return effect->verdict == MW_EFFECT_WORSE || effect->verdict == MW_EFFECT_BETTER ||
           effect->verdict == MW_EFFECT_SAME;
}

const char *mw_effect_word(enum mw_effect_verdict verdict)
{
    static const char *const words[] = {"slower", "not sure", "faster", "same", "not judged"};
    return words[verdict];
}

const char *mw_outcome_word(enum mw_outcome outcome)
{
    static const char *const words[] = {"no regression", "regression", "not sure",
                                        "cannot be compared"};
    return words[outcome];
}
