/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines that fabric libraries log; see loglines.h. A line that is known is found without a lock and
 * only counted. A new one is encoded into its place in the table under a short lock, and written
 * after it.
 */
#include "probe/loglines.h"

#include <string.h>

#include "output/output.h"
#include "probe/redact.h"
#include "record/record.h"
#include "trace/chunk.h"
#include "trace/fields.h"

#define LINE_FIELDS (MW_LOG_TEXT + 5 * MW_LOG_WORD + 64) /* all but the count */
#define COUNT_FIELD 16

static struct log_line {
    _Atomic uint64_t key; /* of the whole line; 0 not yet there */
    uint64_t place;       /* key of the place in the source alone */
    _Atomic uint64_t count, written;
    size_t size;
    uint8_t fields[LINE_FIELDS]; /* encoded */
} lines[MW_LOG_LINES];
static struct mw_lock lines_lock;
static _Atomic uint64_t lost, lost_written; /* lines that found no room */

/* A text's beginning, cut between characters. */
static size_t cut(const char *text, size_t most)
{
    size_t length = strnlen(text ? text : "", most + 1);
    if (length > most)
        for (length = most; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    return length;
}

/* The same without line ends at the end. */
static size_t cut_text(const char *text)
{
    size_t length = cut(text, MW_LOG_TEXT);
    while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    return length;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t length)
{
    return mix(hash, length ? mw_hash64(text, length) : 0);
}

static struct log_line *find(uint64_t key)
{
    for (unsigned i = 0; i < MW_LOG_LINES; i++) {
        uint64_t known = atomic_load_explicit(&lines[i].key, memory_order_acquire);
        if (known == key)
            return &lines[i];
        if (!known)
            break;
    }
    return NULL;
}

/* Where a new line may go; NULL there is no room. Under the lock. */
static struct log_line *find_room(uint64_t place)
{
    unsigned texts = 0;
    for (unsigned i = 0; i < MW_LOG_LINES; i++) {
        if (!atomic_load_explicit(&lines[i].key, memory_order_relaxed))
            return &lines[i];
        if (lines[i].place == place && ++texts == MW_LOG_PLACE_TEXTS)
            break;
    }
    return NULL;
}

static void put_word(struct mw_buffer *buffer, unsigned field, const char *text)
{
    size_t length = cut(text, MW_LOG_WORD);
    if (length)
        mw_put_bytes(buffer, field, text, length);
}

/* Libraries log settings as well: without their secrets. */
static void put_text(struct mw_buffer *buffer, const char *text, size_t size)
{
    char whole[MW_LOG_TEXT + 1], clean[MW_LOG_TEXT + 1];
    memcpy(whole, size ? text : "", size);
    whole[size] = '\0';
    mw_redact_value(NULL, whole, clean, sizeof clean);
    mw_put_text(buffer, MW_F_LOG_text, clean);
}

static void write_line(struct log_line *line)
{
    uint8_t memory[LINE_FIELDS + COUNT_FIELD];
    struct mw_buffer buffer;
    uint64_t count = atomic_load(&line->count);
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_buffer_bytes(&buffer, line->fields, line->size);
    mw_put_u64(&buffer, MW_F_LOG_count, count);
    atomic_store(&line->written, count);
    mw_output_chunk(MW_CHUNK_LOG, buffer.data, buffer.size);
}

static void write_lost(void)
{
    uint8_t memory[COUNT_FIELD];
    struct mw_buffer buffer;
    uint64_t count = atomic_load(&lost);
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_LOG_count, count);
    atomic_store(&lost_written, count);
    mw_output_chunk(MW_CHUNK_LOG, buffer.data, buffer.size);
}

struct source { /* where a line comes from */
    const char *library, *level, *subsystem, *provider, *function;
    unsigned line;
};

static uint64_t key_of_place(const struct source *source)
{
    uint64_t key = mix_text(source->line, source->library, cut(source->library, MW_LOG_WORD));
    key = mix_text(key, source->level, cut(source->level, MW_LOG_WORD));
    key = mix_text(key, source->subsystem, cut(source->subsystem, MW_LOG_WORD));
    key = mix_text(key, source->provider, cut(source->provider, MW_LOG_WORD));
    return mix_text(key, source->function, cut(source->function, MW_LOG_WORD));
}

static void encode(struct log_line *line, const struct source *source, const char *text,
                   size_t text_size)
{
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, line->fields, sizeof line->fields);
    mw_put_u64(&buffer, MW_F_LOG_id, (uint64_t)(line - lines) + 1);
    put_word(&buffer, MW_F_LOG_library, source->library);
    put_word(&buffer, MW_F_LOG_level, source->level);
    put_word(&buffer, MW_F_LOG_subsystem, source->subsystem);
    put_word(&buffer, MW_F_LOG_provider, source->provider);
    put_word(&buffer, MW_F_LOG_function, source->function);
    mw_put_u64(&buffer, MW_F_LOG_line, source->line);
    put_text(&buffer, text, text_size);
    mw_put_u64(&buffer, MW_F_LOG_time, mw_now());
    line->size = buffer.size;
}

void mw_log_line(const char *library, const char *level, const char *subsystem,
                 const char *provider, const char *function, unsigned line, const char *text)
{
    struct source source = {library, level, subsystem, provider, function, line};
    size_t text_size = cut_text(text);
    uint64_t place = key_of_place(&source);
    uint64_t key = mix_text(place, text, text_size) | 1;
    struct log_line *known = find(key), *made = NULL;
    if (!known) {
        mw_lock_take(&lines_lock);
        known = find(key); /* another thread's, meanwhile */
        made = known ? NULL : find_room(place);
        if (made) {
            encode(made, &source, text, text_size);
            made->place = place;
            atomic_store_explicit(&made->count, 1, memory_order_relaxed);
            atomic_store_explicit(&made->key, key, memory_order_release);
        }
        mw_lock_drop(&lines_lock);
    }
    if (known) {
        atomic_fetch_add_explicit(&known->count, 1, memory_order_relaxed);
    } else if (made) {
        write_line(made);
        mw_output_flush();
    } else if (atomic_fetch_add(&lost, 1) == 0) {
        write_lost(); /* that there are such is known at once, how many at the end */
    }
}

void mw_log_lines_finish(void)
{
    for (unsigned i = 0; i < MW_LOG_LINES; i++) {
        if (!atomic_load_explicit(&lines[i].key, memory_order_acquire))
            break;
        if (atomic_load(&lines[i].count) != atomic_load(&lines[i].written))
            write_line(&lines[i]);
    }
    if (atomic_load(&lost) != atomic_load(&lost_written))
        write_lost();
}
