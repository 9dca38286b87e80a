/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process said of itself (dump.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dump.h"

void dump_process(const struct mw_process *process)
{
    record_begin("process");
    put_key("process", process->key);
    put_text("host", process->host);
    put_u64("pid", process->pid);
    put_u64("start_time", process->start_time);
    put_u64("ppid", process->ppid);
    put_text("exe", process->exe);
    put_text("cwd", process->cwd);
    put_text("boot_id", process->boot_id);
    put_text("mpi_library", process->mpi_library);
    put_texts("arguments", process->arguments, process->argument_count);
    put_i64("clock", process->clock);
    put_i64("abi", process->abi);
    put_i64("rank_hint", process->rank_hint);
    put_i64("size_hint", process->size_hint);
    put_u64("began", process->began);
    put_u64("pid_ns", process->pid_ns);
    put_i64("thread_level_asked", process->thread_level_asked);
    put_i64("has_rank", process->has_rank);
    put_i64("rank", process->rank);
    put_i64("size", process->size);
    put_text("library_version", process->library_version);
    put_text("processor_name", process->processor_name);
    put_i64("standard", process->standard);
    put_i64("thread_level", process->thread_level);
    put_u64("init_end", process->init_end);
    put_i64("appnum", process->appnum);
    put_i64("end_reason", process->end_reason);
    put_u64("end_time", process->end_time);
    put_u64("finalize_end", process->finalize_end);
    put_i64("end_code", process->end_code);
    put_key("facts_base", process->facts_base);
    put_i64("facts_node", process->facts_node);
    put_known("world", process->world);
    put_known("name", process->name);
    put_known("spawner", process->spawner);
    record_end();

    const struct mw_cost *cost = &process->cost;
    record_begin("cost");
    put_u64("init", cost->init_ns);
    put_u64("encode", cost->encode_ns);
    put_u64("write", cost->write_ns);
    put_u64("bytes", cost->bytes);
    put_u64("chunks", cost->chunks);
    put_u64("events", cost->events);
    put_u64("longest", cost->longest_ns);
    put_u64("finalize", cost->finalize_ns);
    put_u64("memory", cost->memory);
    put_u64("stamp", cost->stamp_ps);
    record_end();
}

void dump_clocks_and_modules(const struct mw_process *process)
{
    for (size_t i = 0; i < process->clock_count; i++) {
        record_begin("clock");
        put_u64("time", process->clocks[i].time);
        put_u64("raw", process->clocks[i].raw_ns);
        put_u64("real", process->clocks[i].real_ns);
        put_u64("mono", process->clocks[i].mono_ns);
        put_u64("width", process->clocks[i].width);
        record_end();
    }
    for (size_t i = 0; i < process->module_count; i++) {
        const struct mw_module *module = &process->modules[i];
        if (mw_process_module(process, module->id) != module)
            abort();
        record_begin("module");
        put_u64("id", module->id);
        put_text("path", module->path);
        printf(",\"build_id\":\"");
        for (size_t b = 0; b < module->build_id_size; b++)
            printf("%02x", module->build_id[b]);
        putchar('"');
        put_u64("start", module->start);
        put_u64("end", module->end);
        put_i64("role", module->role);
        record_end();
    }
}

void dump_sites(const struct mw_process *process)
{
    for (size_t i = 0; i < process->site_count; i++) {
        const struct mw_site *site = &process->sites[i];
        if (mw_process_site(process, site->id) != site)
            abort();
        record_begin("site");
        put_u64("id", site->id);
        list_begin("frames");
        for (size_t f = 0; f < site->frame_count; f++) {
            list_separate();
            printf("%" PRIu64 ",%" PRIu64, site->frames[f].module, site->frames[f].offset);
        }
        putchar(']');
        put_i64("truncated", site->truncated);
        record_end();
    }
}

static void put_runs(const char *name, const struct mw_run *runs, size_t count)
{
    list_begin(name);
    for (size_t i = 0; i < count; i++) {
        list_separate();
        printf("%" PRId64 ",%" PRId64 ",%" PRIu64, runs[i].start, runs[i].stride, runs[i].count);
    }
    putchar(']');
}

void dump_comms(const struct mw_process *process)
{
    for (size_t i = 0; i < process->comm_count; i++) {
        const struct mw_comm *comm = &process->comms[i];
        if (mw_process_comm(process, comm->id) != comm)
            abort();
        record_begin("comm");
        put_u64("id", comm->id);
        put_i64("how", comm->how);
        put_i64("parent", comm->parent);
        put_u64("number", comm->number);
        put_u64("size", comm->size);
        put_u64("rank", comm->rank);
        put_u64("remote_size", comm->remote_size);
        put_u64("hash", comm->hash);
        put_runs("members", comm->members, comm->member_runs);
        put_runs("remote_members", comm->remote_members, comm->remote_member_runs);
        put_text("name", comm->name);
        put_u64("freed", comm->freed);
        put_known("began", comm->began);
        put_known("made", comm->made);
        put_known("port", comm->port);
        if (comm->place_runs)
            put_runs("places", comm->places, comm->place_runs);
        put_known("place_hash", comm->place_hash);
        record_end();
    }
}

void dump_counts_and_open(const struct mw_process *process)
{
    for (size_t i = 0; i < process->count_count; i++) {
        record_begin("count");
        put_u64("function", process->counts[i].function);
        put_text("name", process->counts[i].name);
        put_u64("calls", process->counts[i].calls);
        record_end();
    }
    record_begin("open");
    put_u64("taken", process->open_taken_ns);
    put_i64("alive", process->open_alive);
    record_end();
    for (size_t i = 0; i < process->open_call_count; i++) {
        const struct mw_open_call *call = &process->open_calls[i];
        record_begin("open_call");
        put_u64("thread", call->thread);
        put_u64("function", call->function);
        put_u64("start", call->start);
        put_u64("site", call->site);
        put_text("name", call->name);
        put_i64("comm", call->comm);
        put_i64("peer", call->peer);
        put_i64("tag", call->tag);
        put_i64("instance", call->instance);
        record_end();
    }
}

void dump_health_and_facts(const struct mw_process *process)
{
    for (size_t i = 0; i < process->health_count; i++) {
        record_begin("health");
        put_text("code", process->health[i].code);
        put_text("message", process->health[i].message);
        put_u64("count", process->health[i].count);
        put_u64("time", process->health[i].time);
        record_end();
    }
    for (size_t i = 0; i < process->fact_count; i++) {
        record_begin("fact");
        put_text("section", process->facts[i].section);
        put_text("key", process->facts[i].key);
        put_text("value", process->facts[i].value);
        put_text("source", process->facts[i].source);
        record_end();
    }
}
