/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunk framing, checksums and status texts. The expected bytes are worked out by hand from
 * docs/format.md and by an independent XXH64, so that a change on both sides at once is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/chunk.h"

static void hashes_are_xxh64(void **state)
{
    assert_true(mw_hash64("", 0) == 0xef46db3751d8e999ull);
    assert_true(mw_hash64("abc", 3) == 0x44bc2cf5ad770999ull);
    assert_int_equal(mw_checksum("abc", 3), 0xad770999u);
}

static void header_is_as_documented(void **state)
{
    static const uint8_t expected[28] = {
        'M',  'W',  'C',  'K',                          /* magic */
        0x05, 0x00,                                     /* type */
        0x01, 0x01,                                     /* version, flags */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* process */
        0x03, 0x00, 0x00, 0x00,                         /* length */
        0x39, 0x30, 0x00, 0x00,                         /* length when decompressed */
        0x99, 0x09, 0x77, 0xad,                         /* checksum of "abc" */
    };
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, MW_CHUNK_CLOCK, MW_CHUNK_FLAG_ZSTD, 0x1122334455667788ull, "abc", 3,
                   12345);
    assert_memory_equal(header, expected, sizeof expected);
    uint32_t check = mw_checksum(header, 28);
    for (int i = 0; i < 4; i++)
        assert_int_equal(header[28 + i], check >> (8 * i) & 0xff);
}

static void parse_gives_back_what_was_framed(void **state)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header parsed;
    mw_chunk_frame(header, 65535, 0, UINT64_MAX, "", 0, 0);
    assert_int_equal(mw_chunk_parse(header, &parsed), MW_OK);
    assert_int_equal(parsed.type, 65535);
    assert_int_equal(parsed.version, MW_FORMAT_VERSION);
    assert_int_equal(parsed.flags, 0);
    assert_true(parsed.process == UINT64_MAX);
    assert_int_equal(parsed.length, 0);
    assert_int_equal(parsed.raw_length, 0);
    assert_int_equal(parsed.check, 0x51d8e999u);
}

static void every_flipped_bit_is_noticed(void **state)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, MW_CHUNK_EVENTS, 0, 42, "xyz", 3, 3);
    for (unsigned bit = 0; bit < 8 * MW_CHUNK_HEADER_SIZE; bit++) {
        struct mw_chunk_header parsed = {.type = 7777};
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(mw_chunk_parse(header, &parsed), MW_ERR_CORRUPT);
        assert_int_equal(parsed.type, 7777); /* outputs are set on success only */
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* Puts the header's own checksum right again. */
static void reseal(uint8_t header[MW_CHUNK_HEADER_SIZE])
{
    uint32_t check = mw_checksum(header, 28);
    for (int i = 0; i < 4; i++)
        header[28 + i] = (uint8_t)(check >> (8 * i));
}

static void put_le32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void limits_are_kept(void **state)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header parsed;
    mw_chunk_frame(header, MW_CHUNK_EVENTS, 0, 42, "xyz", 3, 3);
    const struct {
        uint32_t length, raw_length;
        enum mw_status status;
    } cases[] = {
        {MW_CHUNK_MAX_STORED, MW_CHUNK_MAX_RAW, MW_OK},
        {MW_CHUNK_MAX_STORED + 1, 3, MW_ERR_LIMIT},
        {3, MW_CHUNK_MAX_RAW + 1, MW_ERR_LIMIT},
        {UINT32_MAX, UINT32_MAX, MW_ERR_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_le32(header + 16, cases[i].length);
        put_le32(header + 20, cases[i].raw_length);
        reseal(header);
        assert_int_equal(mw_chunk_parse(header, &parsed), cases[i].status);
    }
}

static void newer_versions_are_parsed(void **state)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header parsed;
    mw_chunk_frame(header, MW_CHUNK_EVENTS, 0, 42, "xyz", 3, 3);
    header[6] = MW_FORMAT_VERSION + 1;
    reseal(header);
    assert_int_equal(mw_chunk_parse(header, &parsed), MW_OK);
    assert_int_equal(parsed.version, MW_FORMAT_VERSION + 1);
}

static void each_status_has_words_of_its_own(void **state)
{
    static const enum mw_status all[] = {
#define ITEM(id, text) id,
        MW_STATUS_LIST(ITEM)
#undef ITEM
    };
    size_t count = sizeof all / sizeof all[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(mw_status_text(all[i]), mw_status_text(all[j]));
    assert_non_null(mw_status_text((enum mw_status)12345));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_xxh64),
        cmocka_unit_test(header_is_as_documented),
        cmocka_unit_test(parse_gives_back_what_was_framed),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(newer_versions_are_parsed),
        cmocka_unit_test(each_status_has_words_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
