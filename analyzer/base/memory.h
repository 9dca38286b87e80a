/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the command: allocations that end the program when there is none, growing arrays and
 * formatted texts. Any thread. Not for the recording library, which must never exit.
 */
#ifndef MW_BASE_MEMORY_H
#define MW_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Zeroed memory; never NULL. */
/* How the program ends where there is none: 1, unless a command says otherwise to whom 1 is an
 * answer. */
extern int mw_memory_exit;

void *mw_alloc(size_t count, size_t size);
/* Room for `need` elements in an array of *capacity; new room is zeroed. */
void *mw_grow(void *array, size_t *capacity, size_t need, size_t size);
char *mw_text_copy(const char *text);
/* A stream into a new text, which is there (and freed by the caller) once it is closed. */
FILE *mw_text_stream(char **text, size_t *size);
char *mw_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A growing array. */
#define MW_VECTOR(type)                                                                            \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }
/* A pointer to a new, zeroed last element. */
#define mw_vector_add(v)                                                                           \
    ((v)->at = mw_grow((v)->at, &(v)->capacity, (v)->count + 1, sizeof((v)->at[0])),               \
     &(v)->at[(v)->count++])

#endif
