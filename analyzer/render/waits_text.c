/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for people: all of them, and the lines of the report (speeds.h). Reads only the document.
 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/analysis/waits.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/speeds.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

/* "Late Sender 1.20 s (12), Wait at Barrier 3.00 ms (4)": those kinds that there are. */
static char *kinds_text(const json_t *kinds)
{
    char *text = NULL;
    for (int i = 0; i < MW_WAIT_KINDS; i++) {
        const json_t *kind = json_object_get(kinds, mw_wait_name((enum mw_wait_kind)i));
        double count = mw_json_count_of(kind, "count");
        if (!(count > 0))
            continue;
        char *time = mw_number_seconds(mw_json_real_of(kind, "time_s"));
        char *longer = mw_format("%s%s%s %s (%.0f)", text ? text : "", text ? ", " : "",
                                 mw_wait_words((enum mw_wait_kind)i), time, count);
        free(time);
        free(text);
        text = longer;
    }
    return text ? text : mw_text_copy("none");
}

void mw_text_waits_short(const json_t *report, FILE *out)
{
    const json_t *waits = json_object_get(report, "waits");
    if (!(mw_json_real_of(waits, "time_s") > 0))
        return;
    char *kinds = kinds_text(json_object_get(waits, "by_kind"));
    char *time = mw_number_seconds(mw_json_real_of(waits, "time_s"));
    mw_text_heading(out, "Waiting for others: %s over all ranks", time);
    mw_text_paragraph(out, MW_STYLE_PLAIN, "%s", kinds);
    free(kinds);
    free(time);
}

static void text_ranks(const json_t *waits, FILE *out)
{
    static const char *const columns[] = {">rank",    "host", ">waited", ">made others wait",
                                          ">last in", "kinds"};
    const json_t *ranks = json_object_get(waits, "ranks");
    const json_t *listed = json_object_get(ranks, "listed");
    size_t index;
    json_t *rank;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "By rank");
    json_array_foreach(listed, index, rank) {
        mw_table_row(table);
        mw_table_cell(table, mw_rank_text(rank, "rank"));
        mw_table_text(table, mw_json_string(rank, "host"));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(rank, "time_s")));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(rank, "caused_s")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(rank, "last")));
        mw_table_cell(table, kinds_text(json_object_get(rank, "by_kind")));
    }
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(ranks, "total"), json_array_size(listed), "ranks");
}

static void text_sites(const json_t *waits, FILE *out)
{
    const json_t *sites = json_object_get(waits, "sites");
    const json_t *listed = json_object_get(sites, "listed");
    size_t index;
    json_t *site;
    mw_text_heading(out, "By call site");
    json_array_foreach(listed, index, site) {
        char *time = mw_number_seconds(mw_json_real_of(site, "time_s"));
        char *most = mw_number_seconds(mw_json_real_of(site, "max_s"));
        char *kinds = kinds_text(json_object_get(site, "by_kind"));
        char *rank = mw_rank_text(site, "max_rank");
        const json_t *caller = json_object_get(site, "caller");
        char *place =
            json_is_object(caller) ? mw_frame_text(caller) : mw_text_copy("call site not recorded");
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s %s at %s", time,
                          mw_json_string(site, "function"), place);
        mw_text_paragraph(out, MW_STYLE_DIM, "    %s; most on rank %s, %s", kinds, rank, most);
        free(place);
        free(rank);
        free(kinds);
        free(most);
        free(time);
    }
    mw_text_more(out, mw_json_count_of(sites, "total"), json_array_size(listed), "call sites");
}

void mw_waits_text(const json_t *document, FILE *out)
{
    const json_t *waits = json_object_get(document, "waits");
    mw_text_title(document, "waits", out);
    mw_text_recorded(json_object_get(document, "processes"), out);
    if (!(mw_json_real_of(waits, "time_s") > 0)) {
        mw_text_paragraph(out, MW_STYLE_PLAIN, "Nobody was seen waiting for another rank.");
        return;
    }
    mw_text_waits_short(document, out);
    text_ranks(waits, out);
    text_sites(waits, out);
}
