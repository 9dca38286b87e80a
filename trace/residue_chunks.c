/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns making chunks of what a mapping holds: outbox, events, counts, open calls, a clock reading
 * and an END. Runs wherever residue.c does, under the same rules: no malloc, no stdio, nothing that
 * is read is believed. The process may be alive and go on writing: what it can overwrite while we
 * copy is checked afterwards.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "trace/aggregate.h"
#include "trace/chunk.h"
#include "trace/clock.h"
#include "trace/fields.h"
#include "trace/names.h"
#include "trace/residue.h"
#include "trace/residue_internal.h"

enum {
    PAYLOAD_MAX = 256 * 1024, /* of a chunk made here: 1024 counts or open calls with their names */
    CALM_TRIES = 4,           /* at reading what a live process is writing */
};

/* Mapped, so that what is never used costs nothing. */
struct workspace {
    struct mw_raw_event events[MW_ENCODER_STEP];
    struct mw_map_thread thread, again;
    struct mw_map_group group;
    uint8_t chunk[MW_CHUNK_HEADER_SIZE + PAYLOAD_MAX];
    uint8_t open[PAYLOAD_MAX];
    uint8_t outbox[MW_CHUNK_HEADER_SIZE + MW_CHUNK_MAX_STORED];
};

struct job {
    const struct mw_residue *residue;
    const struct mw_map_header *header;
    mw_residue_sink sink;
    void *context;
    struct workspace *work;
    struct mw_encoder *encoder;
    struct mw_buffer open;  /* payload of the OPEN chunk, filled thread by thread */
    uint64_t latest;        /* newest time that was found */
    int damaged;            /* something was left out */
    enum mw_status refused; /* the sink's error */
};

static int fits(const struct job *job, uint64_t offset, uint64_t size)
{
    return offset <= job->residue->size && size <= job->residue->size - offset;
}

/* Whether the process may be writing now. */
static int in_motion(const struct job *job)
{
    return job->residue->alive || job->residue->foreign;
}

static enum mw_status give(struct job *job, const uint8_t *chunk, size_t size)
{
    enum mw_status status = job->sink(job->context, chunk, size);
    if (status != MW_OK)
        job->refused = status;
    return status;
}

/* Gives a chunk whose payload stands in the workspace after the room for its header. */
static enum mw_status give_payload(struct job *job, unsigned type, const struct mw_buffer *buffer)
{
    uint8_t *chunk = buffer->data - MW_CHUNK_HEADER_SIZE;
    mw_chunk_frame(chunk, type, 0, job->header->process, buffer->data, (uint32_t)buffer->size,
                   (uint32_t)buffer->size);
    return give(job, chunk, MW_CHUNK_HEADER_SIZE + buffer->size);
}

static void payload_begin(struct job *job, struct mw_buffer *buffer)
{
    mw_buffer_init(buffer, job->work->chunk + MW_CHUNK_HEADER_SIZE, PAYLOAD_MAX);
}

/* Copies from the mapping; what does not come is damage. */
static int read_at(struct job *job, void *to, size_t size, uint64_t offset)
{
    const struct mw_residue *residue = job->residue;
    int ready = fits(job, offset, size);
    if (ready && residue->file == 0)
        memcpy(to, (const uint8_t *)residue->header + offset, size);
    else if (ready)
        ready = mw_residue_pread(residue->file - 1, to, size, offset) == MW_OK;
    job->damaged |= !ready;
    return ready;
}

static uint64_t read_u64(struct job *job, uint64_t offset)
{
    uint64_t value = 0;
    read_at(job, &value, sizeof value, offset);
    return value;
}

/* The next chunk of the outbox in the workspace; 0 when there is none that is right. */
static size_t outbox_chunk(struct job *job, uint64_t offset, uint64_t left)
{
    uint8_t *chunk = job->work->outbox;
    struct mw_chunk_header header;
    if (left < MW_CHUNK_HEADER_SIZE || !read_at(job, chunk, MW_CHUNK_HEADER_SIZE, offset) ||
        mw_chunk_parse(chunk, &header) != MW_OK || header.length > left - MW_CHUNK_HEADER_SIZE)
        return 0;
    uint8_t *payload = chunk + MW_CHUNK_HEADER_SIZE;
    if (!read_at(job, payload, header.length, offset + MW_CHUNK_HEADER_SIZE) ||
        mw_checksum(payload, header.length) != header.check)
        return 0;
    return MW_CHUNK_HEADER_SIZE + (size_t)header.length;
}

static void give_outbox(struct job *job)
{
    uint64_t offset = job->header->outbox_offset, capacity = job->header->outbox_capacity;
    uint64_t used = read_u64(job, offsetof(struct mw_map_header, outbox_used));
    if (used > capacity || !fits(job, offset, used)) {
        job->damaged = 1;
        return;
    }
    for (uint64_t done = 0; done < used;) {
        size_t size = outbox_chunk(job, offset + done, used - done);
        if (size == 0) { /* a live process has emptied it meanwhile: then the file has it */
            job->damaged |= !in_motion(job);
            return;
        }
        if (give(job, job->work->outbox, size) != MW_OK)
            return;
        done += size;
    }
}

/* Reads a thread's area; while the process writes, until two readings agree on the open calls and
 * the numbers of events are of about the same moment. */
static int thread_read(struct job *job, uint64_t offset)
{
    struct mw_map_thread *thread = &job->work->thread, *again = &job->work->again;
    if (!read_at(job, thread, sizeof *thread, offset))
        return 0;
    for (int i = 0; i < CALM_TRIES && in_motion(job); i++) {
        if (!read_at(job, again, sizeof *again, offset))
            return 0;
        int calm = again->flushed <= again->committed && thread->open_depth == again->open_depth &&
                   memcmp(thread->open, again->open, sizeof thread->open) == 0;
        *thread = *again;
        if (calm)
            break;
    }
    return 1;
}

static int ring_is_sane(const struct job *job, const struct mw_map_thread *thread)
{
    return thread->capacity != 0 && thread->capacity <= MW_MAP_RING_MAX &&
           (thread->capacity & (thread->capacity - 1)) == 0 &&
           fits(job, thread->ring_offset, thread->capacity * sizeof(struct mw_raw_event));
}

static void chunk_end(struct job *job)
{
    const uint8_t *chunk;
    size_t size;
    enum mw_status status = mw_encoder_end(job->encoder, job->header->process, &chunk, &size);
    if (status == MW_OK)
        give(job, chunk, size);
    else if (status != MW_END)
        job->damaged = 1;
}

/* Encodes events that were copied to the workspace. */
static void events_encode(struct job *job, const struct mw_map_thread *thread, uint64_t from,
                          size_t count)
{
    const struct mw_raw_event *events = job->work->events;
    enum mw_status status = mw_encoder_step(job->encoder, events, MW_ENCODER_STEP - 1, 0, count);
    if (status == MW_ERR_FULL) {
        chunk_end(job);
        mw_encoder_begin(job->encoder, thread->index, from, job->header->shift);
        status = mw_encoder_step(job->encoder, events, MW_ENCODER_STEP - 1, 0, count);
    }
    if (status != MW_OK)
        job->damaged = 1;
    for (size_t i = 0; i < count; i++)
        if (events[i].end > job->latest)
            job->latest = events[i].end;
}

/* How far beyond `committed` a live process may be writing: one event, as other processors see it
 * on x86; where stores may overtake a release store, as many as may be on their way. */
#if defined(__x86_64__)
enum { AHEAD = 1 };
#else
enum { AHEAD = 64 };
#endif

/* The first event that a live process cannot have overwritten. */
static uint64_t events_oldest(struct job *job, const struct mw_map_thread *thread, uint64_t offset)
{
    if (!in_motion(job))
        return 0;
    uint64_t committed = read_u64(job, offset + offsetof(struct mw_map_thread, committed));
    return committed + AHEAD > thread->capacity ? committed + AHEAD - thread->capacity : 0;
}

static void give_events(struct job *job, uint64_t thread_offset)
{
    const struct mw_map_thread *thread = &job->work->thread;
    if (!ring_is_sane(job, thread)) {
        job->damaged = 1;
        return;
    }
    uint64_t next = thread->flushed, end = thread->committed, mask = thread->capacity - 1;
    if (next > end || end - next > thread->capacity) {
        /* While the process writes, the two numbers may be of different moments. */
        job->damaged |= !in_motion(job);
        if (next > end)
            return;
        next = end - thread->capacity;
    }
    mw_encoder_begin(job->encoder, thread->index, next, job->header->shift);
    while (next < end && job->refused == MW_OK) {
        uint64_t count = end - next, to_wrap = thread->capacity - (next & mask);
        count = count < MW_ENCODER_STEP ? count : MW_ENCODER_STEP;
        count = count < to_wrap ? count : to_wrap;
        if (!read_at(job, job->work->events, count * sizeof(struct mw_raw_event),
                     thread->ring_offset + (next & mask) * sizeof(struct mw_raw_event)))
            break;
        uint64_t oldest = events_oldest(job, thread, thread_offset);
        if (next < oldest) { /* these went into the file while we looked */
            chunk_end(job);
            next = oldest;
            mw_encoder_begin(job->encoder, thread->index, next, job->header->shift);
            continue;
        }
        events_encode(job, thread, next, (size_t)count);
        next += count;
    }
    chunk_end(job);
}

static void give_counts(struct job *job)
{
    const struct mw_map_thread *thread = &job->work->thread;
    struct mw_buffer buffer;
    payload_begin(job, &buffer);
    for (unsigned id = 0; id < MW_MAP_FUNCTIONS; id++) {
        if (thread->counts[id] == 0)
            continue;
        size_t mark = mw_put_begin(&buffer, MW_F_COUNTS_function);
        mw_put_u64(&buffer, MW_F_COUNT_id, id);
        mw_put_text(&buffer, MW_F_COUNT_name, mw_function_name(id));
        mw_put_u64(&buffer, MW_F_COUNT_calls, thread->counts[id]);
        mw_put_end(&buffer, mark);
    }
    if (buffer.size == 0)
        return;
    mw_put_u64(&buffer, MW_F_COUNTS_thread, thread->index);
    job->damaged |= buffer.overflow;
    give_payload(job, MW_CHUNK_COUNTS, &buffer);
}

/* Sums that are not in the file. While the process writes, a call may be half in them; what is
 * written of them later has more in it, and counts. */
static void give_group(struct job *job, uint64_t offset)
{
    struct mw_map_group *group = &job->work->group;
    struct mw_buffer buffer;
    if (!read_at(job, group, sizeof *group, offset) || group->why == 0)
        return;
    payload_begin(job, &buffer);
    if (!mw_aggregate_put(&buffer, &job->work->thread, group))
        return;
    job->damaged |= buffer.overflow;
    give_payload(job, MW_CHUNK_AGGREGATE, &buffer);
}

static void give_sums(struct job *job)
{
    const struct mw_map_thread *thread = &job->work->thread;
    if (thread->last_end > job->latest)
        job->latest = thread->last_end;
    for (unsigned s = 0; s < MW_MAP_SEGMENTS; s++)
        for (unsigned g = 0;
             thread->segment[s] && g < mw_map_segment_groups(s) && job->refused == MW_OK; g++)
            give_group(job, thread->segment[s] + g * sizeof(struct mw_map_group));
}

static void give_regions(struct job *job)
{
    struct mw_map_region region;
    uint32_t count = 0;
    read_at(job, &count, sizeof count, offsetof(struct mw_map_header, region_count));
    if (count > MW_MAP_REGIONS) {
        job->damaged = 1;
        count = MW_MAP_REGIONS;
    }
    for (uint32_t i = 0; i < count && job->refused == MW_OK; i++) {
        struct mw_buffer buffer;
        if (!read_at(job, &region, sizeof region,
                     offsetof(struct mw_map_header, region) + i * sizeof region))
            return;
        payload_begin(job, &buffer);
        mw_region_put(&buffer, i, &region);
        give_payload(job, MW_CHUNK_REGION, &buffer);
    }
}

static void note_open(struct job *job)
{
    const struct mw_map_thread *thread = &job->work->thread;
    uint32_t depth = thread->open_depth < MW_MAP_OPEN ? thread->open_depth : MW_MAP_OPEN;
    for (uint32_t i = 0; i < depth; i++) {
        const struct mw_map_open *open = &thread->open[i];
        size_t mark = mw_put_begin(&job->open, MW_F_OPEN_call);
        mw_put_u64(&job->open, MW_F_OPENCALL_thread, thread->index);
        mw_put_u64(&job->open, MW_F_OPENCALL_function, open->function);
        mw_put_u64(&job->open, MW_F_OPENCALL_start, open->start);
        mw_put_u64(&job->open, MW_F_OPENCALL_comm, open->comm);
        mw_put_i64(&job->open, MW_F_OPENCALL_peer, open->peer);
        mw_put_i64(&job->open, MW_F_OPENCALL_tag, open->tag);
        mw_put_u64(&job->open, MW_F_OPENCALL_instance, open->instance);
        mw_put_u64(&job->open, MW_F_OPENCALL_site, open->site);
        mw_put_text(&job->open, MW_F_OPENCALL_name, mw_function_name(open->function));
        mw_put_end(&job->open, mark);
        if (open->start > job->latest)
            job->latest = open->start;
    }
}

/* The last completed event, also where the file has it: how long the process lived at least. */
static void note_latest(struct job *job)
{
    const struct mw_map_thread *thread = &job->work->thread;
    struct mw_raw_event last;
    if (thread->committed == 0 || !ring_is_sane(job, thread))
        return;
    uint64_t at = (thread->committed - 1) & (thread->capacity - 1);
    if (read_at(job, &last, sizeof last, thread->ring_offset + at * sizeof last) &&
        last.end > job->latest)
        job->latest = last.end;
}

static void give_threads(struct job *job)
{
    uint32_t count = 0;
    read_at(job, &count, sizeof count, offsetof(struct mw_map_header, thread_count));
    if (count > MW_MAP_THREADS) {
        job->damaged = 1;
        count = MW_MAP_THREADS;
    }
    for (uint32_t i = 0; i < count && job->refused == MW_OK; i++) {
        uint64_t offset = read_u64(job, offsetof(struct mw_map_header, thread_offset) +
                                            i * sizeof job->header->thread_offset[0]);
        if (offset == 0 || !thread_read(job, offset))
            continue;
        note_open(job);
        note_latest(job);
        give_events(job, offset);
        if (job->refused == MW_OK)
            give_counts(job);
        if (job->refused == MW_OK)
            give_sums(job);
    }
}

static void give_open(struct job *job)
{
    struct mw_buffer buffer;
    payload_begin(job, &buffer);
    mw_put_u64(&buffer, MW_F_OPEN_taken, mw_clock_ns(CLOCK_REALTIME));
    mw_put_u64(&buffer, MW_F_OPEN_alive, (uint64_t)job->residue->alive);
    mw_buffer_bytes(&buffer, job->open.data, job->open.size);
    job->damaged |= buffer.overflow | job->open.overflow;
    give_payload(job, MW_CHUNK_OPEN, &buffer);
}

/* The kernel's clocks differ between time namespaces: a reading from another would bend the line.
 */
static int clock_is_ours(const struct job *job)
{
    const struct mw_map_header *header = job->header;
    return mw_clock_readable(header->clock) &&
           mw_residue_same_boot(header->boot_id, sizeof header->boot_id) &&
           (header->time_ns == 0 || header->time_ns == mw_residue_namespace("/proc/self/ns/time"));
}

static void give_clock(struct job *job)
{
    if (!clock_is_ours(job))
        return;
    struct mw_clock_sample sample = mw_clock_sample_take(job->header->clock);
    struct mw_buffer buffer;
    payload_begin(job, &buffer);
    mw_clock_sample_put(&buffer, &sample);
    if (job->residue->alive)
        job->latest = sample.time;
    give_payload(job, MW_CHUNK_CLOCK, &buffer);
}

static void give_end(struct job *job)
{
    if (job->residue->foreign)
        return; /* whether it ended is not known */
    struct mw_buffer buffer;
    payload_begin(job, &buffer);
    mw_put_u64(&buffer, MW_F_END_reason, job->residue->alive ? MW_END_SNAPSHOT : MW_END_COLLECTED);
    mw_put_u64(&buffer, MW_F_END_time, job->latest);
    give_payload(job, MW_CHUNK_END, &buffer);
}

static void give_all(struct job *job)
{
    uint32_t state = MW_MAP_ENDED;
    read_at(job, &state, sizeof state, offsetof(struct mw_map_header, state));
    void (*const last[])(struct job *) = {give_open, give_clock, give_end};
    mw_buffer_init(&job->open, job->work->open, sizeof job->work->open);
    give_outbox(job);
    if (job->refused == MW_OK)
        give_threads(job);
    if (job->refused == MW_OK)
        give_regions(job);
    for (size_t i = 0; i < sizeof last / sizeof last[0] && state != MW_MAP_ENDED; i++)
        if (job->refused == MW_OK)
            last[i](job);
}

enum mw_status mw_residue_chunks(const struct mw_residue *residue, mw_residue_sink sink,
                                 void *context)
{
    size_t encoder_size = mw_encoder_memory();
    struct job job = {
        .residue = residue,
        .header = residue->header,
        .sink = sink,
        .context = context,
        .work = mw_residue_memory(sizeof *job.work),
    };
    void *encoder = mw_residue_memory(encoder_size);
    enum mw_status status = MW_ERR_MEMORY;
    if (job.work && encoder && (job.encoder = mw_encoder_create(encoder, encoder_size, 1))) {
        give_all(&job);
        status = job.refused ? job.refused : job.damaged ? MW_ERR_CORRUPT : MW_OK;
    }
    mw_residue_memory_free(encoder, encoder_size);
    mw_residue_memory_free(job.work, sizeof *job.work);
    return status;
}
