/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps between the figures of runs and what is said of them (compare.h): joined
 * (effects_join.c), weighed by their part of the job (effects.c), judged (effects_judge.c), and all
 * of them together held against what the job did (coverage.c). For these files only. Main thread
 * only.
 */
#ifndef MW_REGRESSION_EFFECTS_PARTS_H
#define MW_REGRESSION_EFFECTS_PARTS_H

#include "analyzer/regression/compare.h"

/* What figures are parts of. */
struct mw_job_size {
    double whole[MW_METRICS][2]; /* samples and bytes of classes of messages */
    double time;                 /* s of all ranks in a base run */
    double shortest;             /* s of the shortest run; 0: not known of each */
};

/* Fills comparison->effects: measured where the runs say enough, with no verdict yet. */
void mw_effects_join(struct mw_comparison *comparison);
void mw_effects_judge(struct mw_comparison *comparison, const struct mw_job_size *size);

/* Of messages: whether they are more than a few of all. */
int mw_job_has_part(const struct mw_job_size *size, const struct mw_figure *figure);
/* About as many bytes as were in the messages or collectives behind a figure: as large as their
 * size class goes. */
double mw_figure_bytes(const struct mw_figure *figure);
/* Starting and ending MPI: as long as the launcher and the machine's load want. */
int mw_figure_is_start_or_end(const struct mw_figure *figure);

#endif
