/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a probe finds around it, for its unit tests: chunks and choices are kept, the time of a
 * step runs out when the test says so. One thread. A test includes it once.
 */
#ifndef MW_TEST_PROBE_FIXTURE_H
#define MW_TEST_PROBE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "output/output.h"
#include "probe/probe.h"
#include "record/record.h"
#include "trace/fields.h"

struct mw_recording mw_recording = {MW_RECORDING};
struct mw_recorder mw_recorder = {.clock = MW_CLOCK_MONOTONIC};

static struct kept {
    unsigned type;
    size_t size;
    uint8_t data[20000];
} kept[256];
static unsigned kept_count;

void mw_output_chunk(unsigned type, const void *payload, size_t size)
{
    assert_true(kept_count < 256 && size <= sizeof kept->data);
    kept[kept_count].type = type;
    kept[kept_count].size = size;
    memcpy(kept[kept_count++].data, payload, size);
}

#ifdef WITH_PROBES /* the real probes.c */
static inline void forget(void)
{
    kept_count = 0;
}
#endif

/* The fields of the chunk at `index`. */
static inline struct mw_reader fields_of(unsigned index)
{
    assert_true(index < kept_count);
    return (struct mw_reader){kept[index].data, kept[index].data + kept[index].size};
}

/* A number in a list of fields; 0 when it is not there. */
static inline uint64_t number_in(struct mw_reader reader, unsigned id)
{
    struct mw_field field;
    uint64_t value = 0;
    while (mw_field_next(&reader, &field) == MW_OK)
        if (field.id == id && !field.is_bytes)
            value = field.value;
    return value;
}

/* Bytes in a list of fields; size 0 when they are not there. */
static inline struct mw_field bytes_in(struct mw_reader reader, unsigned id)
{
    struct mw_field field, found = {.data = (const uint8_t *)""};
    while (mw_field_next(&reader, &field) == MW_OK)
        if (field.id == id && field.is_bytes)
            found = field;
    return found;
}

static inline int text_is(struct mw_reader reader, unsigned id, const char *text)
{
    struct mw_field field = bytes_in(reader, id);
    return field.size == strlen(text) && memcmp(field.data, text, field.size) == 0;
}

/* Walks the records of one id over all kept chunks of a type: 0 at the end. */
struct walk {
    unsigned type, id, chunk;
    struct mw_reader rest;
    int open;
};

static inline int record_next(struct walk *walk, struct mw_reader *record)
{
    struct mw_field field;
    for (;;) {
        if (!walk->open) {
            while (walk->chunk < kept_count && kept[walk->chunk].type != walk->type)
                walk->chunk++;
            if (walk->chunk == kept_count)
                return 0;
            walk->rest = fields_of(walk->chunk);
            walk->open = 1;
        }
        while (mw_field_next(&walk->rest, &field) == MW_OK)
            if (field.id == walk->id && field.is_bytes) {
                *record = (struct mw_reader){field.data, field.data + field.size};
                return 1;
            }
        assert_ptr_equal(walk->rest.next, walk->rest.end); /* well formed */
        walk->open = 0;
        walk->chunk++;
    }
}

#ifndef WITH_PROBES
static struct {
    char what[32], name[256], how[32], source[512];
} choices[256];
static unsigned choice_count;

static int late_after = -1; /* so many questions are answered with no; -1 all */
static int probe_on = 1;

static inline void forget(void)
{
    kept_count = choice_count = 0;
    late_after = -1;
}

void mw_choice(const char *what, const char *name, const char *how, const char *source)
{
    assert_true(choice_count < 256);
    snprintf(choices[choice_count].what, 32, "%s", what);
    snprintf(choices[choice_count].name, 256, "%s", name);
    snprintf(choices[choice_count].how, 32, "%s", how);
    snprintf(choices[choice_count++].source, 512, "%s", source);
}

int mw_probe_on(const struct mw_probe *probe)
{
    return probe_on;
}

int mw_probe_late(void)
{
    if (late_after < 0)
        return 0;
    return late_after-- == 0 ? (late_after = 0, 1) : 0;
}

/* What was said of a thing last; NULL nothing. */
static inline const char *how_of(const char *what, const char *name)
{
    const char *how = NULL;
    for (unsigned i = 0; i < choice_count; i++)
        if (strcmp(choices[i].what, what) == 0 && strcmp(choices[i].name, name) == 0)
            how = choices[i].how;
    return how;
}

static inline int choice_is(const char *what, const char *name, const char *how)
{
    const char *found = how_of(what, name);
    return found && strcmp(found, how) == 0;
}

static inline void assert_choice(const char *what, const char *name, const char *how)
{
    const char *found = how_of(what, name);
    assert_non_null(found);
    assert_string_equal(found, how);
}
#endif

#endif
