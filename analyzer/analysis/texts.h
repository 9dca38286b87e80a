/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The texts in library files: which names a library can know. Only files that are what the job had
 * loaded (same build-id) say anything about it. A linker may let a short text be the end of a
 * longer one, so that a name found only there counts as "perhaps". Paths come from a trace and are
 * not trusted: regular files only. One set, one thread.
 */
#ifndef MW_ANALYSIS_TEXTS_H
#define MW_ANALYSIS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct mw_image_texts;

struct mw_image_texts *mw_image_texts_create(void);
void mw_image_texts_free(struct mw_image_texts *texts);
/* Adds a file's texts. build_id NULL: whichever file stands there. NULL, or why it was not added.
 */
const char *mw_image_texts_add(struct mw_image_texts *texts, const char *path,
                               const uint8_t *build_id, size_t build_id_size);
size_t mw_image_texts_files(const struct mw_image_texts *texts);

/* Names of libraries that the first file needs: *at starts at 0. NULL at the end. */
const char *mw_image_texts_needed(const struct mw_image_texts *texts, size_t *at);

enum mw_image_texts_found {
    MW_TEXTS_NOT,
    MW_TEXTS_PERHAPS, /* only as the end of a longer text */
    MW_TEXTS_FOUND,
};
enum mw_image_texts_flags {
    MW_TEXTS_FOLD = 1, /* capitals are small letters */
};
/* Is this a whole text? Quick. */
int mw_image_texts_has(const struct mw_image_texts *texts, const char *word, size_t length,
                       unsigned flags);
/* Is it one, or the end of one? Slow. */
enum mw_image_texts_found mw_image_texts_find(const struct mw_image_texts *texts, const char *word,
                                              size_t length, unsigned flags);
/* Is there a pattern of printf that this may come of ("%s_dynamic_%s_module")? */
int mw_image_texts_pattern(const struct mw_image_texts *texts, const char *word, size_t length);
/* Base name of the file that has it whole; NULL none. */
const char *mw_image_texts_file_of(const struct mw_image_texts *texts, const char *word,
                                   size_t length, unsigned flags);

/* Each text that is one name (letters, digits, "_") until `visit` gives other than 0. */
void mw_image_texts_each(const struct mw_image_texts *texts,
                         int (*visit)(const char *text, void *context), void *context);

/* How many single changes (a letter more, less or another, two neighbours swapped) lie between two
 * words; `most` + 1 when it is more than `most`. Words over 64 characters are never close. */
unsigned mw_word_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                          unsigned most, unsigned flags);
/* How many are forgiven for a word of this length. */
unsigned mw_word_tolerance(size_t length);

#endif
