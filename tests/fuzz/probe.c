/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this compiler has libFuzzer. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return size > 1000 && data[0] == data[1] ? 0 : 0;
}
