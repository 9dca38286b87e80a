/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What mpiwatch could not do: counted by code, written to the trace once when it first happens and once
 * at the end with its count. Any thread; never an output of its own.
 */
#include <string.h>

#include "output/output.h"
#include "record/record.h"
#include "trace/fields.h"

#define CODES 32

static struct note {
    _Atomic(const char *) code;
    const char *message;
    _Atomic uint64_t count;
    uint64_t written; /* the count that the trace has */
    uint64_t time;
} notes[CODES];
static struct mw_lock notes_lock;

static void write_note(struct note *note)
{
    uint8_t memory[1024];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_text(&buffer, MW_F_HEALTH_code, atomic_load(&note->code));
    mw_put_text(&buffer, MW_F_HEALTH_message, note->message);
    mw_put_u64(&buffer, MW_F_HEALTH_count, atomic_load(&note->count));
    mw_put_u64(&buffer, MW_F_HEALTH_time, note->time);
    note->written = atomic_load(&note->count);
    if (!buffer.overflow)
        mw_output_chunk(MW_CHUNK_HEALTH, buffer.data, buffer.size);
}

void mw_health(const char *code, const char *message)
{
    struct note *note = NULL;
    int first = 0;
    mw_lock_take(&notes_lock);
    for (size_t i = 0; i < CODES; i++) {
        const char *known = atomic_load_explicit(&notes[i].code, memory_order_relaxed);
        if (known && strcmp(known, code) != 0)
            continue;
        note = &notes[i];
        first = !known;
        if (first) {
            note->message = message;
            note->time = mw_now();
            atomic_store_explicit(&note->code, code, memory_order_relaxed);
        }
        break;
    }
    mw_lock_drop(&notes_lock);
    if (!note)
        return;
    atomic_fetch_add_explicit(&note->count, 1, memory_order_relaxed);
    if (first && mw_output_ready())
        write_note(note);
}

void mw_health_flush(void)
{
    for (size_t i = 0; i < CODES && atomic_load(&notes[i].code); i++)
        if (atomic_load(&notes[i].count) != notes[i].written)
            write_note(&notes[i]);
}
