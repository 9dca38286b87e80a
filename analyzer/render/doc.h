/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report as a JSON document, built from the model and the analyses, section by section
 * (doc_*.c), and its text form (report_text*.c), which reads nothing but the document.
 * docs/report.schema.json describes it, docs/metrics.md defines the figures. Main thread only.
 */
#ifndef MW_RENDER_DOC_H
#define MW_RENDER_DOC_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/analysis/stuck.h"
#include "analyzer/analysis/tally.h"
#include "analyzer/model/symbols.h"

struct mw_transports;
struct mw_settings;
struct mw_placements;
struct mw_findings;
struct mw_exchange;

struct mw_doc_input {
    const struct mw_model *model;
    const struct mw_comms *comms;
    const struct mw_tally *tally;
    const struct mw_stuck *stuck;
    const struct mw_transports *transports;
    const struct mw_settings *settings;
    const struct mw_placements *placements;
    const struct mw_findings *findings;
    const struct mw_exchange *exchange;
    struct mw_symbols *symbols;
    const char *const *paths; /* as given on the command line */
    size_t path_count;
    size_t top; /* entries in lists that have no natural end */
};

json_t *mw_doc_report(const struct mw_doc_input *in);

/* Sections. */
json_t *mw_doc_trace(const struct mw_model *model, const char *const *paths, size_t count);
json_t *mw_doc_job(const struct mw_model *model);
json_t *mw_doc_processes(const struct mw_comms *comms);
/* An entry for each MPI_COMM_WORLD; part of the one above. */
json_t *mw_doc_worlds(const struct mw_comms *comms);
json_t *mw_doc_nodes(const struct mw_model *model);
json_t *mw_doc_stack(const struct mw_model *model);
json_t *mw_doc_time(const struct mw_doc_input *in);
json_t *mw_doc_detail(const struct mw_doc_input *in);
json_t *mw_doc_reduced_from(const struct mw_doc_input *in, size_t number); /* of a process */
json_t *mw_doc_regions(const struct mw_doc_input *in);
json_t *mw_doc_ranks(const struct mw_doc_input *in);
json_t *mw_doc_calls(const struct mw_doc_input *in);
json_t *mw_doc_sites(const struct mw_doc_input *in);
json_t *mw_doc_sizes(const struct mw_doc_input *in);
json_t *mw_doc_messages(const struct mw_doc_input *in);
json_t *mw_doc_comms(const struct mw_doc_input *in);
json_t *mw_doc_one_sided(const struct mw_doc_input *in);
json_t *mw_doc_files(const struct mw_doc_input *in);
/* Of a process: what it did with files, or else with windows. */
struct mw_object_amounts;
json_t *mw_doc_object_amounts(const struct mw_object_amounts *amounts, int files);
json_t *mw_doc_stuck(const struct mw_doc_input *in);
json_t *mw_doc_environment(const struct mw_model *model);
json_t *mw_doc_health(const struct mw_model *model);
json_t *mw_doc_cost(const struct mw_model *model);
/* tally: NULL where no events were read. */
json_t *mw_doc_damage(const mw_trace *trace, const struct mw_tally *tally);

void mw_report_text(const json_t *report, FILE *out);

/* Parts of the text form. */
void mw_text_traffic(const json_t *report, FILE *out);
void mw_text_objects(const json_t *report, FILE *out);
void mw_text_sites(const json_t *report, FILE *out);
void mw_text_detail(const json_t *report, FILE *out);
void mw_text_regions(const json_t *report, FILE *out);
void mw_text_stuck(const json_t *report, FILE *out);
void mw_text_environment(const json_t *report, FILE *out);
void mw_text_health(const json_t *report, FILE *out);
void mw_text_damage(const json_t *document, FILE *out);
/* The first line: program, ranks, nodes. */
void mw_text_title(const json_t *report, const char *command, FILE *out);
/* The worlds of a trace that has several, and where one came from. */
void mw_text_worlds(const json_t *processes, FILE *out);
/* The worlds, how many ranks were recorded, and what that means. */
void mw_text_recorded(const json_t *processes, FILE *out);
/* "1 KiB to < 64 KiB" of an object with "from" and "to". Free it. */
char *mw_sizes_text(const json_t *sizes);
/* "Open MPI v4.1.4, package: ..." becomes "Open MPI v4.1.4", and tabs blanks. */
void mw_version_shorten(char *version);
/* "... 12 more" under a list of which only some entries are shown. */
void mw_text_more(FILE *out, double total, size_t shown, const char *what);
/* "rank " or "ranks " before a list of ranks; "" before one that only counts processes without. */
const char *mw_rank_word(const char *ranks);
/* That traces have no end, and whose; NULL when all have one. Free it. */
char *mw_incomplete_text(const json_t *processes);

#endif
