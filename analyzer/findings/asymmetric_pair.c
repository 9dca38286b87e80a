/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "asymmetric-pair": between two nodes messages are far slower one way than back. See
 * docs/findings.md. Main thread only.
 */
#include <stdlib.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/crowd.h"
#include "analyzer/model/labels.h"

#define APART     3.0 /* times, in flight, and of the fastest samples */
#define BYTES_MIN (UINT64_C(1) << 20)
#define CLASS_MIN 13 /* 4 KiB */
#define SHOWN     4

static const struct mw_speed *back_of(const struct mw_speeds *speeds, const struct mw_speed *speed)
{
    size_t count;
    const struct mw_speed *at = mw_speeds_pair(speeds, speed->dst, speed->src, &count);
    for (size_t i = 0; i < count; i++)
        if (at[i].class == speed->class)
            return &at[i];
    return NULL;
}

static int is_far_slower(const struct mw_speed *speed, const struct mw_speed *back)
{
    double rate = mw_speed_judged(speed);
    /* of few windows, the fastest tenth is one, which the machine may have slowed as well */
    return speed->samples >= MW_SPEED_MIN_CERTAIN && back->samples >= MW_SPEED_MIN_CERTAIN &&
           speed->bytes >= BYTES_MIN && back->bytes >= BYTES_MIN && rate > 0 &&
           rate * APART < mw_speed_judged(back) && speed->brisk * APART < back->brisk;
}

static int concerns(const struct mw_finding_input *in, const struct mw_speed *speed,
                    const struct mw_findings *out)
{
    struct mw_crowd crowd;
    mw_crowd_begin(&crowd, in->model);
    mw_crowd_add_rank(&crowd, speed->src);
    mw_crowd_add_rank(&crowd, speed->dst);
    int explained = mw_findings_concern(out, "slow-pair", &crowd);
    mw_crowd_end(&crowd);
    return explained;
}

static char *ways_words(const struct mw_model *model, const struct mw_speed *speed,
                        const struct mw_speed *back)
{
    char *src = mw_rank_label(model, speed->src), *dst = mw_rank_label(model, speed->dst);
    char *slow = mw_number_rate(mw_speed_judged(speed)),
         *fast = mw_number_rate(mw_speed_judged(back));
    char *size = mw_number_bytes((double)mw_class_from(speed->class));
    char *words = mw_format("%s -> %s: %s, back: %s; messages from %s", src, dst, slow, fast, size);
    free(dst);
    free(src);
    free(size);
    free(fast);
    free(slow);
    return words;
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    const struct mw_speeds *speeds = in->exchange->speeds;
    struct mw_crowd crowd;
    MW_VECTOR(char *) evidence = {0};
    size_t pairs = 0;
    if (mw_findings_of(out, "late-rank"))
        return;
    mw_crowd_begin(&crowd, in->model);
    for (size_t i = 0; i < speeds->all.count; i++) {
        const struct mw_speed *speed = &speeds->all.at[i];
        const struct mw_speed *back = speed->class >= CLASS_MIN ? back_of(speeds, speed) : NULL;
        if (!back || !is_far_slower(speed, back) || concerns(in, speed, out) ||
            mw_distance_of(in->model, speed->src, speed->dst) != MW_DISTANCE_NETWORK)
            continue;
        if (pairs++ < SHOWN)
            *mw_vector_add(&evidence) = ways_words(in->model, speed, back);
        mw_crowd_add_rank(&crowd, speed->src);
        mw_crowd_add_rank(&crowd, speed->dst);
    }
    if (pairs) {
        struct mw_finding *finding =
            mw_finding_add(out, "asymmetric-pair", MW_WARNING,
                           mw_text_copy("Messages between nodes are far slower one way than back"));
        for (size_t i = 0; i < evidence.count; i++)
            mw_finding_evidence(finding, evidence.at[i]);
        finding->advice =
            mw_text_copy("Both ways share cable and switch: look at what the slow side sends "
                         "through (interface, "
                         "queue and rate limits, errors of its port) and at the routes of both.");
        mw_crowd_give(&crowd, finding);
    }
    free(evidence.at);
    mw_crowd_end(&crowd);
}

const struct mw_rule mw_rule_asymmetric_pair = {"asymmetric-pair",
                                                "messages are far slower one way than back", find};
