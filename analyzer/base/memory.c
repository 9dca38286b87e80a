/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the command (memory.h). A command that cannot get memory has nothing better to do than
 * to say so and end; callers are therefore free of checks.
 */
#include "analyzer/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mw_memory_exit = 1;

static void memory_fail(void)
{
    fputs("mpiwatch: out of memory\n", stderr);
    exit(mw_memory_exit);
}

void *mw_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        memory_fail();
    return memory;
}

void *mw_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return array;
    size_t now = *capacity ? *capacity : 8;
    while (now < need) {
        if (now > SIZE_MAX / 2)
            memory_fail();
        now *= 2;
    }
    char *grown = now > SIZE_MAX / size ? NULL : realloc(array, now * size);
    if (!grown)
        memory_fail();
    memset(grown + *capacity * size, 0, (now - *capacity) * size);
    *capacity = now;
    return grown;
}

char *mw_text_copy(const char *text)
{
    char *copy = strdup(text ? text : "");
    if (!copy)
        memory_fail();
    return copy;
}

FILE *mw_text_stream(char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);
    if (!out)
        memory_fail();
    return out;
}

char *mw_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        memory_fail();
    return text;
}
