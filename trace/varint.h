/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as docs/format.md section 2 has them: LEB128 varints and zigzag. Inline, because the
 * encoder writes several for each recorded call. Any thread; no allocation, no I/O.
 */
#ifndef MW_TRACE_VARINT_H
#define MW_TRACE_VARINT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define MW_VARINT_MAX 10u /* bytes of the longest varint */

static inline uint64_t mw_zigzag_of(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t mw_zigzag_back(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static inline uint8_t *mw_varint_write_long(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/*
 * Writes at `to`, where at least MW_VARINT_MAX bytes must be free, and returns the place after it.
 * Times are noise, so a branch on the length would be mispredicted at every other number: up to 28
 * bits the length is computed instead.
 */
static inline uint8_t *mw_varint_write(uint8_t *to, uint64_t value)
{
    if (__builtin_expect(value >> 28, 0))
        return mw_varint_write_long(to, value);
    uint32_t bits = (uint32_t)value;
    uint32_t spread =
        (bits & 0x7f) | (bits & 0x3f80) << 1 | (bits & 0x1fc000) << 2 | (bits & 0xfe00000) << 3;
    unsigned more = ((31u - (unsigned)__builtin_clz(bits | 1)) * 37) >> 8; /* highest bit / 7 */
    spread |= 0x80808080u & ((1u << (8 * more)) - 1);
    spread = htole32(spread);
    memcpy(to, &spread, sizeof spread);
    return to + more + 1;
}

/* Reads one from [*from, end). 0 when it is cut short or longer than 64 bits; *from moves only on
 * success. */
static inline int mw_varint_read(const uint8_t **from, const uint8_t *end, uint64_t *value)
{
    const uint8_t *at = *from;
    if (__builtin_expect(at < end && *at < 0x80, 1)) {
        *value = *at;
        *from = at + 1;
        return 1;
    }
    uint64_t bits = 0;
    for (unsigned shift = 0; at < end && shift < 70; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return 0;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = bits;
            *from = at;
            return 1;
        }
    }
    return 0;
}

#endif
