/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Field lists (docs/format.md section 3, "Fields") and the byte buffer they are written to.
 * The buffer never allocates: what does not fit sets `overflow` and is left out, and so is all that
 * follows, so that a caller checks once, at the end, and what stands in the buffer is a well-formed
 * beginning (a field whole or not at all; a record with its end or not at all). To go on elsewhere,
 * put back `size` as it was before and clear `overflow`. No I/O, any thread (one buffer, one
 * thread).
 */
#ifndef MW_TRACE_FIELDS_H
#define MW_TRACE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/status.h"

struct mw_buffer {
    uint8_t *data;
    size_t size, capacity;
    int overflow;
};

void mw_buffer_init(struct mw_buffer *buffer, void *memory, size_t capacity);
void mw_buffer_bytes(struct mw_buffer *buffer, const void *data, size_t size);
void mw_buffer_varint(struct mw_buffer *buffer, uint64_t value);
void mw_buffer_signed(struct mw_buffer *buffer, int64_t value);

/* Writers of one field. A zero value or an empty text writes nothing: a missing field reads as
 * that. */
void mw_put_u64(struct mw_buffer *buffer, unsigned id, uint64_t value);
void mw_put_i64(struct mw_buffer *buffer, unsigned id, int64_t value);     /* signed: zigzag */
void mw_put_text(struct mw_buffer *buffer, unsigned id, const char *text); /* NULL is empty */
void mw_put_bytes(struct mw_buffer *buffer, unsigned id, const void *data,
                  size_t size); /* always written */
/* A record: everything put between begin and end is its content. Returns a mark for end; may nest. */
size_t mw_put_begin(struct mw_buffer *buffer, unsigned id);
void mw_put_end(struct mw_buffer *buffer, size_t mark);

/* Readers. */
struct mw_field {
    unsigned id;
    int is_bytes;
    uint64_t value;      /* kind 0 */
    const uint8_t *data; /* kind 1 */
    size_t size;
};
struct mw_reader {
    const uint8_t *next, *end;
};
/* MW_END at the end, MW_ERR_CORRUPT when the list is malformed. */
enum mw_status mw_field_next(struct mw_reader *reader, struct mw_field *field);
/* One number of a packed field: MW_END at the end, MW_ERR_CORRUPT when it is cut short or over 64
 * bits. A reader that fails stays where it is. */
enum mw_status mw_read_varint(struct mw_reader *reader, uint64_t *value);
enum mw_status mw_read_signed(struct mw_reader *reader, int64_t *value);
int64_t mw_unzigzag(uint64_t value);
uint64_t mw_zigzag(int64_t value);

#endif
