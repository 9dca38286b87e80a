/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "size-cliff": the time in flight jumps between two neighbouring sizes and is even on both
 * sides, as where an MPI library changes its protocol at the wrong place. See docs/findings.md.
 * Main thread only.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/words.h"

#define STEP        3.0  /* times from one class to the next */
#define EVEN        2.5  /* times at most from a class to the next elsewhere */
#define SAMPLES_MIN 50   /* certain ones, of a pair and class */
#define PAIRS_SHARE 0.5  /* of the pairs that have both classes */
#define MUCH        0.25 /* of all messages just above it: then a default's step is told, too */

/* Settings that say where a protocol changes, by the words in their names. */
static const char *const parameters[] = {"eager_limit", "RNDV_THRESH",     "EAGER_MAX_MSG_SIZE",
                                         "rendezvous",  "EAGER_THRESHOLD", "ZCOPY_THRESH"};

struct cliff {
    unsigned class;                /* the first of the slow ones */
    size_t pairs, of;              /* that have the step, of those that have both classes */
    double below, above;           /* seconds, of the first pair that has it */
    const struct mw_speed *sample; /* its class above */
    uint64_t messages;             /* in the class above */
};

static const struct mw_speed *class_of(const struct mw_speed *speeds, size_t count, unsigned class)
{
    for (size_t i = 0; i < count; i++)
        if (speeds[i].class == class && speeds[i].certain >= SAMPLES_MIN)
            return &speeds[i];
    return NULL;
}

/* Seconds that a message of the class is on its way: the usual one, or one of the quickest. */
static double usual_time(const struct mw_speed *speed)
{
    return (double)speed->bytes / (double)speed->messages / speed->usual;
}

static double quick_time(const struct mw_speed *speed)
{
    return (double)speed->bytes / (double)speed->messages / speed->brisk;
}

/* Whether it is even from one class to the next; where one is not known, that says nothing. */
static int is_even(const struct mw_speed *small, const struct mw_speed *large)
{
    return !small || !large || usual_time(large) <= EVEN * usual_time(small);
}

/* One pair's part of a cliff before `class`. The usual and the quickest must show the step. */
static void cliff_look(struct cliff *cliff, const struct mw_speed *speeds, size_t count)
{
    const struct mw_speed *below = class_of(speeds, count, cliff->class - 1);
    const struct mw_speed *above = class_of(speeds, count, cliff->class);
    if (!below || !above)
        return;
    cliff->of++;
    cliff->messages += above->messages;
    if (usual_time(above) < STEP * usual_time(below) ||
        quick_time(above) < STEP * quick_time(below) ||
        !is_even(class_of(speeds, count, cliff->class - 2), below) ||
        !is_even(above, class_of(speeds, count, cliff->class + 1)))
        return;
    if (!cliff->pairs++) {
        cliff->below = usual_time(below);
        cliff->above = usual_time(above);
        cliff->sample = above;
    }
}

static struct cliff cliff_at(const struct mw_speeds *speeds, unsigned class)
{
    struct cliff cliff = {.class = class};
    for (size_t i = 0; i < speeds->all.count;) {
        size_t count;
        const struct mw_speed *pair =
            mw_speeds_pair(speeds, speeds->all.at[i].src, speeds->all.at[i].dst, &count);
        cliff_look(&cliff, pair, count);
        i += count;
    }
    return cliff;
}

/* What is set of the parameters that move such a step; 0: nothing. finding: may be NULL. */
static int cliff_parameters(const struct mw_finding_input *in, struct mw_finding *finding)
{
    int found = 0;
    for (size_t i = 0; i < mw_settings_count(in->settings); i++) {
        const struct mw_setting *setting = mw_settings_at(in->settings, i);
        for (size_t p = 0; p < sizeof(parameters) / sizeof(parameters[0]); p++) {
            if (!setting->variant_count || !strstr(setting->name, parameters[p]))
                continue;
            found = 1;
            if (finding)
                mw_finding_evidence(finding, mw_setting_words(setting, &setting->variants[0]));
        }
    }
    return found;
}

/* Parameters that say where a way goes over to another protocol; by the first that fits. `name`:
 * part of the way's, `layer`: the beginning of its layer. %s: the name. */
static const struct {
    const char *layer, *name, *words;
} of_ways[] = {
    {"Open MPI BTL", "", "Open MPI's btl_%s_eager_limit"},
    {"UCX", "", "UCX_RNDV_THRESH (over %s)"},
    {"libfabric", "cxi", "FI_CXI_RDZV_THRESHOLD (provider %s)"},
    {"libfabric", "rxm", "FI_OFI_RXM_BUFFER_SIZE (provider %s)"},
    {"MPICH", "",
     "MPICH's control variables with EAGER in their name (%s), as mpichversion and "
     "MPI_T list them"},
};

/* Where to look, of the way that the slow messages took. */
static char *where_words(const struct mw_finding_input *in, const struct cliff *cliff)
{
    int64_t number = mw_speed_way(in->transports, cliff->sample);
    if (number < 0)
        return mw_text_copy("which transport the messages took is not known");
    const struct mw_way *way = &in->transports->ways.at[number];
    for (size_t i = 0; i < sizeof(of_ways) / sizeof(of_ways[0]); i++) {
        const char *at = strstr(of_ways[i].words, "%s");
        if (strncmp(way->layer, of_ways[i].layer, strlen(of_ways[i].layer)) ||
            !strstr(way->name, of_ways[i].name))
            continue;
        return mw_format("these messages go over %s, where the limit is %.*s%s%s", way->name,
                         (int)(at - of_ways[i].words), of_ways[i].words, way->name, at + 2);
    }
    return mw_format("these messages go over %s", way->name);
}

static double share_above(const struct mw_finding_input *in, const struct cliff *cliff)
{
    uint64_t all = in->exchange->speeds->messages;
    return all ? (double)cliff->messages / (double)all : 0;
}

/* `set`: somebody set a parameter that may have put it there. */
static void report(const struct mw_finding_input *in, const struct cliff *cliff, int set,
                   struct mw_findings *out)
{
    char *edge = mw_number_bytes((double)mw_class_from(cliff->class));
    char *below = mw_number_seconds(cliff->below), *above = mw_number_seconds(cliff->above);
    char *part = mw_number_percent(share_above(in, cliff));
    struct mw_crowd crowd;
    struct mw_finding *finding = mw_finding_add(
        out, "size-cliff", set ? MW_WARNING : MW_NOTICE,
        mw_format(
            "Time in flight steps from %s to %s (x%.1f) at messages of %s, on %zu of %zu pairs",
            below, above, cliff->above / cliff->below, edge, cliff->pairs, cliff->of));
    mw_finding_evidence(finding,
                        mw_format("%s of all matched messages are just above it (from %s to twice "
                                  "that); below and above it the time is even",
                                  part, edge));
    if (!cliff_parameters(in, finding))
        mw_finding_evidence(finding, mw_text_copy("nobody has set such a limit: it lies where the "
                                                  "library's own protocols change"));
    mw_finding_evidence(finding, where_words(in, cliff));
    finding->advice = mw_text_copy(
        "Where the library goes over to another protocol is a parameter: Open MPI's "
        "btl_*_eager_limit, UCX_RNDV_THRESH, MPICH's and others' eager sizes. Move the limit above "
        "the sizes that the program sends most, or back to the default.");
    mw_crowd_begin(&crowd, in->model);
    mw_crowd_add_everybody(&crowd);
    mw_crowd_give(&crowd, finding);
    mw_crowd_end(&crowd);
    free(part);
    free(above);
    free(below);
    free(edge);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    int set = cliff_parameters(in, NULL);
    for (unsigned first = 3; first + 1 < MW_SIZE_CLASSES; first++) {
        struct cliff cliff = cliff_at(in->exchange->speeds, first);
        if (cliff.pairs && (double)cliff.pairs >= PAIRS_SHARE * (double)cliff.of) {
            /* the defaults of MPI libraries make steps, too, and large ones */
            if (set || share_above(in, &cliff) >= MUCH)
                report(in, &cliff, set, out);
            return;
        }
    }
}

const struct mw_rule mw_rule_size_cliff = {"size-cliff", "latency jumps at a message size", find};
