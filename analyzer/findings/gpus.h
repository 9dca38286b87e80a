/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of ranks of one node that send from the memory of one GPU into that of another: what rules
 * about GPUs look at. Main thread only.
 */
#ifndef MW_FINDINGS_GPUS_H
#define MW_FINDINGS_GPUS_H

#include "analyzer/findings/finding.h"

struct mw_gpu_pair {
    const struct mw_pair *pair;
    uint32_t src, dst; /* processes */
    const struct mw_near *from, *to;
    struct mw_path path; /* between their GPUs */
};
struct mw_gpu_pairs {
    MW_VECTOR(struct mw_gpu_pair) all; /* in the tally's order */
};

/* With at least so many bytes out of a GPU's memory, between different GPUs. */
void mw_gpu_pairs_read(struct mw_gpu_pairs *pairs, const struct mw_finding_input *in,
                       uint64_t bytes);
/* "rank 0 (0000:c1:00.0) -> rank 1 (0000:c6:00.0), joined by xGMI, 4 links". Newly allocated. */
char *mw_gpu_pair_words(const struct mw_finding_input *in, const struct mw_gpu_pair *pair);

#endif
