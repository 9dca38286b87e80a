/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "slower-inside": messages within nodes are slower than those between them, by the same size.
 * Silent where another rule has the reason. See docs/findings.md. Main thread only.
 */
#include <stdlib.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/crowd.h"

#define SLOWER    0.7 /* of the speed between nodes */
#define PAIRS_MIN 2   /* judged, on each side */
#define CLASS_MIN 17  /* 64 KiB */

/* Of the groups with enough judged pairs of a class: within nodes the one with the highest median, as
 * ranks that are far apart there may well be slower than others; between nodes the one with most
 * pairs. NULL: none. */
static const struct mw_speed_group *group_of(const struct mw_speed_groups *groups, int inside,
                                             unsigned class)
{
    const struct mw_speed_group *found = NULL;
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct mw_speed_group *at = &groups->all.at[i];
        int of = inside ? mw_distance_inside(at->distance) : at->distance == MW_DISTANCE_NETWORK;
        if (!of || at->class != class || at->judged < PAIRS_MIN)
            continue;
        if (!found || (inside ? at->median > found->median : at->judged > found->judged))
            found = at;
    }
    return found;
}

static double fastest(const struct mw_speed_group *group)
{
    double best = 0;
    for (size_t i = 0; i < group->judged; i++)
        if (group->members[i]->brisk > best)
            best = group->members[i]->brisk;
    return best;
}

static void report(const struct mw_finding_input *in, const struct mw_speed_group *inside,
                   const struct mw_speed_group *between, struct mw_findings *out)
{
    char *slow = mw_number_rate(inside->median), *fast = mw_number_rate(between->median);
    char *size = mw_number_bytes((double)mw_class_from(inside->class));
    struct mw_crowd crowd;
    struct mw_finding *finding = mw_finding_add(
        out, "slower-inside", MW_WARNING,
        mw_format("Messages within nodes are slower than those between them: %s of %s", slow,
                  fast));
    mw_finding_evidence(
        finding,
        mw_format("messages from %s: %s over %s within nodes (%zu pairs), %s over %s between them "
                  "(%zu pairs); medians over pairs",
                  size, slow, mw_speed_way_name(in->transports, inside->way), inside->judged, fast,
                  mw_speed_way_name(in->transports, between->way), between->judged));
    finding->advice =
        mw_text_copy("Shared memory with single copies should be faster than any network: look at "
                     "which transport serves these ranks, at how they are bound, and whether more "
                     "of them run than there are cores.");
    mw_crowd_begin(&crowd, in->model);
    for (size_t i = 0; i < inside->judged; i++) {
        mw_crowd_add_rank(&crowd, inside->members[i]->src);
        mw_crowd_add_rank(&crowd, inside->members[i]->dst);
    }
    mw_crowd_give(&crowd, finding);
    mw_crowd_end(&crowd);
    free(size);
    free(fast);
    free(slow);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    if (mw_findings_of(out, "network-inside-node") || mw_findings_of(out, "single-copy-refused"))
        return;
    struct mw_speed_groups *groups = mw_speed_groups_create(in->exchange->speeds, in->transports);
    for (unsigned class = MW_SIZE_CLASSES - 1; class >= CLASS_MIN; class--) {
        const struct mw_speed_group *inside = group_of(groups, 1, class);
        const struct mw_speed_group *between = group_of(groups, 0, class);
        if (!inside || !between)
            continue;
        if (inside->median < SLOWER * between->median && fastest(inside) < fastest(between))
            report(in, inside, between, out);
        break; /* the largest class with both stands for the others */
    }
    mw_speed_groups_free(groups);
}

const struct mw_rule mw_rule_slower_inside = {
    "slower-inside", "messages within nodes are slower than those between them", find};
