/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces made by hand for the reader's tests: a file grows in memory chunk by chunk, then goes into
 * a folder of the test's own. For cmocka tests only.
 */
#ifndef MW_TEST_READER_FIXTURE_H
#define MW_TEST_READER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "mpiwatch/trace.h"
#include "trace/chunk.h"
#include "trace/encoder.h"
#include "trace/fields.h"

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

static inline void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
    if (size > bytes->capacity - bytes->size) {
        bytes->capacity = (bytes->size + size) * 2;
        bytes->data = realloc(bytes->data, bytes->capacity);
        assert_non_null(bytes->data);
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static inline void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

static inline void add_chunk_raw(struct bytes *file, unsigned type, unsigned flags, uint64_t key,
                                 const void *payload, size_t length, size_t raw_length)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, type, flags, key, payload, (uint32_t)length, (uint32_t)raw_length);
    bytes_add(file, header, sizeof header);
    bytes_add(file, payload, length);
}

static inline void add_chunk(struct bytes *file, unsigned type, uint64_t key,
                             const struct mw_buffer *buffer)
{
    assert_false(buffer->overflow);
    add_chunk_raw(file, type, 0, key, buffer->data, buffer->size, buffer->size);
}

static inline void add_chunk_zstd(struct bytes *file, unsigned type, uint64_t key, const void *data,
                                  size_t size)
{
    size_t room = ZSTD_compressBound(size);
    void *frame = malloc(room);
    assert_non_null(frame);
    size_t length = ZSTD_compress(frame, room, data, size, 1);
    assert_false(ZSTD_isError(length));
    add_chunk_raw(file, type, MW_CHUNK_FLAG_ZSTD, key, frame, length, size);
    free(frame);
}

#define BUFFER(name)                                                                               \
    uint8_t name##_memory[4096];                                                                   \
    struct mw_buffer name;                                                                         \
    mw_buffer_init(&name, name##_memory, sizeof name##_memory)

static inline void add_process(struct bytes *file, uint64_t key, const char *host, uint64_t pid)
{
    BUFFER(b);
    mw_put_text(&b, MW_F_PROCESS_host, host);
    mw_put_u64(&b, MW_F_PROCESS_pid, pid);
    mw_put_u64(&b, MW_F_PROCESS_clock, MW_CLOCK_TSC);
    add_chunk(file, MW_CHUNK_PROCESS, key, &b);
}

static inline void add_rank(struct bytes *file, uint64_t key, uint64_t rank, uint64_t size)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_RANK_rank, rank);
    mw_put_u64(&b, MW_F_RANK_size, size);
    add_chunk(file, MW_CHUNK_RANK, key, &b);
}

static inline void add_health(struct bytes *file, uint64_t key, const char *code, uint64_t time)
{
    BUFFER(b);
    mw_put_text(&b, MW_F_HEALTH_code, code);
    mw_put_u64(&b, MW_F_HEALTH_time, time);
    add_chunk(file, MW_CHUNK_HEALTH, key, &b);
}

static inline void add_clock(struct bytes *file, uint64_t key, uint64_t time, uint64_t raw,
                             uint64_t real)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_CLOCK_time, time);
    mw_put_u64(&b, MW_F_CLOCK_raw, raw);
    mw_put_u64(&b, MW_F_CLOCK_real, real);
    add_chunk(file, MW_CHUNK_CLOCK, key, &b);
}

/* Events numbered first .. first + count - 1 of a thread; `make` says what each is. */
static inline void add_events(struct bytes *file, uint64_t key, uint32_t thread, uint64_t first,
                              size_t count, struct mw_raw_event (*make)(uint64_t number))
{
    enum { RING = 1 << 16 };
    struct mw_raw_event *ring = calloc(RING, sizeof *ring);
    void *memory = aligned_alloc(4096, (mw_encoder_memory() + 4095) & ~(size_t)4095);
    assert_true(ring && memory && count <= RING);
    memset(memory, 0, mw_encoder_memory());
    struct mw_encoder *encoder = mw_encoder_create(memory, mw_encoder_memory(), 1);
    assert_non_null(encoder);
    for (uint64_t n = first; n < first + count; n++)
        ring[n & (RING - 1)] = make(n);
    mw_encoder_begin(encoder, thread, first, 0);
    for (size_t done = 0; done < count;) {
        size_t step = count - done < MW_ENCODER_STEP ? count - done : MW_ENCODER_STEP;
        assert_int_equal(mw_encoder_step(encoder, ring, RING - 1, first + done, step), MW_OK);
        done += step;
    }
    const uint8_t *chunk;
    size_t size;
    assert_int_equal(mw_encoder_end(encoder, key, &chunk, &size), MW_OK);
    bytes_add(file, chunk, size);
    free(memory);
    free(ring);
}

/* An event that tells its number. */
static inline struct mw_raw_event event_call(uint64_t number)
{
    return (struct mw_raw_event){.kind = MW_EVENT_CALL,
                                 .function = (uint16_t)(1 + number % 50),
                                 .start = 1000 + number * 10,
                                 .end = 1005 + number * 10,
                                 .peer = (int32_t)(number % 7),
                                 .tag = (int32_t)(number % 1000000)};
}

/* A folder of the test's own. */
struct place {
    char path[256];
};

static inline void place_make(struct place *place)
{
    const char *folder = getenv("TMPDIR");
    snprintf(place->path, sizeof place->path, "%s/reader-XXXXXX", folder ? folder : P_tmpdir);
    assert_non_null(mkdtemp(place->path));
}

static inline void place_remove(struct place *place)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", place->path);
    assert_int_equal(system(command), 0);
}

/* The path of a file in the place; the next call but three overwrites it. */
static inline const char *place_file(const struct place *place, const char *name)
{
    static char paths[4][600];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", place->path, name);
    return path;
}

static inline const char *place_write(const struct place *place, const char *name,
                                      const struct bytes *bytes)
{
    const char *path = place_file(place, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (bytes->size)
        assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline mw_trace *open_flags(const char *path, unsigned flags)
{
    mw_trace *trace = NULL;
    assert_int_equal(mw_trace_open(&path, 1, flags, &trace, NULL), MW_OK);
    assert_non_null(trace);
    return trace;
}

static inline mw_trace *open_one(const char *path)
{
    return open_flags(path, 0);
}

static inline enum mw_status open_status(const char *path)
{
    mw_trace *trace = NULL;
    size_t failed = 99;
    enum mw_status status = mw_trace_open(&path, 1, 0, &trace, &failed);
    int error = errno;
    if (status == MW_OK)
        mw_trace_close(trace);
    else
        assert_int_equal(failed, 0);
    errno = error;
    return status;
}

/* The trace that a file with these bytes is. */
static inline mw_trace *open_bytes(const struct place *place, const struct bytes *bytes)
{
    return open_one(place_write(place, "t.mpiw", bytes));
}

#endif
