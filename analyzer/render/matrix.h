/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrices as text, CSV and JSON. CSV and JSON are written cell by cell: a matrix of a hundred
 * thousand ranks need not be in memory twice. Main thread only.
 */
#ifndef MW_RENDER_MATRIX_H
#define MW_RENDER_MATRIX_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/analysis/matrix.h"

void mw_matrix_csv(const struct mw_matrix *matrix, FILE *out);
/* head: mw_matrix_head's document; the cells are added to it as "cells". */
void mw_matrix_json(const struct mw_matrix *matrix, const json_t *head, FILE *out);
/* A grid where it fits 80 columns, else the `top` largest pairs. */
void mw_matrix_text(const struct mw_matrix *matrix, const json_t *head, size_t top, FILE *out);

/* Everything but the cells: what was asked for, how much of the jobs was recorded, what is not in
 * the cells. whole: of all traces together; damage is taken over. */
json_t *mw_matrix_head(const struct mw_matrix *matrix, const struct mw_comms *whole, json_t *damage,
                       const char *const *paths, size_t count);

/* Cells that are transports, of which the functions above make use. */
/* "vader+cma"; "unknown" where it is not known, or not for all. Newly allocated. */
char *mw_matrix_cell_label(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell);
/* The members of a cell of JSON after its pair. Taken over by the caller. */
json_t *mw_matrix_cell_json(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell);
/* A grid of words or letters, or a list; `top` pairs of it. */
void mw_matrix_transports_text(const struct mw_matrix *matrix, size_t top, FILE *out);
/* For qsort of pointers to cells: the largest value first. */
int mw_matrix_value_compare(const void *left, const void *right);
/* The name of a node or vertex, as programs read it; `unknown` for -1. */
const char *mw_matrix_place(const struct mw_matrix *matrix, int64_t number, const char *unknown);
/* The file that a number in a cell stands for; NULL for a rank or a node. */
const char *mw_matrix_file(const struct mw_matrix *matrix, int64_t number);
/* "point-to-point, one-sided". Newly allocated. */
char *mw_matrix_kinds_title(const struct mw_matrix *matrix);
/* The name of a rank, a node or a file for people. Newly allocated. */
char *mw_matrix_name(const struct mw_matrix *matrix, int64_t number);

#endif
