/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens bytes as a trace and uses everything that the public API gives; what it promises is
 * checked. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "mpiwatch/trace.h"

static volatile uint64_t sink; /* so that nothing is optimised away */

static void use_text(const char *text)
{
    CHECK(text != NULL);
    sink += strlen(text);
}

static void use_bytes(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sink += ((const uint8_t *)data)[i];
}

static void walk_tables(const struct mw_process *process)
{
    for (size_t i = 0; i < process->module_count; i++) {
        const struct mw_module *module = &process->modules[i];
        CHECK(mw_process_module(process, module->id) == module);
        use_text(module->path);
        use_bytes(module->build_id, module->build_id_size);
    }
    for (size_t i = 0; i < process->site_count; i++) {
        const struct mw_site *site = &process->sites[i];
        CHECK(mw_process_site(process, site->id) == site);
        use_bytes(site->frames, site->frame_count * sizeof *site->frames);
    }
    for (size_t i = 0; i < process->comm_count; i++) {
        const struct mw_comm *comm = &process->comms[i];
        CHECK(mw_process_comm(process, comm->id) == comm);
        use_text(comm->name);
        use_text(mw_comm_how_word(comm->how));
        use_bytes(comm->members, comm->member_runs * sizeof *comm->members);
        use_bytes(comm->remote_members, comm->remote_member_runs * sizeof *comm->members);
    }
    for (size_t i = 0; i < process->count_count; i++) {
        CHECK(i == 0 || process->counts[i - 1].function < process->counts[i].function);
        use_text(process->counts[i].name);
        use_text(mw_process_function_name(process, process->counts[i].function));
    }
}

static void walk_rest(const struct mw_process *process)
{
    int64_t ns = 0;
    for (size_t i = 0; i < process->open_call_count; i++)
        use_text(process->open_calls[i].name);
    for (size_t i = 0; i < process->health_count; i++) {
        use_text(process->health[i].code);
        use_text(process->health[i].message);
    }
    for (size_t i = 0; i < process->fact_count; i++) {
        const struct mw_fact *fact = &process->facts[i];
        use_text(fact->section);
        use_text(fact->key);
        use_text(fact->value);
        use_text(fact->source);
    }
    for (size_t i = 0; i < process->argument_count; i++)
        use_text(process->arguments[i]);
    for (size_t i = 0; i < process->clock_count; i++) {
        CHECK(i == 0 || process->clocks[i - 1].time <= process->clocks[i].time);
        sink +=
            (uint64_t)mw_process_time_exact(process, process->clocks[i].time, MW_TIME_REAL, &ns);
        sink += mw_process_span_ns(process, process->clocks[i].width) > 5.0;
    }
    use_text(process->host);
    use_text(process->exe);
    use_text(process->cwd);
    use_text(process->library_version);
}

static void walk_calls(const mw_trace *trace, const struct mw_process *process, uint64_t thread)
{
    mw_cursor *cursor;
    const struct mw_call_record *record;
    uint64_t next = 0, calls = 0;
    enum mw_status status = mw_cursor_open(trace, process, thread, &cursor);
    CHECK(status == MW_OK);
    while ((status = mw_cursor_next(cursor, &record)) == MW_OK) {
        CHECK(record->number - record->part_count >= next);
        next = record->number + !record->incomplete;
        for (size_t i = 0; i < record->part_count; i++) {
            CHECK(record->parts[i].flags & MW_EVENT_PART);
            CHECK(record->parts[i].start == record->call.start);
        }
        CHECK(!(record->call.flags & MW_EVENT_PART));
        sink += record->call.bytes;
        if (++calls % 1024 == 1)
            use_text(mw_process_function_name(process, record->call.function));
    }
    CHECK(status == MW_END);
    for (size_t i = 0; i < mw_cursor_damage_count(cursor); i++)
        use_text(mw_cursor_damage(cursor, i)->text);
    sink += mw_cursor_missing(cursor);
    mw_cursor_close(cursor);
}

static enum mw_status visit(void *context, const struct mw_chunk_view *chunk)
{
    uint64_t *chunks = context;
    ++*chunks;
    use_bytes(chunk->payload, chunk->length);
    use_text(mw_chunk_type_name(chunk->type));
    return MW_OK;
}

static void walk_trace(const mw_trace *trace, size_t size)
{
    uint64_t chunks = 0, end = 0;
    for (size_t i = 0; i < mw_trace_process_count(trace); i++) {
        const struct mw_process *process = mw_trace_process(trace, i);
        walk_tables(process);
        walk_rest(process);
        for (size_t t = 0; t < process->thread_count; t++) {
            CHECK(t == 0 || process->threads[t - 1].index < process->threads[t].index);
            use_text(process->threads[t].name);
            walk_calls(trace, process, process->threads[t].index);
        }
    }
    for (size_t i = 0; i < mw_trace_damage_count(trace); i++) {
        const struct mw_damage *damage = mw_trace_damage(trace, i);
        CHECK(damage->status != MW_OK && *damage->text && *damage->file);
        CHECK(damage->offset <= size && damage->length <= size - damage->offset);
        CHECK(damage->offset >= end || damage->length == 0);
        end = damage->offset;
    }
    use_text(mw_trace_job(trace)->program);
    CHECK(mw_trace_visit(trace, visit, &chunks) == MW_OK);
    CHECK(mw_trace_file_count(trace) == 1 && mw_trace_file(trace, 0)->chunks == chunks);
}

void fuzz_walk_trace(const uint8_t *data, size_t size)
{
    char path[64];
    mw_trace *trace = NULL;
    const char *paths[] = {path};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum mw_status status = mw_trace_open(paths, 1, 0, &trace, NULL);
    CHECK(status != MW_OK || trace != NULL);
    CHECK(status != MW_ERR_SYSTEM && status != MW_ERR_ARGUMENT && status != MW_ERR_MEMORY);
    if (status == MW_OK) {
        walk_trace(trace, size);
        mw_trace_close(trace);
    }
    close(fd);
}
