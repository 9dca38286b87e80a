/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the rows of sums; see sums.h. A row is found by hash, or as the one that came next the last
 * time. Groups that have been written are emptied and keep their keys. The time between writes
 * grows, and nothing is written before the end that the budget has no room for. Runs on the thread
 * that calls MPI, inside its calls; mw_sums_flush on the one that ends the recording.
 */
#include "record/sums.h"

#include <string.h>

#include "output/output.h"
#include "probe/probe.h"
#include "record/pace.h"
#include "trace/aggregate.h"

#define BUCKETS   16384u
#define ROWS      (MW_MAP_GROUPS * MW_MAP_ROWS)
#define PERIOD_NS 1000000000u /* between writes, at first */
#define ROW_BYTES 48u /* in a chunk, about */
_Static_assert(ROWS < UINT16_MAX, "numbers of rows + 1 are 16 bits");

struct mw_sums {
    struct mw_map_group *group[MW_MAP_GROUPS];
    uint32_t groups, segments;     /* that there are */
    uint32_t fill;                 /* the group that takes new rows */
    uint32_t evict;                /* the next that must make room */
    uint32_t last;                 /* row that was used last */
    uint32_t writing, writing_end; /* groups that are being written */
    int full;                      /* no more groups */
    struct mw_pace pace;
    uint16_t bucket[BUCKETS]; /* row + 1 */
    uint16_t chain[ROWS];     /* row + 1 */
    uint16_t successor[ROWS]; /* row + 1 that came after it last time */
    uint8_t payload[MW_AGGREGATE_MAX];
};

static struct mw_map_row *row_at(const struct mw_sums *sums, uint32_t row)
{
    return &sums->group[row / MW_MAP_ROWS]->row[row % MW_MAP_ROWS];
}

struct words {
    uint64_t word[sizeof(struct mw_map_key) / 8];
};

static struct words words_of(const struct mw_map_key *key)
{
    struct words words;
    memcpy(&words, key, sizeof words);
    return words;
}

static int is_key(const struct mw_map_row *row, const struct mw_map_key *key)
{
    struct words own = words_of(&row->key), other = words_of(key);
    return ((own.word[0] ^ other.word[0]) | (own.word[1] ^ other.word[1]) |
            (own.word[2] ^ other.word[2]) | (own.word[3] ^ other.word[3])) == 0;
}

static uint32_t bucket_of(const struct mw_map_key *key)
{
    struct words words = words_of(key);
    uint64_t hash = words.word[0] * 0x9e3779b97f4a7c15u ^ words.word[1] * 0xc2b2ae3d27d4eb4fu ^
                    words.word[2] * 0x165667b19e3779f9u ^ words.word[3] * 0xd6e8feb86659fd93u;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 40) & (BUCKETS - 1);
}

/* A segment of groups; 0 when there is no memory or no place for more. */
static int segment_add(struct mw_thread_state *thread, struct mw_sums *sums)
{
    struct mw_map_group *groups = NULL;
    if (sums->segments < MW_MAP_SEGMENTS && !sums->full)
        groups = mw_output_segment(thread->area, sums->segments);
    sums->full = !groups;
    if (!groups)
        return 0;
    uint32_t count = mw_map_segment_groups(sums->segments++);
    for (uint32_t i = 0; i < count; i++) {
        atomic_store_explicit(&groups[i].number, sums->groups, memory_order_relaxed);
        sums->group[sums->groups++] = &groups[i];
    }
    return 1;
}

int mw_sums_start(struct mw_thread_state *thread)
{
    if (thread->sums || thread->sums_refused)
        return thread->sums != NULL;
    struct mw_sums *sums = mw_pages(sizeof *sums);
    if (!sums || !segment_add(thread, sums)) {
        thread->sums_refused = 1;
        return 0;
    }
    mw_pace_start(&sums->pace, mw_now(), mw_ns_to_ticks(PERIOD_NS));
    thread->sums = sums;
    return 1;
}

static void group_put(const struct mw_thread_state *thread, const struct mw_map_group *group,
                      uint8_t payload[MW_AGGREGATE_MAX])
{
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, payload, MW_AGGREGATE_MAX);
    if (mw_aggregate_put(&buffer, thread->area, group))
        mw_output_chunk(MW_CHUNK_AGGREGATE, buffer.data, buffer.size);
}

static void group_empty(struct mw_map_group *group)
{
    for (uint32_t i = 0; i < group->used; i++)
        group->row[i] = (struct mw_map_row){.key = group->row[i].key};
    atomic_store_explicit(&group->number, group->number + MW_MAP_GROUPS, memory_order_release);
    group->why = 0;
}

static void group_write(struct mw_thread_state *thread, struct mw_map_group *group)
{
    if (!group->why)
        return;
    uint64_t start = mw_now();
    group_put(thread, group, thread->sums->payload);
    group_empty(group);
    uint64_t ticks = mw_now() - start;
    thread->encode_ticks += ticks;
    if (ticks > thread->longest_ticks)
        thread->longest_ticks = ticks;
}

/* Takes the keys of a group out of the buckets. */
static void group_forget(struct mw_sums *sums, uint32_t number)
{
    struct mw_map_group *group = sums->group[number];
    for (uint32_t i = 0; i < group->used; i++) {
        uint16_t row = (uint16_t)(number * MW_MAP_ROWS + i + 1);
        uint16_t *link = &sums->bucket[bucket_of(&group->row[i].key)];
        while (*link && *link != row)
            link = &sums->chain[*link - 1];
        if (*link)
            *link = sums->chain[row - 1];
    }
    group->used = 0;
    memset(group->row, 0, sizeof group->row);
}

/* The group that has room for a row. Where no more can be had, one that is there gives way: what is
 * in it is written. */
static struct mw_map_group *group_with_room(struct mw_thread_state *thread)
{
    struct mw_sums *sums = thread->sums;
    if (sums->group[sums->fill]->used < MW_MAP_ROWS)
        return sums->group[sums->fill];
    if ((sums->fill + 1 < sums->groups && !sums->full) || segment_add(thread, sums)) {
        sums->fill++;
    } else {
        sums->fill = sums->evict;
        sums->evict = (sums->evict + 1) % sums->groups;
        group_write(thread, sums->group[sums->fill]);
        group_forget(sums, sums->fill);
    }
    return sums->group[sums->fill];
}

static __attribute__((noinline)) uint32_t row_intern(struct mw_thread_state *thread,
                                                     const struct mw_map_key *key)
{
    struct mw_sums *sums = thread->sums;
    uint32_t bucket = bucket_of(key);
    for (uint16_t row = sums->bucket[bucket]; row; row = sums->chain[row - 1])
        if (is_key(row_at(sums, row - 1u), key))
            return row - 1u;
    struct mw_map_group *group = group_with_room(thread);
    uint32_t row = sums->fill * MW_MAP_ROWS + group->used;
    group->row[group->used].key = *key;
    group->used++;
    sums->chain[row] = sums->bucket[bucket];
    sums->bucket[bucket] = (uint16_t)(row + 1);
    return row;
}

struct mw_map_row *mw_sums_row(struct mw_call *call, const struct mw_map_key *key)
{
    struct mw_thread_state *thread = call->thread;
    struct mw_sums *sums = thread->sums;
    uint32_t row = sums->successor[sums->last];
    if (row == 0 || !is_key(row_at(sums, row - 1), key)) {
        row = row_intern(thread, key) + 1;
        sums->successor[sums->last] = (uint16_t)row;
    }
    sums->last = row - 1;
    struct mw_map_group *group = sums->group[sums->last / MW_MAP_ROWS];
    if (group->why != call->reduced) {
        group_write(thread, group); /* another reason is another slice */
        group->start = call->start;
        group->why = call->reduced;
    }
    group->end = call->end;
    return &group->row[sums->last % MW_MAP_ROWS];
}

/* Whether there is room to write everything and still have much more left than that. */
static int budget_allows(const struct mw_sums *sums)
{
    uint64_t need = 0, budget = mw_recorder.config.budget, written = mw_output_bytes();
    for (uint32_t i = 0; i < sums->groups; i++)
        need += sums->group[i]->used * ROW_BYTES;
    return !budget || (written < budget && need < (budget - written) / 16);
}

/* What is due is begun, and what has been begun goes on by a group. */
static __attribute__((noinline)) void work(struct mw_thread_state *thread, uint64_t now)
{
    struct mw_sums *sums = thread->sums;
    if (sums->writing < sums->writing_end) {
        group_write(thread, sums->group[sums->writing++]);
        if (sums->writing == sums->writing_end)
            mw_pace_next(&sums->pace, now, 0);
        return;
    }
    if (budget_allows(sums)) {
        sums->writing = 0;
        sums->writing_end = sums->groups;
    } else {
        mw_pace_next(&sums->pace, now, 1);
    }
    mw_probes_flush();
}

void mw_sums_work(struct mw_thread_state *thread, uint64_t now)
{
    if (__builtin_expect(now >= thread->sums->pace.due, 0))
        work(thread, now);
}

/* Another thread may be adding to a group: what is read of it may be half of a call. */
#define RACES __attribute__((no_sanitize("thread")))

RACES static void group_copy(struct mw_map_group *to, const struct mw_map_group *from)
{
    const volatile uint64_t *words = (const volatile uint64_t *)(const void *)from;
    uint64_t *copy = (uint64_t *)(void *)to;
    for (size_t i = 0; i < sizeof *to / sizeof *words; i++)
        copy[i] = words[i];
}

/* Not emptied: what the thread still adds is in the group when that is written again. */
RACES void mw_sums_flush(void)
{
    static uint8_t payload[MW_AGGREGATE_MAX];
    static struct mw_map_group group;
    for (struct mw_thread_state *t = mw_threads_first(); t; t = t->link)
        for (uint32_t i = 0; t->sums && i < t->sums->groups; i++) {
            group_copy(&group, t->sums->group[i]);
            if (group.why)
                group_put(t, &group, payload);
        }
}
