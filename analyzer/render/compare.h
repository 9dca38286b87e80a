/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison of runs as a JSON document (docs/compare.schema.json), and its text form, which
 * reads nothing but the document. Main thread only.
 */
#ifndef MW_RENDER_COMPARE_H
#define MW_RENDER_COMPARE_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/regression/compare.h"

/* top: entries of lists that have no natural end. */
json_t *mw_doc_compare(const struct mw_comparison *comparison, int exit_code, size_t top);
/* What a run was: a part of that, and of histories. */
json_t *mw_doc_run(const struct mw_digest *run);
void mw_compare_text(const json_t *document, FILE *out);

#endif
