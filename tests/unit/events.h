/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Help for tests of EVENTS chunks: encoders, what must come out of a raw event, random numbers that
 * are the same everywhere. For cmocka tests only: a failure ends the test.
 */
#ifndef MW_TEST_EVENTS_H
#define MW_TEST_EVENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "trace/chunk.h"
#include "trace/decoder.h"
#include "trace/encoder.h"

static inline uint64_t random_next(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline struct mw_encoder *encoder_new(int level)
{
    void *memory =
        mmap(NULL, mw_encoder_memory(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    struct mw_encoder *encoder = mw_encoder_create(memory, mw_encoder_memory(), level);
    assert_ptr_equal(encoder, memory);
    return encoder;
}

static inline void encoder_delete(struct mw_encoder *encoder)
{
    munmap(encoder, mw_encoder_memory());
}

/* What the norm makes of a raw event. */
static inline struct mw_event event_expected(const struct mw_raw_event *raw, uint64_t thread,
                                             unsigned shift)
{
    struct mw_event event = {
        .kind = (enum mw_event_kind)raw->kind,
        .flags = raw->flags,
        .function = raw->function,
        .comm = (int64_t)raw->comm - 1,
        .peer = raw->peer,
        .tag = raw->tag,
        .bytes = raw->bytes,
        .bytes_in = raw->bytes_in,
        .site = raw->site,
        .ordinal = raw->flags & MW_EVENT_COUNTED ? (int64_t)raw->ordinal : -1,
    };
    if (!(raw->flags & MW_EVENT_PART)) {
        event.start = raw->start >> shift << shift;
        event.end = raw->end >> shift << shift;
    }
    if (raw->flags & MW_EVENT_REQUEST) {
        event.request = raw->request;
        event.origin = thread;
    }
    if (raw->flags & MW_EVENT_FOREIGN) {
        event.flags &= ~(uint32_t)MW_EVENT_SPACES;
        event.origin = raw->origin | raw->flags >> MW_ORIGIN_HIGH_SHIFT << 8;
    }
    if (raw->kind == MW_EVENT_POLL) {
        event.polls = raw->flags & MW_EVENT_ERROR ? 1 : raw->bytes;
        event.busy = raw->bytes_in >> shift << shift;
        event.bytes = event.bytes_in = 0;
    }
    if (raw->flags & MW_EVENT_OFFSET) {
        event.offset = (int64_t)raw->bytes_in;
        event.bytes_in = 0;
    }
    if (raw->flags & MW_EVENT_ERROR) {
        event.code = (int64_t)raw->bytes;
        event.bytes = 0;
    }
    return event;
}

static inline void event_check(const struct mw_event *got, const struct mw_event *expected)
{
#define SAME(member) assert_true(got->member == expected->member)
    SAME(kind);
    assert_int_equal(got->flags & ~(uint32_t)MW_EVENT_ORDINAL, expected->flags);
    SAME(function);
    SAME(start);
    SAME(end);
    SAME(comm);
    SAME(peer);
    SAME(tag);
    SAME(bytes);
    SAME(bytes_in);
    SAME(site);
    SAME(request);
    SAME(origin);
    SAME(ordinal);
    SAME(polls);
    SAME(busy);
    SAME(code);
    SAME(offset);
#undef SAME
}

/* Opens a framed chunk after checking its header. */
static inline struct mw_decoder *chunk_open(const uint8_t *chunk, size_t size, uint64_t process)
{
    struct mw_chunk_header header;
    struct mw_decoder *decoder;
    assert_true(size >= MW_CHUNK_HEADER_SIZE);
    assert_int_equal(mw_chunk_parse(chunk, &header), MW_OK);
    assert_int_equal(header.type, MW_CHUNK_EVENTS);
    assert_int_equal(header.flags, 0);
    assert_true(header.process == process);
    assert_int_equal(header.length, size - MW_CHUNK_HEADER_SIZE);
    assert_int_equal(header.raw_length, header.length);
    assert_int_equal(header.check, mw_checksum(chunk + MW_CHUNK_HEADER_SIZE, header.length));
    assert_int_equal(
        mw_decoder_open(chunk + MW_CHUNK_HEADER_SIZE, header.length, header.raw_length, &decoder),
        MW_OK);
    return decoder;
}

/* Decodes a chunk and compares it with the raw events that went in, ring[number & mask]. Returns
 * the next number. */
static inline uint64_t chunk_check(const uint8_t *chunk, size_t size,
                                   const struct mw_raw_event *ring, uint64_t mask, uint64_t thread,
                                   unsigned shift)
{
    struct mw_decoder *decoder = chunk_open(chunk, size, 4711);
    const struct mw_events_head *head = mw_decoder_head(decoder);
    assert_true(head->thread == thread);
    assert_true(head->shift == shift);
    uint64_t number = head->first;
    const struct mw_event *events;
    size_t count;
    enum mw_status status;
    while ((status = mw_decoder_step(decoder, &events, &count)) == MW_OK)
        for (size_t i = 0; i < count; i++, number++) {
            struct mw_event expected = event_expected(&ring[number & mask], thread, shift);
            event_check(&events[i], &expected);
        }
    assert_int_equal(status, MW_END);
    assert_true(number == head->first + head->count);
    mw_decoder_close(decoder);
    return number;
}

/* Encodes ring[0..count) in steps of at most `step`, decodes every chunk and compares. Returns the
 * bytes. */
static inline size_t round_trip(struct mw_encoder *encoder, const struct mw_raw_event *ring,
                                size_t count, size_t step, unsigned shift)
{
    size_t bytes = 0;
    uint64_t done = 0, checked = 0;
    while (done < count) {
        enum mw_status status = MW_OK;
        mw_encoder_begin(encoder, 3, done, shift);
        uint64_t begun = done;
        while (done < count && status == MW_OK) {
            size_t now = count - done < step ? count - done : step;
            status = mw_encoder_step(encoder, ring, UINT64_MAX, done, now);
            if (status == MW_OK)
                done += now;
            assert_true(mw_encoder_events(encoder) == done - begun);
        }
        assert_true(status == MW_OK || status == MW_ERR_FULL);
        assert_true(done > begun);
        const uint8_t *chunk;
        size_t size;
        assert_int_equal(mw_encoder_end(encoder, 4711, &chunk, &size), MW_OK);
        checked = chunk_check(chunk, size, ring, UINT64_MAX, 3, shift);
        assert_true(checked == done);
        bytes += size;
    }
    return bytes;
}

#endif
