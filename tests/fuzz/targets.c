/* SPDX-License-Identifier: BSD-3-Clause */
/* One program for all targets, so that the reader is built once: MPIWATCH_FUZZ_TARGET says which
 * one runs. */
#include <string.h>

#include "fuzz.h"

static const struct {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} targets[] = {
    {"file", fuzz_file},     {"chunks", fuzz_chunks},   {"fields", fuzz_fields},
    {"events", fuzz_events}, {"residue", fuzz_residue},
};

static void (*target)(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("MPIWATCH_FUZZ_TARGET");
    for (size_t i = 0; name && i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0)
            target = targets[i].run;
    if (!target) {
        fprintf(stderr, "MPIWATCH_FUZZ_TARGET: file, chunks, fields, events or residue\n");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target(data, size);
    return 0;
}
