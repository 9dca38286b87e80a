/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts allocations: for tests that are linked with --wrap for malloc, calloc and realloc, which
 * reaches libzstd, too. Included by one file of a program.
 */
#ifndef MW_TEST_ALLOCATIONS_H
#define MW_TEST_ALLOCATIONS_H

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static unsigned long allocations;

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return __real_realloc(memory, size);
}

#endif
