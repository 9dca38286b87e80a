/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "slow-pair": one node, or one pair of ranks, is far below its peers of the same distance,
 * transport and size. Only certain samples count, and the pair's quickest samples must be slow as
 * well, so that a rank that the machine kept from running is no slow link. See docs/findings.md.
 * Main thread only.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/counters.h"
#include "analyzer/findings/crowd.h"
#include "analyzer/model/labels.h"

#define SLOW       0.5  /* of the median of the peers */
#define SLOW_FEW   0.25 /* of the pairs at most are the exception */
#define PEERS_MIN  5    /* judged pairs that a single one is compared with */
#define OTHERS_MIN 2    /* pairs that do not touch a node */
#define SINCE_MIN  3    /* slices of time from which on a pair is slow */
#define BYTES_MIN  (UINT64_C(1) << 20)
#define CLASS_MIN  13  /* 4 KiB */
#define BUSIER     1.5 /* times the concurrency of others: no peer any more */

/* Pairs of a group that can be judged by bandwidth. */
struct judged {
    const struct mw_speed **at;
    size_t count;
};

static int double_compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The median of the in-flight bandwidths, or of the fastest tenth of samples, of those that `want`
 * has. */
static double median_of(const struct judged *judged, const unsigned char *want, int brisk)
{
    double *values = mw_alloc(judged->count, sizeof(*values)), median = 0;
    size_t count = 0;
    for (size_t i = 0; i < judged->count; i++)
        if (want[i])
            values[count++] = brisk ? judged->at[i]->brisk : mw_speed_judged(judged->at[i]);
    qsort(values, count, sizeof(values[0]), double_compare);
    if (count)
        median = (values[(count - 1) / 2] + values[count / 2]) / 2;
    free(values);
    return median;
}

static struct judged judged_begin(const struct mw_speed_group *group)
{
    struct judged judged = {mw_alloc(group->judged, sizeof(judged.at[0])), 0};
    for (size_t i = 0; i < group->judged; i++) {
        const struct mw_speed *speed = group->members[i];
        if (speed->bytes >= BYTES_MIN)
            judged.at[judged.count++] = speed;
    }
    return judged;
}

static double concurrency(const struct mw_finding_input *in, int64_t src, int64_t dst)
{
    const struct mw_node_speed *nodes =
        mw_speeds_nodes(in->exchange->speeds, mw_model_rank_node(in->model, src),
                        mw_model_rank_node(in->model, dst));
    return nodes && nodes->joint.time ? mw_joint_concurrency(&nodes->joint) : 1;
}

/* Pairs that share their way with more others than most do are slower by right. */
static int is_busier(const struct mw_finding_input *in, const struct judged *judged,
                     const struct mw_speed *speed)
{
    double own = concurrency(in, speed->src, speed->dst);
    size_t calmer = 0;
    for (size_t i = 0; i < judged->count; i++)
        calmer += own > BUSIER * concurrency(in, judged->at[i]->src, judged->at[i]->dst);
    return calmer * 2 > judged->count;
}

/* The slice of time from which on it was slow, after it had been as fast as others; -1: none.
 * *length: slices with samples from there on. */
static int slow_since(const struct mw_speed *speed, double median, int *length)
{
    int first = -1, before = 0;
    *length = 0;
    for (int i = 0; speed->slices && i < MW_SPEED_SLICES; i++) {
        double rate = mw_rate_value(&speed->slices[i]);
        if (rate >= SLOW * median) {
            before = 1;
            first = -1;
            *length = 0;
        } else if (rate > 0) {
            first = first < 0 ? i : first;
            ++*length;
        }
    }
    return before ? first : -1;
}

/* All of it, or all from some time on. */
static int is_slow(const struct mw_speed *speed, double rate, double brisk)
{
    int length, since = slow_since(speed, rate, &length);
    return mw_speed_judged(speed) < SLOW * rate &&
           (speed->brisk < SLOW * brisk || (since >= 0 && length >= SINCE_MIN));
}

static char *since_words(const struct mw_speed *speed, double median)
{
    int length, since = slow_since(speed, median, &length);
    if (since < 0)
        return mw_text_copy("in the whole run");
    return mw_format("from %d %% of the run's time on", since * 100 / MW_SPEED_SLICES);
}

static char *pair_words(const struct mw_model *model, const struct mw_speed *speed, double median)
{
    char *src = mw_rank_label(model, speed->src), *dst = mw_rank_label(model, speed->dst);
    char *rate = mw_number_rate(mw_speed_judged(speed)), *of = mw_number_rate(median);
    char *size = mw_number_bytes((double)mw_class_from(speed->class));
    char *since = since_words(speed, median);
    char *words = mw_format("%s -> %s: %s, its peers' median is %s; messages from "
                            "%s, %" PRIu64 " certain samples, %s",
                            src, dst, rate, of, size, speed->certain, since);
    free(dst);
    free(src);
    free(since);
    free(size);
    free(of);
    free(rate);
    return words;
}

static char *peers_words(const struct mw_finding_input *in, const struct mw_speed_group *group)
{
    return mw_format("compared with pairs of the same kind: %s, over %s",
                     mw_distance_word(group->distance),
                     mw_speed_way_name(in->transports, group->way));
}

/* Time that the bytes would not have taken at the peers' speed. */
static char *cost_words(const struct judged *judged, const unsigned char *slow, double median)
{
    double lost = 0;
    for (size_t i = 0; i < judged->count; i++)
        if (slow[i])
            lost +=
                (double)judged->at[i]->bytes * (1 / mw_speed_judged(judged->at[i]) - 1 / median);
    char *time = mw_number_seconds(lost);
    char *words = mw_format("about %s of transfer time more than at the peers' speed", time);
    free(time);
    return words;
}

static void slow_report(const struct mw_finding_input *in, const struct mw_speed_group *group,
                        const struct judged *judged, const unsigned char *slow, double median,
                        char *title, struct mw_findings *out)
{
    struct mw_finding *finding = mw_finding_add(out, "slow-pair", MW_WARNING, title);
    struct mw_crowd crowd;
    struct mw_slow_pairs pairs;
    size_t shown = 0;
    mw_crowd_begin(&crowd, in->model);
    mw_slow_pairs_begin(&pairs, in->model);
    for (size_t i = 0; i < judged->count; i++) {
        if (!slow[i])
            continue;
        if (shown++ < 4)
            mw_finding_evidence(finding, pair_words(in->model, judged->at[i], median));
        mw_crowd_add_rank(&crowd, judged->at[i]->src);
        mw_crowd_add_rank(&crowd, judged->at[i]->dst);
        mw_slow_pairs_add(&pairs, in->model, judged->at[i]->src, judged->at[i]->dst);
    }
    if (shown > 4)
        mw_finding_evidence(finding, mw_format("%zu pairs more", shown - 4));
    mw_finding_evidence(finding, peers_words(in, group));
    mw_slow_pairs_evidence(&pairs, in->model, finding);
    finding->cost = cost_words(judged, slow, median);
    finding->advice = mw_text_copy(
        "Look at the cable, the port's negotiated speed and error counters, and at which interface "
        "these ranks use; `mpiwatch transports` has the counters of the ports and the connections' "
        "retransmissions.");
    mw_crowd_give(&crowd, finding);
    mw_crowd_end(&crowd);
}

static int64_t end_of(const struct mw_finding_input *in, const struct mw_speed *speed, int sends)
{
    return mw_model_rank_node(in->model, sends ? speed->src : speed->dst);
}

/* What a node sends, or receives. */
struct way_of {
    size_t node;
    int sends;
    size_t count;
    unsigned char *own; /* of judged pairs: its own */
    double rate;        /* the median of those that do not touch the node */
};

/* Whether all that a node sends (receives), to (from) more than one other, is slow, and what does
 * not touch it is not. Of what it exchanges with one other nobody knows whose fault it is. */
static int way_look(const struct mw_finding_input *in, const struct judged *judged,
                    struct way_of *way)
{
    unsigned char *others = mw_alloc(judged->count + 1, 1);
    int64_t node = (int64_t)way->node, peer = -1;
    size_t other_count = 0;
    int several = 0;
    for (size_t i = 0; i < judged->count; i++) {
        int64_t near = end_of(in, judged->at[i], way->sends);
        int64_t far = end_of(in, judged->at[i], !way->sends);
        way->own[i] = near == node;
        others[i] = near != node && far != node;
        way->count += way->own[i];
        other_count += others[i];
        if (way->own[i]) {
            several |= peer >= 0 && far != peer;
            peer = far;
        }
    }
    int slow = several && other_count >= OTHERS_MIN;
    for (size_t i = 0; i < judged->count && slow; i++) /* no median is above the fastest one */
        slow =
            !way->own[i] || mw_speed_judged(judged->at[i]) < SLOW * mw_speed_judged(judged->at[0]);
    way->rate = slow ? median_of(judged, others, 0) : 0;
    double brisk = slow ? median_of(judged, others, 1) : 0;
    for (size_t i = 0; i < judged->count && slow; i++)
        if (way->own[i])
            slow =
                is_slow(judged->at[i], way->rate, brisk) && !is_busier(in, judged, judged->at[i]);
    free(others);
    return slow;
}

/* The one with most pairs that none before explains; NULL none. */
static const struct way_of *way_next(const struct way_of *ways, size_t count,
                                     const unsigned char *explained, size_t pairs)
{
    const struct way_of *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t left = 0;
        for (size_t k = 0; k < pairs; k++)
            left += ways[i].own[k] && !explained[k];
        if (left > most) {
            most = left;
            best = &ways[i];
        }
    }
    return best;
}

static void way_report(const struct mw_finding_input *in, const struct mw_speed_group *group,
                       const struct judged *judged, const struct way_of *way,
                       struct mw_findings *out)
{
    char *title =
        mw_format("Everything that %s %s is far slower than what other nodes %s: %zu pairs",
                  in->model->nodes[way->node].host, way->sends ? "sends" : "receives",
                  way->sends ? "send" : "receive", way->count);
    slow_report(in, group, judged, way->own, way->rate, title, out);
}

/* A node that is slow to all makes each of them slow from it: that is said once. */
static int nodes_look(const struct mw_finding_input *in, const struct mw_speed_group *group,
                      const struct judged *judged, struct mw_findings *out)
{
    MW_VECTOR(struct way_of) ways = {0};
    unsigned char *explained = mw_alloc(judged->count + 1, 1);
    const struct way_of *way;
    for (size_t node = 0; node < in->model->node_count; node++)
        for (int sends = 1; sends >= 0; sends--) {
            struct way_of looked = {
                .node = node, .sends = sends, .own = mw_alloc(judged->count + 1, 1)};
            if (way_look(in, judged, &looked))
                *mw_vector_add(&ways) = looked;
            else
                free(looked.own);
        }
    while ((way = way_next(ways.at, ways.count, explained, judged->count))) {
        way_report(in, group, judged, way, out);
        for (size_t i = 0; i < judged->count; i++)
            explained[i] |= way->own[i];
    }
    int found = ways.count > 0;
    for (size_t i = 0; i < ways.count; i++)
        free(ways.at[i].own);
    free(ways.at);
    free(explained);
    return found;
}

static void pairs_look(const struct mw_finding_input *in, const struct mw_speed_group *group,
                       const struct judged *judged, struct mw_findings *out)
{
    unsigned char *all = mw_alloc(judged->count + 1, 1), *slow = mw_alloc(judged->count + 1, 1);
    size_t count = 0;
    for (size_t i = 0; i < judged->count; i++)
        all[i] = 1;
    double rate = median_of(judged, all, 0), brisk = median_of(judged, all, 1);
    for (size_t i = 0; i < judged->count; i++) {
        slow[i] = is_slow(judged->at[i], rate, brisk) && !is_busier(in, judged, judged->at[i]);
        count += slow[i];
    }
    if (count && (double)count <= SLOW_FEW * (double)judged->count)
        slow_report(in, group, judged, slow, rate,
                    mw_format("%zu of %zu pairs %s far slower than the others", count,
                              judged->count, count == 1 ? "is" : "are"),
                    out);
    free(all);
    free(slow);
}

/* The class in which most bytes moved stands for the others of its kind. */
static int is_main_class(const struct mw_speed_groups *groups, const struct mw_speed_group *group)
{
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct mw_speed_group *other = &groups->all.at[i];
        if (other->distance == group->distance && other->way == group->way &&
            other->class >= CLASS_MIN && other->judged > 1 && other->bytes > group->bytes)
            return 0;
    }
    return group->class >= CLASS_MIN && group->judged > 1;
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    if (mw_findings_of(out, "late-rank"))
        return; /* what others lose to a late rank is not the network's fault */
    struct mw_speed_groups *groups = mw_speed_groups_create(in->exchange->speeds, in->transports);
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct mw_speed_group *group = &groups->all.at[i];
        if (!is_main_class(groups, group))
            continue;
        struct judged judged = judged_begin(group);
        int found = group->distance == MW_DISTANCE_NETWORK && nodes_look(in, group, &judged, out);
        if (!found && judged.count >= PEERS_MIN)
            pairs_look(in, group, &judged, out);
        free(judged.at);
    }
    mw_speed_groups_free(groups);
}

const struct mw_rule mw_rule_slow_pair = {"slow-pair", "a pair or a node is far below its peers",
                                          find};
