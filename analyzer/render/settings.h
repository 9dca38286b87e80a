/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of MPI and the fabric (analyzer/analysis/settings.h) as a section of the JSON
 * document
 * ("settings"), and its text form, which reads nothing but the document. Main thread only.
 */
#ifndef MW_RENDER_SETTINGS_H
#define MW_RENDER_SETTINGS_H

#include <jansson.h>
#include <stdio.h>

struct mw_model;
struct mw_settings;

/* An array; empty where settings is NULL. */
json_t *mw_doc_settings(const struct mw_model *model, const struct mw_settings *settings);
void mw_text_settings(const json_t *report, FILE *out);

#endif
