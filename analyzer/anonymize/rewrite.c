/* SPDX-License-Identifier: BSD-3-Clause */
/* The rewriting of chunks (rewrite.h) by the table of fields (rules.h). */
#include "analyzer/anonymize/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/anonymize/addresses.h"
#include "analyzer/anonymize/rules.h"
#include "analyzer/anonymize/scrub.h"
#include "analyzer/base/chunk_write.h"
#include "trace/fields.h"

struct rewriting {
    struct mw_names *names;
    struct mw_buffer *buffer;
    int arguments;                        /* seen so far */
    const struct mw_address_form *format; /* of an endpoint's addresses */
};

static char *field_text(const struct mw_field *field)
{
    char *text = mw_alloc(field->size + 1, 1);
    if (field->size)
        memcpy(text, field->data, field->size);
    return text;
}

static char *stand_in(struct mw_names *names, enum mw_name_kind kind, const char *text)
{
    return text[0] ? mw_text_copy(mw_names_stand_in(names, kind, text, strlen(text)))
                   : mw_text_copy("");
}

static char *rewrite_text(struct rewriting *rewriting, enum mw_rule_action action, const char *text)
{
    switch (action) {
    case MW_RULE_HOST:
        return mw_scrub_host(rewriting->names, text);
    case MW_RULE_PATH:
        return mw_scrub_path(rewriting->names, text);
    case MW_RULE_FOLDER:
        return mw_scrub_folder(rewriting->names, text);
    case MW_RULE_DATA:
        return *text ? mw_format("/%s", mw_names_stand_in(rewriting->names, MW_NAME_PATH, text,
                                                          strlen(text)))
                     : mw_text_copy(text);
    case MW_RULE_PROGRAM:
        return mw_scrub_argument(rewriting->names, text, rewriting->arguments++ == 0);
    case MW_RULE_COMMAND:
        return mw_scrub_command(rewriting->names, text);
    case MW_RULE_BOOT:
        return stand_in(rewriting->names, MW_NAME_BOOT, text);
    case MW_RULE_JOB:
        return stand_in(rewriting->names, MW_NAME_JOB, text);
    case MW_RULE_WORD:
        return stand_in(rewriting->names, MW_NAME_WORD, text);
    case MW_RULE_SERIAL:
        return stand_in(rewriting->names, MW_NAME_VALUE, text);
    case MW_RULE_XML:
        return mw_scrub_xml(rewriting->names, text);
    case MW_RULE_ADDRESS:
        return mw_address_text(rewriting->names, text);
    default:
        return mw_scrub_text(rewriting->names, text);
    }
}

static void put_field(struct mw_buffer *buffer, const struct mw_field *field)
{
    if (field->is_bytes)
        mw_put_bytes(buffer, field->id, field->data, field->size);
    else
        mw_put_u64(buffer, field->id, field->value);
}

static char *rewrite_fact_text(struct mw_names *names, unsigned id, const char *key,
                               const char *text)
{
    if (id == MW_F_FACT_key || id == MW_F_FACT_section)
        return mw_scrub_key(names, text);
    if (id == MW_F_FACT_value)
        return mw_scrub_value(names, key, text);
    return mw_scrub_text(names, text);
}

static enum mw_status rewrite_fact(struct rewriting *rewriting, const struct mw_field *fact)
{
    struct mw_reader reader = {fact->data, fact->data + fact->size};
    struct mw_field field;
    char *text[5] = {NULL};
    uint64_t removed = 0;
    enum mw_status status;
    while ((status = mw_field_next(&reader, &field)) == MW_OK) {
        if (field.id == MW_F_FACT_removed)
            removed = field.value;
        if (!field.is_bytes || field.id < MW_F_FACT_section || field.id > MW_F_FACT_source)
            continue;
        free(text[field.id]);
        text[field.id] = field_text(&field);
    }
    const char *key = text[MW_F_FACT_key] ? text[MW_F_FACT_key] : "";
    size_t mark = mw_put_begin(rewriting->buffer, fact->id);
    for (unsigned id = MW_F_FACT_section; id <= MW_F_FACT_source; id++) {
        char *safe = rewrite_fact_text(rewriting->names, id, key, text[id] ? text[id] : "");
        mw_put_text(rewriting->buffer, id, safe);
        free(safe);
    }
    mw_put_u64(rewriting->buffer, MW_F_FACT_removed, removed);
    mw_put_end(rewriting->buffer, mark);
    for (size_t i = 0; i < 5; i++)
        free(text[i]);
    return status == MW_END ? MW_OK : status;
}

static enum mw_status rewrite_list(struct rewriting *rewriting, unsigned list, const uint8_t *data,
                                   size_t size);

static void rewrite_address(struct rewriting *rewriting, const struct mw_rule *rule,
                            const struct mw_field *field)
{
    size_t size = field->size;
    uint8_t *safe =
        rule->action == MW_RULE_SOCKET
            ? mw_address_socket(rewriting->names, field->data, &size)
            : mw_address_fabric(rewriting->names, rewriting->format, field->data, &size);
    mw_put_bytes(rewriting->buffer, field->id, safe, size);
    free(safe);
}

static enum mw_status rewrite_field(struct rewriting *rewriting, const struct mw_rule *rule,
                                    const struct mw_field *field)
{
    if (rule->action == MW_RULE_KEEP) {
        put_field(rewriting->buffer, field);
    } else if (rule->action == MW_RULE_PROCESS) {
        if (!field->is_bytes)
            mw_put_u64(rewriting->buffer, field->id,
                       mw_names_process_key(rewriting->names, field->value));
    } else if (rule->action == MW_RULE_SERIAL && !field->is_bytes) {
        mw_put_u64(rewriting->buffer, field->id,
                   field->value ? mw_names_number(rewriting->names, MW_NAME_VALUE,
                                                  (const char *)&field->value, sizeof field->value)
                                : 0);
    } else if (!field->is_bytes) {
        return MW_OK; /* a number where there should be a text says nothing */
    } else if (rule->action == MW_RULE_FACT) {
        return rewrite_fact(rewriting, field);
    } else if (rule->action == MW_RULE_RECORD) {
        size_t mark = mw_put_begin(rewriting->buffer, field->id);
        enum mw_status status = rewrite_list(rewriting, rule->inner, field->data, field->size);
        mw_put_end(rewriting->buffer, mark);
        return status;
    } else if (rule->action == MW_RULE_SOCKET || rule->action == MW_RULE_FABRIC) {
        rewrite_address(rewriting, rule, field);
    } else {
        char *text = field_text(field), *safe = rewrite_text(rewriting, rule->action, text);
        mw_put_text(rewriting->buffer, field->id, safe);
        free(safe);
        free(text);
    }
    return MW_OK;
}

static enum mw_status rewrite_list(struct rewriting *rewriting, unsigned list, const uint8_t *data,
                                   size_t size)
{
    struct mw_reader reader = {data, data + size};
    struct mw_field field;
    enum mw_status status;
    while ((status = mw_field_next(&reader, &field)) == MW_OK) {
        const struct mw_rule *rule = mw_rule_find(list, field.id);
        if (rule)
            status = rewrite_field(rewriting, rule, &field);
        if (status != MW_OK)
            return status;
    }
    return status == MW_END ? MW_OK : status;
}

/* The content of a chunk; *owned is to be freed, *size is set. NULL when it cannot be decompressed.
 */
static const uint8_t *chunk_content(const struct mw_chunk_view *chunk, uint8_t **owned,
                                    size_t *size)
{
    *owned = NULL;
    *size = chunk->length;
    if (!(chunk->flags & MW_CHUNK_FLAG_ZSTD))
        return chunk->payload;
    if (chunk->raw_length > MW_CHUNK_MAX_RAW)
        return NULL;
    *owned = mw_alloc(chunk->raw_length + 1, 1);
    size_t got = ZSTD_decompress(*owned, chunk->raw_length, chunk->payload, chunk->length);
    if (ZSTD_isError(got) || got != chunk->raw_length)
        return NULL;
    *size = got;
    return *owned;
}

/* Plain where it fits, so that anybody can look what is in it. */
static void write_content(const struct mw_chunk_view *chunk, uint64_t process, const uint8_t *data,
                          size_t size, FILE *out)
{
    struct mw_chunk_view view = *chunk;
    uint8_t *packed = NULL;
    view.process = process;
    view.flags = 0;
    view.payload = data;
    view.length = view.raw_length = (uint32_t)size;
    if (size > MW_CHUNK_MAX_STORED) {
        size_t bound = ZSTD_compressBound(size);
        packed = mw_alloc(bound, 1);
        size_t length = ZSTD_compress(packed, bound, data, size, 3);
        if (ZSTD_isError(length) || length > MW_CHUNK_MAX_STORED) {
            free(packed);
            return;
        }
        view.flags = MW_CHUNK_FLAG_ZSTD;
        view.payload = packed;
        view.length = (uint32_t)length;
    }
    mw_chunk_write(out, &view);
    free(packed);
}

static uint64_t endpoint_number(const uint8_t *data, size_t size)
{
    struct mw_reader reader = {data, data + size};
    struct mw_field field;
    uint64_t number = 0;
    while (mw_field_next(&reader, &field) == MW_OK)
        if (field.id == MW_F_ENDPOINT_id)
            number = field.is_bytes ? 0 : field.value;
    return number;
}

static enum mw_rewritten rewrite_fields(struct mw_names *names, const struct mw_chunk_view *chunk,
                                        const uint8_t *data, size_t size, FILE *out)
{
    size_t capacity = 2 * size + 65536;
    for (;; capacity *= 2) {
        struct mw_buffer buffer;
        struct rewriting rewriting = {names, &buffer, 0, NULL};
        void *memory = mw_alloc(capacity, 1);
        mw_buffer_init(&buffer, memory, capacity);
        if (chunk->type == MW_CHUNK_ENDPOINT)
            rewriting.format =
                mw_address_form_find(names, chunk->process, endpoint_number(data, size));
        enum mw_status status = rewrite_list(&rewriting, chunk->type, data, size);
        if (status == MW_OK && !buffer.overflow && buffer.size <= MW_CHUNK_MAX_RAW)
            write_content(chunk, mw_names_process_key(names, chunk->process), buffer.data,
                          buffer.size, out);
        free(memory);
        if (status != MW_OK || buffer.size > MW_CHUNK_MAX_RAW)
            return MW_REWRITE_BROKEN;
        if (!buffer.overflow)
            return MW_REWRITTEN;
    }
}

enum mw_rewritten mw_rewrite_chunk(struct mw_names *names, const struct mw_chunk_view *chunk,
                                   FILE *out)
{
    if (chunk->version != MW_FORMAT_VERSION)
        return MW_REWRITE_UNKNOWN;
    if (chunk->type == MW_CHUNK_EVENTS) { /* numbers only */
        struct mw_chunk_view view = *chunk;
        view.process = mw_names_process_key(names, chunk->process);
        mw_chunk_write(out, &view);
        return MW_REWRITTEN;
    }
    if (!mw_rules_know(chunk->type))
        return MW_REWRITE_UNKNOWN;
    uint8_t *owned;
    size_t size;
    const uint8_t *data = chunk_content(chunk, &owned, &size);
    enum mw_rewritten result =
        data ? rewrite_fields(names, chunk, data, size, out) : MW_REWRITE_BROKEN;
    free(owned);
    return result;
}
