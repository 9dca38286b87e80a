/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was measured of messages, as sections of documents: clocks, matching, speeds by group of
 * comparable pairs and by nodes, collectives, waits; and their text, which reads nothing but them.
 * Main thread only.
 */
#ifndef MW_RENDER_SPEEDS_H
#define MW_RENDER_SPEEDS_H

#include "analyzer/analysis/exchange.h"
#include "analyzer/render/doc.h"

json_t *mw_doc_clocks(const struct mw_exchange *exchange);
/* `top`: entries of lists. */
json_t *mw_doc_speeds(const struct mw_exchange *exchange, const struct mw_transports *transports,
                      size_t top);
json_t *mw_doc_waits(const struct mw_exchange *exchange, struct mw_symbols *symbols, size_t top);

/* Parts of the report's text form. */
void mw_text_speeds(const json_t *report, FILE *out);
/* A line of sums only. */
void mw_text_waits_short(const json_t *report, FILE *out);
/* The document of `mpiwatch waits`. */
void mw_waits_text(const json_t *document, FILE *out);

#endif
