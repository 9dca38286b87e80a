/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of raw events of a thread and its way into the trace. A call pays for at most one step of
 * encoding (512 events) and, once in several thousand events, for one write. Events stay in the ring until
 * the chunk that holds them is in the file: whatever kills the process, a reader of the mapping finds them.
 */
#include <string.h>

#include "output/output.h"
#include "probe/probe.h"
#include "record/aggregate.h"
#include "record/record.h"

#define ENCODER_LEVEL (-8)

/* A chunk ends when it holds this many events: the ring must outlast it by more than one step. (A short ring is
 * emptied in the middle of a call where that has many parts.) */
static uint64_t chunk_events(const struct mw_thread_state *thread)
{
    return thread->mask + 1 - 2 * MW_ENCODER_STEP;
}

/* Events that may be encoded: all, but a poll that may still grow. */
static uint64_t settled(const struct mw_thread_state *thread)
{
    return thread->next - (uint64_t)thread->poll_open;
}

static void end_chunk(struct mw_thread_state *thread)
{
    const uint8_t *chunk;
    size_t size;
    if (!thread->chunk_open)
        return;
    thread->chunk_open = 0;
    if (mw_encoder_end(thread->encoder, mw_output_process(), &chunk, &size) == MW_OK) {
        uint64_t start = mw_now();
        mw_output_events(chunk, size);
        thread->write_ticks += mw_now() - start;
        thread->chunks++;
        mw_budget_check();
    }
    thread->flushed = thread->encoded;
    atomic_store_explicit(&thread->area->flushed, thread->flushed, memory_order_release);
}

static void step(struct mw_thread_state *thread, uint64_t count)
{
    if (!thread->chunk_open) {
        mw_encoder_begin(thread->encoder, thread->index, thread->encoded, mw_output_shift());
        thread->chunk_open = 1;
    }
    if (mw_encoder_step(thread->encoder, thread->ring, thread->mask, thread->encoded, count) ==
        MW_ERR_FULL) {
        end_chunk(thread);
        mw_encoder_begin(thread->encoder, thread->index, thread->encoded, mw_output_shift());
        thread->chunk_open = 1;
        if (mw_encoder_step(thread->encoder, thread->ring, thread->mask, thread->encoded, count) !=
            MW_OK)
            mw_health("encoder", "events could not be encoded and are missing");
    }
    thread->encoded += count;
}

int mw_events_encoder_create(struct mw_thread_state *thread)
{
    if (!thread->encoder_memory)
        thread->encoder_memory = mw_pages(mw_encoder_memory());
    if (thread->encoder_memory)
        thread->encoder =
            mw_encoder_create(thread->encoder_memory, mw_encoder_memory(), ENCODER_LEVEL);
    return thread->encoder != NULL;
}

/* Begins work on the encoder. Where a signal handler that called exit() or jumped away has interrupted it,
 * what it was at begins anew, from the ring, which holds all that is not in the file. */
static void encoder_take(struct mw_thread_state *thread)
{
    if (__builtin_expect(thread->encoding, 0)) {
        memset(thread->encoder_memory, 0, mw_encoder_memory());
        mw_events_encoder_create(thread);
        thread->chunk_open = 0;
        thread->encoded = thread->flushed;
    }
    thread->encoding = 1;
}

static void encoder_drop(struct mw_thread_state *thread)
{
    thread->encoding = 0;
}

static void encode(struct mw_thread_state *thread, uint64_t count)
{
    uint64_t start = mw_now();
    uint64_t written = thread->write_ticks;
    step(thread, count);
    if (mw_encoder_events(thread->encoder) >= chunk_events(thread))
        end_chunk(thread);
    uint64_t ticks = mw_now() - start;
    thread->encode_ticks += ticks - (thread->write_ticks - written);
    if (ticks > thread->longest_ticks)
        thread->longest_ticks = ticks;
}

void mw_events_work(struct mw_thread_state *thread)
{
    if (__builtin_expect(settled(thread) - thread->encoded < MW_ENCODER_STEP, 1))
        return;
    uint64_t chunks = thread->chunks;
    encoder_take(thread);
    encode(thread, MW_ENCODER_STEP);
    encoder_drop(thread);
    if (thread->chunks != chunks)
        mw_probes_flush();
}

struct mw_raw_event *mw_event_new(struct mw_thread_state *thread)
{
    thread->poll_open = 0;
    /* A call with many parts fills more than one step: it works as it goes. */
    if (__builtin_expect(thread->next - thread->flushed > thread->mask - MW_ENCODER_STEP, 0)) {
        mw_events_work(thread);
        if (thread->next - thread->flushed > thread->mask)
            mw_events_flush(thread);
    }
    return &thread->ring[thread->next & thread->mask];
}

void mw_event_commit(struct mw_thread_state *thread)
{
    thread->next++;
    atomic_store_explicit(&thread->area->committed, thread->next, memory_order_release);
    /* Mid-call (parts): the ring must not run over. */
    if (__builtin_expect(thread->next - thread->encoded >= 2 * MW_ENCODER_STEP, 0))
        mw_events_work(thread);
}

void mw_events_flush(struct mw_thread_state *thread)
{
    thread->poll_open = 0;
    encoder_take(thread);
    while (thread->encoded < thread->next) {
        uint64_t left = thread->next - thread->encoded;
        encode(thread, left < MW_ENCODER_STEP ? left : MW_ENCODER_STEP);
    }
    end_chunk(thread);
    encoder_drop(thread);
}

void mw_events_hand_on(struct mw_thread_state *thread)
{
    thread->poll_open = 0;
    if (thread->next - thread->flushed >= MW_ENCODER_STEP)
        mw_events_flush(thread);
}

/* Events [from, to) of another thread's ring. */
static void write_ring(const struct mw_thread_state *other, struct mw_encoder *encoder,
                       uint64_t from, uint64_t to)
{
    const uint8_t *chunk;
    size_t size;
    while (from < to) {
        mw_encoder_begin(encoder, other->index, from, mw_output_shift());
        enum mw_status status = MW_OK;
        while (from < to && status == MW_OK) {
            uint64_t count = to - from < MW_ENCODER_STEP ? to - from : MW_ENCODER_STEP;
            status = mw_encoder_step(encoder, other->ring, other->mask, from, count);
            from += status == MW_OK ? count : 0;
        }
        if (mw_encoder_end(encoder, mw_output_process(), &chunk, &size) != MW_OK)
            return;
        mw_output_events(chunk, size);
    }
}

void mw_events_flush_others(const struct mw_thread_state *self, int done)
{
    struct mw_encoder *encoder = NULL;
    for (struct mw_thread_state *t = mw_threads_first(); t; t = t->link) {
        uint64_t from = atomic_load_explicit(&t->area->flushed, memory_order_acquire);
        uint64_t to = atomic_load_explicit(&t->area->committed, memory_order_acquire);
        if (t == self || from >= to || (done && mw_output_thread_mapped(t->index)))
            continue;
        void *memory = encoder ? NULL : mw_pages(mw_encoder_memory());
        if (memory)
            encoder = mw_encoder_create(memory, mw_encoder_memory(), ENCODER_LEVEL);
        if (!encoder) {
            mw_health("encoder", "no memory: events of other threads are missing");
            return;
        }
        write_ring(t, encoder, from, to);
    }
}
