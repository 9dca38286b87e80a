/* SPDX-License-Identifier: BSD-3-Clause */
/* Canonical JSON lines (dump.h). */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int first_field;

void record_begin(const char *name)
{
    printf("{\"record\":\"%s\"", name);
}

void record_end(void)
{
    puts("}");
}

static void put_quoted(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c == '\n' || *c == '\r' || *c == '\t' || *c == '\b' || *c == '\f')
            printf("\\%c", "btn?fr"[*c - '\b']);
        else if (*c < 0x20 || *c > 0x7e)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

void put_text(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    put_quoted(text);
}

void put_u64(const char *name, uint64_t value)
{
    printf(",\"%s\":%" PRIu64, name, value);
}

void put_known(const char *name, uint64_t value)
{
    if (value)
        put_u64(name, value);
}

void put_i64(const char *name, int64_t value)
{
    printf(",\"%s\":%" PRId64, name, value);
}

void put_key(const char *name, uint64_t key)
{
    printf(",\"%s\":\"%016" PRIx64 "\"", name, key);
}

void put_texts(const char *name, const char *const *texts, size_t count)
{
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i)
            putchar(',');
        put_quoted(texts[i]);
    }
    putchar(']');
}

void put_hex(const char *name, const uint8_t *bytes, size_t size)
{
    printf(",\"%s\":\"", name);
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('"');
}

void list_begin(const char *name)
{
    printf(",\"%s\":[", name);
    first_field = 1;
}

void list_separate(void)
{
    if (!first_field)
        putchar(',');
    first_field = 0;
}

const char *status_word(enum mw_status status)
{
    static const char *const words[] = {
#define WORD(id, text) #id,
        MW_STATUS_LIST(WORD)
#undef WORD
    };
    const char *word = words[status];
    return strncmp(word, "MW_ERR_", 7) == 0 ? word + 7 : word;
}
