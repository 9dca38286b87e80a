/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a trace in the same canonical JSON lines as mwdecode.py, by the public reader API and
 * nothing else. The two are compared line for line. This file has the files, the job, windows and
 * files, and the events; dump.h lists the rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

static void dump_files(const mw_trace *trace)
{
    for (size_t i = 0; i < mw_trace_file_count(trace); i++) {
        const struct mw_file *file = mw_trace_file(trace, i);
        if (file->residue)
            continue;
        record_begin("file");
        put_text("path", file->path);
        put_u64("size", file->size);
        put_u64("chunks", file->chunks);
        put_text("writer", file->writer);
        put_text("host", file->host);
        put_text("boot_id", file->boot_id);
        put_u64("pid_ns", file->pid_ns);
        put_u64("mnt_ns", file->mnt_ns);
        put_u64("user_ns", file->user_ns);
        record_end();
    }
}

static int damage_order(const void *a, const void *b)
{
    const struct mw_damage *x = *(const struct mw_damage *const *)a;
    const struct mw_damage *y = *(const struct mw_damage *const *)b;
    int order = strcmp(x->file, y->file);
    if (!order)
        order = (x->offset > y->offset) - (x->offset < y->offset);
    if (!order)
        order = (x->length > y->length) - (x->length < y->length);
    return order ? order : strcmp(status_word(x->status), status_word(y->status));
}

static void dump_damage(const mw_trace *trace)
{
    size_t count = mw_trace_damage_count(trace);
    const struct mw_damage **all = calloc(count + 1, sizeof *all);
    if (!all)
        abort();
    for (size_t i = 0; i < count; i++)
        all[i] = mw_trace_damage(trace, i);
    qsort(all, count, sizeof *all, damage_order);
    for (size_t i = 0; i < count; i++) {
        record_begin("damage");
        put_text("file", all[i]->file);
        put_u64("offset", all[i]->offset);
        put_u64("length", all[i]->length);
        put_text("status", status_word(all[i]->status));
        record_end();
    }
    free(all);
}

/* For people: what the reader says about what it could not read. */
static int dump_messages(const mw_trace *trace)
{
    for (size_t i = 0; i < mw_trace_damage_count(trace); i++) {
        const struct mw_damage *damage = mw_trace_damage(trace, i);
        printf("%s: byte %" PRIu64 ", %" PRIu64 " bytes: %s (%s)\n", damage->file, damage->offset,
               damage->length, damage->text, mw_status_text(damage->status));
    }
    for (size_t p = 0; p < mw_trace_process_count(trace); p++) {
        const struct mw_process *process = mw_trace_process(trace, p);
        for (size_t t = 0; t < process->thread_count; t++) {
            mw_cursor *cursor;
            const struct mw_call_record *record;
            if (mw_cursor_open(trace, process, process->threads[t].index, &cursor) != MW_OK)
                return 1;
            while (mw_cursor_next(cursor, &record) == MW_OK)
                ;
            for (size_t i = 0; i < mw_cursor_damage_count(cursor); i++) {
                const struct mw_damage *damage = mw_cursor_damage(cursor, i);
                printf("%s: byte %" PRIu64 ", %" PRIu64 " bytes: %s (%s)\n", damage->file,
                       damage->offset, damage->length, damage->text,
                       mw_status_text(damage->status));
            }
            mw_cursor_close(cursor);
        }
    }
    return 0;
}

static void dump_job(const struct mw_job *job)
{
    record_begin("job");
    put_text("key", job->key);
    put_text("launcher", job->launcher);
    put_text("job_id", job->job_id);
    put_text("program", job->program);
    put_texts("command", job->command, job->command_count);
    record_end();
}

static void dump_objects(const struct mw_process *process)
{
    for (size_t i = 0; i < process->window_count; i++) {
        const struct mw_rma_window *window = &process->windows[i];
        record_begin("window");
        put_u64("id", window->id);
        put_i64("flavour", window->flavour);
        put_i64("comm", window->comm);
        put_u64("number", window->number);
        put_u64("size", window->size);
        put_u64("unit", window->unit);
        put_text("name", window->name);
        put_u64("freed", window->freed);
        record_end();
    }
    for (size_t i = 0; i < process->iofile_count; i++) {
        const struct mw_iofile *file = &process->iofiles[i];
        record_begin("iofile");
        put_u64("id", file->id);
        put_i64("comm", file->comm);
        put_u64("number", file->number);
        put_text("name", file->name);
        put_u64("mode", file->mode);
        put_u64("closed", file->closed);
        record_end();
    }
    if (process->flow_count) {
        record_begin("flows");
        put_u64("time", process->flow_time);
        record_end();
    }
    for (size_t i = 0; i < process->flow_count; i++) {
        record_begin("flow");
        put_i64("comm", process->flows[i].comm);
        put_i64("peer", process->flows[i].peer);
        put_u64("messages", process->flows[i].messages);
        put_u64("bytes", process->flows[i].bytes);
        record_end();
    }
}

static void put_event(const struct mw_event *event)
{
    put_i64("kind", event->kind);
    put_u64("flags", event->flags);
    put_u64("function", event->function);
    put_u64("start", event->start);
    put_u64("end", event->end);
    put_i64("comm", event->comm);
    put_i64("peer", event->peer);
    put_i64("tag", event->tag);
    put_u64("bytes", event->bytes);
    put_u64("bytes_in", event->bytes_in);
    put_u64("site", event->site);
    put_u64("request", event->request);
    put_u64("origin", event->origin);
    put_i64("ordinal", event->ordinal);
    put_u64("polls", event->polls);
    put_u64("busy", event->busy);
    put_i64("code", event->code);
    if (event->flags & MW_EVENT_OFFSET)
        put_i64("offset", event->offset);
}

static void dump_call(const struct mw_call_record *record)
{
    for (size_t i = 0; i < record->part_count; i++) {
        record_begin("part");
        put_u64("number", record->number - record->part_count + i);
        put_event(&record->parts[i]);
        record_end();
    }
    record_begin("call");
    put_u64("number", record->number);
    put_u64("parts", record->part_count);
    put_i64("incomplete", record->incomplete);
    put_event(&record->call);
    record_end();
}

static int dump_thread(const mw_trace *trace, const struct mw_process *process,
                       const struct mw_thread *thread, int with_events)
{
    mw_cursor *cursor;
    const struct mw_call_record *record;
    record_begin("thread");
    put_u64("thread", thread->index);
    put_u64("tid", thread->tid);
    put_text("name", thread->name);
    put_i64("main", thread->main);
    record_end();
    if (!with_events)
        return 0;
    enum mw_status status = mw_cursor_open(trace, process, thread->index, &cursor);
    if (status != MW_OK)
        return 1;
    while ((status = mw_cursor_next(cursor, &record)) == MW_OK)
        dump_call(record);
    record_begin("missing");
    put_u64("events", mw_cursor_missing(cursor));
    record_end();
    mw_cursor_close(cursor);
    return status != MW_END;
}

static int process_order(const void *a, const void *b)
{
    uint64_t x = (*(const struct mw_process *const *)a)->key;
    uint64_t y = (*(const struct mw_process *const *)b)->key;
    return x < y ? -1 : x > y;
}

static int dump_processes(const mw_trace *trace, int with_events)
{
    size_t count = mw_trace_process_count(trace);
    const struct mw_process **all = calloc(count + 1, sizeof *all);
    int failed = !all;
    for (size_t i = 0; !failed && i < count; i++)
        all[i] = mw_trace_process(trace, i);
    if (!failed)
        qsort(all, count, sizeof *all, process_order);
    for (size_t i = 0; !failed && i < count; i++) {
        dump_process(all[i]);
        dump_clocks_and_modules(all[i]);
        dump_sites(all[i]);
        dump_comms(all[i]);
        dump_counts_and_open(all[i]);
        dump_health_and_facts(all[i]);
        dump_fabric(all[i]);
        dump_objects(all[i]);
        dump_topology(all[i]->topology);
        for (size_t p = 0; p < all[i]->placement_count; p++)
            dump_placement(&all[i]->placements[p]);
        dump_devices(all[i]);
        dump_sums(all[i]);
        for (size_t t = 0; !failed && t < all[i]->thread_count; t++)
            failed = dump_thread(trace, all[i], &all[i]->threads[t], with_events);
    }
    free(all);
    return failed;
}

int main(int argc, char **argv)
{
    int with_events = 1, residue = 0, messages = 0, first = 1;
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        with_events &= strcmp(argv[first], "--no-events") != 0;
        residue |= strcmp(argv[first], "--residue") == 0;
        messages |= strcmp(argv[first], "--messages") == 0;
    }
    if (first == argc) {
        fprintf(stderr, "usage: dump_events [--no-events | --messages] [--residue] PATH...\n");
        return 129;
    }
    mw_trace *trace;
    size_t failed = 0;
    enum mw_status status = mw_trace_open((const char *const *)argv + first, (size_t)(argc - first),
                                          residue ? MW_OPEN_RESIDUE : 0, &trace, &failed);
    if (status != MW_OK) {
        fprintf(stderr, "%s: %s\n", argv[first + (int)failed], status_word(status));
        return 1;
    }
    int bad;
    if (messages) {
        bad = dump_messages(trace);
    } else {
        dump_files(trace);
        dump_damage(trace);
        dump_job(mw_trace_job(trace));
        bad = dump_processes(trace, with_events);
    }
    mw_trace_close(trace);
    return bad || fflush(stdout) != 0;
}
