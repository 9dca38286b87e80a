/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The history of runs in a file of SQLite: digests go in, and come out again without their pairs,
 * call sites and blocks. Several programs may use one file at once, one of them writing at a time;
 * whatever is killed leaves nothing half done. One thread a store. Prints nothing: what fails says
 * why in a newly allocated text.
 */
#ifndef MW_STORE_STORE_H
#define MW_STORE_STORE_H

#include <stdint.h>

#include "analyzer/base/memory.h"
#include "analyzer/regression/digest.h"

struct mw_store;

/* An existing history, or, with `create`, a new one where there is no file. NULL: *why. */
struct mw_store *mw_store_open(const char *path, int create, char **why);
void mw_store_close(struct mw_store *store);

struct mw_store_tag {
    char *key, *value;
};
typedef MW_VECTOR(struct mw_store_tag) mw_store_tags;

void mw_store_tags_free(mw_store_tags *tags);

/* The tag that names what a run is a measurement of, in place of program, arguments and ranks. */
#define MW_STORE_BENCHMARK "benchmark"

enum mw_store_added {
    MW_STORE_FAILED,
    MW_STORE_NEW,
    MW_STORE_THERE,    /* the same run was there already: nothing was changed */
    MW_STORE_COMPLETED /* it was there with less of it, and has been replaced, tags apart */
};
/* Adds a run, all of it or nothing. *id: its number, also where it was there already. */
enum mw_store_added mw_store_add(struct mw_store *store, const struct mw_digest *digest,
                                 const mw_store_tags *tags, int64_t *id, char **why);

struct mw_store_run {
    int64_t id, added; /* added: seconds since the epoch */
    char *benchmark;
    char *stack; /* what MPI, libraries and parameters are, as a number in hex */
    mw_store_tags tags;
    struct mw_digest *digest; /* stack, ways, figures: where they were asked for */
};
struct mw_store_runs {
    MW_VECTOR(struct mw_store_run) all; /* by benchmark, then time, then number */
};

enum mw_store_parts {
    MW_STORE_HEADS = 0,
    MW_STORE_FACTS = 1, /* stack and ways */
    MW_STORE_FIGURES = 2,
};
/* The runs of a benchmark, or (NULL) of all. NULL: *why. */
struct mw_store_runs *mw_store_runs(struct mw_store *store, const char *benchmark, unsigned parts,
                                    char **why);
void mw_store_runs_free(struct mw_store_runs *runs);

/* The stack's number; also for digests that are in no store. Newly allocated. */
char *mw_store_stack(const struct mw_digest *digest);
/* What a run is a measurement of; newly allocated. */
char *mw_store_benchmark(const struct mw_digest *digest, const mw_store_tags *tags);

#endif
