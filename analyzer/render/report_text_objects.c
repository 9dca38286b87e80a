/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people: one-sided communication and files (doc.h). Nothing where there was none.
 */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

static struct mw_table *table_of(const char *const *columns, size_t count)
{
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < count; i++)
        mw_table_column(table, columns[i]);
    return table;
}
#define TABLE(columns) table_of(columns, sizeof(columns) / sizeof(columns[0]))

static void cell_bytes(struct mw_table *table, const json_t *object, const char *key)
{
    mw_table_cell(table, mw_number_bytes(mw_json_count_of(object, key)));
}

static void cell_count(struct mw_table *table, const json_t *object, const char *key)
{
    mw_table_cell(table, mw_number_count(mw_json_count_of(object, key)));
}

static void cell_seconds(struct mw_table *table, const json_t *object, const char *key)
{
    mw_table_cell(table, mw_number_seconds(mw_json_real_of(object, key)));
}

static void text_windows(const json_t *windows, FILE *out)
{
    static const char *const columns[] = {">accesses", ">sent",      ">fetched", ">epoch calls",
                                          ">time",     ">processes", "window"};
    const json_t *listed = json_object_get(windows, "listed");
    struct mw_table *table = TABLE(columns);
    size_t index;
    json_t *window;
    json_array_foreach(listed, index, window) {
        const char *name = mw_json_string(window, "name");
        char *label = mw_format(
            "%s%s%s %.0f of %s", name, *name ? ", " : "", mw_json_string(window, "flavour"),
            mw_json_count_of(window, "number"),
            mw_json_is_null(window, "communicator") ? "a communicator that is not known"
                                                    : mw_json_string(window, "communicator"));
        mw_table_row(table);
        cell_count(table, window, "accesses");
        cell_bytes(table, window, "sent_bytes");
        cell_bytes(table, window, "fetched_bytes");
        cell_count(table, window, "epoch_calls");
        cell_seconds(table, window, "time_s");
        cell_count(table, window, "processes");
        mw_table_text(table, label);
        free(label);
    }
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(windows, "total"), json_array_size(listed), "windows");
}

static void text_access_pairs(const json_t *pairs, FILE *out)
{
    static const char *const columns[] = {">from", ">to", ">bytes", ">accesses", ">time"};
    const json_t *listed = json_object_get(pairs, "listed");
    size_t index;
    json_t *pair;
    if (!json_array_size(listed))
        return;
    struct mw_table *table = TABLE(columns);
    fputc('\n', out);
    json_array_foreach(listed, index, pair) {
        mw_table_row(table);
        mw_table_cell(table, mw_rank_text(pair, "src"));
        mw_table_cell(table, mw_rank_text(pair, "dst"));
        cell_bytes(table, pair, "bytes");
        cell_count(table, pair, "accesses");
        cell_seconds(table, pair, "time_s");
    }
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(pairs, "total"), json_array_size(listed), "pairs");
}

static void text_one_sided(const json_t *report, FILE *out)
{
    const json_t *section = json_object_get(report, "one_sided");
    const json_t *windows = json_object_get(section, "windows");
    const json_t *unknown = json_object_get(section, "unknown_target");
    if (!(mw_json_count_of(section, "accesses") > 0) && !(mw_json_count_of(windows, "total") > 0))
        return;
    char *count = mw_number_count(mw_json_count_of(section, "accesses"));
    char *sent = mw_number_bytes(mw_json_count_of(section, "sent_bytes"));
    char *fetched = mw_number_bytes(mw_json_count_of(section, "fetched_bytes"));
    mw_text_heading(out, "One-sided communication (%s accesses, %s to targets, %s from them)",
                    count, sent, fetched);
    text_windows(windows, out);
    text_access_pairs(json_object_get(section, "pairs"), out);
    if (mw_json_count_of(unknown, "messages") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "Of %.0f accesses the target could not be told.",
                          mw_json_count_of(unknown, "messages"));
    free(count), free(sent), free(fetched);
}

static void file_row(struct mw_table *table, const json_t *file)
{
    char *read = mw_number_bytes(mw_json_count_of(file, "read_bytes"));
    mw_table_row(table);
    cell_count(table, file, "reads");
    mw_table_cell(
        table,
        mw_format("%s%s", mw_json_count_of(file, "reads_of_unknown_size") > 0 ? "<= " : "", read));
    cell_count(table, file, "writes");
    cell_bytes(table, file, "written_bytes");
    cell_count(table, file, "collective");
    cell_seconds(table, file, "time_s");
    mw_table_text(table, mw_json_string(file, "name"));
    free(read);
}

static void text_files(const json_t *report, FILE *out)
{
    static const char *const columns[] = {">reads",      ">read", ">writes", ">written",
                                          ">collective", ">time", "file"};
    const json_t *section = json_object_get(report, "files");
    const json_t *listed = json_object_get(section, "listed");
    double unknown = mw_json_count_of(section, "on_unknown_files");
    size_t index;
    json_t *file;
    if (!json_array_size(listed) && !(unknown > 0))
        return;
    char *read = mw_number_bytes(mw_json_count_of(section, "read_bytes"));
    char *written = mw_number_bytes(mw_json_count_of(section, "written_bytes"));
    mw_text_heading(out, "Files (%s read, %s written by MPI-IO)", read, written);
    struct mw_table *table = TABLE(columns);
    json_array_foreach(listed, index, file)
        file_row(table, file);
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(section, "total"), json_array_size(listed), "files");
    if (unknown > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f reads and writes were of files that could not be told.", unknown);
    free(read), free(written);
}

void mw_text_objects(const json_t *report, FILE *out)
{
    text_one_sided(report, out);
    text_files(report, out);
}
