/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns field lists (docs/format.md section 3, "Fields"): writing them into a buffer of fixed size
 * and reading them from bytes that nobody vouches for. Both halves; any thread, one buffer one
 * thread; no allocation, no I/O. A field is written whole or not at all, and after the first that
 * does not fit nothing more is, so that what stands in the buffer is always a well-formed
 * beginning.
 */
#include "trace/fields.h"

#include <limits.h>
#include <string.h>

#include "trace/varint.h"

enum { KIND_NUMBER = 0, KIND_BYTES = 1 };

static int buffer_reserve(struct mw_buffer *buffer, size_t size)
{
    if (buffer->overflow || size > buffer->capacity - buffer->size)
        buffer->overflow = 1;
    return !buffer->overflow;
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

/* The caller has reserved the room. */
static void buffer_append_varint(struct mw_buffer *buffer, uint64_t value)
{
    uint8_t *end = mw_varint_write_long(buffer->data + buffer->size, value);
    buffer->size = (size_t)(end - buffer->data);
}

static uint64_t field_tag(unsigned id, unsigned kind)
{
    return (uint64_t)id * 2 + kind;
}

void mw_buffer_init(struct mw_buffer *buffer, void *memory, size_t capacity)
{
    buffer->data = memory;
    buffer->size = 0;
    buffer->capacity = capacity;
    buffer->overflow = 0;
}

void mw_buffer_bytes(struct mw_buffer *buffer, const void *data, size_t size)
{
    if (!buffer_reserve(buffer, size) || size == 0)
        return;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void mw_buffer_varint(struct mw_buffer *buffer, uint64_t value)
{
    if (buffer_reserve(buffer, varint_size(value)))
        buffer_append_varint(buffer, value);
}

void mw_buffer_signed(struct mw_buffer *buffer, int64_t value)
{
    mw_buffer_varint(buffer, mw_zigzag_of(value));
}

void mw_put_u64(struct mw_buffer *buffer, unsigned id, uint64_t value)
{
    uint64_t tag = field_tag(id, KIND_NUMBER);
    if (value == 0 || !buffer_reserve(buffer, varint_size(tag) + varint_size(value)))
        return;
    buffer_append_varint(buffer, tag);
    buffer_append_varint(buffer, value);
}

void mw_put_i64(struct mw_buffer *buffer, unsigned id, int64_t value)
{
    mw_put_u64(buffer, id, mw_zigzag_of(value));
}

void mw_put_text(struct mw_buffer *buffer, unsigned id, const char *text)
{
    if (text && *text)
        mw_put_bytes(buffer, id, text, strlen(text));
}

void mw_put_bytes(struct mw_buffer *buffer, unsigned id, const void *data, size_t size)
{
    uint64_t tag = field_tag(id, KIND_BYTES);
    size_t head = varint_size(tag) + varint_size(size);
    if (size > SIZE_MAX - head || !buffer_reserve(buffer, head + size))
        return;
    buffer_append_varint(buffer, tag);
    buffer_append_varint(buffer, size);
    mw_buffer_bytes(buffer, data, size);
}

/* The mark is the place of the tag. One byte is kept for the length: nearly every record is short,
 * and a longer one is moved when it ends. */
size_t mw_put_begin(struct mw_buffer *buffer, unsigned id)
{
    size_t mark = buffer->size;
    uint64_t tag = field_tag(id, KIND_BYTES);
    if (buffer_reserve(buffer, varint_size(tag) + 1)) {
        buffer_append_varint(buffer, tag);
        buffer_append_varint(buffer, 0);
    }
    return mark;
}

void mw_put_end(struct mw_buffer *buffer, size_t mark)
{
    if (!buffer->overflow) {
        size_t at = mark;
        while (buffer->data[at] >= 0x80)
            at++;
        at++; /* where the length goes */
        size_t length = buffer->size - at - 1, room = varint_size(length);
        if (buffer_reserve(buffer, room - 1)) {
            memmove(buffer->data + at + room, buffer->data + at + 1, length);
            mw_varint_write_long(buffer->data + at, length);
            buffer->size += room - 1;
            return;
        }
    }
    buffer->size = mark; /* half a record is none */
}

enum mw_status mw_read_varint(struct mw_reader *reader, uint64_t *value)
{
    if (reader->next >= reader->end)
        return MW_END;
    return mw_varint_read(&reader->next, reader->end, value) ? MW_OK : MW_ERR_CORRUPT;
}

enum mw_status mw_read_signed(struct mw_reader *reader, int64_t *value)
{
    uint64_t raw;
    enum mw_status status = mw_read_varint(reader, &raw);
    if (status == MW_OK)
        *value = mw_zigzag_back(raw);
    return status;
}

enum mw_status mw_field_next(struct mw_reader *reader, struct mw_field *field)
{
    struct mw_reader at = *reader;
    uint64_t tag, value;
    enum mw_status status = mw_read_varint(&at, &tag);
    if (status != MW_OK)
        return status;
    if (mw_read_varint(&at, &value) != MW_OK)
        return MW_ERR_CORRUPT;
    struct mw_field found = {.id = tag >> 1 > UINT_MAX ? UINT_MAX : (unsigned)(tag >> 1)};
    if ((tag & 1) == KIND_BYTES) {
        if (value > (size_t)(at.end - at.next))
            return MW_ERR_CORRUPT;
        found.is_bytes = 1;
        found.data = at.next;
        found.size = (size_t)value;
        at.next += value;
    } else {
        found.value = value;
    }
    *field = found;
    *reader = at;
    return MW_OK;
}

int64_t mw_unzigzag(uint64_t value)
{
    return mw_zigzag_back(value);
}

uint64_t mw_zigzag(int64_t value)
{
    return mw_zigzag_of(value);
}
