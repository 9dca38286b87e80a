/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A history of runs as JSON documents (docs/history.schema.json), and as text, pages and charts,
 * which read nothing but the documents. Main thread only.
 */
#ifndef MW_RENDER_HISTORY_H
#define MW_RENDER_HISTORY_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/store/store.h"

/* A run without its parts: number, benchmark, stack, tags, what it was. */
json_t *mw_doc_history_run(const struct mw_store_run *run);
json_t *mw_doc_history_list(const struct mw_store_runs *runs);
/* One run with its parts; `before`: that of the same benchmark before it, or NULL. */
json_t *mw_doc_history_show(const struct mw_store_run *run, const struct mw_store_run *before);
/* All runs of a benchmark in the order of time: their trends, and what changed when. */
json_t *mw_doc_history_benchmark(const struct mw_store_run *runs, size_t count);

void mw_history_list_text(const json_t *document, FILE *out);
void mw_history_show_text(const json_t *document, FILE *out);
/* "12.3 GB/s" or "1.20 us" of a number in that unit; newly allocated. */
char *mw_history_value(double value, const char *unit);
/* "libfabric.so: 1.17 -> 1.20" of a suspect, "same node: vader -> tcp" of an identity; newly
 * allocated, not escaped. */
char *mw_history_suspect(const json_t *suspect);
char *mw_history_identity(const json_t *identity);
/* "bandwidth, same node, tcp, 4 KiB to < 8 KiB" of a trend or of a change of one. */
char *mw_history_about(const json_t *trend);
/* "crashed: ...", "" when nothing is wrong with a run; newly allocated. */
char *mw_history_state(const json_t *run);

/* Pages; every text of a document is escaped. */
void mw_html_text(FILE *out, const char *text);
void mw_html_index(const json_t *index, FILE *out);
void mw_html_benchmark(const json_t *document, FILE *out);
void mw_html_run(const json_t *document, FILE *out);
/* The chart of a trend; `order`: the numbers of all runs of the benchmark, in time. */
void mw_html_chart(const json_t *trend, const json_t *order, FILE *out);

/* A folder of pages, each with its document beside it, written one after another so that a long
 * history needs no more memory than one benchmark. What fails is noted, and said at the end. */
struct mw_pages;
struct mw_pages *mw_pages_open(const char *folder);
/* Both give their document the name of the benchmark's page. */
void mw_pages_run(struct mw_pages *pages, json_t *document);
void mw_pages_benchmark(struct mw_pages *pages, json_t *document);
/* With `whole`, writes the page that leads to the others. 0, or -1 when not all was written: *why.
 */
int mw_pages_close(struct mw_pages *pages, int whole, char **why);

#endif
