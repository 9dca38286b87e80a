/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judges expectations (expectation.h). One pair, finding or process that contradicts is enough to
 * fail; that nothing contradicts counts only where nothing that matters is missing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transport_totals.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/crowd.h"
#include "analyzer/findings/expectation_parts.h"
#include "analyzer/findings/used.h"
#include "analyzer/findings/whole.h"
#include "analyzer/model/labels.h"

#define PAIRS_SHOWN   4
#define UNKNOWN_MOST  0.01 /* of the messages: so many may have gone an unknown way */
#define CONTROL_BYTES 4096 /* that nobody counted as messages */

static void reason(struct mw_judgement *judgement, char *text)
{
    *mw_vector_add(&judgement->reasons) = text;
}

static void doubt_if(struct mw_judgement *judgement, char *words)
{
    if (words)
        reason(judgement, words);
}

/* Nothing contradicts: does that say anything? */
static void doubt(const struct mw_finding_input *in, struct mw_judgement *judgement)
{
    doubt_if(judgement, mw_missing_ranks_words(in->model));
    doubt_if(judgement, mw_bad_ends_words(in->model));
    doubt_if(judgement, mw_missing_events_words(in->tally));
}

static struct mw_judgement settled(struct mw_judgement judgement, enum mw_verdict clean)
{
    judgement.verdict = judgement.reasons.count ? MW_CANNOT_TELL : clean;
    return judgement;
}

/* --- transports --- */

struct way_count {
    uint64_t pairs, bytes;
    uint32_t example[PAIRS_SHOWN]; /* pairs */
};

struct pairs_seen {
    struct way_count *by_way; /* where they contradict */
    uint64_t judged, unknown, unplaced;
    uint32_t first_unknown;
};

static int name_is(const char *name, const struct mw_way *way)
{
    size_t length = strlen(name);
    if (!strcmp(name, "shared-memory"))
        return way->kind == MW_WAY_SHARED || way->kind == MW_WAY_SINGLE_COPY;
    if (!strcmp(name, "single-copy"))
        return way->kind == MW_WAY_SINGLE_COPY;
    if (!strcmp(name, "network"))
        return way->kind == MW_WAY_NETWORK;
    if (!strcmp(name, way->name))
        return 1;
    /* a layer of it: "tcp" of "tcp;ofi_rxm" */
    for (const char *part = way->name; part; part = strchr(part, ';')) {
        part += *part == ';';
        if (strcspn(part, ";") == length && !strncmp(part, name, length))
            return 1;
    }
    return 0;
}

int mw_expectation_names(const struct mw_expectation *expectation, const struct mw_way *way)
{
    for (size_t i = 0; i < expectation->names.count; i++)
        if (name_is(expectation->names.at[i], way))
            return 1;
    return 0;
}

static void look_at_pair(const struct mw_expectation *expectation,
                         const struct mw_finding_input *in, uint32_t number,
                         struct pairs_seen *seen)
{
    const struct mw_pair_transport *pair = &in->transports->pairs.at[number];
    int wanted = expectation->kind == MW_EXPECT_TRANSPORT, known = 0;
    for (size_t r = 0; r < pair->routes.count; r++) {
        const struct mw_route *route = &pair->routes.at[r];
        const struct mw_way *way = &in->transports->ways.at[route->way];
        if (!route->messages && route->carried <= CONTROL_BYTES)
            continue;
        known = 1;
        if (mw_expectation_names(expectation, way) == wanted)
            continue;
        struct way_count *count = &seen->by_way[route->way];
        if (count->pairs < PAIRS_SHOWN)
            count->example[count->pairs] = number;
        count->pairs += !mw_route_repeats(pair, r);
        count->bytes += route->messages ? route->bytes : route->carried;
    }
    if (!pair->messages && !known)
        return; /* only control */
    seen->judged++;
    if ((!known || pair->unknown) && !seen->unknown++)
        seen->first_unknown = number;
}

/* "0 -> 5", "1:0 -> 2:3" */
static char *pair_words(const struct mw_finding_input *in, const struct mw_pair_transport *pair)
{
    char *src = mw_rank_label(in->model, pair->src), *dst = mw_rank_label(in->model, pair->dst);
    char *words = mw_format("%s -> %s", src, dst);
    free(src);
    free(dst);
    return words;
}

static char *examples(const struct mw_finding_input *in, const struct way_count *count)
{
    char *list = NULL;
    for (size_t i = 0; i < count->pairs && i < PAIRS_SHOWN; i++) {
        char *pair = pair_words(in, &in->transports->pairs.at[count->example[i]]);
        char *longer = mw_format("%s%s%s", list ? list : "", list ? ", " : "", pair);
        free(pair);
        free(list);
        list = longer;
    }
    if (count->pairs > PAIRS_SHOWN) {
        char *longer = mw_format("%s ...", list);
        free(list);
        list = longer;
    }
    return list;
}

static void say_contradictions(const struct mw_finding_input *in, const struct pairs_seen *seen,
                               struct mw_judgement *judgement)
{
    for (size_t w = 0; w < in->transports->ways.count; w++) {
        const struct way_count *count = &seen->by_way[w];
        if (!count->pairs)
            continue;
        char *way = mw_way_words(&in->transports->ways.at[w]);
        char *pairs = examples(in, count);
        char *bytes = mw_number_bytes((double)count->bytes);
        reason(judgement, mw_format("found %s on %" PRIu64 " of %" PRIu64 " pairs, %s: %s", way,
                                    count->pairs, seen->judged, bytes, pairs));
        free(way);
        free(pairs);
        free(bytes);
    }
}

static void say_unknown(const struct mw_finding_input *in, const struct pairs_seen *seen,
                        struct mw_judgement *judgement)
{
    const struct mw_pair_transport *pair = &in->transports->pairs.at[seen->first_unknown];
    char *ranks = pair_words(in, pair);
    reason(judgement,
           mw_format("the transport of %" PRIu64 " of %" PRIu64 " pairs is not known (%s: %s)",
                     seen->unknown, seen->judged, ranks,
                     pair->unknown ? pair->unknown : "nothing was seen of it"));
    free(ranks);
}

static struct mw_judgement judge_transport(const struct mw_expectation *expectation,
                                           const struct mw_finding_input *in)
{
    struct mw_judgement judgement = {0};
    struct pairs_seen seen = {0};
    seen.by_way = mw_alloc(in->transports->ways.count + 1, sizeof(*seen.by_way));
    for (uint32_t i = 0; i < in->transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &in->transports->pairs.at[i];
        if (pair->src == pair->dst)
            continue;
        if (expectation->where != MW_WHERE_UNKNOWN && pair->where == MW_WHERE_UNKNOWN)
            seen.unplaced++;
        else if (expectation->where == MW_WHERE_UNKNOWN || pair->where == expectation->where)
            look_at_pair(expectation, in, i, &seen);
    }
    say_contradictions(in, &seen, &judgement);
    free(seen.by_way);
    if (judgement.reasons.count) {
        judgement.verdict = MW_FAILS;
        return judgement;
    }
    if (seen.unknown)
        say_unknown(in, &seen, &judgement);
    if (seen.unplaced)
        reason(&judgement,
               mw_format("whether %" PRIu64 " pairs share a node is not known", seen.unplaced));
    if (!seen.judged && !seen.unplaced)
        reason(&judgement, mw_format("no pair of ranks%s exchanged messages",
                                     expectation->where == MW_WHERE_NODE      ? " within a node"
                                     : expectation->where == MW_WHERE_NETWORK ? " between nodes"
                                                                              : ""));
    doubt(in, &judgement);
    return settled(judgement, MW_HOLDS);
}

/* --- findings --- */

static int is_meant(const struct mw_expectation *expectation, const struct mw_finding *finding)
{
    if (expectation->names.count)
        return !strcmp(finding->id, expectation->names.at[0]);
    return finding->severity >= expectation->severity;
}

/* Rules say nothing about pairs of which they know nothing. */
static void doubt_transports(const struct mw_finding_input *in, struct mw_judgement *judgement)
{
    struct pairs_seen seen = {0};
    uint64_t all = 0, unknown = 0;
    for (uint32_t i = 0; i < in->transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &in->transports->pairs.at[i];
        if (pair->src == pair->dst || !pair->messages)
            continue;
        seen.judged++;
        all += pair->messages;
        if (pair->routes.count)
            continue;
        unknown += pair->messages;
        if (!seen.unknown++)
            seen.first_unknown = i;
    }
    if (unknown && (double)unknown > UNKNOWN_MOST * (double)all)
        say_unknown(in, &seen, judgement);
}

static struct mw_judgement judge_no_finding(const struct mw_expectation *expectation,
                                            const struct mw_finding_input *in,
                                            const struct mw_findings *findings)
{
    struct mw_judgement judgement = {0};
    for (size_t i = 0; i < findings->all.count; i++) {
        const struct mw_finding *finding = &findings->all.at[i];
        if (is_meant(expectation, finding))
            reason(&judgement, mw_format("found %s %s: %s", mw_severity_word(finding->severity),
                                         finding->id, finding->title));
    }
    if (judgement.reasons.count) {
        judgement.verdict = MW_FAILS;
        return judgement;
    }
    doubt_transports(in, &judgement);
    doubt(in, &judgement);
    return settled(judgement, MW_HOLDS);
}

static struct mw_judgement judge_finding(const struct mw_expectation *expectation,
                                         const struct mw_finding_input *in,
                                         const struct mw_findings *findings)
{
    struct mw_judgement judgement = {.verdict = MW_HOLDS};
    char *found = NULL;
    if (mw_findings_of(findings, expectation->names.at[0]))
        return judgement;
    doubt_transports(in, &judgement);
    doubt(in, &judgement);
    if (judgement.reasons.count)
        return settled(judgement, MW_FAILS);
    for (size_t i = 0; i < findings->all.count; i++) {
        char *longer =
            mw_format("%s%s%s", found ? found : "", found ? ", " : "", findings->all.at[i].id);
        free(found);
        found = longer;
    }
    reason(&judgement,
           found ? mw_format("found only %s", found) : mw_text_copy("found no finding at all"));
    free(found);
    judgement.verdict = MW_FAILS;
    return judgement;
}

/* --- ranks and ends --- */

static struct mw_judgement judge_ranks(const struct mw_expectation *expectation,
                                       const struct mw_finding_input *in)
{
    struct mw_judgement judgement = {.verdict = MW_HOLDS};
    if ((int64_t)in->model->rank_count == expectation->ranks)
        return judgement;
    judgement.verdict = MW_FAILS;
    reason(&judgement, in->model->rank_total < 0
                           ? mw_format("found %zu recorded", in->model->rank_count)
                           : mw_format("found %zu of %" PRId64 " recorded", in->model->rank_count,
                                       in->model->rank_total));
    return judgement;
}

static struct mw_judgement judge_ended(const struct mw_expectation *expectation,
                                       const struct mw_finding_input *in)
{
    struct mw_judgement judgement = {0};
    struct mw_crowd others;
    mw_crowd_begin(&others, in->model);
    for (uint32_t i = 0; i < in->model->process_count; i++)
        if (strcmp(mw_end_word(mw_trace_process(in->model->trace, i)), expectation->names.at[0]))
            mw_crowd_add(&others, i);
    size_t first = mw_crowd_first(&others);
    if (first != SIZE_MAX) {
        char *names = mw_crowd_names(&others);
        const char *word = mw_end_word(mw_trace_process(in->model->trace, first));
        reason(&judgement, mw_format("found another end of %s: %s%s", names, word,
                                     !strcmp(word, "none") ? " in the trace" : ""));
        free(names);
        judgement.verdict = MW_FAILS;
    } else {
        doubt_if(&judgement, mw_missing_ranks_words(in->model));
        judgement = settled(judgement, MW_HOLDS);
    }
    mw_crowd_end(&others);
    return judgement;
}

static struct mw_judgement judge_speed(const struct mw_expectation *expectation,
                                       const struct mw_finding_input *in)
{
    struct mw_judgement judgement = mw_expectation_speed_judge(expectation, in);
    if (judgement.verdict != MW_HOLDS)
        return judgement;
    doubt(in, &judgement);
    return settled(judgement, MW_HOLDS);
}

struct mw_judgement mw_expectation_judge(const struct mw_expectation *expectation,
                                         const struct mw_finding_input *in,
                                         const struct mw_findings *findings)
{
    switch (expectation->kind) {
    case MW_EXPECT_TRANSPORT:
    case MW_EXPECT_NOT_TRANSPORT:
        return judge_transport(expectation, in);
    case MW_EXPECT_NO_FINDING:
        return judge_no_finding(expectation, in, findings);
    case MW_EXPECT_FINDING:
        return judge_finding(expectation, in, findings);
    case MW_EXPECT_RANKS:
        return judge_ranks(expectation, in);
    case MW_EXPECT_SPEED:
        return judge_speed(expectation, in);
    default:
        return judge_ended(expectation, in);
    }
}

void mw_judgement_free(struct mw_judgement *judgement)
{
    for (size_t i = 0; i < judgement->reasons.count; i++)
        free(judgement->reasons.at[i]);
    free(judgement->reasons.at);
    *judgement = (struct mw_judgement){0};
}

const char *mw_verdict_word(enum mw_verdict verdict)
{
    static const char *const words[] = {"holds", "fails", "cannot be judged"};
    return words[verdict];
}
