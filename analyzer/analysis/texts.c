/* SPDX-License-Identifier: BSD-3-Clause */
/* See texts.h. Sections of data are kept as they are; an open hash table holds the whole texts that
 * are names, a list those that are patterns. */
#include "analyzer/analysis/texts.h"

#include <ctype.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"

#define NAME_MOST    128              /* characters of a name */
#define FILE_MOST    ((off_t)1 << 30) /* bytes of a file that is read */
#define LITERALS_MIN 4                /* letters that a pattern must have of its own */
#define CONVERSIONS  4                /* in a pattern: matching must stay short */

struct file {
    char *name; /* base name */
    Elf *elf;
    int fd;
};
struct part { /* the bytes of one section */
    const char *data;
    size_t size;
};
struct entry {
    const char *text;
    uint32_t file;
};

struct mw_image_texts {
    MW_VECTOR(struct file) files;
    MW_VECTOR(struct part) parts;
    MW_VECTOR(const char *) patterns;
    struct entry *slots;
    size_t slot_count, used;
};

static int name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Names differ in more than their case rarely enough: one table serves both ways of looking. */
static uint64_t fold_hash(const char *word, size_t length)
{
    char small[NAME_MOST];
    for (size_t i = 0; i < length; i++)
        small[i] = (char)tolower((unsigned char)word[i]);
    return mw_hash_bytes(7, small, length);
}

struct mw_image_texts *mw_image_texts_create(void)
{
    elf_version(EV_CURRENT);
    return mw_alloc(1, sizeof(struct mw_image_texts));
}

void mw_image_texts_free(struct mw_image_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->files.count; i++) {
        elf_end(texts->files.at[i].elf);
        close(texts->files.at[i].fd);
        free(texts->files.at[i].name);
    }
    free(texts->files.at);
    free(texts->parts.at);
    free(texts->patterns.at);
    free(texts->slots);
    free(texts);
}

size_t mw_image_texts_files(const struct mw_image_texts *texts)
{
    return texts->files.count;
}

static void slot_put(struct mw_image_texts *texts, struct entry entry)
{
    size_t length = strlen(entry.text);
    size_t at = fold_hash(entry.text, length) & (texts->slot_count - 1);
    for (; texts->slots[at].text; at = (at + 1) & (texts->slot_count - 1))
        if (!strcmp(texts->slots[at].text, entry.text))
            return;
    texts->slots[at] = entry;
    texts->used++;
}

static void slots_grow(struct mw_image_texts *texts)
{
    struct entry *old = texts->slots;
    size_t count = texts->slot_count;
    texts->slot_count = count ? 2 * count : 4096;
    texts->slots = mw_alloc(texts->slot_count, sizeof(struct entry));
    texts->used = 0;
    for (size_t i = 0; i < count; i++)
        if (old[i].text)
            slot_put(texts, old[i]);
    free(old);
}

/* Letters, digits and conversions of printf, with enough letters of its own. */
static int is_pattern(const char *text, size_t length)
{
    size_t literals = 0, conversions = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%') {
            while (i + 1 < length && strchr("lzhj0123456789", text[i + 1]))
                i++;
            if (++i >= length || !strchr("sdui", text[i]))
                return 0;
            conversions++;
        } else if (name_char(text[i])) {
            literals += text[i] != '_';
        } else {
            return 0;
        }
    }
    return conversions && conversions <= CONVERSIONS && literals >= LITERALS_MIN;
}

static void text_take(struct mw_image_texts *texts, const char *text, size_t length, uint32_t file)
{
    size_t i = 0;
    if (!length || length >= NAME_MOST)
        return;
    while (i < length && name_char(text[i]))
        i++;
    if (i < length) {
        if (memchr(text + i, '%', length - i) && is_pattern(text, length))
            *mw_vector_add(&texts->patterns) = text;
        return;
    }
    if (2 * (texts->used + 1) >= texts->slot_count)
        slots_grow(texts);
    slot_put(texts, (struct entry){text, file});
}

static int printable(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c < 127;
}

static void part_take(struct mw_image_texts *texts, const char *data, size_t size, uint32_t file)
{
    size_t start = 0;
    *mw_vector_add(&texts->parts) = (struct part){data, size};
    for (size_t i = 0; i < size; i++) {
        if (printable(data[i]))
            continue;
        if (data[i] == '\0')
            text_take(texts, data + start, i - start, file);
        start = i + 1;
    }
}

static int same_build(Elf *elf, const uint8_t *build_id, size_t size)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Nhdr note;
        size_t name, where, at = 0;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        while (data && (at = gelf_getnote(data, at, &note, &name, &where)) > 0)
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                !memcmp((char *)data->d_buf + name, "GNU", 4))
                return note.n_descsz == size &&
                       !memcmp((char *)data->d_buf + where, build_id, size);
    }
    return 0;
}

/* Sections in which a program keeps its texts. */
static int holds_texts(Elf *elf, const GElf_Shdr *header, size_t names)
{
    const char *name = elf_strptr(elf, names, header->sh_name);
    if (header->sh_type != SHT_PROGBITS || !(header->sh_flags & SHF_ALLOC) ||
        (header->sh_flags & (SHF_EXECINSTR | SHF_COMPRESSED)))
        return 0;
    return !name || (strncmp(name, ".eh_frame", 9) && strncmp(name, ".gcc_except", 11));
}

static void sections_take(struct mw_image_texts *texts, Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !holds_texts(elf, &header, names))
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        if (data && data->d_buf && data->d_size)
            part_take(texts, data->d_buf, data->d_size, (uint32_t)texts->files.count - 1);
    }
}

const char *mw_image_texts_add(struct mw_image_texts *texts, const char *path,
                               const uint8_t *build_id, size_t build_id_size)
{
    struct stat state;
    const char *reason = NULL, *slash = strrchr(path, '/');
    if (build_id && !build_id_size)
        return "it has no build-id";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return "it is not on this machine";
    Elf *elf = NULL;
    if (fstat(fd, &state) || !S_ISREG(state.st_mode) || state.st_size > FILE_MOST)
        reason = "its file here is no library";
    else if (!(elf = elf_begin(fd, ELF_C_READ, NULL)) || elf_kind(elf) != ELF_K_ELF)
        reason = "its file here cannot be read as ELF";
    else if (build_id && !same_build(elf, build_id, build_id_size))
        reason = "its file here has another build-id";
    if (reason) {
        elf_end(elf);
        close(fd);
        return reason;
    }
    *mw_vector_add(&texts->files) = (struct file){mw_text_copy(slash ? slash + 1 : path), elf, fd};
    sections_take(texts, elf);
    return NULL;
}

const char *mw_image_texts_needed(const struct mw_image_texts *texts, size_t *at)
{
    Elf *elf = texts->files.count ? texts->files.at[0].elf : NULL;
    Elf_Scn *section = NULL;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Dyn entry;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        while (data && *at < INT_MAX && gelf_getdyn(data, (int)*at, &entry)) {
            ++*at;
            const char *name =
                entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
            if (name)
                return name;
        }
        return NULL;
    }
    return NULL;
}

static const struct entry *slot_find(const struct mw_image_texts *texts, const char *word,
                                     size_t length, unsigned flags)
{
    if (!texts->slot_count || !length || length >= NAME_MOST)
        return NULL;
    size_t at = fold_hash(word, length) & (texts->slot_count - 1);
    for (; texts->slots[at].text; at = (at + 1) & (texts->slot_count - 1)) {
        const char *text = texts->slots[at].text;
        int same =
            flags & MW_TEXTS_FOLD ? !strncasecmp(text, word, length) : !strncmp(text, word, length);
        if (same && !text[length])
            return &texts->slots[at];
    }
    return NULL;
}

int mw_image_texts_has(const struct mw_image_texts *texts, const char *word, size_t length,
                       unsigned flags)
{
    return slot_find(texts, word, length, flags) != NULL;
}

const char *mw_image_texts_file_of(const struct mw_image_texts *texts, const char *word,
                                   size_t length, unsigned flags)
{
    const struct entry *entry = slot_find(texts, word, length, flags);
    return entry ? texts->files.at[entry->file].name : NULL;
}

/* The word with a zero behind it, anywhere. */
static int ends_there(const struct part *part, const char *word, size_t length, unsigned flags)
{
    const char *end = part->data + part->size, *at = part->data;
    while (at < end && (at = memchr(at, '\0', (size_t)(end - at)))) {
        const char *start = at - length;
        if ((size_t)(at - part->data) >= length &&
            (flags & MW_TEXTS_FOLD ? !strncasecmp(start, word, length)
                                   : !memcmp(start, word, length)))
            return 1;
        at++;
    }
    return 0;
}

enum mw_image_texts_found mw_image_texts_find(const struct mw_image_texts *texts, const char *word,
                                              size_t length, unsigned flags)
{
    if (mw_image_texts_has(texts, word, length, flags))
        return MW_TEXTS_FOUND;
    for (size_t i = 0; i < texts->parts.count; i++)
        if (ends_there(&texts->parts.at[i], word, length, flags))
            return MW_TEXTS_PERHAPS;
    return MW_TEXTS_NOT;
}

/* A conversion stands for one character or more. */
static int pattern_matches(const char *pattern, const char *word, const char *end)
{
    for (; *pattern && *pattern != '%'; pattern++, word++)
        if (word == end || *word != *pattern)
            return 0;
    if (!*pattern)
        return word == end;
    pattern += 1 + strspn(pattern + 1, "lzhj0123456789");
    pattern++;
    for (const char *at = word + 1; at <= end; at++)
        if (pattern_matches(pattern, at, end))
            return 1;
    return 0;
}

int mw_image_texts_pattern(const struct mw_image_texts *texts, const char *word, size_t length)
{
    if (length >= NAME_MOST)
        return 0;
    for (size_t i = 0; i < texts->patterns.count; i++)
        if (pattern_matches(texts->patterns.at[i], word, word + length))
            return 1;
    return 0;
}

void mw_image_texts_each(const struct mw_image_texts *texts,
                         int (*visit)(const char *text, void *context), void *context)
{
    for (size_t i = 0; i < texts->slot_count; i++)
        if (texts->slots[i].text && visit(texts->slots[i].text, context))
            return;
}

unsigned mw_word_tolerance(size_t length)
{
    return length < 3 ? 0 : length < 6 ? 1 : 2;
}

unsigned mw_word_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                          unsigned most, unsigned flags)
{
    unsigned char rows[3][66];
    size_t difference = a_length > b_length ? a_length - b_length : b_length - a_length;
    if (a_length > 64 || b_length > 64 || difference > most)
        return most + 1;
    for (size_t k = 0; k <= b_length; k++)
        rows[0][k] = (unsigned char)k;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned char *row = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];
        unsigned char least = row[0] = (unsigned char)i;
        for (size_t k = 1; k <= b_length; k++) {
#define SAME(x, y)                                                                                 \
    ((x) == (y) ||                                                                                 \
     (flags & MW_TEXTS_FOLD && tolower((unsigned char)(x)) == tolower((unsigned char)(y))))
            unsigned best = above[k - 1] + !SAME(a[i - 1], b[k - 1]);
            if (best > above[k] + 1u)
                best = above[k] + 1u;
            if (best > row[k - 1] + 1u)
                best = row[k - 1] + 1u;
            if (i > 1 && k > 1 && SAME(a[i - 1], b[k - 2]) && SAME(a[i - 2], b[k - 1]) &&
                best > two[k - 2] + 1u)
                best = two[k - 2] + 1u;
#undef SAME
            row[k] = (unsigned char)best;
            if (best < least)
                least = (unsigned char)best;
        }
        if (least > most + 1)
            return most + 1;
    }
    unsigned result = rows[a_length % 3][b_length];
    return result > most ? most + 1 : result;
}
