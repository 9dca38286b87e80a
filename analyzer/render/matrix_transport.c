/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices whose cells are transports (matrix.h): names, JSON members, grids of words or letters.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/matrix.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"
#include "analyzer/render/transports.h"

#define WORD_GRID   8  /* ranks whose transports fit in words, where those are short */
#define HEAD_WIDTH  8  /* of the ranks beside the grid */
#define LETTER_GRID 64 /* ranks whose transports fit in letters */
#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static const struct mw_way *part_way(const struct mw_matrix *matrix, size_t part)
{
    return &matrix->transports->ways.at[matrix->parts.at[part].way];
}

char *mw_matrix_cell_label(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell)
{
    char *label = mw_text_copy("");
    for (size_t i = 0; i <= cell->part_count; i++) {
        const char *name = "unknown";
        size_t earlier = 0;
        if (i == cell->part_count && !cell->unknown && cell->part_count)
            break;
        if (i < cell->part_count)
            name = part_way(matrix, cell->part + i)->name;
        while (earlier < i && strcmp(part_way(matrix, cell->part + earlier)->name, name))
            earlier++;
        if (earlier < i) /* the same on another device */
            continue;
        char *longer = mw_format("%s%s%s", label, label[0] ? "+" : "", name);
        free(label);
        label = longer;
    }
    return label;
}

static json_t *part_json(const struct mw_matrix *matrix, size_t number)
{
    const struct mw_matrix_part *part = &matrix->parts.at[number];
    json_t *entry = mw_doc_way(part_way(matrix, number));
    json_object_set_new(entry, "buffer", json_string(mw_buffer_word(part->buffer)));
    json_object_set_new(entry, "sizes",
                        part->messages
                            ? json_pack("{s:o, s:o}", "from",
                                        mw_json_count(mw_class_from(part->first_class)), "to",
                                        mw_json_count(mw_class_to(part->last_class)))
                            : json_null());
    json_object_set_new(entry, "messages", mw_json_count(part->messages));
    json_object_set_new(entry, "bytes", mw_json_count(part->bytes));
    json_object_set_new(entry, "carried_bytes", mw_json_count(part->carried));
    json_object_set_new(entry, "certainty",
                        json_string(part->certainty == MW_SEEN ? "seen" : "concluded"));
    return entry;
}

json_t *mw_matrix_cell_json(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell)
{
    json_t *routes = json_array();
    for (size_t i = 0; i < cell->part_count; i++)
        json_array_append_new(routes, part_json(matrix, cell->part + i));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "value",
                     mw_json_take(mw_matrix_cell_label(matrix, cell)), "messages",
                     mw_json_count(cell->messages), "bytes", mw_json_count(cell->value), "routes",
                     routes, "unknown", mw_json_text(cell->unknown), "unknown_pairs",
                     mw_json_count(cell->unknown_pairs));
}

/* The ranks that occur, and the different labels of the cells. */
struct grid {
    int64_t axis[LETTER_GRID];
    size_t count;
    MW_VECTOR(char *) labels;
    size_t *label_of; /* by number of cell */
    size_t longest;
};

static void axis_add(struct grid *grid, int64_t number, int *fits)
{
    size_t at = 0;
    while (at < grid->count && grid->axis[at] < number)
        at++;
    if (at < grid->count && grid->axis[at] == number)
        return;
    if (grid->count == LETTER_GRID) {
        *fits = 0;
        return;
    }
    memmove(&grid->axis[at + 1], &grid->axis[at], (grid->count - at) * sizeof(grid->axis[0]));
    grid->axis[at] = number;
    grid->count++;
}

static size_t label_add(struct grid *grid, char *label)
{
    for (size_t i = 0; i < grid->labels.count; i++)
        if (!strcmp(grid->labels.at[i], label)) {
            free(label);
            return i;
        }
    if (mw_text_length(label) > grid->longest)
        grid->longest = mw_text_length(label);
    *mw_vector_add(&grid->labels) = label;
    return grid->labels.count - 1;
}

/* 0 when the matrix is too large for a grid. */
static int grid_fill(struct grid *grid, const struct mw_matrix *matrix)
{
    int fits = matrix->by == MW_BY_RANK;
    for (size_t i = 0; i < matrix->cells.count && fits; i++) {
        axis_add(grid, matrix->cells.at[i].src, &fits);
        axis_add(grid, matrix->cells.at[i].dst, &fits);
    }
    if (!fits)
        return 0;
    grid->label_of = mw_alloc(matrix->cells.count, sizeof(*grid->label_of));
    for (size_t i = 0; i < matrix->cells.count; i++)
        grid->label_of[i] = label_add(grid, mw_matrix_cell_label(matrix, &matrix->cells.at[i]));
    return grid->labels.count < sizeof(LETTERS);
}

static void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->labels.count; i++)
        free(grid->labels.at[i]);
    free(grid->labels.at);
    free(grid->label_of);
}

/* The number of the label of a cell; -1: no such cell. Cells are in order: *next is the place. */
static int grid_at(const struct grid *grid, const struct mw_matrix *matrix, size_t row,
                   size_t column, size_t *next)
{
    const struct mw_matrix_cell *cell = &matrix->cells.at[*next];
    if (*next == matrix->cells.count || cell->src != grid->axis[row] ||
        cell->dst != grid->axis[column])
        return -1;
    return (int)grid->label_of[(*next)++];
}

static void text_words(const struct grid *grid, const struct mw_matrix *matrix, FILE *out)
{
    struct mw_table *table = mw_table_create();
    size_t next = 0;
    mw_table_column(table, ">from");
    for (size_t i = 0; i < grid->count; i++) {
        char *name = mw_matrix_name(matrix, grid->axis[i]), *column = mw_format(">%s", name);
        free(name);
        mw_table_column(table, column);
        free(column);
    }
    for (size_t row = 0; row < grid->count; row++) {
        mw_table_row(table);
        mw_table_cell(table, mw_matrix_name(matrix, grid->axis[row]));
        for (size_t column = 0; column < grid->count; column++) {
            int label = grid_at(grid, matrix, row, column, &next);
            mw_table_text(table, label < 0 ? "." : grid->labels.at[label]);
        }
    }
    mw_table_print(table, out);
}

/* Names of ranks over the columns, a character a line. */
static void letters_head(char *const *names, size_t count, int width, FILE *out)
{
    for (int place = width; place > 0; place--) {
        fprintf(out, "  %*s ", width, "");
        for (size_t i = 0; i < count; i++) {
            int length = (int)strlen(names[i]);
            fputc(length >= place ? names[i][length - place] : ' ', out);
        }
        fputc('\n', out);
    }
}

static void text_letters(const struct grid *grid, const struct mw_matrix *matrix, FILE *out)
{
    size_t next = 0;
    int width = 0;
    char **names = mw_alloc(grid->count, sizeof(*names));
    for (size_t i = 0; i < grid->count; i++) {
        names[i] = mw_matrix_name(matrix, grid->axis[i]);
        width = (int)strlen(names[i]) > width ? (int)strlen(names[i]) : width;
    }
    letters_head(names, grid->count, width, out);
    for (size_t row = 0; row < grid->count; row++) {
        fprintf(out, "  %*s ", width, names[row]);
        for (size_t column = 0; column < grid->count; column++) {
            int label = grid_at(grid, matrix, row, column, &next);
            fputc(label < 0 ? '.' : LETTERS[label], out);
        }
        fputc('\n', out);
        free(names[row]);
    }
    free(names);
    fputc('\n', out);
    for (size_t i = 0; i < grid->labels.count; i++)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%c  %s", LETTERS[i], grid->labels.at[i]);
}

/* "vader 1.20 GiB, cma over ... 3 GiB": each way of a cell with what it carried. */
static char *cell_text(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell)
{
    char *text = mw_text_copy("");
    for (size_t i = 0; i < cell->part_count; i++) {
        const struct mw_way *way = part_way(matrix, cell->part + i);
        const struct mw_matrix_part *part = &matrix->parts.at[cell->part + i];
        int network = way->kind == MW_WAY_NETWORK && way->device[0];
        char *bytes = mw_number_bytes((double)(part->messages ? part->bytes : part->carried));
        int host = part->buffer == MW_MEMORY_HOST;
        char *longer = mw_format("%s%s%s%s%s %s%s%s", text, text[0] ? ", " : "", way->name,
                                 network ? " over " : "", network ? way->device : "", bytes,
                                 host ? "" : " out of memory: ",
                                 host ? "" : mw_buffer_word(part->buffer));
        free(bytes);
        free(text);
        text = longer;
    }
    if (!cell->unknown && cell->part_count)
        return text;
    char *longer =
        mw_format("%s%snot known%s", text, text[0] ? ", " : "", cell->part_count ? " for all" : "");
    free(text);
    return longer;
}

static void text_list(const struct mw_matrix *matrix, size_t top, FILE *out)
{
    size_t count = matrix->cells.count;
    const struct mw_matrix_cell **sorted = mw_alloc(count, sizeof(*sorted));
    struct mw_table *table = mw_table_create();
    mw_table_column(table, ">from");
    mw_table_column(table, ">to");
    mw_table_column(table, ">bytes");
    mw_table_column(table, "transports");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &matrix->cells.at[i];
    qsort(sorted, count, sizeof(*sorted), mw_matrix_value_compare);
    for (size_t i = 0; i < count && i < top; i++) {
        mw_table_row(table);
        mw_table_cell(table, mw_matrix_name(matrix, sorted[i]->src));
        mw_table_cell(table, mw_matrix_name(matrix, sorted[i]->dst));
        mw_table_cell(table, mw_number_bytes((double)sorted[i]->value));
        mw_table_cell(table, cell_text(matrix, sorted[i]));
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)count, top, "pairs (--top N shows more, --format csv all)");
    free(sorted);
}

/* Why something is not known: one reason is enough here, `mpiwatch transports` has all. */
static void text_unknown(const struct mw_matrix *matrix, FILE *out)
{
    const char *reason = NULL;
    uint64_t pairs = 0;
    for (size_t i = 0; i < matrix->cells.count; i++) {
        pairs += matrix->cells.at[i].unknown_pairs;
        if (!reason)
            reason = matrix->cells.at[i].unknown;
    }
    if (reason)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "%" PRIu64 " pair%s not known, or not for all sizes: %s%s", pairs,
                          pairs == 1 ? "" : "s", reason,
                          pairs == 1 ? "" : " (\"mpiwatch transports\" has all reasons)");
}

void mw_matrix_transports_text(const struct mw_matrix *matrix, size_t top, FILE *out)
{
    struct grid grid = {0};
    int fits = grid_fill(&grid, matrix);
    size_t width = HEAD_WIDTH + grid.count * (grid.longest + 1);
    if (fits && grid.count <= WORD_GRID && width <= MW_TEXT_WIDTH)
        text_words(&grid, matrix, out);
    else if (fits)
        text_letters(&grid, matrix, out);
    else
        text_list(matrix, top, out);
    text_unknown(matrix, out);
    grid_free(&grid);
}
