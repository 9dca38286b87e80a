/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading runs that are to be compared (baseline.h). */
#include "analyzer/cmd/baseline.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/render/progress.h"

int mw_runs_read(struct mw_read_runs *read, const struct mw_paths *paths)
{
    int failed = 0;
    read->digests = mw_alloc(paths->count, sizeof(*read->digests));
    for (size_t i = 0; i < paths->count; i++) {
        char *why = NULL;
        mw_progress_begin("reading the runs", 0);
        struct mw_digest *digest = mw_digest_read(paths->at[i], &why);
        if (digest) {
            read->digests[read->runs.count++] = digest;
            continue;
        }
        mw_complain("%s", why);
        free(why);
        failed = -1;
    }
    read->runs.at = (const struct mw_digest *const *)read->digests;
    return failed;
}

void mw_runs_free(struct mw_read_runs *read)
{
    for (size_t i = 0; i < read->runs.count; i++)
        mw_digest_free(read->digests[i]);
    free(read->digests);
}

int mw_outcome_exit(enum mw_outcome outcome)
{
    return outcome == MW_OUTCOME_REGRESSION      ? MW_EXIT_FAILED
           : outcome == MW_OUTCOME_NO_REGRESSION ? MW_EXIT_OK
                                                 : MW_EXIT_CANNOT_TELL;
}
