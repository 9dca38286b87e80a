/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that libraries make of pieces (settings_private.h): "UCX_" + "RC_VERBS_" + "TX_MIN_INLINE".
 * A name is known when some way to cut it gives nothing but texts of the library; a suggestion is a
 * name of which one piece was exchanged for a text close by.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/settings_private.h"

#define JOINTS_MOST 16 /* places where a name can be cut */

/* The name behind its prefix, and where it may be cut: cut k lies before joint[k]. */
struct word {
    const struct mw_spelling *spelling;
    const struct mw_image_texts *texts, *more;
    const char *text;
    size_t length;
    size_t joint[JOINTS_MOST];
    size_t joints;
};

static int word_split(struct word *word, const struct mw_spelling *spelling,
                      const struct mw_image_texts *texts, const struct mw_image_texts *more,
                      const char *name)
{
    size_t skip = strlen(spelling->prefix);
    if (strncmp(name, spelling->prefix, skip) || !name[skip])
        return 0;
    *word = (struct word){.spelling = spelling, .texts = texts, .more = more, .text = name + skip};
    word->length = strlen(word->text);
    for (size_t i = 1; i + 1 < word->length && word->joints < JOINTS_MOST; i++)
        if (word->text[i] == '_')
            word->joint[word->joints++] = i;
    return 1;
}

struct piece {
    size_t start, end;
};

/* Cuts at joints a and b (JOINTS_MOST: none): the pieces, and how many. */
static size_t word_cut(const struct word *word, size_t a, size_t b, struct piece piece[3])
{
    size_t count = 0, start = 0, cuts[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (cuts[i] == JOINTS_MOST)
            continue;
        size_t at = word->joint[cuts[i]];
        piece[count++] = (struct piece){start, at + (size_t)(word->spelling->joint != 0)};
        start = at + 1;
    }
    piece[count++] = (struct piece){start, word->length};
    return count;
}

static int piece_known(const struct word *word, struct piece piece)
{
    const char *at = word->text + piece.start;
    size_t length = piece.end - piece.start;
    unsigned flags = word->spelling->flags;
    return mw_image_texts_has(word->texts, at, length, flags) ||
           (word->more && mw_image_texts_has(word->more, at, length, flags)) ||
           mw_image_texts_pattern(word->texts, at, length) ||
           (word->more && mw_image_texts_pattern(word->more, at, length));
}

static int piece_perhaps(const struct word *word, struct piece piece)
{
    const char *at = word->text + piece.start;
    size_t length = piece.end - piece.start;
    unsigned flags = word->spelling->flags;
    return piece_known(word, piece) ||
           mw_image_texts_find(word->texts, at, length, flags) != MW_TEXTS_NOT ||
           (word->more && mw_image_texts_find(word->more, at, length, flags) != MW_TEXTS_NOT);
}

/* Calls `see` for each way to cut until it gives other than 0, which is given back. */
static int each_cut(const struct word *word,
                    int (*see)(const struct word *word, const struct piece *piece, size_t count,
                               void *context),
                    void *context)
{
    struct piece piece[3];
    size_t none = JOINTS_MOST;
    int result = see(word, piece, word_cut(word, none, none, piece), context);
    for (size_t a = 0; !result && word->spelling->pieces > 1 && a < word->joints; a++) {
        result = see(word, piece, word_cut(word, a, none, piece), context);
        for (size_t b = a + 1; !result && word->spelling->pieces > 2 && b < word->joints; b++)
            result = see(word, piece, word_cut(word, a, b, piece), context);
    }
    return result;
}

static int see_known(const struct word *word, const struct piece *piece, size_t count,
                     void *context)
{
    const char **file = context;
    for (size_t i = 0; i < count; i++)
        if (!piece_known(word, piece[i]))
            return 0;
    const char *last = word->text + piece[count - 1].start;
    size_t length = piece[count - 1].end - piece[count - 1].start;
    *file = mw_image_texts_file_of(word->texts, last, length, word->spelling->flags);
    if (!*file && word->more)
        *file = mw_image_texts_file_of(word->more, last, length, word->spelling->flags);
    return 1;
}

static int see_perhaps(const struct word *word, const struct piece *piece, size_t count,
                       void *context)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        if (!piece_perhaps(word, piece[i]))
            return 0;
    return 1;
}

enum mw_image_texts_found mw_spelling_find(const struct mw_spelling *spelling,
                                           const struct mw_image_texts *texts,
                                           const struct mw_image_texts *more, const char *name,
                                           const char **file)
{
    struct word word;
    *file = NULL;
    if (!word_split(&word, spelling, texts, more, name) || word.joints == JOINTS_MOST)
        return MW_TEXTS_PERHAPS;
    if (mw_image_texts_has(texts, name, strlen(name), 0)) {
        *file = mw_image_texts_file_of(texts, name, strlen(name), 0);
        return MW_TEXTS_FOUND;
    }
    if (each_cut(&word, see_known, file))
        return MW_TEXTS_FOUND;
    if (mw_image_texts_find(texts, name, strlen(name), 0) != MW_TEXTS_NOT ||
        each_cut(&word, see_perhaps, NULL))
        return MW_TEXTS_PERHAPS;
    return MW_TEXTS_NOT;
}

/* The best replacement so far. */
struct search {
    const struct word *word;
    struct piece piece[3];
    size_t count, hole; /* of the cut being tried */
    const char *best;
    struct piece gap; /* that it fills */
    unsigned distance, rank;
};

/* Small is better: among words equally close. */
static unsigned rank_of(const struct search *search, const char *text, size_t length)
{
    const struct mw_spelling *spelling = search->word->spelling;
    struct piece gap = search->piece[search->hole];
    const char *old = search->word->text + gap.start;
    unsigned rank = 0;
    if (!gap.start && spelling->known_first && !spelling->known_first(text, length))
        rank += 8;
    if (tolower((unsigned char)*text) != tolower((unsigned char)*old))
        rank += 4;
    if (length < gap.end - gap.start) /* a letter too many is seen more often than one too few */
        rank += 1;
    return rank + 16 * (unsigned)(search->count - 1); /* few pieces before many */
}

static int fits(const struct search *search, const char *text, size_t length)
{
    const struct mw_spelling *spelling = search->word->spelling;
    int last = search->hole + 1 == search->count;
    if (length < 2 || (spelling->joint && (text[length - 1] == '_') == last))
        return 0;
    if (!spelling->joint && text[length - 1] == '_')
        return 0;
    for (size_t i = 0; i < length; i++)
        if (spelling->upper ? islower((unsigned char)text[i]) : isupper((unsigned char)text[i]))
            return 0;
    return 1;
}

static int try_text(const char *text, void *context)
{
    struct search *search = context;
    struct piece gap = search->piece[search->hole];
    size_t length = strlen(text), old = gap.end - gap.start;
    unsigned most = mw_word_tolerance(old);
    if (search->best && search->distance < most)
        most = search->distance;
    if (length > old + most || old > length + most || !fits(search, text, length))
        return 0;
    unsigned distance =
        mw_word_distance(search->word->text + gap.start, old, text, length, most, MW_TEXTS_FOLD);
    if (distance > most)
        return 0;
    unsigned rank = rank_of(search, text, length);
    int better =
        !search->best || distance < search->distance ||
        (distance == search->distance &&
         (rank < search->rank || (rank == search->rank && strcmp(text, search->best) < 0)));
    if (better) {
        search->best = text;
        search->gap = gap;
        search->distance = distance;
        search->rank = rank;
    }
    return 0;
}

static int see_close(const struct word *word, const struct piece *piece, size_t count,
                     void *context)
{
    struct search *search = context;
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        /* names of libfabric's providers are often the end of another text */
        int there = word->spelling->flags & MW_TEXTS_FOLD ? piece_perhaps(word, piece[i])
                                                          : piece_known(word, piece[i]);
        if (!there) {
            search->hole = i;
            unknown++;
        }
    }
    if (unknown != 1)
        return 0;
    memcpy(search->piece, piece, count * sizeof(*piece));
    search->count = count;
    mw_image_texts_each(word->texts, try_text, search);
    if (word->more)
        mw_image_texts_each(word->more, try_text, search);
    return 0;
}

char *mw_spelling_suggest(const struct mw_spelling *spelling, const struct mw_image_texts *texts,
                          const struct mw_image_texts *more, const char *name)
{
    struct word word;
    struct search search = {.word = &word};
    if (!word_split(&word, spelling, texts, more, name))
        return NULL;
    each_cut(&word, see_close, &search);
    if (!search.best)
        return NULL;
    char *found = mw_format("%s%.*s%s%s", spelling->prefix, (int)search.gap.start, word.text,
                            search.best, word.text + search.gap.end);
    if (spelling->flags & MW_TEXTS_FOLD) /* written in capitals, whatever the library has */
        for (char *at = found; *at; at++)
            *at = (char)toupper((unsigned char)*at);
    return found;
}
