/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a file's chunks to the trace: each chunk goes to what reads its type; events are only
 * indexed. Runs while a trace is opened, on one thread.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const mw_loader loaders[] = {
    [MW_CHUNK_FILE] = mw_load_file,         [MW_CHUNK_JOB] = mw_load_job,
    [MW_CHUNK_PROCESS] = mw_load_process,   [MW_CHUNK_RANK] = mw_load_rank,
    [MW_CHUNK_CLOCK] = mw_load_clock,       [MW_CHUNK_MODULES] = mw_load_modules,
    [MW_CHUNK_SITES] = mw_load_sites,       [MW_CHUNK_COMM] = mw_load_comm,
    [MW_CHUNK_COUNTS] = mw_load_counts,     [MW_CHUNK_OPEN] = mw_load_open,
    [MW_CHUNK_HEALTH] = mw_load_health,     [MW_CHUNK_ENVIRONMENT] = mw_load_environment,
    [MW_CHUNK_END] = mw_load_end,           [MW_CHUNK_COST] = mw_load_cost,
    [MW_CHUNK_THREAD] = mw_load_thread,     [MW_CHUNK_ATTEMPT] = mw_load_attempt,
    [MW_CHUNK_ENDPOINT] = mw_load_endpoint, [MW_CHUNK_LOG] = mw_load_log,
    [MW_CHUNK_SOCKETS] = mw_load_sockets,   [MW_CHUNK_PORTS] = mw_load_ports,
    [MW_CHUNK_CMA] = mw_load_cma,           [MW_CHUNK_CHOICE] = mw_load_choice,
    [MW_CHUNK_WINDOW] = mw_load_window,     [MW_CHUNK_IOFILE] = mw_load_iofile,
    [MW_CHUNK_FLOW] = mw_load_flow,         [MW_CHUNK_TOPOLOGY] = mw_load_topology,
    [MW_CHUNK_PLACEMENT] = mw_load_placement, [MW_CHUNK_DEVICE] = mw_load_device,
    [MW_CHUNK_BUFFER] = mw_load_buffer,
    [MW_CHUNK_REGION] = mw_load_region,     [MW_CHUNK_AGGREGATE] = mw_load_aggregate,
};

struct load_source {
    struct mw_trace *trace;
    struct mw_source *source;
    uint32_t index;
};

/* The payload as it was before compression. What the header claims is what the frame must give,
 * exactly. */
static enum mw_status payload_open(struct mw_trace *trace, const struct mw_chunk_header *header,
                                   const uint8_t **payload, size_t *length)
{
    if (!(header->flags & MW_CHUNK_FLAG_ZSTD)) {
        *length = header->length;
        return header->raw_length == header->length ? MW_OK : MW_ERR_CORRUPT;
    }
    unsigned long long said = ZSTD_getFrameContentSize(*payload, header->length);
    if (said == ZSTD_CONTENTSIZE_ERROR ||
        (said != ZSTD_CONTENTSIZE_UNKNOWN && said != header->raw_length) ||
        ZSTD_findFrameCompressedSize(*payload, header->length) != header->length)
        return MW_ERR_CORRUPT;
    if (mw_account_charge(&trace->unpacked, header->raw_length) != MW_OK)
        return MW_ERR_LIMIT;
    if (trace->raw_capacity < header->raw_length || !trace->raw || MW_EXACT_BUFFERS) {
        free(trace->raw);
        trace->raw_capacity = 0;
        trace->raw = malloc(header->raw_length + (header->raw_length == 0));
        if (!trace->raw)
            return MW_ERR_MEMORY;
        trace->raw_capacity = header->raw_length;
    }
    size_t got = ZSTD_decompress(trace->raw, header->raw_length, *payload, header->length);
    if (ZSTD_isError(got) || got != header->raw_length)
        return MW_ERR_CORRUPT;
    *payload = trace->raw;
    *length = got;
    return MW_OK;
}

static enum mw_status chunk_load(struct mw_trace *trace, struct mw_place place,
                                 const struct mw_chunk_header *header, const uint8_t *payload)
{
    size_t length = 0;
    struct mw_load load = {.trace = trace, .place = place};
    enum mw_status status;
    if (header->type == MW_CHUNK_EVENTS) {
        struct mw_event_chunk chunk;
        status = mw_index_read(place, header, payload, &chunk);
        if (status == MW_OK)
            status = mw_trace_find_process(trace, header->process, &load.entry);
        return status == MW_OK ? mw_index_add(load.entry, &chunk) : status;
    }
    if (header->type >= sizeof loaders / sizeof *loaders || !loaders[header->type])
        return MW_OK; /* a type that we do not know */
    status = payload_open(trace, header, &payload, &length);
    if (status == MW_OK)
        status = mw_fields_check(header->type, payload, length);
    if (status == MW_OK)
        status = mw_trace_find_process(trace, header->process, &load.entry);
    if (status != MW_OK)
        return status;
    load.reader = (struct mw_reader){payload, payload + length};
    return loaders[header->type](&load);
}

static enum mw_status source_chunk(void *context, uint64_t offset,
                                   const struct mw_chunk_header *header, const uint8_t *payload)
{
    struct load_source *load = context;
    struct mw_source *source = load->source;
    source->file.chunks++;
    if (header->version > MW_FORMAT_VERSION) {
        if (source->newer++ == 0)
            source->newer_offset = offset;
        if (header->version > source->newest)
            source->newest = header->version;
        return MW_OK;
    }
    struct mw_place place = {load->index, offset};
    enum mw_status status =
        header->version == 0 ? MW_ERR_CORRUPT : chunk_load(load->trace, place, header, payload);
    if (status == MW_OK || status == MW_ERR_MEMORY)
        return status;
    uint64_t length = MW_CHUNK_HEADER_SIZE + (uint64_t)header->length;
    if (status != MW_ERR_LIMIT)
        mw_damage_add(load->trace, load->index, offset, length, status,
                      "%s chunk (type %u) of process %016llx: malformed, not used",
                      mw_chunk_type_name(header->type), header->type,
                      (unsigned long long)header->process);
    else if (!load->trace->over_limit++)
        mw_damage_add(load->trace, load->index, offset, length, status,
                      "more data than a trace of this size can hold: this and further chunks are "
                      "not used, or not in whole");
    return MW_OK;
}

static void source_damage(void *context, uint64_t offset, uint64_t length, enum mw_status status,
                          const char *text)
{
    struct load_source *load = context;
    if (offset == 0)
        load->source->first_damage = status;
    mw_damage_add(load->trace, load->index, offset, length, status, "%s", text);
}

static int source_begins_like_one(const struct mw_source *source)
{
    static const uint8_t magic[4] = {'M', 'W', 'C', 'K'};
    struct mw_window window;
    const uint8_t *data;
    mw_window_open(&window, source, 0);
    int like = mw_window_get(&window, 0, sizeof magic, &data) == MW_OK &&
               memcmp(data, magic, sizeof magic) == 0;
    mw_window_close(&window);
    return like;
}

enum mw_status mw_load_source(struct mw_trace *trace, uint32_t index)
{
    struct load_source load = {trace, mw_trace_source(trace, index), index};
    struct mw_scan scan = {source_chunk, source_damage, &load};
    enum mw_status status = mw_scan_source(load.source, &scan);
    if (status == MW_OK && load.source->file.chunks == 0)
        load.source->begins_like_one = source_begins_like_one(load.source);
    return status;
}
