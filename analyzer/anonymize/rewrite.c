/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of fields and the rewriting of chunks (rewrite.h). */
#include "analyzer/anonymize/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/anonymize/scrub.h"
#include "analyzer/base/chunk_write.h"
#include "trace/fields.h"

enum action {
    KEEP, /* numbers, build-ids, names of MPI functions */
    TEXT, /* scrubbed */
    HOST,
    PATH,
    FOLDER,
    PROGRAM, /* argument 0 is the program, the others are arguments */
    COMMAND, /* a whole command line in a text */
    BOOT,
    JOB,
    PROCESS, /* the key of a process */
    FACT,    /* a fact: its value is judged by its key */
    RECORD,  /* a list of fields, by the rules of `inner` */
};

/* Lists inside of chunks, numbered behind the chunk types. */
enum inner {
    MODULE = 256,
    SITE,
    COUNT,
    OPENCALL,
};

struct rule {
    unsigned list; /* chunk type, or one of enum inner */
    unsigned field;
    enum action action;
    unsigned inner;
};

#define F(chunk, name) MW_CHUNK_##chunk, MW_F_##chunk##_##name
static const struct rule rules[] = {
    {F(FILE, writer), TEXT, 0},
    {F(FILE, host), HOST, 0},
    {F(FILE, boot_id), BOOT, 0},
    {F(FILE, pid_ns), KEEP, 0},
    {F(FILE, mnt_ns), KEEP, 0},
    {F(FILE, user_ns), KEEP, 0},
    {F(JOB, key), JOB, 0},
    {F(JOB, launcher), TEXT, 0},
    {F(JOB, job_id), JOB, 0},
    {F(JOB, program), PATH, 0},
    {F(JOB, command), COMMAND, 0},
    {F(PROCESS, host), HOST, 0},
    {F(PROCESS, pid), KEEP, 0},
    {F(PROCESS, start_time), KEEP, 0},
    {F(PROCESS, ppid), KEEP, 0},
    {F(PROCESS, exe), PATH, 0},
    {F(PROCESS, argument), PROGRAM, 0},
    {F(PROCESS, cwd), FOLDER, 0},
    {F(PROCESS, clock), KEEP, 0},
    {F(PROCESS, abi), KEEP, 0},
    {F(PROCESS, mpi_library), PATH, 0},
    {F(PROCESS, rank_hint), KEEP, 0},
    {F(PROCESS, size_hint), KEEP, 0},
    {F(PROCESS, began), KEEP, 0},
    {F(PROCESS, boot_id), BOOT, 0},
    {F(PROCESS, pid_ns), KEEP, 0},
    {F(PROCESS, thread_level), KEEP, 0},
    {F(RANK, rank), KEEP, 0},
    {F(RANK, size), KEEP, 0},
    {F(RANK, library_version), TEXT, 0},
    {F(RANK, standard), KEEP, 0},
    {F(RANK, thread_level), KEEP, 0},
    {F(RANK, init_end), KEEP, 0},
    {F(RANK, processor_name), HOST, 0},
    {F(RANK, appnum), KEEP, 0},
    {F(CLOCK, time), KEEP, 0},
    {F(CLOCK, raw), KEEP, 0},
    {F(CLOCK, real), KEEP, 0},
    {F(CLOCK, mono), KEEP, 0},
    {F(CLOCK, width), KEEP, 0},
    {F(MODULES, module), RECORD, MODULE},
    {MODULE, MW_F_MODULE_id, KEEP, 0},
    {MODULE, MW_F_MODULE_path, PATH, 0},
    {MODULE, MW_F_MODULE_build_id, KEEP, 0},
    {MODULE, MW_F_MODULE_start, KEEP, 0},
    {MODULE, MW_F_MODULE_end, KEEP, 0},
    {MODULE, MW_F_MODULE_role, KEEP, 0},
    {F(SITES, site), RECORD, SITE},
    {SITE, MW_F_SITE_id, KEEP, 0},
    {SITE, MW_F_SITE_frames, KEEP, 0},
    {SITE, MW_F_SITE_truncated, KEEP, 0},
    {F(COMM, id), KEEP, 0},
    {F(COMM, how), KEEP, 0},
    {F(COMM, parent), KEEP, 0},
    {F(COMM, number), KEEP, 0},
    {F(COMM, size), KEEP, 0},
    {F(COMM, rank), KEEP, 0},
    {F(COMM, remote_size), KEEP, 0},
    {F(COMM, hash), KEEP, 0},
    {F(COMM, members), KEEP, 0},
    {F(COMM, remote_members), KEEP, 0},
    {F(COMM, name), TEXT, 0},
    {F(COMM, freed), KEEP, 0},
    {F(COUNTS, function), RECORD, COUNT},
    {F(COUNTS, thread), KEEP, 0},
    {COUNT, MW_F_COUNT_id, KEEP, 0},
    {COUNT, MW_F_COUNT_name, KEEP, 0},
    {COUNT, MW_F_COUNT_calls, KEEP, 0},
    {F(OPEN, call), RECORD, OPENCALL},
    {F(OPEN, taken), KEEP, 0},
    {F(OPEN, alive), KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_thread, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_function, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_start, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_comm, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_peer, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_tag, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_instance, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_site, KEEP, 0},
    {OPENCALL, MW_F_OPENCALL_name, KEEP, 0},
    {F(HEALTH, code), TEXT, 0},
    {F(HEALTH, message), TEXT, 0},
    {F(HEALTH, count), KEEP, 0},
    {F(HEALTH, time), KEEP, 0},
    {F(ENVIRONMENT, node), KEEP, 0},
    {F(ENVIRONMENT, base), PROCESS, 0},
    {F(ENVIRONMENT, fact), FACT, 0},
    {F(END, reason), KEEP, 0},
    {F(END, time), KEEP, 0},
    {F(END, code), KEEP, 0},
    {F(END, finalize_end), KEEP, 0},
    {F(COST, init), KEEP, 0},
    {F(COST, encode), KEEP, 0},
    {F(COST, write), KEEP, 0},
    {F(COST, bytes), KEEP, 0},
    {F(COST, chunks), KEEP, 0},
    {F(COST, events), KEEP, 0},
    {F(COST, longest), KEEP, 0},
    {F(COST, finalize), KEEP, 0},
    {F(COST, memory), KEEP, 0},
    {F(COST, stamp), KEEP, 0},
    {F(THREAD, index), KEEP, 0},
    {F(THREAD, tid), KEEP, 0},
    {F(THREAD, name), TEXT, 0},
    {F(THREAD, main), KEEP, 0},
};
#undef F

static const struct rule *find_rule(unsigned list, unsigned field)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].list == list && rules[i].field == field)
            return &rules[i];
    return NULL;
}

struct rewriting {
    struct mw_names *names;
    struct mw_buffer *buffer;
    int arguments; /* seen so far */
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

static char *rewrite_text(struct rewriting *rewriting, enum action action, const char *text)
{
    switch (action) {
    case HOST:
        return mw_scrub_host(rewriting->names, text);
    case PATH:
        return mw_scrub_path(rewriting->names, text);
    case FOLDER:
        return mw_scrub_folder(rewriting->names, text);
    case PROGRAM:
        return mw_scrub_argument(rewriting->names, text, rewriting->arguments++ == 0);
    case COMMAND:
        return mw_scrub_command(rewriting->names, text);
    case BOOT:
        return stand_in(rewriting->names, MW_NAME_BOOT, text);
    case JOB:
        return stand_in(rewriting->names, MW_NAME_JOB, text);
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

static enum mw_status rewrite_field(struct rewriting *rewriting, const struct rule *rule,
                                    const struct mw_field *field)
{
    if (rule->action == KEEP) {
        put_field(rewriting->buffer, field);
    } else if (rule->action == PROCESS) {
        if (!field->is_bytes)
            mw_put_u64(rewriting->buffer, field->id,
                       mw_names_process_key(rewriting->names, field->value));
    } else if (!field->is_bytes) {
        return MW_OK; /* a number where there should be a text says nothing */
    } else if (rule->action == FACT) {
        return rewrite_fact(rewriting, field);
    } else if (rule->action == RECORD) {
        size_t mark = mw_put_begin(rewriting->buffer, field->id);
        enum mw_status status = rewrite_list(rewriting, rule->inner, field->data, field->size);
        mw_put_end(rewriting->buffer, mark);
        return status;
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
        const struct rule *rule = find_rule(list, field.id);
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

static enum mw_rewritten rewrite_fields(struct mw_names *names, const struct mw_chunk_view *chunk,
                                        const uint8_t *data, size_t size, FILE *out)
{
    size_t capacity = 2 * size + 65536;
    for (;; capacity *= 2) {
        struct mw_buffer buffer;
        struct rewriting rewriting = {names, &buffer, 0};
        void *memory = mw_alloc(capacity, 1);
        mw_buffer_init(&buffer, memory, capacity);
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
    int known = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        known |= rules[i].list == chunk->type;
    if (!known)
        return MW_REWRITE_UNKNOWN;
    uint8_t *owned;
    size_t size;
    const uint8_t *data = chunk_content(chunk, &owned, &size);
    enum mw_rewritten result =
        data ? rewrite_fields(names, chunk, data, size, out) : MW_REWRITE_BROKEN;
    free(owned);
    return result;
}
