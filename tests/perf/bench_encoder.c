/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the encoder costs: nanoseconds and bytes an event, the longest single step, the end of a
 * chunk. Streams are made to resemble programs: LULESH (27-point halo exchange with jittered
 * times), a ping-pong, HPCG (many collectives and blocking messages), and one whose every event is
 * new. A program of its own, not a test:
 *
 *     bench_encoder [level [events-per-chunk [rounds [shift [stream]]]]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpiwatch/format.h"
#include "trace/clock.h"
#include "trace/encoder.h"

enum { RING = 1 << 18 }; /* larger than the caches, as a ring is when it is flushed */

struct stream {
    struct mw_raw_event *ring;
    size_t count;
    uint64_t clock, random;
    uint32_t request, ordinal[1024];
};

static uint64_t random_next(struct stream *stream)
{
    stream->random ^= stream->random << 13;
    stream->random ^= stream->random >> 7;
    stream->random ^= stream->random << 17;
    return stream->random;
}

/* Time passes: `usual` ticks with some noise, and now and then much more. */
static uint64_t jitter(struct stream *stream, uint64_t usual)
{
    uint64_t random = random_next(stream);
    uint64_t noise = (random & 0xffff) * (random >> 16 & 0xffff) % (usual / 4 + 1);
    if ((random >> 32) % 100 == 0)
        noise += usual * ((random >> 40) % 16);
    return usual + noise;
}

static struct mw_raw_event *event_add(struct stream *stream, unsigned kind, unsigned function,
                                      unsigned flags, unsigned site)
{
    struct mw_raw_event *event = &stream->ring[stream->count++];
    memset(event, 0, sizeof *event);
    event->kind = (uint8_t)kind;
    event->function = (uint16_t)function;
    event->flags = flags;
    event->site = site;
    event->comm = 1;
    event->peer = event->tag = MW_PEER_NONE;
    return event;
}

static void event_time(struct stream *stream, struct mw_raw_event *event, uint64_t gap,
                       uint64_t duration)
{
    event->start = stream->clock += jitter(stream, gap);
    event->end = stream->clock += jitter(stream, duration);
}

static void message(struct stream *stream, unsigned kind, unsigned function, unsigned flags,
                    int peer, int tag, uint64_t bytes, unsigned slot, uint64_t gap,
                    uint64_t duration)
{
    struct mw_raw_event *event =
        event_add(stream, kind, function, flags | MW_EVENT_COUNTED, 10 + slot);
    event->peer = peer;
    event->tag = tag;
    *(kind == MW_EVENT_SEND ? &event->bytes : &event->bytes_in) = bytes;
    event->ordinal = stream->ordinal[slot]++;
    if (flags & MW_EVENT_REQUEST)
        event->request = stream->request++;
    event_time(stream, event, gap, duration);
}

static void wait_all(struct stream *stream, uint32_t first, unsigned count, unsigned flags,
                     const uint64_t *received, uint64_t duration)
{
    for (unsigned i = 0; i < count; i++) {
        struct mw_raw_event *event =
            event_add(stream, MW_EVENT_DONE, 9, MW_EVENT_PART | MW_EVENT_REQUEST | flags, 5);
        event->request = first + i;
        event->bytes_in = received ? received[i] : 0;
    }
    event_time(stream, event_add(stream, MW_EVENT_CALL, 9, 0, 5), 300, duration);
}

static void collective(struct stream *stream, unsigned function, uint64_t bytes, uint64_t gap,
                       uint64_t duration)
{
    struct mw_raw_event *event =
        event_add(stream, MW_EVENT_COLL, function, MW_EVENT_COUNTED, 7 + function);
    event->peer = -1;
    event->bytes = event->bytes_in = bytes;
    event->ordinal = stream->ordinal[1023]++;
    event_time(stream, event, gap, duration);
}

static void lulesh(struct stream *stream)
{
    uint64_t sizes[26];
    uint32_t first = stream->request;
    for (unsigned i = 0; i < 26; i++) {
        sizes[i] = i < 6 ? 64800 : i < 18 ? 2160 : 72;
        message(stream, MW_EVENT_RECV, 12, MW_EVENT_REQUEST, (int)(i * 7 % 27), 1024, sizes[i], i,
                150, 600);
    }
    for (unsigned i = 0; i < 26; i++)
        message(stream, MW_EVENT_SEND, 11, MW_EVENT_REQUEST, (int)(i * 7 % 27), 1024, sizes[i],
                100 + i, 2500, i < 6 ? 9000 : 2500);
    wait_all(stream, first + 26, 26, 0, NULL, 20000);
    wait_all(stream, first, 26, MW_EVENT_STATUS, sizes, 60000);
    collective(stream, 30, 8, 4000000, 300000);
}

static void ping_pong(struct stream *stream)
{
    message(stream, MW_EVENT_SEND, 1, 0, 1, 1, 8, 0, 130, 700);
    message(stream, MW_EVENT_RECV, 2, MW_EVENT_STATUS, 1, 1, 8, 1, 130, 1500);
}

static void hpcg(struct stream *stream)
{
    uint32_t first = stream->request;
    for (unsigned i = 0; i < 7; i++)
        message(stream, MW_EVENT_RECV, 12, MW_EVENT_REQUEST, (int)i + 1, 99, 8 * (i + 1), i, 200,
                500);
    for (unsigned i = 0; i < 7; i++)
        message(stream, MW_EVENT_SEND, 1, 0, (int)i + 1, 99, 8 * (i + 1), 100 + i, 800, 1500);
    for (unsigned i = 0; i < 7; i++) {
        struct mw_raw_event *event =
            event_add(stream, MW_EVENT_DONE, 8, MW_EVENT_REQUEST | MW_EVENT_STATUS, 40);
        event->request = first + i;
        event->bytes_in = 8 * (i + 1);
        event_time(stream, event, 150, 400);
    }
    if (random_next(stream) % 3 == 0)
        collective(stream, 30, 8, 100000, 20000);
}

/* Nothing repeats: the worst that a program could do. */
static void chaos(struct stream *stream)
{
    uint64_t random = random_next(stream);
    message(stream, MW_EVENT_SEND, 11, MW_EVENT_REQUEST, (int)(random % 100000),
            (int)(random >> 44), random >> 40, (unsigned)(random >> 20) % 512, 100000, 10000000);
}

static int time_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct result {
    uint64_t bytes, events, spent, chunks, longest_end;
    uint64_t *steps;
    size_t step_count;
};

static uint64_t now(void)
{
    return mw_clock_ns(CLOCK_MONOTONIC);
}

static void chunk_end(struct mw_encoder *encoder, struct result *result)
{
    const uint8_t *chunk;
    size_t size;
    uint64_t before = now();
    if (mw_encoder_end(encoder, 1, &chunk, &size) != MW_OK)
        abort();
    uint64_t took = now() - before;
    result->longest_end = took > result->longest_end ? took : result->longest_end;
    result->spent += took;
    result->bytes += size;
    result->chunks++;
    result->events += mw_encoder_events(encoder);
}

/* Encodes the whole stream in chunks of at most `per_chunk` events. */
static void encode(struct mw_encoder *encoder, const struct stream *stream, size_t per_chunk,
                   unsigned shift, struct result *result)
{
    size_t done = 0;
    while (done < stream->count) {
        size_t in_chunk = 0;
        uint64_t before = now();
        mw_encoder_begin(encoder, 0, done, shift);
        result->spent += now() - before;
        while (done < stream->count && in_chunk < per_chunk) {
            size_t count = stream->count - done;
            if (count > MW_ENCODER_STEP)
                count = MW_ENCODER_STEP;
            before = now();
            enum mw_status status = mw_encoder_step(encoder, stream->ring, UINT64_MAX, done, count);
            uint64_t took = now() - before;
            result->spent += took;
            result->steps[result->step_count++] = took;
            if (status == MW_ERR_FULL)
                break;
            if (status != MW_OK)
                abort();
            done += count;
            in_chunk += count;
        }
        chunk_end(encoder, result);
    }
}

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void measure(const char *name, void (*make)(struct stream *), int level, size_t per_chunk,
                    unsigned rounds, unsigned shift)
{
    struct stream stream = {.ring = map(RING * sizeof(struct mw_raw_event)),
                            .random = 88172645463325252u};
    while (stream.count < RING - 256)
        make(&stream);
    struct mw_encoder *encoder =
        mw_encoder_create(map(mw_encoder_memory()), mw_encoder_memory(), level);
    if (!encoder)
        abort();
    size_t room = rounds * (RING / MW_ENCODER_STEP * 2 + 16);
    struct result result = {.steps = map(room * sizeof(uint64_t))};
    for (unsigned i = 0; i < rounds; i++)
        encode(encoder, &stream, per_chunk, shift, &result);
    qsort(result.steps, result.step_count, sizeof(uint64_t), time_order);
    printf("%-10s %6.2f ns/event %6.2f B/event  step median %5.1f p99 %5.1f longest %5.1f us  end "
           "%5.1f us"
           "  %6.0f events/chunk\n",
           name, (double)result.spent / result.events, (double)result.bytes / result.events,
           result.steps[result.step_count / 2] / 1e3,
           result.steps[result.step_count * 99 / 100] / 1e3,
           result.steps[result.step_count - 1] / 1e3, result.longest_end / 1e3,
           (double)result.events / result.chunks);
    munmap(stream.ring, RING * sizeof(struct mw_raw_event));
    munmap(result.steps, room * sizeof(uint64_t));
    munmap(encoder, mw_encoder_memory());
}

int main(int argc, char **argv)
{
    int level = argc > 1 ? atoi(argv[1]) : 1;
    size_t per_chunk = argc > 2 ? (size_t)atol(argv[2]) : 16384;
    unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
    unsigned shift = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
    printf("level %d, chunks of %zu events, shift %u, encoder memory %zu KiB\n", level, per_chunk,
           shift, mw_encoder_memory() / 1024);
    static const struct {
        const char *name;
        void (*make)(struct stream *);
    } streams[] = {{"lulesh", lulesh}, {"hpcg", hpcg}, {"ping-pong", ping_pong}, {"chaos", chaos}};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        if (argc <= 5 || strcmp(argv[5], streams[i].name) == 0)
            measure(streams[i].name, streams[i].make, level, per_chunk, rounds, shift);
    return 0;
}
