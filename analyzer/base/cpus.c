/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processors as bits (cpus.h). Words behind the end of an array count as 0. */
#include "analyzer/base/cpus.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

#define BITS 64u

static uint64_t word_of(const struct mw_cpus *set, size_t index)
{
    return index < set->count ? set->words[index] : 0;
}

static size_t words_of_both(const struct mw_cpus *a, const struct mw_cpus *b)
{
    return a->count > b->count ? a->count : b->count;
}

/* Room for so many words, at least. */
static void set_reach(struct mw_cpus *set, size_t words)
{
    if (words <= set->count)
        return;
    uint64_t *longer = mw_alloc(words, sizeof(*longer));
    if (set->count)
        memcpy(longer, set->words, set->count * sizeof(*longer));
    free(set->words);
    set->words = longer;
    set->count = words;
}

void mw_cpus_free(struct mw_cpus *set)
{
    free(set->words);
    *set = (struct mw_cpus){0};
}

void mw_cpus_add(struct mw_cpus *set, uint64_t first, uint64_t count)
{
    if (first >= MW_CPUS_MAX || !count)
        return;
    uint64_t end = count < MW_CPUS_MAX - first ? first + count : MW_CPUS_MAX;
    set_reach(set, (end + BITS - 1) / BITS);
    for (uint64_t cpu = first; cpu < end; cpu++)
        set->words[cpu / BITS] |= (uint64_t)1 << cpu % BITS;
}

void mw_cpus_join(struct mw_cpus *set, const struct mw_cpus *other)
{
    set_reach(set, other->count);
    for (size_t i = 0; i < other->count; i++)
        set->words[i] |= other->words[i];
}

struct mw_cpus mw_cpus_copy(const struct mw_cpus *set)
{
    struct mw_cpus copy = {0};
    mw_cpus_join(&copy, set);
    return copy;
}

/* One word of a mask, "0x0000ffff" or nothing (which is 0); its end, NULL where it is none. */
static const char *mask_word(const char *text, uint32_t *value)
{
    *value = 0;
    if (!strncmp(text, "0x", 2))
        text += 2;
    for (int digits = 0; isxdigit((unsigned char)*text); text++, digits++) {
        unsigned char digit = (unsigned char)*text;
        if (digits == 8)
            return NULL;
        *value = *value << 4 | (uint32_t)(isdigit(digit) ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    return *text == ',' || !*text ? text : NULL;
}

int mw_cpus_add_mask(struct mw_cpus *set, const char *text)
{
    size_t words = 1;
    for (const char *at = text; *at; at++)
        words += *at == ',';
    if (!*text || words > MW_CPUS_MAX / 32)
        return -1;
    for (size_t left = words; left-- > 0; text++) {
        uint32_t value;
        text = mask_word(text, &value);
        if (!text)
            return -1;
        for (unsigned bit = 0; bit < 32; bit++)
            if (value >> bit & 1)
                mw_cpus_add(set, left * 32 + bit, 1);
    }
    return 0;
}

int mw_cpus_has(const struct mw_cpus *set, size_t cpu)
{
    return (int)(word_of(set, cpu / BITS) >> cpu % BITS & 1);
}

size_t mw_cpus_count(const struct mw_cpus *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

size_t mw_cpus_next(const struct mw_cpus *set, size_t from)
{
    for (size_t i = from / BITS; i < set->count; i++) {
        uint64_t left = set->words[i];
        if (i == from / BITS)
            left &= ~(uint64_t)0 << from % BITS;
        if (left)
            return i * BITS + (size_t)__builtin_ctzll(left);
    }
    return SIZE_MAX;
}

int mw_cpus_equal(const struct mw_cpus *a, const struct mw_cpus *b)
{
    for (size_t i = 0; i < words_of_both(a, b); i++)
        if (word_of(a, i) != word_of(b, i))
            return 0;
    return 1;
}

int mw_cpus_meet(const struct mw_cpus *a, const struct mw_cpus *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->words[i] & word_of(b, i))
            return 1;
    return 0;
}

int mw_cpus_within(const struct mw_cpus *a, const struct mw_cpus *b)
{
    uint64_t any = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->words[i] & ~word_of(b, i))
            return 0;
        any |= a->words[i];
    }
    return any != 0;
}

char *mw_cpus_text(const struct mw_cpus *set)
{
    char *text = NULL;
    size_t size, last;
    FILE *out = mw_text_stream(&text, &size);
    const char *separator = "";
    for (size_t cpu = mw_cpus_next(set, 0); cpu != SIZE_MAX; cpu = mw_cpus_next(set, last + 1)) {
        last = cpu;
        while (mw_cpus_has(set, last + 1))
            last++;
        fprintf(out, last > cpu ? "%s%zu-%zu" : "%s%zu", separator, cpu, last);
        separator = ",";
    }
    fclose(out);
    return text;
}
