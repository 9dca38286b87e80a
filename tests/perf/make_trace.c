/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a large trace of a job that never was, to see what the analyzer needs for it: RANKS ranks
 * in a ring, PER_NODE a node, exchange messages with both neighbours STEPS times (four messages, a
 * Waitall and an Allreduce a step: 10 events), on clocks that drift apart. Usage: make_trace FILE
 * RANKS STEPS PER_NODE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpiwatch/format.h"
#include "trace/chunk.h"
#include "trace/encoder.h"
#include "trace/fields.h"

#define EVENTS_A_STEP 10u
#define STEP_NS       100000u
#define RING          4096u
#define EPOCH         1700000000000000000u

/* Numbers of functions in interpose/api/mpi.table. */
enum { ISEND, IRECV, WAITALL, ALLREDUCE, FUNCTIONS };
static const uint16_t functions[FUNCTIONS] = {14, 15, 17, 53};

struct job {
    FILE *out;
    uint64_t ranks, steps, per_node;
};

static void put_chunk(FILE *out, unsigned type, uint64_t key, const struct mw_buffer *buffer)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, type, 0, key, buffer->data, (uint32_t)buffer->size,
                   (uint32_t)buffer->size);
    fwrite(header, 1, sizeof(header), out);
    fwrite(buffer->data, 1, buffer->size, out);
}

/* A node's clock is ahead of others, and runs a little faster. */
static uint64_t clock_of(const struct job *job, uint64_t rank, uint64_t ns)
{
    uint64_t node = rank / job->per_node;
    return 1000000000 + node % 7 * 300000 + ns + ns / 1000000 * (node % 5);
}

static void put_metadata(const struct job *job, uint64_t rank)
{
    uint8_t memory[1024];
    char host[32];
    struct mw_buffer buffer;
    uint64_t end = clock_of(job, rank, job->steps * STEP_NS);
    snprintf(host, sizeof(host), "node%llu", (unsigned long long)(rank / job->per_node));
    mw_buffer_init(&buffer, memory, sizeof(memory));
    mw_put_text(&buffer, MW_F_PROCESS_host, host);
    mw_put_u64(&buffer, MW_F_PROCESS_pid, 1000 + rank);
    mw_put_u64(&buffer, MW_F_PROCESS_clock, MW_CLOCK_MONOTONIC);
    mw_put_u64(&buffer, MW_F_PROCESS_began, 1);
    put_chunk(job->out, MW_CHUNK_PROCESS, rank + 1, &buffer);
    mw_buffer_init(&buffer, memory, sizeof(memory));
    mw_put_u64(&buffer, MW_F_RANK_rank, rank);
    mw_put_u64(&buffer, MW_F_RANK_size, job->ranks);
    put_chunk(job->out, MW_CHUNK_RANK, rank + 1, &buffer);
    for (int i = 0; i < 2; i++) {
        uint64_t time = i ? end : 1;
        mw_buffer_init(&buffer, memory, sizeof(memory));
        mw_put_u64(&buffer, MW_F_CLOCK_time, time);
        mw_put_u64(&buffer, MW_F_CLOCK_raw, time);
        mw_put_u64(&buffer, MW_F_CLOCK_real, EPOCH + time);
        put_chunk(job->out, MW_CHUNK_CLOCK, rank + 1, &buffer);
    }
    mw_buffer_init(&buffer, memory, sizeof(memory));
    mw_put_u64(&buffer, MW_F_COMM_how, MW_COMM_WORLD);
    mw_put_u64(&buffer, MW_F_COMM_size, job->ranks);
    mw_put_u64(&buffer, MW_F_COMM_rank, rank);
    mw_put_u64(&buffer, MW_F_COMM_hash, 7);
    put_chunk(job->out, MW_CHUNK_COMM, rank + 1, &buffer);
}

/* Event `number` of a rank. */
static struct mw_raw_event make(const struct job *job, uint64_t rank, uint64_t number)
{
    uint64_t step = number / EVENTS_A_STEP, part = number % EVENTS_A_STEP;
    uint64_t begin = step * STEP_NS + rank * 37 % 1000, request = 4 * step;
    uint64_t peers[2] = {(rank + job->ranks - 1) % job->ranks, (rank + 1) % job->ranks};
    struct mw_raw_event event = {.start = clock_of(job, rank, begin + 1000 * part), .comm = 1};
    event.end = event.start + 500;
    if (part < 4) { /* posts, then sends; the tag says in which direction it goes */
        int receives = part < 2;
        event.kind = receives ? MW_EVENT_RECV : MW_EVENT_SEND;
        event.function = functions[receives ? IRECV : ISEND];
        event.flags = MW_EVENT_REQUEST | MW_EVENT_COUNTED;
        event.peer = (int32_t)peers[part % 2];
        event.tag = (int32_t)((part % 2) ^ (unsigned)receives);
        event.ordinal = (uint32_t)step;
        event.request = (uint32_t)(request + part);
        *(receives ? &event.bytes_in : &event.bytes) = 8192;
    } else if (part < 8) {
        event = (struct mw_raw_event){.kind = MW_EVENT_DONE,
                                      .function = functions[WAITALL],
                                      .flags = MW_EVENT_PART | MW_EVENT_REQUEST,
                                      .comm = 1,
                                      .peer = MW_PEER_NONE,
                                      .request = (uint32_t)(request + part - 4)};
    } else if (part == 8) {
        event.kind = MW_EVENT_CALL;
        event.function = functions[WAITALL];
        event.comm = 0;
        event.peer = MW_PEER_NONE;
        event.end = event.start + 4000;
    } else {
        event.kind = MW_EVENT_COLL;
        event.function = functions[ALLREDUCE];
        event.flags = MW_EVENT_COUNTED;
        event.ordinal = (uint32_t)step;
        event.peer = -1;
        event.bytes = event.bytes_in = 8;
        event.start = clock_of(job, rank, begin + 20000);
        event.end = clock_of(job, rank, step * STEP_NS + 30000);
    }
    return event;
}

static void put_events(const struct job *job, struct mw_encoder *encoder, struct mw_raw_event *ring,
                       uint64_t rank)
{
    uint64_t count = job->steps * EVENTS_A_STEP, next = 0;
    const uint8_t *chunk;
    size_t size;
    mw_encoder_begin(encoder, 0, 0, 0);
    while (next < count) {
        size_t step = count - next < MW_ENCODER_STEP ? (size_t)(count - next) : MW_ENCODER_STEP;
        for (size_t i = 0; i < step; i++)
            ring[(next + i) % RING] = make(job, rank, next + i);
        if (mw_encoder_events(encoder) + step <= 7168 &&
            mw_encoder_step(encoder, ring, RING - 1, next, step) == MW_OK) {
            next += step;
            continue;
        }
        if (mw_encoder_end(encoder, rank + 1, &chunk, &size) == MW_OK)
            fwrite(chunk, 1, size, job->out);
        mw_encoder_begin(encoder, 0, next, 0);
    }
    if (mw_encoder_end(encoder, rank + 1, &chunk, &size) == MW_OK)
        fwrite(chunk, 1, size, job->out);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    struct job job = {fopen(argv[1], "wb"), strtoull(argv[2], NULL, 10),
                      strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10)};
    size_t room = (mw_encoder_memory() + 4095) & ~(size_t)4095;
    void *memory = aligned_alloc(4096, room);
    struct mw_raw_event *ring = calloc(RING, sizeof(*ring));
    if (!job.out || !job.ranks || !job.per_node || !memory || !ring)
        return 1;
    memset(memory, 0, room);
    struct mw_encoder *encoder = mw_encoder_create(memory, room, 1);
    for (uint64_t rank = 0; encoder && rank < job.ranks; rank++) {
        put_metadata(&job, rank);
        put_events(&job, encoder, ring, rank);
    }
    free(ring);
    free(memory);
    return !encoder || fclose(job.out);
}
