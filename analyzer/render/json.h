/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON by jansson: the canonical form of every result (docs/report.schema.json); text shows nothing
 * that it lacks. Values from a trace go in by these functions, which never fail on strange bytes or
 * large numbers.
 */
#ifndef MW_RENDER_JSON_H
#define MW_RENDER_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes that are not UTF-8 become \xNN; NULL becomes null. */
json_t *mw_json_text(const char *text);
/* The same, and frees the text. */
json_t *mw_json_take(char *text);
/* The same, and "", too, becomes null: not known. */
json_t *mw_json_known(const char *text);
json_t *mw_json_count(uint64_t count);
json_t *mw_json_known_count(uint64_t count);            /* null for 0: not known */
json_t *mw_json_number(int64_t value, int64_t unknown); /* null for `unknown` */
json_t *mw_json_real(double value);                     /* null for NaN */
json_t *mw_json_ns(uint64_t ns);                        /* seconds */
json_t *mw_json_time(double seconds);                   /* absolute: ISO 8601 text, null for NaN */
json_t *mw_json_share(double part, double whole);       /* null where there is no whole */
json_t *mw_json_build_id(const uint8_t *data, size_t size); /* hex; null when empty */
/* The common head of a document ("report", "matrix", "info"): version of the program and of the
 * schema. */
json_t *mw_json_document(const char *kind);
/* Writes a value by these flags of jansson's, without a character that a terminal obeys; 0 when the
 * stream took it. */
int mw_json_put(const json_t *value, size_t flags, FILE *out);
/* Writes a document with a newline; 0 when the stream took it. */
int mw_json_write(const json_t *document, FILE *out);

/* Reading a document back, for the text renderers: missing members read as 0 or "". */
const char *mw_json_string(const json_t *object, const char *key);
double mw_json_real_of(const json_t *object, const char *key);  /* NaN for null */
double mw_json_count_of(const json_t *object, const char *key); /* 0 for null */
int mw_json_is_null(const json_t *object, const char *key);

#define MW_JSON_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(15))

#endif
