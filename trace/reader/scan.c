/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk over a file's chunks: what is whole and right is handed on, what is not is reported, and
 * the walk goes on behind it (docs/format.md section 3, "Damage"). Work is linear in the size of
 * the file whatever it holds. Any thread.
 */
#include "trace/reader/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define READ_AHEAD  (MW_EXACT_BUFFERS ? 0 : (size_t)1024 * 1024)
#define SEARCH_STEP ((size_t)256 * 1024)
/* Bytes of payload that are checked a second time at most, as a multiple of the file: a file made
 * of headers that each claim the megabytes after them must not cost the square of its size. */
#define CHECK_LIMIT 4

struct walk {
    struct mw_window window;
    const struct mw_scan *scan;
    uint64_t size, offset, checked;
};

static void walk_damage(const struct walk *walk, uint64_t length, enum mw_status status,
                        const char *text)
{
    if (walk->scan->damage)
        walk->scan->damage(walk->scan->context, walk->offset, length, status, text);
}

/* The next offset from `from` on where a right header stands; the size of the file if there is
 * none. */
static enum mw_status walk_search(struct walk *walk, uint64_t from, uint64_t *found)
{
    static const uint8_t magic[4] = {'M', 'W', 'C', 'K'};
    struct mw_chunk_header header;
    while (walk->size - from >= MW_CHUNK_HEADER_SIZE) {
        size_t length = SEARCH_STEP;
        if (length > walk->size - from)
            length = (size_t)(walk->size - from);
        const uint8_t *data;
        enum mw_status status = mw_window_get(&walk->window, from, length, &data);
        if (status != MW_OK)
            return status;
        size_t at = 0;
        while (length - at >= MW_CHUNK_HEADER_SIZE) {
            const uint8_t *next = memmem(data + at, length - at, magic, sizeof magic);
            if (!next) {
                at = length - (sizeof magic - 1);
                break;
            }
            at = (size_t)(next - data);
            if (length - at < MW_CHUNK_HEADER_SIZE)
                break; /* look again with more bytes behind it */
            if (mw_chunk_parse(next, &header) == MW_OK) {
                *found = from + at;
                return MW_OK;
            }
            at++;
        }
        if (from + length == walk->size)
            break;
        from += at;
    }
    *found = walk->size;
    return MW_OK;
}

/* Reports what begins at the walk's offset as damaged and moves on to the next header from `from`
 * on. */
static enum mw_status walk_resume(struct walk *walk, uint64_t from, enum mw_status damage,
                                  const char *text)
{
    uint64_t next;
    enum mw_status status = walk_search(walk, from, &next);
    if (status != MW_OK)
        return status;
    walk_damage(walk, next - walk->offset, damage, text);
    walk->offset = next;
    return MW_OK;
}

static void chunk_describe(const struct mw_chunk_header *header, const char *what, char *text,
                           size_t size)
{
    const char *name = mw_chunk_type_name(header->type);
    snprintf(text, size, "%s chunk (type %u) of process %016llx: %s", name, header->type,
             (unsigned long long)header->process, what);
}

static int walk_header_at(struct walk *walk, uint64_t offset)
{
    struct mw_chunk_header header;
    const uint8_t *data;
    return offset == walk->size ||
           (mw_window_get(&walk->window, offset, MW_CHUNK_HEADER_SIZE, &data) == MW_OK &&
            mw_chunk_parse(data, &header) == MW_OK);
}

/* A payload with a wrong checksum. Its length is trusted if it leads to another chunk; else it may
 * have been cut in the writing, with other chunks after it, and the search begins within it. */
static enum mw_status walk_bad_payload(struct walk *walk, const struct mw_chunk_header *header)
{
    char text[160];
    uint64_t payload = walk->offset + MW_CHUNK_HEADER_SIZE;
    uint64_t after = payload + header->length;
    chunk_describe(header, "wrong checksum of the payload", text, sizeof text);
    if (walk->checked / CHECK_LIMIT <= walk->size && !walk_header_at(walk, after))
        return walk_resume(walk, payload, MW_ERR_CORRUPT, text);
    walk_damage(walk, after - walk->offset, MW_ERR_CORRUPT, text);
    walk->offset = after;
    return MW_OK;
}

static enum mw_status walk_chunk(struct walk *walk, const struct mw_chunk_header *header)
{
    char text[160];
    const uint8_t *payload;
    uint64_t at = walk->offset + MW_CHUNK_HEADER_SIZE;
    if (header->length > walk->size - at) {
        chunk_describe(header, "the file ends within it", text, sizeof text);
        return walk_resume(walk, at, MW_ERR_TRUNCATED, text);
    }
    enum mw_status status = mw_window_get(&walk->window, at, header->length, &payload);
    if (status != MW_OK)
        return status;
    walk->checked += header->length;
    if (mw_checksum(payload, header->length) != header->check)
        return walk_bad_payload(walk, header);
    status = walk->scan->chunk(walk->scan->context, walk->offset, header, payload);
    walk->offset = at + header->length;
    return status;
}

static enum mw_status walk_step(struct walk *walk)
{
    struct mw_chunk_header header;
    const uint8_t *data;
    if (walk->size - walk->offset < MW_CHUNK_HEADER_SIZE) {
        walk_damage(walk, walk->size - walk->offset, MW_ERR_TRUNCATED,
                    "the file ends within the header of a chunk");
        walk->offset = walk->size;
        return MW_OK;
    }
    enum mw_status status = mw_window_get(&walk->window, walk->offset, MW_CHUNK_HEADER_SIZE, &data);
    if (status != MW_OK)
        return status;
    status = mw_chunk_parse(data, &header);
    if (status == MW_ERR_LIMIT)
        return walk_resume(walk, walk->offset + MW_CHUNK_HEADER_SIZE, MW_ERR_LIMIT,
                           "a chunk that is larger than the format allows");
    if (status != MW_OK)
        return walk_resume(walk, walk->offset + 1, MW_ERR_CORRUPT, "no chunk begins here");
    return walk_chunk(walk, &header);
}

enum mw_status mw_scan_source(const struct mw_source *source, const struct mw_scan *scan)
{
    struct walk walk = {.scan = scan, .size = source->file.size};
    enum mw_status status = MW_OK;
    uint64_t before = 0;
    mw_window_open(&walk.window, source, READ_AHEAD);
    while (status == MW_OK && walk.offset < walk.size) {
        before = walk.offset;
        status = walk_step(&walk);
    }
    int error = errno;
    mw_window_close(&walk.window);
    /* What the file system says is damage of this place, not the end of the trace. */
    if (walk.offset == before && walk.offset < walk.size &&
        (status == MW_ERR_SYSTEM || status == MW_ERR_TRUNCATED)) {
        char text[160];
        snprintf(text, sizeof text, "cannot be read: %s",
                 status == MW_ERR_SYSTEM ? strerror(error) : "the file has become shorter");
        walk_damage(&walk, walk.size - walk.offset, status, text);
        status = MW_OK;
    }
    return status;
}
