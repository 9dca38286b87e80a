/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices for people (matrix.h): a grid for a small one, a list of the largest pairs for others.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/matrix.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define GRID_MAX    8
#define SHARED_NAME 24

static char *value_text(const struct mw_matrix *matrix, double value)
{
    if (!strcmp(matrix->metric->unit, "bytes") || matrix->transports)
        return mw_number_bytes(value);
    if (!strcmp(matrix->metric->unit, "seconds"))
        return mw_number_seconds(value / 1e9);
    if (matrix->metric->measured)
        return mw_number_rate(value);
    return mw_number_count(value);
}

/* Do names tell more with their host? */
static int one_host(const struct mw_matrix *matrix)
{
    return matrix->vertices->hosts.count == 1;
}

static const char *unknown_place(const struct mw_matrix *matrix)
{
    return matrix->by == MW_BY_NODE ? "not recorded" : "not known";
}

/* ">= 2.30 GB/s": only that much is sure. */
static char *cell_text(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell)
{
    char *value = value_text(matrix, (double)cell->value);
    if (!cell->bound)
        return value;
    char *text = mw_format(">= %s", value);
    free(value);
    return text;
}

char *mw_matrix_name(const struct mw_matrix *matrix, int64_t number)
{
    const char *file = mw_matrix_file(matrix, number);
    if (file)
        return mw_text_fit(file, SHARED_NAME, 0);
    if (matrix->by == MW_BY_RANK)
        return mw_rank_label(matrix->model, number);
    if (number >= 0 && matrix->vertices && matrix->by != MW_BY_NODE && one_host(matrix))
        return mw_text_copy(matrix->vertices->all.at[number].part);
    return mw_text_fit(mw_matrix_place(matrix, number, unknown_place(matrix)), SHARED_NAME, 0);
}

static void text_head(const struct mw_matrix *matrix, const json_t *head, FILE *out)
{
    const json_t *processes = json_object_get(head, "processes");
    char *total = value_text(matrix, (double)matrix->total), *kinds = mw_matrix_kinds_title(matrix);
    const char *several = mw_text_plural((double)matrix->cells.count);
    fprintf(out, "%s%s, %s, by %s%s\n", mw_style_on(out, MW_STYLE_HEAD), matrix->metric->title,
            kinds, mw_json_string(head, "by"), mw_style_off(out, MW_STYLE_HEAD));
    if (matrix->jobs > 1)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%s in all, %zu pair%s; %zu jobs with %.0f processes",
                          total, matrix->cells.count, several, matrix->jobs,
                          mw_json_count_of(processes, "processes"));
    else if (matrix->metric->measured)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%zu pair%s; %.0f of %.0f ranks recorded",
                          matrix->cells.count, several,
                          mw_json_count_of(processes, "recorded_ranks"),
                          mw_json_count_of(processes, "world_size"));
    else
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%s in all, %zu pair%s; %.0f of %.0f ranks recorded",
                          total, matrix->cells.count, several,
                          mw_json_count_of(processes, "recorded_ranks"),
                          mw_json_count_of(processes, "world_size"));
    free(kinds);
    free(total);
}

/* What the cells lack, of kinds beside messages. */
static void text_kind_notes(const struct mw_matrix *matrix, const json_t *besides, FILE *out)
{
    const json_t *target = json_object_get(besides, "one_sided_unknown_target");
    char *left_out = mw_number_bytes(mw_json_count_of(besides, "collective_bytes_left_out"));
    if (matrix->kinds & MW_KIND_RMA && mw_json_count_of(target, "messages") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f accesses to ranks that could not be told are left out.",
                          mw_json_count_of(target, "messages"));
    if (matrix->kinds & MW_KIND_IO && mw_json_count_of(besides, "operations_on_unknown_files") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f reads and writes of files that could not be told are left out.",
                          mw_json_count_of(besides, "operations_on_unknown_files"));
    if (matrix->left_out)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "Collectives with %s are left out: which ranks they went to is not "
                          "known, or they are too many.",
                          left_out);
    free(left_out);
}

/* Of which messages the figures are. */
static void text_measured(const struct mw_matrix *matrix, FILE *out)
{
    char *from = mw_number_bytes((double)mw_class_from(matrix->first_class));
    char *to = mw_number_bytes((double)mw_class_to(matrix->last_class) + 1);
    size_t bounds = 0;
    for (size_t i = 0; i < matrix->cells.count; i++)
        bounds += matrix->cells.at[i].bound;
    if (matrix->by == MW_BY_NODE)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "All messages between the ranks of two nodes together, while any was on "
                          "the way: at least so much.");
    else if (matrix->last_class < MW_SIZE_CLASSES - 1 || matrix->first_class)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "Of each pair the messages of one power of two in size, from %s to "
                          "below %s, in which it moved most.", from, to);
    else
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "Of each pair the messages of one power of two in size, in which it "
                          "moved most; --size selects.");
    if (bounds && matrix->by == MW_BY_RANK)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%zu pair%s %s a lower bound only (>=): receivers looked late, or at "
                          "several messages at once.",
                          bounds, mw_text_plural((double)bounds), bounds == 1 ? "has" : "have");
    free(from);
    free(to);
}

static void text_notes(const struct mw_matrix *matrix, const json_t *head, FILE *out)
{
    const json_t *besides = json_object_get(head, "besides");
    double receiver = mw_json_count_of(besides, "counted_at_receiver");
    double outside = mw_json_count_of(json_object_get(besides, "outside_world"), "messages");
    double unknown = mw_json_count_of(json_object_get(besides, "unknown_peer"), "messages");
    double missing = mw_json_count_of(head, "events_missing");
    int time = matrix->metric->value && !strcmp(matrix->metric->unit, "seconds");
    int messages = matrix->kinds & MW_KIND_P2P && !matrix->exchange;
    char *incomplete = mw_incomplete_text(json_object_get(head, "processes"));
    mw_text_worlds(json_object_get(head, "processes"), out);
    if (incomplete)
        mw_text_paragraph(out, MW_STYLE_BAD, "%s", incomplete);
    free(incomplete);
    if (receiver > 0 && !time && messages)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f messages from ranks that were not recorded are counted at their "
                          "receiver, %.0f of them with an upper bound of their size.",
                          receiver, mw_json_count_of(besides, "sizes_that_are_upper_bounds"));
    if (outside > 0 && !time && messages)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f messages to ranks of remote groups, not recorded or not told from others, are left out.",
                          outside);
    if (unknown > 0 && !time && messages)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f messages to ranks that could not be told are left out.", unknown);
    if (missing > 0)
        mw_text_paragraph(out, MW_STYLE_BAD, "%.0f events are missing from the trace.", missing);
    text_kind_notes(matrix, besides, out);
    if (matrix->metric->measured)
        text_measured(matrix, out);
    if (time && messages) {
        char *all = mw_number_seconds(mw_json_real_of(besides, "time_s"));
        char *pairs = mw_number_seconds(mw_json_real_of(besides, "time_in_pairs_s"));
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%s of the %s in point-to-point calls belong to one pair; the rest is "
                          "in calls for several.",
                          pairs, all);
        free(all);
        free(pairs);
    }
}

/* The ranks or nodes that occur, at most GRID_MAX; 0 when there are more. */
static size_t grid_axis(const struct mw_matrix *matrix, int64_t axis[GRID_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < 2 * matrix->cells.count; i++) {
        int64_t number = i % 2 ? matrix->cells.at[i / 2].dst : matrix->cells.at[i / 2].src;
        size_t at = 0;
        while (at < count && axis[at] < number)
            at++;
        if (at < count && axis[at] == number)
            continue;
        if (count == GRID_MAX)
            return 0;
        memmove(&axis[at + 1], &axis[at], (count - at) * sizeof(axis[0]));
        axis[at] = number;
        count++;
    }
    return count;
}

static const struct mw_matrix_cell *cell_find(const struct mw_matrix *matrix, int64_t src,
                                              int64_t dst)
{
    for (size_t i = 0; i < matrix->cells.count; i++)
        if (matrix->cells.at[i].src == src && matrix->cells.at[i].dst == dst)
            return &matrix->cells.at[i];
    return NULL;
}

/* "4 links", "2 hops", "switch"; "." where nothing was sent, "?" where it is not known. */
static char *between_text(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell)
{
    (void)matrix;
    const struct mw_path *path = cell ? &cell->between.path : NULL;
    if (!cell || !cell->between.known)
        return mw_text_copy(cell ? "?" : ".");
    if (path->kind == MW_PATH_UNKNOWN)
        return mw_text_copy(mw_locality_title(cell->between.reach.farthest));
    if (path->hops > 1)
        return mw_format("%u hops", path->hops);
    return path->links ? mw_format("%u link%s", path->links, path->links == 1 ? "" : "s")
                       : mw_text_copy(mw_path_word(path->kind));
}

/* What a cell has carried. */
static char *grid_text(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell)
{
    return cell && cell->value ? cell_text(matrix, cell) : mw_text_copy(".");
}

/* All places over all places; `text` tells what stands in a cell, NULL for one that is none. */
static void text_grid(const struct mw_matrix *matrix, const int64_t *axis, size_t count,
                      char *(*text)(const struct mw_matrix *, const struct mw_matrix_cell *),
                      FILE *out)
{
    struct mw_table *table = mw_table_create();
    mw_table_column(table, ">from");
    for (size_t i = 0; i < count; i++) {
        char *name = mw_matrix_name(matrix, axis[i]), *column = mw_format(">%s", name);
        mw_table_column(table, column);
        free(name);
        free(column);
    }
    for (size_t row = 0; row < count; row++) {
        mw_table_row(table);
        mw_table_cell(table, mw_matrix_name(matrix, axis[row]));
        for (size_t i = 0; i < count; i++)
            mw_table_cell(table, text(matrix, cell_find(matrix, axis[row], axis[i])));
    }
    mw_table_print(table, out);
}

int mw_matrix_value_compare(const void *left, const void *right)
{
    const struct mw_matrix_cell *a = *(const struct mw_matrix_cell *const *)left;
    const struct mw_matrix_cell *b = *(const struct mw_matrix_cell *const *)right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

static void text_list(const struct mw_matrix *matrix, size_t top, FILE *out)
{
    size_t count = matrix->cells.count;
    const struct mw_matrix_cell **sorted = mw_alloc(count, sizeof(*sorted));
    struct mw_table *table = mw_table_create();
    double rest = (double)matrix->total;
    int measured = matrix->metric->measured != NULL;
    mw_table_column(table, ">from");
    mw_table_column(table, ">to");
    char *column = mw_format(">%s", matrix->metric->name);
    mw_table_column(table, column);
    free(column);
    if (!measured)
        mw_table_column(table, ">share");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &matrix->cells.at[i];
    qsort(sorted, count, sizeof(*sorted), mw_matrix_value_compare);
    for (size_t i = 0; i < count && i < top; i++) {
        mw_table_row(table);
        mw_table_cell(table, mw_matrix_name(matrix, sorted[i]->src));
        mw_table_cell(table, mw_matrix_name(matrix, sorted[i]->dst));
        mw_table_cell(table, cell_text(matrix, sorted[i]));
        if (!measured)
            mw_table_cell(table,
                          mw_number_percent((double)sorted[i]->value / (double)matrix->total));
        rest -= (double)sorted[i]->value;
    }
    mw_table_print(table, out);
    if (count > top) {
        char *text = value_text(matrix, rest);
        char *what = mw_format("pairs%s%s (--top N shows more, --format csv all)",
                               measured ? "" : " with ", measured ? "" : text);
        mw_text_more(out, (double)count, top, what);
        free(what);
        free(text);
    }
    free(sorted);
}

void mw_matrix_text(const struct mw_matrix *matrix, const json_t *head, size_t top, FILE *out)
{
    int64_t axis[GRID_MAX];
    size_t count = grid_axis(matrix, axis);
    text_head(matrix, head, out);
    text_notes(matrix, head, out);
    if (!matrix->cells.count)
        return;
    fputc('\n', out);
    if (matrix->transports)
        mw_matrix_transports_text(matrix, top, out);
    else if (count && matrix->by != MW_BY_NODE && !(matrix->kinds & MW_KIND_IO))
        text_grid(matrix, axis, count, grid_text, out);
    else
        text_list(matrix, top, out);
    if (count && matrix->vertices && matrix->by != MW_BY_NODE && one_host(matrix) &&
        !matrix->transports) {
        mw_text_heading(out, "What lies between");
        text_grid(matrix, axis, count, between_text, out);
    }
}
