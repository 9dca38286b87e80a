/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "migrated": ranks that are bound to no NUMA node ran on several, so that what they had
 * allocated on the first one is far from the others.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/seats.h"
#include "analyzer/findings/words.h"

#define NAMED_MAX 4

/* Not where it came to rest in the end, nor where the memory is spread on purpose. */
static int moves(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_rank_place *place = &in->placements->places[process];
    return mw_seated(in, process, in->model->process_node[process]) &&
           mw_place_hardware(in->placements, process)->parts[MW_LEVEL_NUMA].count > 1 &&
           mw_cpus_count(&place->numa_seen) > 1 && mw_place_numa(in->placements, process) < 0 &&
           strncmp(place->last->policy, "interleave", strlen("interleave"));
}

static void say(const struct mw_finding_input *in, uint32_t process, struct mw_finding *finding)
{
    const struct mw_rank_place *place = &in->placements->places[process];
    char *who = mw_process_words(in->model, process), *seen = mw_cpus_text(&place->numa_seen);
    char *mask = mw_cpus_text(&place->seat.cpus);
    char *times = place->last->migrations > 0
                      ? mw_format(", changed its CPU %" PRId64 " times", place->last->migrations)
                      : mw_text_copy("");
    mw_finding_evidence(finding, mw_format("%s was found on NUMA nodes %s%s; it may use CPUs %s",
                                           who, seen, times, mask));
    free(who);
    free(seen);
    free(mask);
    free(times);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct mw_crowd crowd;
    mw_crowd_begin(&crowd, in->model);
    for (uint32_t p = 0; p < in->model->process_count; p++)
        if (moves(in, p))
            mw_crowd_add(&crowd, p);
    if (crowd.count) {
        char *share = mw_crowd_share(&crowd);
        char *origin = mw_origin_words(in, (uint32_t)mw_crowd_first(&crowd));
        struct mw_finding *finding = mw_finding_add(
            out, "migrated", MW_WARNING, mw_format("%s moved between NUMA nodes", share));
        for (uint32_t p = 0, named = 0; p < in->model->process_count && named < NAMED_MAX; p++)
            if (mw_crowd_has(&crowd, p)) {
                say(in, p, finding);
                named++;
            }
        mw_finding_evidence(finding, mw_format("of its CPUs: %s", origin));
        finding->advice =
            mw_text_copy("Bind ranks to a NUMA node at least: mpirun --bind-to numa (Open "
                         "MPI), -bind-to numa (MPICH), srun --cpu-bind=ldoms.");
        mw_crowd_give(&crowd, finding);
        free(share);
        free(origin);
    }
    mw_crowd_end(&crowd);
}

const struct mw_rule mw_rule_migrated = {"migrated", "ranks moved between NUMA nodes", find};
