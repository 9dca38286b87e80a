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

/* Everything but the cells: what was asked for, how much of the job was recorded, what is not in
 * the cells. */
json_t *mw_matrix_head(const struct mw_matrix *matrix, const char *const *paths, size_t count);

#endif
