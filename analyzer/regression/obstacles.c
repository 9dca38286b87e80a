/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether runs can be compared at all (compare.h): the same program with the same arguments on as
 * many ranks, which did as much and whose traces are whole.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/regression/compare.h"

#define OTHER_WORK 0.10 /* it is not the same work any more */
#define SAME_WORK  0.01 /* times of sums can be compared */
#define ONE_SIDED  0.40 /* so much more of the new runs than of the others: not by chance */

static void obstacle(struct mw_comparison *comparison, char *text)
{
    for (size_t i = 0; i < comparison->obstacles.count; i++)
        if (!strcmp(comparison->obstacles.at[i], text)) {
            free(text);
            return;
        }
    *mw_vector_add(&comparison->obstacles) = text;
}

static void check_run(struct mw_comparison *comparison, const struct mw_digest *run)
{
    if (run->crashed)
        obstacle(comparison, mw_format("%s did not end well: %s", run->path, run->crashed));
    if (run->incomplete)
        obstacle(comparison, mw_format("%s is not whole: %s", run->path, run->incomplete));
    if (!run->crashed && !run->incomplete && !run->messages && !run->collective_calls)
        obstacle(comparison, mw_format("%s has no communication", run->path));
}

static void check_texts(struct mw_comparison *comparison, const struct mw_digest *first,
                        const struct mw_digest *run)
{
    if (strcmp(first->program, run->program))
        obstacle(comparison, mw_format("other programs: %s in %s, %s in %s", first->program,
                                       first->path, run->program, run->path));
    else if (strcmp(first->arguments, run->arguments))
        obstacle(comparison, mw_format("other arguments: \"%s\" in %s, \"%s\" in %s",
                                       first->arguments, first->path, run->arguments, run->path));
    if (first->ranks != run->ranks)
        obstacle(comparison, mw_format("%" PRId64 " ranks in %s, %" PRId64 " in %s", first->ranks,
                                       first->path, run->ranks, run->path));
}

/* How far two amounts are apart, as a part of the larger one. */
static double apart(uint64_t a, uint64_t b)
{
    double most = fmax((double)a, (double)b);
    return most > 0 ? fabs((double)a - (double)b) / most : 0;
}

static double work_apart(const struct mw_digest *a, const struct mw_digest *b)
{
    double messages = apart(a->messages, b->messages), bytes = apart(a->bytes, b->bytes);
    return fmax(fmax(messages, bytes), apart(a->collective_calls, b->collective_calls));
}

static char *work_words(const struct mw_digest *run)
{
    char *bytes = mw_number_bytes((double)run->bytes);
    char *words = mw_format("%" PRIu64 " messages, %s and %" PRIu64 " calls of collectives in %s",
                            run->messages, bytes, run->collective_calls, run->path);
    free(bytes);
    return words;
}

static void check_work(struct mw_comparison *comparison, const struct mw_digest *first,
                       const struct mw_digest *run)
{
    double distance = work_apart(first, run);
    if (distance > SAME_WORK)
        comparison->times_compare = 0;
    if (distance <= OTHER_WORK)
        return;
    char *one = work_words(first), *two = work_words(run);
    obstacle(comparison, mw_format("another amount of work: %s, %s", one, two));
    free(one);
    free(two);
}

/* One run given twice, perhaps as a folder and as a file, would make chance look like certainty. */
static void check_once(struct mw_comparison *comparison, const struct mw_runs *side)
{
    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct mw_digest *one = side->at[k], *two = side->at[i];
            if (one->identity && one->identity[0] && two->identity && one->began == two->began &&
                !strcmp(one->identity, two->identity))
                obstacle(comparison, mw_format("%s and %s are the same run", one->path, two->path));
        }
}

/* --- what else ran there ---------------------------------------------------------------------- */

static double disturbed_share(const struct mw_runs *side)
{
    size_t disturbed = 0;
    for (size_t i = 0; i < side->count; i++)
        disturbed += side->at[i]->disturbed != NULL;
    return (double)disturbed / (double)side->count;
}

/* Several runs a side show by themselves what a busy machine does to them, unless it was busy for
 * one of the sides. */
static void check_disturbed(struct mw_comparison *comparison)
{
    double base = disturbed_share(&comparison->base), fresh = disturbed_share(&comparison->fresh);
    int few = comparison->base.count < 2 || comparison->fresh.count < 2;
    comparison->disturbed = few ? base > 0 || fresh > 0 : fresh - base > ONE_SIDED;
}

static void note_disturbed(struct mw_comparison *comparison, const struct mw_digest *run)
{
    if (run->disturbed)
        *mw_vector_add(&comparison->notes) =
            mw_format("%s was disturbed: %s", run->path, run->disturbed);
}

void mw_compare_obstacles(struct mw_comparison *comparison)
{
    const struct mw_runs *sides[] = {&comparison->base, &comparison->fresh};
    const struct mw_digest *first = comparison->base.at[0];
    comparison->times_compare = 1;
    for (int side = 0; side < 2; side++) {
        check_once(comparison, sides[side]);
        for (size_t i = 0; i < sides[side]->count; i++) {
            const struct mw_digest *run = sides[side]->at[i];
            check_run(comparison, run);
            check_texts(comparison, first, run);
            if (!run->crashed && !first->crashed)
                check_work(comparison, first, run);
            note_disturbed(comparison, run);
        }
    }
    check_disturbed(comparison);
    if (comparison->disturbed)
        *mw_vector_add(&comparison->notes) = mw_text_copy(
            comparison->base.count < 2 || comparison->fresh.count < 2
                ? "with one run a side, speeds of disturbed runs that look slower are not sure"
                : "more of the new runs were disturbed than of the others: speeds that look slower "
                  "are not sure");
    if (!comparison->times_compare)
        *mw_vector_add(&comparison->notes) =
            mw_text_copy("the runs did not do exactly the same work: times in calls, waits and of "
                         "the whole job are not compared");
}
