/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings as JSON (the array "findings" of a report) and as text, which reads nothing but the
 * JSON. Main thread only.
 */
#ifndef MW_RENDER_FINDINGS_H
#define MW_RENDER_FINDINGS_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/findings/finding.h"

json_t *mw_doc_findings(const struct mw_findings *findings, const struct mw_model *model);
/* The section of a document that has "findings"; nothing where there are none. */
void mw_text_findings(const json_t *document, FILE *out);

#endif
