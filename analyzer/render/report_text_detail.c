/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people: since when only sums are known, and the program's regions (doc.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

static const char *why_text(const char *why)
{
    static const char *const texts[][2] = {
        {"summary", "MPIWATCH_MODE=summary"},
        {"budget", "the trace's size came near MPIWATCH_BUDGET"},
        {"MPI_Pcontrol", "the program called MPI_Pcontrol(0)"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!strcmp(why, texts[i][0]))
            return texts[i][1];
    return "for a reason that this version does not know";
}

/* "from 12.3 s to 12.9 s after the start on" */
static char *from_text(const json_t *reason)
{
    double first = mw_json_real_of(reason, "first_s"), last = mw_json_real_of(reason, "last_s");
    char *early = mw_number_seconds(first), *late = mw_number_seconds(last);
    char *text = !strcmp(mw_json_string(reason, "why"), "summary") ? mw_text_copy("from the start")
                 : strcmp(early, late)
                     ? mw_format("first between %s and %s after the start", early, late)
                     : mw_format("from %s after the start on", early);
    free(early);
    free(late);
    return text;
}

void mw_text_detail(const json_t *report, FILE *out)
{
    size_t index;
    json_t *reason;
    json_array_foreach(json_object_get(json_object_get(report, "detail"), "reduced"), index,
                       reason) {
        char *ranks = mw_text_fit_list(mw_json_string(reason, "ranks"), 60);
        char *from = from_text(reason), *calls = mw_number_count(mw_json_count_of(reason, "calls"));
        mw_text_entry(
            out, index ? "" : "detail",
            "reduced on %s%s %s: %s. %s calls were only summed up: counts, bytes and times are "
            "whole; speeds and single events cover the other calls",
            mw_rank_word(ranks), ranks, from, why_text(mw_json_string(reason, "why")), calls);
        free(ranks);
        free(from);
        free(calls);
    }
}

void mw_text_regions(const json_t *report, FILE *out)
{
    static const char *const columns[] = {"region", ">entries",   ">time, mean", ">max",
                                          ">rank",  ">MPI calls", ">in MPI"};
    const json_t *regions = json_object_get(report, "regions");
    struct mw_table *table;
    size_t index;
    json_t *region;
    if (mw_json_count_of(regions, "total") == 0)
        return;
    table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Regions");
    json_array_foreach(json_object_get(regions, "listed"), index, region) {
        double processes = mw_json_count_of(region, "processes");
        int depth = (int)mw_json_count_of(region, "depth");
        char *name =
            mw_format("%*s%s", depth > 8 ? 16 : 2 * depth, "", mw_json_string(region, "region"));
        mw_table_row(table);
        mw_table_cell(table, mw_text_fit(name, 24, 0));
        mw_table_cell(table, mw_number_count(mw_json_count_of(region, "entries")));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(region, "time_s") / processes));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(region, "max_s")));
        mw_table_cell(table, mw_rank_text(region, "max_rank"));
        mw_table_cell(table, mw_number_count(mw_json_count_of(region, "mpi_calls")));
        mw_table_cell(table, mw_number_percent(mw_json_real_of(region, "mpi_share")));
        free(name);
    }
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(regions, "total"),
                 json_array_size(json_object_get(regions, "listed")), "regions");
}
