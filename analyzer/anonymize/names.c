/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-ins and forbidden texts (names.h). */
#include "analyzer/anonymize/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "analyzer/render/labels.h"

static const char *const prefixes[MW_NAME_KINDS] = {
    "node", "domain", "user", "dir", "path", "address", "boot", "job", "arg", "value", "word",
};

size_t mw_names_number(struct mw_names *names, enum mw_name_kind kind, const char *text,
                       size_t length)
{
    size_t at = mw_index_put(&names->index[kind], mw_hash_bytes(1, text, length));
    if (at == names->stand_ins[kind].count)
        *mw_vector_add(&names->stand_ins[kind]) = mw_format("%s%zu", prefixes[kind], at + 1);
    return at + 1;
}

const char *mw_names_stand_in(struct mw_names *names, enum mw_name_kind kind, const char *text,
                              size_t length)
{
    size_t number = mw_names_number(names, kind, text, length);
    return names->stand_ins[kind].at[number - 1];
}

/* Words that are the same everywhere, and would only spoil the rest. */
static int says_nothing(const char *text, size_t length)
{
    static const char *const words[] = {"root", "localhost", "local", "localdomain", "(none)",
                                        "none", "unknown",   "lib",   "usr",         "home"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == length && !strncasecmp(words[i], text, length))
            return 1;
    return length == 0;
}

void mw_names_forbid(struct mw_names *names, enum mw_name_kind kind, const char *text,
                     size_t length)
{
    if (says_nothing(text, length))
        return;
    for (size_t i = 0; i < names->literals.count; i++)
        if (names->literals.at[i].length == length &&
            !memcmp(names->literals.at[i].text, text, length))
            return;
    struct mw_literal *literal = mw_vector_add(&names->literals);
    literal->text = mw_format("%.*s", (int)length, text);
    literal->length = strlen(literal->text);
    literal->stand_in = mw_names_stand_in(names, kind, text, length);
    literal->kind = kind;
}

void mw_names_forbid_host(struct mw_names *names, const char *host)
{
    size_t length = strlen(host), first = strcspn(host, ".");
    mw_names_forbid(names, MW_NAME_NODE, host, first);
    if (first == length)
        return;
    /* The full name stands for the same node as the short one. */
    const char *node = mw_names_stand_in(names, MW_NAME_NODE, host, first);
    struct mw_literal *literal = mw_vector_add(&names->literals);
    literal->text = mw_text_copy(host);
    literal->length = length;
    literal->stand_in = node;
    literal->kind = MW_NAME_NODE;
    mw_names_forbid(names, MW_NAME_DOMAIN, host + first + 1, length - first - 1);
}

void mw_names_learn_paths(struct mw_names *names, const char *text)
{
    static const char *const homes[] = {"/home/", "/users/", "/Users/", "/u/", "/homes/"};
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        const char *at = text;
        while ((at = strstr(at, homes[i]))) {
            at += strlen(homes[i]);
            size_t length = strcspn(at, "/:;,=\"' \t\n)");
            mw_names_forbid(names, MW_NAME_USER, at, length);
            at += length;
        }
    }
}

void mw_names_add_program(struct mw_names *names, const char *path)
{
    if (path[0])
        mw_index_put(&names->programs, mw_hash_text(1, mw_basename(path)));
}

int mw_names_is_program(const struct mw_names *names, const char *path)
{
    return mw_index_find(&names->programs, mw_hash_text(1, mw_basename(path))) != MW_INDEX_NONE;
}

static int literal_compare(const void *left, const void *right)
{
    const struct mw_literal *a = left, *b = right;
    if (a->length != b->length)
        return a->length > b->length ? -1 : 1;
    return strcmp(a->text, b->text);
}

void mw_names_sort(struct mw_names *names)
{
    if (names->literals.count)
        qsort(names->literals.at, names->literals.count, sizeof(names->literals.at[0]),
              literal_compare);
}

static int is_word(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

const struct mw_literal *mw_names_match(const struct mw_names *names, const char *text, size_t at)
{
    for (size_t i = 0; i < names->literals.count; i++) {
        const struct mw_literal *literal = &names->literals.at[i];
        /* Names of hosts and domains are the same in capitals. */
        if (strncasecmp(text + at, literal->text, literal->length))
            continue;
        if (literal->length >= MW_NAMES_SHORT ||
            ((at == 0 || !is_word(text[at - 1])) && !is_word(text[at + literal->length])))
            return literal;
    }
    return NULL;
}

uint64_t mw_names_process_key(struct mw_names *names, uint64_t key)
{
    if (!key)
        return 0;
    size_t at = mw_index_put(&names->process_keys, key);
    if (at == names->new_keys.count) {
        uint64_t random = 0;
        while (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random) || !random)
            random = mw_mix((uint64_t)time(NULL) ^ (uint64_t)clock() << 20 ^ at);
        *mw_vector_add(&names->new_keys) = random;
    }
    return names->new_keys.at[at];
}

void mw_names_free(struct mw_names *names)
{
    for (int kind = 0; kind < MW_NAME_KINDS; kind++) {
        for (size_t i = 0; i < names->stand_ins[kind].count; i++)
            free(names->stand_ins[kind].at[i]);
        free(names->stand_ins[kind].at);
        mw_index_free(&names->index[kind]);
    }
    for (size_t i = 0; i < names->literals.count; i++)
        free(names->literals.at[i].text);
    free(names->literals.at);
    free(names->new_keys.at);
    mw_index_free(&names->process_keys);
    mw_index_free(&names->programs);
    mw_index_free(&names->endpoints);
    free(names->forms.at);
}
