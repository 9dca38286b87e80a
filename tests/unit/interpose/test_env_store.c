/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chunks by which a node's processes share the facts of the environment: bases, differences,
 * what fits into none, and files that others have damaged.
 */
#include "environment_fixture.h"

#include <fcntl.h>
#include <zstd.h>

#include "mpiwatch/format.h"
#include "probe/env_store.h"
#include "trace/chunk.h"
#include "trace/fields.h"

struct file {
    int fd;
    unsigned chunks;
    size_t last_size;
};

static void file_emit(const uint8_t *chunk, size_t size, void *context)
{
    struct file *file = context;
    assert_int_equal(write(file->fd, chunk, size), size);
    file->chunks++;
    file->last_size = size;
}

static struct file file_open(void)
{
    char path[256];
    static int number;
    snprintf(path, sizeof path, "%s/node%d.mpiw", root, number++);
    struct file file = {open(path, O_RDWR | O_CREAT | O_APPEND, 0600), 0, 0};
    assert_true(file.fd >= 0);
    return file;
}

static void chunk_put(struct file *file, unsigned type, uint64_t process, const void *payload,
                      size_t size)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, type, 0, process, payload, (uint32_t)size, (uint32_t)size);
    file_emit(header, sizeof header, file);
    file_emit(payload, size, file);
    file->chunks -= 2;
}

static void text_of(const struct mw_field *field, char *out, size_t capacity)
{
    size_t size = field->size < capacity - 1 ? field->size : capacity - 1;
    memcpy(out, field->data, size);
    out[size] = '\0';
}

/* The facts that a reader would give a process: written by the norm, apart from env_store.c. */
static void facts_read(int fd, uint64_t process, struct mw_fact_list *list, unsigned *removed,
                       int own)
{
    static uint8_t stored[1 << 20], raw[1 << 20];
    static char text[4][1 << 15];
    uint8_t bytes[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header header;
    uint64_t base = 0;
    for (off_t at = 0; pread(fd, bytes, sizeof bytes, at) == sizeof bytes;
         at += MW_CHUNK_HEADER_SIZE + header.length) {
        assert_int_equal(mw_chunk_parse(bytes, &header), MW_OK);
        if (header.type != MW_CHUNK_ENVIRONMENT || header.process != process)
            continue;
        assert_int_equal(pread(fd, stored, header.length, at + MW_CHUNK_HEADER_SIZE),
                         header.length);
        assert_int_equal(mw_checksum(stored, header.length), header.check);
        const uint8_t *data = stored;
        if (header.flags & MW_CHUNK_FLAG_ZSTD) {
            assert_int_equal(ZSTD_decompress(raw, sizeof raw, stored, header.length),
                             header.raw_length);
            data = raw;
        }
        struct mw_reader reader = {data, data + header.raw_length}, first = reader;
        struct mw_field field;
        while (mw_field_next(&first, &field) == MW_OK)
            if (field.id == MW_F_ENVIRONMENT_base)
                base = field.value;
        if (base && own) {
            facts_read(fd, base, list, removed, 1);
            own = 0;
            at -= MW_CHUNK_HEADER_SIZE + header.length; /* again, on top of the base */
            continue;
        }
        while (mw_field_next(&reader, &field) == MW_OK) {
            if (field.id != MW_F_ENVIRONMENT_fact)
                continue;
            struct mw_reader record = {field.data, field.data + field.size};
            struct mw_field part;
            int gone = 0;
            memset(text, 0, sizeof text);
            while (mw_field_next(&record, &part) == MW_OK) {
                if (part.id == MW_F_FACT_removed)
                    gone = 1;
                else
                    text_of(&part, text[part.id - 1], sizeof text[0]);
            }
            *removed += (unsigned)gone;
            list->sink.fact(&list->sink, text[0], text[1], gone ? "(removed)" : text[2], text[3]);
        }
    }
}

static void same_facts(const struct mw_fact_list *expected, const struct mw_fact_list *found)
{
    struct mw_fact a;
    for (size_t at = 0; mw_fact_list_next(expected, &at, &a);)
        has_fact_at(found, a.section, a.key, a.value, __LINE__);
}

static unsigned remaining(const struct mw_fact_list *list)
{
    struct mw_fact fact;
    unsigned count = 0;
    for (size_t at = 0; mw_fact_list_next(list, &at, &fact);)
        count += strcmp(fact.value, "(removed)") != 0;
    return count;
}

static void test_store(void **state)
{
    struct file file = file_open();
    struct mw_fact_list read;
    unsigned removed = 0;
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    chunk_put(&file, MW_CHUNK_FILE, 22, "x", 1);
    assert_int_equal(mw_env_first_process(file.fd), 11);
    setenv("UCX_ONLY_FIRST", "1", 1);
    setenv("UCX_RANK", "0", 1);
    /* the second comes too early, and waits */
    assert_int_equal(mw_env_store(file.fd, 22, 1, file_emit, &file), MW_ERR_NOT_FOUND);
    assert_int_equal(file.chunks, 0);
    allocations = 0;
    assert_int_equal(mw_env_store(file.fd, 11, 1, file_emit, &file), MW_OK);
    assert_int_equal(allocations, 0);
    assert_int_equal(file.chunks, 3);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 11, &read, &removed, 1);
    assert_int_equal(removed, 0);
    assert_non_null(value_of(&read, "system", "kernel"));
    has_fact_at(&read, "env", "UCX_RANK", "0", __LINE__);
    /* a later chunk of the first is no part of what others compare with */
    uint8_t memory[256];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    size_t mark = mw_put_begin(&buffer, MW_F_ENVIRONMENT_fact);
    mw_put_text(&buffer, MW_F_FACT_section, "late");
    mw_put_text(&buffer, MW_F_FACT_key, "k");
    mw_put_end(&buffer, mark);
    chunk_put(&file, MW_CHUNK_ENVIRONMENT, 11, buffer.data, buffer.size);
    /* the second writes what differs */
    setenv("UCX_RANK", "1", 1);
    setenv("UCX_ONLY_SECOND", "1", 1);
    unsetenv("UCX_ONLY_FIRST");
    file.chunks = 0;
    assert_int_equal(mw_env_store(file.fd, 22, 1, file_emit, &file), MW_OK);
    assert_int_equal(file.chunks, 1);
    assert_true(file.last_size < 400);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 22, &read, &removed, 1);
    assert_int_equal(removed, 1);
    has_fact_at(&read, "env", "UCX_RANK", "1", __LINE__);
    has_fact_at(&read, "env", "UCX_ONLY_SECOND", "1", __LINE__);
    has_fact_at(&read, "env", "UCX_ONLY_FIRST", "(removed)", __LINE__);
    assert_non_null(value_of(&read, "system", "kernel"));
    mw_environment_collect_at(&fresh()->sink, MW_ENV_PROCESS, "", 5000000000u);
    same_facts(&facts, &read);
    /* one that differs in nothing still names its base */
    file.chunks = 0;
    setenv("UCX_RANK", "0", 1);
    setenv("UCX_ONLY_FIRST", "1", 1);
    unsetenv("UCX_ONLY_SECOND");
    assert_int_equal(mw_env_store(file.fd, 33, 0, file_emit, &file), MW_OK);
    assert_int_equal(file.chunks, 1);
    assert_true(file.last_size < 64);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 33, &read, &removed, 1);
    has_fact_at(&read, "env", "UCX_RANK", "0", __LINE__);
    unsetenv("UCX_RANK");
    unsetenv("UCX_ONLY_FIRST");
    close(file.fd);
}

/* The first has died before it wrote: another one writes all. */
static void test_store_without_first(void **state)
{
    struct file file = file_open();
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    assert_int_equal(mw_env_store(file.fd, 22, 1, file_emit, &file), MW_ERR_NOT_FOUND);
    assert_int_equal(mw_env_store(file.fd, 22, 0, file_emit, &file), MW_OK);
    assert_int_equal(file.chunks, 3);
    struct mw_env_base base;
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_OK);
    assert_int_equal(base.process, 22);
    close(file.fd);
}

/* More facts than one chunk holds. */
static void test_store_much(void **state)
{
    struct file file = file_open();
    struct mw_fact_list read, node;
    static char node_memory[1024];
    unsigned removed = 0;
    char key[32], value[400];
    fresh();
    srand(3);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "UCX_%d", i);
        for (size_t k = 0; k < sizeof value - 1; k++)
            value[k] = (char)('a' + rand() % 26);
        value[sizeof value - 1] = '\0';
        facts.sink.fact(&facts.sink, "env", key, value, "environment");
    }
    mw_fact_list_init(&node, node_memory, sizeof node_memory);
    node.sink.fact(&node.sink, "system", "kernel", "6", "x");
    assert_int_equal(mw_env_emit_full(11, &facts, &node, file_emit, &file), MW_OK);
    assert_true(file.chunks > 3);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 11, &read, &removed, 1);
    same_facts(&facts, &read);
    assert_int_equal(remaining(&read), 2001);
    struct mw_env_base base;
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_OK);
    assert_int_equal(remaining(&base.facts), 2000);
    close(file.fd);
}

/* A fact that fits in no chunk is left out, its neighbours are not. */
static void test_store_giant(void **state)
{
    struct file file = file_open();
    struct mw_fact_list read, node;
    static char node_memory[64];
    unsigned removed = 0;
    char *giant = malloc(300001);
    memset(giant, 'g', 300000);
    giant[300000] = '\0';
    fresh();
    facts.sink.fact(&facts.sink, "env", "A", "1", "environment");
    facts.sink.fact(&facts.sink, "env", "GIANT", giant, "environment");
    facts.sink.fact(&facts.sink, "env", "Z", "2", "environment");
    mw_fact_list_init(&node, node_memory, sizeof node_memory);
    mw_env_emit_full(11, &facts, &node, file_emit, &file);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 11, &read, &removed, 1);
    has_fact_at(&read, "env", "A", "1", __LINE__);
    has_fact_at(&read, "env", "Z", "2", __LINE__);
    assert_int_equal(remaining(&read), 2);
    free(giant);
    close(file.fd);
}

/* A file that others have damaged, or that ends in the middle of a write. */
static void test_hostile_file(void **state)
{
    struct file file = file_open();
    struct mw_env_base base;
    static uint8_t bytes[1 << 18], broken[1 << 18];
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_ERR_NOT_FOUND);
    assert_int_equal(mw_env_base_find(-1, other_memory, LIST_SIZE, &base), MW_ERR_NOT_FOUND);
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    mw_env_store(file.fd, 11, 0, file_emit, &file);
    off_t size = lseek(file.fd, 0, SEEK_END);
    assert_int_equal(pread(file.fd, bytes, (size_t)size, 0), size);
    close(file.fd);
    struct file other = file_open();
    for (off_t cut = 0; cut < size; cut += cut < size - 50 ? 1 + size / 97 : 1) {
        assert_int_equal(ftruncate(other.fd, 0), 0);
        file_emit(bytes, (size_t)cut, &other);
        assert_int_equal(mw_env_base_find(other.fd, other_memory, LIST_SIZE, &base),
                         MW_ERR_NOT_FOUND);
    }
    srand(5);
    for (int round = 0; round < 3000; round++) {
        memcpy(broken, bytes, (size_t)size);
        /* headers are kept right, so that the payload's own checks are what is tried */
        size_t at = (size_t)rand() % (size_t)size;
        broken[at] ^= (uint8_t)(1 + rand() % 255);
        assert_int_equal(ftruncate(other.fd, 0), 0);
        file_emit(broken, (size_t)size, &other);
        enum mw_status status = mw_env_base_find(other.fd, other_memory, LIST_SIZE, &base);
        assert_true(status == MW_OK || status == MW_ERR_NOT_FOUND);
    }
    /* payloads of any content under right checksums */
    for (int round = 0; round < 3000; round++) {
        size_t length = (size_t)rand() % 300;
        uint8_t header[MW_CHUNK_HEADER_SIZE];
        for (size_t i = 0; i < length; i++)
            broken[i] = (uint8_t)(i < 2 ? "\x02\x01"[i] : rand() % (round % 2 ? 256 : 12));
        unsigned flags = round % 3 == 0 ? MW_CHUNK_FLAG_ZSTD : 0;
        assert_int_equal(ftruncate(other.fd, 0), 0);
        for (int copy = 0; copy < 2; copy++) {
            mw_chunk_frame(header, MW_CHUNK_ENVIRONMENT, flags, 7, broken, (uint32_t)length,
                           flags ? (uint32_t)rand() : (uint32_t)length);
            file_emit(header, sizeof header, &other);
            file_emit(broken, length, &other);
            broken[1] = 0; /* the first has node = 1, the second has not: no base before it */
        }
        mw_env_base_find(other.fd, other_memory, LIST_SIZE, &base);
    }
    close(other.fd);
}

/* A base that stands too far back is none: reading must stay short. */
static void test_far_base(void **state)
{
    struct file file = file_open();
    static uint8_t filler[700000];
    struct mw_env_base base;
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    chunk_put(&file, MW_CHUNK_EVENTS, 11, filler, sizeof filler);
    off_t near = lseek(file.fd, 0, SEEK_END);
    mw_env_store(file.fd, 11, 0, file_emit, &file);
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_OK);
    assert_int_equal(ftruncate(file.fd, near), 0);
    chunk_put(&file, MW_CHUNK_EVENTS, 11, filler, sizeof filler);
    mw_env_store(file.fd, 11, 0, file_emit, &file);
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_ERR_NOT_FOUND);
    close(file.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store),        cmocka_unit_test(test_store_without_first),
        cmocka_unit_test(test_store_much),   cmocka_unit_test(test_store_giant),
        cmocka_unit_test(test_hostile_file), cmocka_unit_test(test_far_base),
    };
    return cmocka_run_group_tests_name("environment chunks", tests, set_up, tear_down);
}
