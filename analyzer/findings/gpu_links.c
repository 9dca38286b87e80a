/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "gpu-links": the speed of a pair of GPUs does not follow the links between them: pairs with
 * fewer links are faster, or pairs with as many are twice as fast. Pairs are compared with many
 * others only, as one measurement may be off.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/crowd.h"
#include "analyzer/findings/gpus.h"

#define BYTES_MIN   (1u << 20)
#define PEERS_MIN   3   /* pairs of the class that a pair is compared with */
#define PEERS_SHARE 0.5 /* of the median of its own class */
#define LESS_SHARE  0.8 /* of the median of a class with fewer links */
#define CLASSES     17  /* links; 0: joined by others' links only */

struct rated {
    const struct mw_gpu_pair *pair;
    unsigned class;
    double rate;
};
struct ratings {
    MW_VECTOR(struct rated) all;
    double median[CLASSES]; /* 0: too few */
};

/* Only links whose number is known make classes. */
static int class_of(const struct mw_path *path)
{
    if (path->kind != MW_PATH_XGMI && path->kind != MW_PATH_NVLINK)
        return -1;
    if (path->hops > 1)
        return 0;
    return path->links && path->links < CLASSES ? (int)path->links : -1;
}

static int double_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void ratings_read(struct ratings *ratings, const struct mw_finding_input *in,
                         const struct mw_gpu_pairs *pairs)
{
    double *rates = mw_alloc(pairs->all.count, sizeof(*rates));
    for (size_t i = 0; i < pairs->all.count; i++) {
        const struct mw_gpu_pair *pair = &pairs->all.at[i];
        const struct mw_speed *large =
            mw_speeds_large(in->exchange->speeds, pair->pair->src, pair->pair->dst);
        double rate = large ? mw_speed_judged(large) : 0;
        int class = class_of(&pair->path);
        if (class >= 0 && rate > 0)
            *mw_vector_add(&ratings->all) = (struct rated){pair, (unsigned)class, rate};
    }
    for (unsigned class = 0; class < CLASSES; class ++) {
        size_t count = 0;
        for (size_t i = 0; i < ratings->all.count; i++)
            if (ratings->all.at[i].class == class)
                rates[count++] = ratings->all.at[i].rate;
        qsort(rates, count, sizeof(*rates), double_compare);
        ratings->median[class] = count >= PEERS_MIN ? rates[count / 2] : 0;
    }
    free(rates);
}

/* The class that a pair should not be slower than, -1: it is as fast as it should be. */
static int faster_class(const struct ratings *ratings, const struct rated *rated)
{
    for (unsigned class = 0; class < rated->class; class ++)
        if (rated->rate < LESS_SHARE * ratings->median[class])
            return (int)class;
    return rated->rate < PEERS_SHARE * ratings->median[rated->class] ? (int)rated->class : -1;
}

static void report(const struct mw_finding_input *in, const struct ratings *ratings, size_t slow,
                   struct mw_findings *out)
{
    struct mw_crowd crowd;
    mw_crowd_begin(&crowd, in->model);
    struct mw_finding *finding =
        mw_finding_add(out, "gpu-links", MW_WARNING,
                       mw_format("%zu pair%s of GPUs %s slower than the links between them say",
                                 slow, slow == 1 ? "" : "s", slow == 1 ? "is" : "are"));
    for (size_t i = 0; i < ratings->all.count; i++) {
        const struct rated *rated = &ratings->all.at[i];
        int class = faster_class(ratings, rated);
        if (class < 0)
            continue;
        char *words = mw_gpu_pair_words(in, rated->pair), *rate = mw_number_rate(rated->rate);
        char *median = mw_number_rate(ratings->median[class]);
        char *peers = class ? mw_format("with %d link%s", class, class == 1 ? "" : "s")
                            : mw_text_copy("without a link of their own");
        mw_finding_evidence(finding,
                            mw_format("%s: %s; pairs %s reach %s", words, rate, peers, median));
        mw_crowd_add(&crowd, rated->pair->src);
        mw_crowd_add(&crowd, rated->pair->dst);
        free(words);
        free(rate);
        free(median);
        free(peers);
    }
    finding->advice = mw_text_copy(
        "Compare what these ranks use with the others: transports, HSA_ENABLE_SDMA and its kin, "
        "peer "
        "access; then the links (rocm-smi --showtopo, nvidia-smi topo -m) and their errors.");
    mw_crowd_give(&crowd, finding);
    mw_crowd_end(&crowd);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct mw_gpu_pairs pairs;
    struct ratings ratings = {.median = {0}};
    size_t slow = 0;
    mw_gpu_pairs_read(&pairs, in, BYTES_MIN);
    ratings_read(&ratings, in, &pairs);
    for (size_t i = 0; i < ratings.all.count; i++)
        slow += faster_class(&ratings, &ratings.all.at[i]) >= 0;
    if (slow)
        report(in, &ratings, slow, out);
    free(ratings.all.at);
    free(pairs.all.at);
}

const struct mw_rule mw_rule_gpu_links = {
    "gpu-links", "the speed of a pair of GPUs does not follow the links between them", find};
