/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One clock for a job, without communication of ours (docs/metrics.md, "One clock"). Processes of
 * one node share a clock; each node's is tied to CLOCK_REALTIME first, and then corrected by what
 * the job's own messages say: nothing is received before it was sent. Building: one thread; then
 * read-only.
 */
#ifndef MW_MODEL_CLOCK_H
#define MW_MODEL_CLOCK_H

#include "analyzer/model/model.h"

#define MW_CLOCK_KNOTS 128 /* points in time between which a correction is a straight line */

/* The clock of a node. */
struct mw_clock_domain {
    const char *host;
    size_t processes;
    int timed;                         /* its ticks are known in ns */
    uint64_t origin;                   /* ticks */
    int64_t origin_ns;                 /* CLOCK_REALTIME there */
    double tick;                       /* ns */
    int64_t from, to;                  /* its readings, ns of CLOCK_REALTIME */
    int synchronised;                  /* messages tie it to the first domain; that one always is */
    int64_t knots_from, knots_to;      /* ns; between them the clocks are tied */
    double correction[MW_CLOCK_KNOTS]; /* ns to be added */
    double error[MW_CLOCK_KNOTS];      /* by which that may be wrong, either way */
    uint64_t bounds;                   /* messages and collectives that tie it to another one */
    size_t pieces;                     /* straight lines that were needed; 0 for the first domain */
};

struct mw_clock;

/* First guesses only: by CLOCK_REALTIME. */
struct mw_clock *mw_clock_create(const struct mw_model *model);
void mw_clock_free(struct mw_clock *clock);

size_t mw_clock_domain_count(const struct mw_clock *clock);
const struct mw_clock_domain *mw_clock_domain(const struct mw_clock *clock, size_t domain);
size_t mw_clock_domain_of(const struct mw_clock *clock, size_t process);
/* Whether a process's ticks can be told in ns. */
int mw_clock_knows(const struct mw_clock *clock, size_t process);
/* A reading of a process's clock on the common one, ns. */
int64_t mw_clock_ns(const struct mw_clock *clock, size_t process, uint64_t ticks);
/* By how much times of two processes at `ns` may be apart from the truth, ns; 0 on one node,
 * INFINITY where nothing ties their nodes together. */
double mw_clock_error(const struct mw_clock *clock, size_t first, size_t second, int64_t ns);

/* Before mw_clock_fit: what happened at `before` in one process came before what happened at
 * `after` in the other. Both on the first guess. */
void mw_clock_bound(struct mw_clock *clock, size_t first, int64_t before, size_t second,
                    int64_t after);
/* Corrects all clocks by the bounds. */
void mw_clock_fit(struct mw_clock *clock);

#endif
