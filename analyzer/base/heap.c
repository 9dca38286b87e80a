/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary heaps (heap.h). */
#include "analyzer/base/heap.h"

#include <string.h>

static void swap(char *left, char *right, size_t size)
{
    char moved[MW_HEAP_ITEM];
    memcpy(moved, left, size);
    memcpy(left, right, size);
    memcpy(right, moved, size);
}

void mw_heap_sift(void *items, size_t count, size_t size, size_t at,
                  int (*before)(const void *left, const void *right))
{
    char *item = items;
    for (;;) {
        size_t first = at, left = 2 * at + 1, right = left + 1;
        if (left < count && before(item + left * size, item + first * size))
            first = left;
        if (right < count && before(item + right * size, item + first * size))
            first = right;
        if (first == at)
            return;
        swap(item + at * size, item + first * size, size);
        at = first;
    }
}
