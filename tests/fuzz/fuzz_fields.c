/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of fields; what was read is written again and must read the same. */
#include <string.h>

#include "fuzz.h"
#include "trace/fields.h"
#include "trace/reader/reader.h"

static uint8_t copy[1 << 20];

static void field_write(struct mw_buffer *buffer, const struct mw_field *field)
{
    if (field->is_bytes)
        mw_put_bytes(buffer, field->id, field->data, field->size);
    else
        mw_put_u64(buffer, field->id, field->value);
}

/* Whether field `b` is what writing `a` gives; zeros are left out. */
static void fields_compare(struct mw_reader a, struct mw_reader b)
{
    struct mw_field x, y;
    while (mw_field_next(&a, &x) == MW_OK) {
        if (!x.is_bytes && x.value == 0)
            continue;
        CHECK(mw_field_next(&b, &y) == MW_OK);
        CHECK(x.id == y.id && x.is_bytes == y.is_bytes && x.value == y.value && x.size == y.size);
        CHECK(x.size == 0 || memcmp(x.data, y.data, x.size) == 0);
    }
    CHECK(mw_field_next(&b, &y) == MW_END);
}

void fuzz_fields(const uint8_t *data, size_t size)
{
    struct mw_reader reader = {data, data + size};
    struct mw_buffer buffer;
    struct mw_field field;
    enum mw_status status;
    mw_buffer_init(&buffer, copy, sizeof copy);
    while ((status = mw_field_next(&reader, &field)) == MW_OK) {
        CHECK(!field.is_bytes || (field.data >= data && field.data + field.size <= data + size));
        CHECK(mw_zigzag(mw_unzigzag(field.value)) == field.value);
        field_write(&buffer, &field);
    }
    CHECK(status == MW_END || status == MW_ERR_CORRUPT);
    CHECK((status == MW_END) == (mw_fields_check(0, data, size) == MW_OK));
    for (unsigned type = 0; type <= MW_CHUNK_FLOW + 1; type++)
        if (mw_fields_check(type, data, size) == MW_OK)
            CHECK(status == MW_END);
    if (!buffer.overflow)
        fields_compare((struct mw_reader){data, reader.next},
                       (struct mw_reader){copy, copy + buffer.size});
}
