/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "late-rank": one rank, or the ranks of one node, come late to nearly all collectives, and
 * the others wait. The network is innocent then. See docs/findings.md. Main thread only.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/crowd.h"

#define LATE_SHARE     0.75               /* of all waiting in collectives that is due to them */
#define LATE_INSTANCES 10                 /* in which they were the last */
#define LATE_COST      0.05               /* of the time of all ranks */
#define LATE_TIME      UINT64_C(50000000) /* ns of waiting in all */

/* What everybody together waited for some processes. */
struct late {
    uint64_t caused, last;
    uint64_t waited, wall; /* of all ranks */
};

static uint64_t collective_waits(const struct mw_wait_amount by[MW_WAIT_KINDS])
{
    return by[MW_WAIT_BARRIER].time + by[MW_WAIT_NXN].time + by[MW_WAIT_LATE_BROADCAST].time;
}

static struct late late_of(const struct mw_finding_input *in, const struct mw_crowd *crowd)
{
    const struct mw_waits *waits = in->exchange->waits;
    struct late late = {.waited = collective_waits(waits->total)};
    for (size_t i = 0; i < in->model->process_count; i++) {
        late.wall += in->tally->processes[i].wall;
        if (!mw_crowd_has(crowd, (uint32_t)i))
            continue;
        late.caused += waits->processes[i].caused;
        late.last += waits->processes[i].last;
    }
    return late;
}

static int late_matters(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                        const struct late *late)
{
    return crowd->count && crowd->count * 2 <= in->model->process_count &&
           late->last >= LATE_INSTANCES && late->caused >= LATE_TIME &&
           (double)late->caused >= LATE_SHARE * (double)late->waited &&
           (double)late->caused >= LATE_COST * (double)late->wall;
}

/* Seconds outside MPI of a typical process; `inside` the crowd or not. */
static double outside_mean(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                           int inside)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < in->model->process_count; i++) {
        const struct mw_process_total *total = &in->tally->processes[i];
        if (mw_crowd_has(crowd, (uint32_t)i) != inside || total->wall < total->amounts.time)
            continue;
        sum += (double)(total->wall - total->amounts.time) * 1e-9;
        count++;
    }
    return count ? sum / (double)count : 0;
}

static void late_evidence(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                          const struct late *late, struct mw_finding *finding)
{
    char *names = mw_crowd_names(crowd);
    char *part = mw_number_percent((double)late->caused / (double)late->waited);
    mw_finding_evidence(finding, mw_format("%s came last to %" PRIu64 " of %" PRIu64
                                           " collectives; %s of all "
                                           "waiting in collectives was for %s",
                                           names, late->last, in->exchange->waits->instances, part,
                                           crowd->count == 1 ? "it" : "them"));
    char *own = mw_number_seconds(outside_mean(in, crowd, 1));
    char *others = mw_number_seconds(outside_mean(in, crowd, 0));
    mw_finding_evidence(finding, mw_format("%s spent %s outside MPI%s, the others %s", names, own,
                                           crowd->count == 1 ? "" : " on average", others));
    if (in->exchange->waits->sites.count)
        mw_finding_evidence(finding, mw_format("most of the waiting is in %s",
                                               in->exchange->waits->sites.at[0].name));
    free(others);
    free(own);
    free(part);
    free(names);
}

static int late_report(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                       const char *host, struct mw_findings *out)
{
    struct late late = late_of(in, crowd);
    if (!late_matters(in, crowd, &late))
        return 0;
    char *names = mw_crowd_names(crowd), *time = mw_number_seconds((double)late.caused * 1e-9);
    char *share = mw_number_percent((double)late.caused / (double)late.wall);
    char *where = host ? mw_format(" (all on %s)", host) : mw_text_copy("");
    struct mw_finding *finding =
        mw_finding_add(out, "late-rank", MW_WARNING,
                       mw_format("The others wait for %s%s in collectives: %s over all ranks",
                                 names, where, time));
    late_evidence(in, crowd, &late, finding);
    finding->cost = mw_format("%s, %s of the time of all ranks", time, share);
    finding->advice = mw_format(
        "Look at what %s %s between collectives: more work than the others, a slower or shared "
        "processor, I/O. `mpiwatch waits` shows where the others wait. The network is not to "
        "blame for this time.",
        names, crowd->count == 1 ? "does" : "do");
    mw_crowd_give(crowd, finding);
    free(where);
    free(share);
    free(time);
    free(names);
    return 1;
}

/* The processes of one node. */
static void node_look(const struct mw_finding_input *in, size_t node, struct mw_findings *out)
{
    struct mw_crowd crowd;
    mw_crowd_begin(&crowd, in->model);
    for (size_t i = 0; i < in->model->process_count; i++)
        if (in->model->process_node[i] == node)
            mw_crowd_add(&crowd, (uint32_t)i);
    if (crowd.count > 1)
        late_report(in, &crowd, in->model->nodes[node].host, out);
    mw_crowd_end(&crowd);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct mw_crowd crowd;
    size_t worst = 0;
    int found = 0;
    for (size_t i = 1; i < in->model->process_count; i++)
        if (in->exchange->waits->processes[i].caused > in->exchange->waits->processes[worst].caused)
            worst = i;
    mw_crowd_begin(&crowd, in->model);
    if (in->model->process_count) {
        mw_crowd_add(&crowd, (uint32_t)worst);
        found = late_report(in, &crowd, NULL, out);
    }
    mw_crowd_end(&crowd);
    for (size_t i = 0; !found && i < in->model->node_count; i++)
        node_look(in, i, out);
}

const struct mw_rule mw_rule_late_rank = {"late-rank", "one rank lets the others wait", find};
