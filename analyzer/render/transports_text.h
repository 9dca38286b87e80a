/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the text on transports that the report and `mpiwatch transports` share. They read the
 * JSON section only. Texts are newly allocated and not escaped. Main thread only.
 */
#ifndef MW_RENDER_TRANSPORTS_TEXT_H
#define MW_RENDER_TRANSPORTS_TEXT_H

#include <jansson.h>
#include <stdio.h>

char *mw_on_ranks(const json_t *entry);        /* "ranks 0-3" */
char *mw_way_text(const json_t *way);          /* "tcp over eth0 (Open MPI BTL)" */
char *mw_reached_text(const json_t *way);      /* ">= 2.30 of 25.0 GB/s" */
char *mw_failure_text(const json_t *failure);  /* library, call, result in words, ranks */
int mw_failure_matters(const json_t *failure); /* MPI's choice hung on it */
char *mw_idle_text(const json_t *idle);
char *mw_group_text(const json_t *group); /* "ranks 0-7 with each other" */
void mw_text_choices(const json_t *section, int with_version, FILE *out);
void mw_text_ways(const json_t *section, size_t limit, FILE *out);
void mw_text_probes(const json_t *section, FILE *out);

#endif
