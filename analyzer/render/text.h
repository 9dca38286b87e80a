/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text output for people: escaping of what a trace holds, headings, colour on terminals only.
 * Whatever came from a trace goes through mw_text_escape before it is shown: a trace may come from
 * anybody.
 */
#ifndef MW_RENDER_TEXT_H
#define MW_RENDER_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MW_TEXT_WIDTH 80

enum mw_style { MW_STYLE_PLAIN, MW_STYLE_HEAD, MW_STYLE_BAD, MW_STYLE_DIM };

/* A copy with control characters, bytes that are not UTF-8 and characters that reorder text as
 * \xNN. */
char *mw_text_escape(const char *text);
/* The length of the UTF-8 sequence at `at`, which may be followed by anything, and its character;
 * 0 where there is none. */
size_t mw_text_decode(const char *at, uint32_t *character);
/* Whether a character controls a terminal, or changes the direction or the lines of a text. */
int mw_text_is_dangerous(uint32_t character);
/* Writes escaped text into HTML or XML, as text or as an attribute's value in quotes. */
void mw_text_markup(FILE *out, const char *escaped);
/* The same, cut to `width` characters with "..." at the end, or at the start where the end tells
 * more. */
char *mw_text_fit(const char *text, size_t width, int keep_end);
/* A list of ranks, "0-3,7,9", cut after a whole entry. */
char *mw_text_fit_list(const char *list, size_t width);
/* Whether a stream gets colours: a terminal, TERM is not dumb, NO_COLOR is not set. */
int mw_text_colors(FILE *out);
const char *mw_style_on(FILE *out, enum mw_style style);
const char *mw_style_off(FILE *out, enum mw_style style);
/* A blank line and a heading. */
void mw_text_heading(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "  label      text", the text wrapped at words in 80 columns. `text` is escaped here. */
void mw_text_entry(FILE *out, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A paragraph, indented by two and its own leading spaces, wrapped. Escaped here. */
void mw_text_paragraph(FILE *out, enum mw_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A field of CSV: escaped, and quoted where it must be. */
void mw_csv_text(const char *text, FILE *out);
/* "    - text", a point of a list, wrapped behind its dash. Escaped here. */
void mw_text_item(FILE *out, const char *text);
const char *mw_text_plural(double count); /* "" for 1, else "s" */
/* Characters of a text, for alignment. */
size_t mw_text_length(const char *text);

#endif
