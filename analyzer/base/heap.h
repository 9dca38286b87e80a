/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binary heap in an array of its user's: the first of all is at 0. To build one, sift from the last
 * place to the first; when the first has changed, or the last has taken its place, sift 0. No state.
 */
#ifndef MW_BASE_HEAP_H
#define MW_BASE_HEAP_H

#include <stddef.h>

#define MW_HEAP_ITEM 64 /* bytes of an item, at most */

/* Moves the item at `at` down to where none below it comes before it. */
void mw_heap_sift(void *items, size_t count, size_t size, size_t at,
                  int (*before)(const void *left, const void *right));

#endif
