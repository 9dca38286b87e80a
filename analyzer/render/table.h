/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables for people, by libsmartcols: columns as wide as their content, 80 columns in all, the last
 * one cut where it does not fit. Cells are escaped here. Main thread only.
 */
#ifndef MW_RENDER_TABLE_H
#define MW_RENDER_TABLE_H

#include <stdio.h>

struct mw_table;

struct mw_table *mw_table_create(void);
/* Columns first. A name that starts with '>' makes the column right-aligned. */
void mw_table_column(struct mw_table *table, const char *name);
void mw_table_row(struct mw_table *table);
/* The next cell of the row. `text` is taken over and freed. */
void mw_table_cell(struct mw_table *table, char *text);
void mw_table_text(struct mw_table *table, const char *text);
void mw_table_style_bad(struct mw_table *table); /* the row shows something wrong */
/* Prints the table with an indent of two and frees it. */
void mw_table_print(struct mw_table *table, FILE *out);

#endif
