/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole file of any bytes. */
#include "fuzz.h"

void fuzz_file(const uint8_t *data, size_t size)
{
    fuzz_walk_trace(data, size);
}
