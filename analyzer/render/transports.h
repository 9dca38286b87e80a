/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transports of a job as JSON, text and CSV. The JSON section is the same in `mpiwatch report`
 * and `mpiwatch transports`; docs/report.schema.json describes it. Text reads the JSON only. CSV is
 * written pair by pair: a hundred thousand ranks need not be in memory twice. Main thread only.
 */
#ifndef MW_RENDER_TRANSPORTS_H
#define MW_RENDER_TRANSPORTS_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/analysis/transport_totals.h"

/* The section "transports". top: entries in lists that have no natural end. */
json_t *mw_doc_transports(const struct mw_transport_totals *totals, size_t top);
/* A way: name, layer, device, kind, line rate, whether it is software. */
json_t *mw_doc_way(const struct mw_way *way);
/* The pairs of one rank, either direction, one by one: "pairs" of `mpiwatch transports --rank`. */
json_t *mw_doc_transport_pairs(const struct mw_transport_totals *totals, int64_t rank, size_t top);
const char *mw_where_word(enum mw_where where);

/* Parts of the section. */
json_t *mw_doc_choices(const struct mw_transports *transports);
json_t *mw_doc_chosen_items(const struct mw_model *model, const char *what, const char *name_key,
                            const char *how_key);
json_t *mw_doc_failures(const struct mw_transports *transports, size_t top);
json_t *mw_doc_idle(const struct mw_transports *transports, size_t top);
json_t *mw_doc_probes(const struct mw_transports *transports);
json_t *mw_doc_log(const struct mw_transports *transports, size_t top);
json_t *mw_doc_ports(const struct mw_model *model, size_t top);

/* The whole document of `mpiwatch transports` for people. */
void mw_transports_text(const json_t *document, FILE *out);
/* The short form within the report. */
void mw_report_text_transports(const json_t *report, FILE *out);
/* The same as CSV: a row for each route of each pair (rank -1: of all pairs). */
void mw_transports_csv(const struct mw_transports *transports, int64_t rank, FILE *out);

#endif
