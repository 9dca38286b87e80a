/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables by libsmartcols (table.h). The first column is an empty one: the indent. */
#include "analyzer/render/table.h"

#include <libsmartcols.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/render/text.h"

struct mw_table {
    struct libscols_table *table;
    struct libscols_line *line;
    size_t columns, cell;
};

struct mw_table *mw_table_create(void)
{
    struct mw_table *table = mw_alloc(1, sizeof(*table));
    table->table = scols_new_table();
    if (!table->table) {
        fputs("mpiwatch: out of memory\n", stderr);
        exit(1);
    }
    scols_table_set_termwidth(table->table, MW_TEXT_WIDTH);
    scols_table_set_termforce(table->table, SCOLS_TERMFORCE_ALWAYS);
    scols_table_enable_noencoding(table->table, 1);
    mw_table_column(table, "");
    return table;
}

void mw_table_column(struct mw_table *table, const char *name)
{
    int right = name[0] == '>';
    struct libscols_column *column =
        scols_table_new_column(table->table, name + right, 0, right ? SCOLS_FL_RIGHT : 0);
    if (column && !right && table->columns)
        scols_column_set_flags(column, SCOLS_FL_TRUNC);
    table->columns++;
}

void mw_table_row(struct mw_table *table)
{
    table->line = scols_table_new_line(table->table, NULL);
    table->cell = 0;
    mw_table_text(table, "");
}

void mw_table_cell(struct mw_table *table, char *text)
{
    mw_table_text(table, text);
    free(text);
}

void mw_table_text(struct mw_table *table, const char *text)
{
    char *escaped = mw_text_escape(text);
    if (table->line && table->cell < table->columns)
        scols_line_set_data(table->line, table->cell++, escaped);
    free(escaped);
}

void mw_table_style_bad(struct mw_table *table)
{
    if (table->line)
        scols_line_set_color(table->line, "red");
}

void mw_table_print(struct mw_table *table, FILE *out)
{
    scols_table_set_stream(table->table, out);
    if (mw_text_colors(out))
        scols_table_enable_colors(table->table, 1);
    scols_print_table(table->table);
    scols_unref_table(table->table);
    free(table);
}
