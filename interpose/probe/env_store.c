/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See env_store.h. The node file is other processes' work: nothing in it is trusted, and little of
 * it is read (chunk headers of the first MiB, payloads of ENVIRONMENT chunks only).
 */
#include "probe/env_store.h"

#include <string.h>
#include <sys/mman.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "mpiwatch/format.h"
#include "probe/environment.h"
#include "probe/sysfile.h"
#include "trace/chunk.h"
#include "trace/fields.h"

#define SEARCH_MOST    (1u << 20) /* bytes of the file in which a base is looked for */
#define CHUNKS_MOST    16384
#define PAYLOAD_MAX    (256u << 10) /* raw size of a chunk that we write */
#define READ_MAX       (1u << 20)   /* and of one that is read */
#define LIST_MAX       (1u << 20)
#define COMPRESS_LEVEL 3
#define COMPRESS_LEAST 512u

static void *pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* --- writing --- */

struct writer {
    struct mw_buffer buffer;
    uint64_t process, base;
    int node;
    size_t empty; /* size of a payload without facts */
    mw_env_emit_fn emit;
    void *context;
    uint8_t raw[PAYLOAD_MAX];
    uint8_t chunk[MW_CHUNK_HEADER_SIZE + PAYLOAD_MAX];
    size_t compressor_size;
    _Alignas(64) uint8_t compressor[];
};

static struct writer *writer_open(uint64_t process, uint64_t base, mw_env_emit_fn emit,
                                  void *context)
{
    size_t compressor = ZSTD_estimateCCtxSize(COMPRESS_LEVEL);
    struct writer *writer = pages(sizeof *writer + compressor);
    if (!writer)
        return NULL;
    writer->process = process;
    writer->base = base;
    writer->emit = emit;
    writer->context = context;
    writer->compressor_size = compressor;
    return writer;
}

static void writer_close(struct writer *writer)
{
    munmap(writer, sizeof *writer + writer->compressor_size);
}

static void chunk_begin(struct writer *writer, int node)
{
    mw_buffer_init(&writer->buffer, writer->raw, sizeof writer->raw);
    writer->node = node;
    mw_put_u64(&writer->buffer, MW_F_ENVIRONMENT_node, (uint64_t)node);
    mw_put_u64(&writer->buffer, MW_F_ENVIRONMENT_base, writer->base);
    writer->empty = writer->buffer.size;
}

/* The payload as one zstd frame behind the header, or 0 when it stays as it is. */
static size_t compress(struct writer *writer)
{
    size_t raw = writer->buffer.size;
    if (!writer->node || raw < COMPRESS_LEAST) /* others must read the rest */
        return 0;
    ZSTD_CCtx *compressor = ZSTD_initStaticCCtx(writer->compressor, writer->compressor_size);
    if (!compressor ||
        ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, COMPRESS_LEVEL)))
        return 0;
    size_t size = ZSTD_compress2(compressor, writer->chunk + MW_CHUNK_HEADER_SIZE, PAYLOAD_MAX,
                                 writer->raw, raw);
    return ZSTD_isError(size) || size >= raw ? 0 : size;
}

static void chunk_end(struct writer *writer)
{
    size_t raw = writer->buffer.size, size = compress(writer);
    uint8_t *payload = writer->chunk + MW_CHUNK_HEADER_SIZE;
    unsigned flags = size ? MW_CHUNK_FLAG_ZSTD : 0;
    if (!size) {
        size = raw;
        memcpy(payload, writer->raw, raw);
    }
    mw_chunk_frame(writer->chunk, MW_CHUNK_ENVIRONMENT, flags, writer->process, payload,
                   (uint32_t)size, (uint32_t)raw);
    writer->emit(writer->chunk, MW_CHUNK_HEADER_SIZE + size, writer->context);
}

static void fact_put(struct mw_buffer *buffer, const struct mw_fact *fact, int removed)
{
    size_t mark = mw_put_begin(buffer, MW_F_ENVIRONMENT_fact);
    mw_put_text(buffer, MW_F_FACT_section, fact->section);
    mw_put_text(buffer, MW_F_FACT_key, fact->key);
    if (removed) {
        mw_put_u64(buffer, MW_F_FACT_removed, 1);
    } else {
        mw_put_text(buffer, MW_F_FACT_value, fact->value);
        mw_put_text(buffer, MW_F_FACT_source, fact->source);
    }
    mw_put_end(buffer, mark);
}

/* What does not fit goes into another chunk; a fact that is too long for any is left out. */
static void fact_add(struct writer *writer, const struct mw_fact *fact, int removed)
{
    struct mw_buffer *buffer = &writer->buffer;
    size_t before = buffer->size;
    fact_put(buffer, fact, removed);
    if (!buffer->overflow)
        return;
    buffer->overflow = 0;
    buffer->size = before;
    if (before == writer->empty)
        return;
    chunk_end(writer);
    chunk_begin(writer, writer->node);
    fact_put(buffer, fact, removed);
    if (buffer->overflow) {
        buffer->overflow = 0;
        buffer->size = writer->empty;
    }
}

static void list_write(struct writer *writer, const struct mw_fact_list *list, int node)
{
    struct mw_fact fact;
    chunk_begin(writer, node);
    for (size_t at = 0; mw_fact_list_next(list, &at, &fact);)
        fact_add(writer, &fact, 0);
    chunk_end(writer);
}

enum mw_status mw_env_emit_full(uint64_t process, const struct mw_fact_list *own,
                                const struct mw_fact_list *node, mw_env_emit_fn emit, void *context)
{
    struct writer *writer = writer_open(process, 0, emit, context);
    if (!writer)
        return MW_ERR_MEMORY;
    list_write(writer, own, 0);
    list_write(writer, node, 1);
    chunk_begin(writer, 1);
    chunk_end(writer); /* the mark: whoever sees it has all before it */
    writer_close(writer);
    return MW_OK;
}

enum mw_status mw_env_emit_differences(uint64_t process, const struct mw_fact_list *own,
                                       const struct mw_env_base *base, mw_env_emit_fn emit,
                                       void *context)
{
    struct writer *writer = writer_open(process, base->process, emit, context);
    struct mw_fact fact, other;
    if (!writer)
        return MW_ERR_MEMORY;
    chunk_begin(writer, 0);
    for (size_t at = 0; mw_fact_list_next(own, &at, &fact);)
        if (!mw_fact_list_find(&base->facts, fact.section, fact.key, &other) ||
            strcmp(fact.value, other.value) != 0 || strcmp(fact.source, other.source) != 0)
            fact_add(writer, &fact, 0);
    for (size_t at = 0; mw_fact_list_next(&base->facts, &at, &fact);)
        if (!mw_fact_list_find(own, fact.section, fact.key, &other))
            fact_add(writer, &fact, 1);
    chunk_end(writer); /* also when nothing differs: it names the base */
    writer_close(writer);
    return MW_OK;
}

/* --- reading --- */

/* An ENVIRONMENT chunk of the file, taken apart. */
struct found {
    uint64_t process, offset;
    int node;
    struct mw_reader fields;
};

struct search {
    int file;
    uint64_t offset;
    unsigned chunks;
    uint8_t payload[READ_MAX];
    char text[4][1u << 15];
};

/* The chunk's payload as fields; 0 when it cannot be had or is compressed. */
static int payload_read(struct search *search, const struct mw_chunk_header *header,
                        struct mw_reader *fields)
{
    if (header->version > MW_FORMAT_VERSION || header->flags || header->length > READ_MAX ||
        mw_sys_pread(search->file, search->payload, header->length,
                     search->offset + MW_CHUNK_HEADER_SIZE) != (long)header->length ||
        mw_checksum(search->payload, header->length) != header->check)
        return 0;
    *fields = (struct mw_reader){search->payload, search->payload + header->length};
    return 1;
}

static int is_node(struct mw_reader fields)
{
    struct mw_field field;
    uint64_t node = 0;
    while (mw_field_next(&fields, &field) == MW_OK)
        if (field.id == MW_F_ENVIRONMENT_node && !field.is_bytes)
            node = field.value;
    return node == 1;
}

/* The next ENVIRONMENT chunk from search->offset on. Ends at damage: a base before it is as good.
 */
static int chunk_next(struct search *search, struct found *found)
{
    uint8_t bytes[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header header;
    while (search->offset < SEARCH_MOST && search->chunks++ < CHUNKS_MOST) {
        if (mw_sys_pread(search->file, bytes, sizeof bytes, search->offset) != (long)sizeof bytes ||
            mw_chunk_parse(bytes, &header) != MW_OK)
            return 0;
        found->process = header.process;
        found->offset = search->offset;
        int usable =
            header.type == MW_CHUNK_ENVIRONMENT && payload_read(search, &header, &found->fields);
        search->offset += MW_CHUNK_HEADER_SIZE + header.length;
        if (usable) {
            found->node = is_node(found->fields);
            return 1;
        }
    }
    return 0;
}

static void fact_take(struct search *search, const struct mw_field *record,
                      struct mw_fact_list *list)
{
    struct mw_reader reader = {record->data, record->data + record->size};
    struct mw_field field;
    for (int i = 0; i < 4; i++)
        search->text[i][0] = '\0';
    while (mw_field_next(&reader, &field) == MW_OK) {
        if (!field.is_bytes || field.id < MW_F_FACT_section || field.id > MW_F_FACT_source)
            continue;
        struct mw_text text;
        mw_text_init(&text, search->text[field.id - MW_F_FACT_section], sizeof search->text[0]);
        mw_text_add_some(&text, (const char *)field.data, field.size);
    }
    list->sink.fact(&list->sink, search->text[0], search->text[1], search->text[2],
                    search->text[3]);
}

static void facts_take(struct search *search, struct mw_reader fields, struct mw_fact_list *list)
{
    struct mw_field field;
    while (mw_field_next(&fields, &field) == MW_OK)
        if (field.id == MW_F_ENVIRONMENT_fact && field.is_bytes)
            fact_take(search, &field, list);
}

static enum mw_status base_search(struct search *search, struct mw_env_base *base)
{
    struct found found;
    do
        if (!chunk_next(search, &found))
            return MW_ERR_NOT_FOUND;
    while (!found.node);
    uint64_t until = found.offset;
    base->process = found.process;
    search->offset = search->chunks = 0;
    while (chunk_next(search, &found) && found.offset < until)
        if (found.process == base->process && !found.node)
            facts_take(search, found.fields, &base->facts);
    return base->facts.lost ? MW_ERR_LIMIT : MW_OK;
}

enum mw_status mw_env_base_find(int file, void *memory, size_t size, struct mw_env_base *base)
{
    struct search *search = pages(sizeof *search);
    if (!search)
        return MW_ERR_MEMORY;
    search->file = file;
    mw_fact_list_init(&base->facts, memory, size);
    enum mw_status status = base_search(search, base);
    munmap(search, sizeof *search);
    return status;
}

uint64_t mw_env_first_process(int file)
{
    uint8_t bytes[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header header;
    if (mw_sys_pread(file, bytes, sizeof bytes, 0) != (long)sizeof bytes ||
        mw_chunk_parse(bytes, &header) != MW_OK)
        return 0;
    return header.process;
}

/* --- both --- */

static void losses_note(struct mw_fact_list *list)
{
    char number[24];
    struct mw_text text;
    if (!list->lost)
        return;
    mw_text_init(&text, number, sizeof number);
    mw_text_add_u64(&text, list->lost);
    list->capacity += 256; /* kept back for this */
    list->sink.fact(&list->sink, "mpiwatch", "environment.lost", number, "too many facts");
}

static void own_facts(struct mw_fact_list *list, void *memory, unsigned what)
{
    mw_fact_list_init(list, memory, LIST_MAX - 256);
    mw_environment_collect(&list->sink, what);
    losses_note(list);
}

static enum mw_status store(int file, uint64_t process, int may_wait,
                            const struct mw_fact_list *own, uint8_t *memory, mw_env_emit_fn emit,
                            void *context)
{
    struct mw_env_base base;
    struct mw_fact_list node;
    enum mw_status found = mw_env_base_find(file, memory, LIST_MAX, &base);
    if (found == MW_OK && base.process != process)
        return mw_env_emit_differences(process, own, &base, emit, context);
    if (found == MW_ERR_NOT_FOUND && may_wait && mw_env_first_process(file) != process)
        return MW_ERR_NOT_FOUND;
    own_facts(&node, memory, MW_ENV_NODE);
    return mw_env_emit_full(process, own, &node, emit, context);
}

enum mw_status mw_env_store(int file, uint64_t process, int may_wait, mw_env_emit_fn emit,
                            void *context)
{
    /* Kept from a call that was told to come again: MPI_Init changes the environment in between, and what the
     * program was started with is what counts. */
    static uint8_t *memory;
    static struct mw_fact_list own;
    if (!memory) {
        memory = pages(2 * (size_t)LIST_MAX);
        if (!memory)
            return MW_ERR_MEMORY;
        own_facts(&own, memory + LIST_MAX, MW_ENV_PROCESS);
    }
    enum mw_status status = store(file, process, may_wait, &own, memory, emit, context);
    if (status != MW_ERR_NOT_FOUND) {
        munmap(memory, 2 * (size_t)LIST_MAX);
        memory = NULL;
    }
    return status;
}
