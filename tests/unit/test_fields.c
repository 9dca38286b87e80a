/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Field lists and numbers: the bytes that the norm asks for, round trips, buffers that are too
 * small at every size, and lists that are cut at every place.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/fields.h"
#include "trace/varint.h"

static const uint64_t edges[] = {
    0,          1,          0x7f,       0x80,       0x3fff,      0x4000,     0x1fffff,
    0x200000,   0xfffffff,  0x10000000, 0x7fffffff, 0x80000000u, UINT32_MAX, 1ull << 35,
    1ull << 56, 1ull << 62, INT64_MAX,  1ull << 63, UINT64_MAX,  127 * 129,  UINT64_MAX - 1,
};
enum { EDGES = sizeof edges / sizeof edges[0] };

static void varint_bytes_are_leb128(void **state)
{
    const struct {
        uint64_t value;
        size_t size;
        uint8_t bytes[10];
    } cases[] = {
        {0, 1, {0}},
        {127, 1, {0x7f}},
        {128, 2, {0x80, 0x01}},
        {300, 2, {0xac, 0x02}},
        {16384, 3, {0x80, 0x80, 0x01}},
        {(1u << 28) - 1, 4, {0xff, 0xff, 0xff, 0x7f}},
        {1u << 28, 5, {0x80, 0x80, 0x80, 0x80, 0x01}},
        {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t memory[MW_VARINT_MAX];
        struct mw_buffer buffer;
        mw_buffer_init(&buffer, memory, sizeof memory);
        mw_buffer_varint(&buffer, cases[i].value);
        assert_int_equal(buffer.size, cases[i].size);
        assert_memory_equal(memory, cases[i].bytes, cases[i].size);
        assert_int_equal(mw_varint_write(memory, cases[i].value) - memory, cases[i].size);
        assert_memory_equal(memory, cases[i].bytes, cases[i].size);
    }
}

/* Both writers agree on every length, at every power of two and beside it. */
static void quick_writer_equals_plain_one(void **state)
{
    for (int bit = 0; bit < 64; bit++)
        for (int beside = -1; beside <= 1; beside++) {
            uint8_t quick[MW_VARINT_MAX + 4] = {0}, plain[MW_VARINT_MAX] = {0};
            uint64_t value = (1ull << bit) + (uint64_t)(int64_t)beside, back;
            size_t size = (size_t)(mw_varint_write(quick, value) - quick);
            assert_int_equal(mw_varint_write_long(plain, value) - plain, size);
            assert_memory_equal(quick, plain, size);
            const uint8_t *at = quick;
            assert_true(mw_varint_read(&at, quick + size, &back));
            assert_true(back == value);
            assert_ptr_equal(at, quick + size);
        }
}

static void overlong_and_cut_varints_are_refused(void **state)
{
    static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x00};
    static const uint8_t too_big[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    static const uint8_t largest[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    uint64_t value = 99;
    struct mw_reader reader = {eleven, eleven + sizeof eleven};
    assert_int_equal(mw_read_varint(&reader, &value), MW_ERR_CORRUPT);
    reader = (struct mw_reader){too_big, too_big + sizeof too_big};
    assert_int_equal(mw_read_varint(&reader, &value), MW_ERR_CORRUPT);
    for (size_t cut = 1; cut < sizeof largest; cut++) {
        reader = (struct mw_reader){largest, largest + cut};
        assert_int_equal(mw_read_varint(&reader, &value), MW_ERR_CORRUPT);
        assert_ptr_equal(reader.next, largest);
    }
    assert_int_equal(value, 99);
    reader = (struct mw_reader){largest, largest + sizeof largest};
    assert_int_equal(mw_read_varint(&reader, &value), MW_OK);
    assert_true(value == UINT64_MAX);
    assert_int_equal(mw_read_varint(&reader, &value), MW_END);
}

static void zigzag_is_as_documented(void **state)
{
    const int64_t values[] = {0, -1, 1, -2, 2};
    for (uint64_t i = 0; i < 5; i++) {
        assert_true(mw_zigzag(values[i]) == i);
        assert_true(mw_unzigzag(i) == values[i]);
    }
    for (size_t i = 0; i < EDGES; i++)
        assert_true(mw_unzigzag(mw_zigzag((int64_t)edges[i])) == (int64_t)edges[i]);
    assert_true(mw_zigzag(INT64_MIN) == UINT64_MAX);
}

static void fields_are_as_documented(void **state)
{
    static const uint8_t expected[] = {
        0x02, 0x07,                         /* 1: number 7 */
        0x05, 0x02, 'h',  'i',              /* 2: text */
        0x06, 0x03,                         /* 3: signed -2 */
        0x09, 0x04, 0x02, 0x01, 0x05, 0x00, /* 4: record {1: 1, 2: no bytes} */
        0x80, 0x02, 0x80, 0x01,             /* 128: number 128 */
    };
    uint8_t memory[64];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, 1, 7);
    mw_put_u64(&buffer, 9, 0); /* says nothing */
    mw_put_text(&buffer, 2, "hi");
    mw_put_text(&buffer, 9, "");
    mw_put_text(&buffer, 9, NULL);
    mw_put_i64(&buffer, 3, -2);
    size_t mark = mw_put_begin(&buffer, 4);
    mw_put_u64(&buffer, 1, 1);
    mw_put_bytes(&buffer, 2, NULL, 0);
    mw_put_end(&buffer, mark);
    mw_put_u64(&buffer, 128, 128);
    assert_false(buffer.overflow);
    assert_int_equal(buffer.size, sizeof expected);
    assert_memory_equal(memory, expected, sizeof expected);
}

static void numbers_come_back(void **state)
{
    uint8_t memory[1024];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    for (unsigned i = 0; i < EDGES; i++) {
        mw_put_u64(&buffer, i * 100000, edges[i]);
        mw_put_i64(&buffer, i * 100000 + 1, (int64_t)edges[i]);
    }
    struct mw_reader reader = {memory, memory + buffer.size};
    struct mw_field field;
    for (unsigned i = 0; i < EDGES; i++) {
        if (edges[i] == 0)
            continue;
        assert_int_equal(mw_field_next(&reader, &field), MW_OK);
        assert_int_equal(field.id, i * 100000);
        assert_false(field.is_bytes);
        assert_true(field.value == edges[i]);
        assert_int_equal(mw_field_next(&reader, &field), MW_OK);
        assert_true(mw_unzigzag(field.value) == (int64_t)edges[i]);
    }
    assert_int_equal(mw_field_next(&reader, &field), MW_END);
}

/* Records of every length around those where the length takes another byte, one within the other.
 */
static void records_of_any_length_nest(void **state)
{
    static uint8_t memory[80000], content[20000];
    const size_t sizes[] = {0,   1,   120, 123,   124,   125,   126,
                            127, 128, 129, 16380, 16383, 16384, 20000};
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct mw_buffer buffer;
        mw_buffer_init(&buffer, memory, sizeof memory);
        size_t outer = mw_put_begin(&buffer, 300), inner = mw_put_begin(&buffer, 2);
        mw_put_bytes(&buffer, 3, content, sizes[i]);
        mw_put_end(&buffer, inner);
        mw_put_u64(&buffer, 4, 5);
        mw_put_end(&buffer, outer);
        assert_false(buffer.overflow);

        struct mw_reader reader = {memory, memory + buffer.size};
        struct mw_field record, field, bytes;
        assert_int_equal(mw_field_next(&reader, &record), MW_OK);
        assert_int_equal(record.id, 300);
        assert_int_equal(mw_field_next(&reader, &field), MW_END);
        reader = (struct mw_reader){record.data, record.data + record.size};
        assert_int_equal(mw_field_next(&reader, &field), MW_OK);
        assert_int_equal(field.id, 2);
        struct mw_reader in_field = {field.data, field.data + field.size};
        assert_int_equal(mw_field_next(&in_field, &bytes), MW_OK);
        assert_int_equal(bytes.size, sizes[i]);
        assert_memory_equal(bytes.data, content, sizes[i]);
        assert_int_equal(mw_field_next(&reader, &field), MW_OK);
        assert_int_equal(field.value, 5);
        assert_int_equal(mw_field_next(&reader, &field), MW_END);
    }
}

static void fill(struct mw_buffer *buffer)
{
    mw_put_u64(buffer, 1, 1000);
    mw_put_text(buffer, 2, "some text");
    size_t outer = mw_put_begin(buffer, 3);
    mw_put_u64(buffer, 1, 7);
    size_t inner = mw_put_begin(buffer, 200);
    mw_put_bytes(buffer, 2,
                 "0123456789012345678901234567890123456789012345678901234567890123456789"
                 "0123456789012345678901234567890123456789012345678901234567890123456789",
                 140);
    mw_put_end(buffer, inner);
    mw_put_end(buffer, outer);
    mw_put_i64(buffer, 4, -1);
}

/* Reads a list and the records in it (field 3 and 200) to the end; how many fields there were. */
static int count_fields(const uint8_t *data, size_t size)
{
    struct mw_reader reader = {data, data + size};
    struct mw_field field;
    enum mw_status status;
    int count = 0;
    while ((status = mw_field_next(&reader, &field)) == MW_OK) {
        count++;
        if (field.is_bytes && (field.id == 3 || field.id == 200))
            count += count_fields(field.data, field.size);
    }
    assert_int_equal(status, MW_END);
    return count;
}

static void a_small_buffer_holds_a_whole_beginning(void **state)
{
    uint8_t memory[256];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    fill(&buffer);
    size_t whole = buffer.size;
    assert_false(buffer.overflow);
    int all = count_fields(memory, whole), before = 0;
    assert_int_equal(all, 7);
    for (size_t capacity = 0; capacity <= whole; capacity++) {
        memset(memory, 0xee, sizeof memory);
        mw_buffer_init(&buffer, memory, capacity);
        fill(&buffer);
        assert_int_equal(buffer.overflow, capacity < whole);
        assert_true(buffer.size <= capacity);
        for (size_t i = capacity; i < sizeof memory; i++)
            assert_int_equal(memory[i], 0xee);
        int count = count_fields(memory, buffer.size);
        assert_true(count >= before);
        before = count;
    }
    assert_int_equal(before, all);
}

static void a_cut_list_ends_or_is_malformed(void **state)
{
    uint8_t memory[256];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    fill(&buffer);
    for (size_t cut = 0; cut < buffer.size; cut++) {
        struct mw_reader reader = {memory, memory + cut};
        struct mw_field field;
        enum mw_status status;
        while ((status = mw_field_next(&reader, &field)) == MW_OK)
            assert_true(reader.next <= reader.end);
        assert_true(status == MW_ERR_CORRUPT || (status == MW_END && reader.next == reader.end));
    }
}

static void lengths_that_lie_are_refused(void **state)
{
    static const uint8_t lies[][12] = {
        {0x03, 0x05, 'a'},                                                       /* one too few */
        {0x03, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'}, /* 2^64 - 1 */
        {0x03, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'a', 'a'},  /* 2^63 - 1 */
    };
    const size_t sizes[] = {3, 12, 12};
    for (size_t i = 0; i < 3; i++) {
        struct mw_reader reader = {lies[i], lies[i] + sizes[i]};
        struct mw_field field = {.id = 77};
        assert_int_equal(mw_field_next(&reader, &field), MW_ERR_CORRUPT);
        assert_int_equal(field.id, 77);
        assert_ptr_equal(reader.next, lies[i]);
    }
}

static void a_huge_id_is_not_a_small_one(void **state)
{
    uint8_t memory[32];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_buffer_varint(&buffer, ((1ull << 32) + 1) * 2); /* would be 1 in 32 bits */
    mw_buffer_varint(&buffer, 5);
    struct mw_reader reader = {memory, memory + buffer.size};
    struct mw_field field;
    assert_int_equal(mw_field_next(&reader, &field), MW_OK);
    assert_true(field.id == UINT_MAX);
}

static void packed_numbers_come_back(void **state)
{
    uint8_t memory[512];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    size_t mark = mw_put_begin(&buffer, 9);
    for (size_t i = 0; i < EDGES; i++)
        mw_buffer_signed(&buffer, (int64_t)edges[i]);
    mw_put_end(&buffer, mark);
    struct mw_reader reader = {memory, memory + buffer.size};
    struct mw_field field;
    assert_int_equal(mw_field_next(&reader, &field), MW_OK);
    struct mw_reader packed = {field.data, field.data + field.size};
    int64_t value;
    for (size_t i = 0; i < EDGES; i++) {
        assert_int_equal(mw_read_signed(&packed, &value), MW_OK);
        assert_true(value == (int64_t)edges[i]);
    }
    assert_int_equal(mw_read_signed(&packed, &value), MW_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varint_bytes_are_leb128),
        cmocka_unit_test(quick_writer_equals_plain_one),
        cmocka_unit_test(overlong_and_cut_varints_are_refused),
        cmocka_unit_test(zigzag_is_as_documented),
        cmocka_unit_test(fields_are_as_documented),
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(records_of_any_length_nest),
        cmocka_unit_test(a_small_buffer_holds_a_whole_beginning),
        cmocka_unit_test(a_cut_list_ends_or_is_malformed),
        cmocka_unit_test(lengths_that_lie_are_refused),
        cmocka_unit_test(a_huge_id_is_not_a_small_one),
        cmocka_unit_test(packed_numbers_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
