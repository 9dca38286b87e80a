/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fuzz targets, and what they share. One program has them all (targets.c); it is linked with
 * clang's -fsanitize=fuzzer, or with standalone.c where that is not to be had.
 */
#ifndef MW_FUZZ_H
#define MW_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

void fuzz_file(const uint8_t *data, size_t size);
void fuzz_chunks(const uint8_t *data, size_t size);
void fuzz_fields(const uint8_t *data, size_t size);
void fuzz_events(const uint8_t *data, size_t size);
void fuzz_residue(const uint8_t *data, size_t size);

/* Not assert: it must also hold in a release build. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Reads a file as a trace and walks over all that the public API gives (walk.c). */
void fuzz_walk_trace(const uint8_t *data, size_t size);

#endif
