/* SPDX-License-Identifier: BSD-3-Clause */
/* The metadata of a trace, a line each (dump.h). */
#include "analyzer/render/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/text.h"

/* Prints an object in one line: as it is, or as "type key=value ...". */
static void dump_line(const struct mw_dump *dump, const char *type, json_t *object)
{
    const char *key;
    json_t *value;
    if (dump->json) {
        json_t *line = json_pack("{s:s}", "type", type);
        json_object_update(line, object);
        mw_json_put(line, JSON_COMPACT | JSON_REAL_PRECISION(15), dump->out);
        fputc('\n', dump->out);
        json_decref(line);
        json_decref(object);
        return;
    }
    fputs(type, dump->out);
    json_object_foreach(object, key, value)
    {
        char *text =
            json_is_string(value)
                ? mw_text_copy(json_string_value(value))
                : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        char *escaped = mw_text_escape(text ? text : "");
        fprintf(dump->out, " %s=%s", key, escaped);
        free(escaped);
        free(text);
    }
    fputc('\n', dump->out);
    json_decref(object);
}

static json_t *texts(const char *const *list, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, mw_json_text(list[i]));
    return array;
}

void mw_dump_damage(const struct mw_dump *dump, const struct mw_damage *damage)
{
    dump_line(dump, "damage",
              json_pack("{s:o, s:o, s:o, s:o}", "file", mw_json_text(damage->file), "offset",
                        mw_json_count(damage->offset), "length", mw_json_count(damage->length),
                        "text", mw_json_text(damage->text)));
}

static void dump_files(const struct mw_dump *dump)
{
    const mw_trace *trace = dump->model->trace;
    const struct mw_job *job = mw_trace_job(trace);
    for (size_t i = 0; i < mw_trace_file_count(trace); i++) {
        const struct mw_file *file = mw_trace_file(trace, i);
        dump_line(dump, "file",
                  json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "path", mw_json_text(file->path),
                            "size", mw_json_count(file->size), "chunks",
                            mw_json_count(file->chunks), "writer", mw_json_text(file->writer),
                            "host", mw_json_text(file->host), "residue", file->residue));
    }
    for (size_t i = 0; i < mw_trace_damage_count(trace); i++)
        mw_dump_damage(dump, mw_trace_damage(trace, i));
    dump_line(dump, "job",
              json_pack("{s:o, s:o, s:o, s:o, s:o}", "key", mw_json_text(job->key), "launcher",
                        mw_json_text(job->launcher), "job_id", mw_json_text(job->job_id), "program",
                        mw_json_text(job->program), "command",
                        texts(job->command, job->command_count)));
}

static json_t *with_process(const struct mw_dump *dump, const struct mw_process *process,
                            json_t *object)
{
    json_t *whole =
        json_pack("{s:o, s:o}", "process", mw_json_take(mw_format("%016" PRIx64, process->key)),
                  "rank", mw_rank_json(dump->model, mw_model_place_of(dump->model, process)));
    json_object_update(whole, object);
    json_decref(object);
    return whole;
}

void mw_dump_line(const struct mw_dump *dump, const char *type, const struct mw_process *process,
                  json_t *object)
{
    dump_line(dump, type, with_process(dump, process, object));
}

static void dump_head(const struct mw_dump *dump, const struct mw_process *process)
{
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:o, s:o, s:o}", "host",
        mw_json_text(process->host), "pid", mw_json_count(process->pid), "start_time",
        mw_json_count(process->start_time), "ppid", mw_json_count(process->ppid), "exe",
        mw_json_text(process->exe), "arguments", texts(process->arguments, process->argument_count),
        "cwd", mw_json_text(process->cwd), "clock", (int)process->clock, "abi",
        mw_abi_word(process->abi), "mpi_library", mw_json_text(process->mpi_library), "began",
        mw_json_count(process->began), "boot_id", mw_json_text(process->boot_id));
    json_object_set_new(object, "size", mw_json_number(process->size, -1));
    json_object_set_new(object, "library_version", mw_json_text(process->library_version));
    json_object_set_new(object, "standard", json_integer(process->standard));
    json_object_set_new(object, "thread_level", mw_json_number(process->thread_level, -1));
    json_object_set_new(object, "init_end", mw_json_count(process->init_end));
    json_object_set_new(object, "processor_name", mw_json_text(process->processor_name));
    json_object_set_new(object, "appnum", mw_json_number(process->appnum, -1));
    json_object_set_new(object, "end", json_string(mw_end_word(process)));
    json_object_set_new(object, "end_code", json_integer(process->end_code));
    json_object_set_new(object, "end_time", mw_json_count(process->end_time));
    json_object_set_new(object, "finalize_end", mw_json_count(process->finalize_end));
    dump_line(dump, "process", with_process(dump, process, object));
}

static void dump_clocks(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->clock_count; i++) {
        const struct mw_clock_reading *clock = &process->clocks[i];
        dump_line(
            dump, "clock",
            with_process(dump, process,
                         json_pack("{s:o, s:o, s:o, s:o, s:o}", "time", mw_json_count(clock->time),
                                   "raw_ns", mw_json_count(clock->raw_ns), "real_ns",
                                   mw_json_count(clock->real_ns), "mono_ns",
                                   mw_json_count(clock->mono_ns), "width",
                                   mw_json_count(clock->width))));
    }
}

static void dump_modules(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->module_count; i++) {
        const struct mw_module *module = &process->modules[i];
        dump_line(dump, "module",
                  with_process(
                      dump, process,
                      json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "id", mw_json_count(module->id),
                                "path", mw_json_text(module->path), "build_id",
                                mw_json_build_id(module->build_id, module->build_id_size), "role",
                                mw_role_word(module->role), "start", mw_json_count(module->start),
                                "end", mw_json_count(module->end))));
    }
}

static void dump_sites(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->site_count; i++) {
        const struct mw_site *site = &process->sites[i];
        json_t *frames = json_array();
        for (size_t f = 0; f < site->frame_count; f++)
            json_array_append_new(
                frames, mw_json_take(mw_format("%" PRIu64 "+0x%" PRIx64, site->frames[f].module,
                                               site->frames[f].offset)));
        json_t *caller = mw_caller_json(dump->symbols, process, site->id);
        dump_line(dump, "site",
                  with_process(dump, process,
                               json_pack("{s:o, s:o, s:b, s:o}", "id", mw_json_count(site->id),
                                         "caller", mw_json_take(mw_frame_text(caller)), "truncated",
                                         site->truncated, "frames", frames)));
        json_decref(caller);
    }
}

static json_t *member_runs(const struct mw_run *runs, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array,
                              json_pack("[I, I, o]", (json_int_t)runs[i].start,
                                        (json_int_t)runs[i].stride, mw_json_count(runs[i].count)));
    return array;
}

static void dump_comms(const struct mw_dump *dump, size_t number)
{
    const struct mw_process *process = mw_trace_process(dump->model->trace, number);
    for (size_t i = 0; i < process->comm_count; i++) {
        const struct mw_comm *comm = &process->comms[i];
        json_t *label = mw_json_take(
            mw_comm_label(dump->comms, mw_comms_find(dump->comms, number, (int64_t)comm->id), -1));
        dump_line(
            dump, "comm",
            with_process(dump, process,
                         json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                                   "id", mw_json_count(comm->id), "label", label, "how",
                                   mw_comm_how_word(comm->how), "parent",
                                   mw_json_number(comm->parent, -1), "number",
                                   mw_json_count(comm->number), "size", mw_json_count(comm->size),
                                   "comm_rank", mw_json_count(comm->rank), "remote_size",
                                   mw_json_count(comm->remote_size), "hash",
                                   mw_json_take(mw_format("%016" PRIx64, comm->hash)), "members",
                                   member_runs(comm->members, comm->member_runs), "remote_members",
                                   member_runs(comm->remote_members, comm->remote_member_runs),
                                   "freed", mw_json_count(comm->freed))));
    }
}

static void dump_objects(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->window_count; i++) {
        const struct mw_rma_window *window = &process->windows[i];
        dump_line(
            dump, "window",
            with_process(
                dump, process,
                json_pack(
                    "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "id", mw_json_count(window->id),
                    "flavour", mw_window_flavour_word(window->flavour), "comm",
                    mw_json_number(window->comm, -1), "number", mw_json_count(window->number),
                    "size", mw_json_count(window->size), "unit", mw_json_count(window->unit),
                    "name", mw_json_text(window->name), "freed", mw_json_count(window->freed))));
    }
    for (size_t i = 0; i < process->iofile_count; i++) {
        const struct mw_iofile *file = &process->iofiles[i];
        dump_line(
            dump, "file_of_job",
            with_process(dump, process,
                         json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "id", mw_json_count(file->id),
                                   "comm", mw_json_number(file->comm, -1), "number",
                                   mw_json_count(file->number), "name", mw_json_text(file->name),
                                   "mode", mw_json_count(file->mode), "closed",
                                   mw_json_count(file->closed))));
    }
    for (size_t i = 0; i < process->flow_count; i++) {
        const struct mw_coll_flow *flow = &process->flows[i];
        dump_line(
            dump, "flow",
            with_process(dump, process,
                         json_pack("{s:o, s:I, s:o, s:o}", "comm", mw_json_number(flow->comm, -1),
                                   "peer", (json_int_t)flow->peer, "messages",
                                   mw_json_count(flow->messages), "bytes",
                                   mw_json_count(flow->bytes))));
    }
}

/* What mpiwatch cost itself. */
static void dump_cost(const struct mw_dump *dump, const struct mw_process *process)
{
    const struct mw_cost *cost = &process->cost;
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"init_ns", cost->init_ns},       {"encode_ns", cost->encode_ns}, {"write_ns", cost->write_ns},
        {"bytes", cost->bytes},           {"chunks", cost->chunks},       {"events", cost->events},
        {"longest_ns", cost->longest_ns}, {"finalize_ns", cost->finalize_ns}, {"memory", cost->memory},
        {"stamp_ps", cost->stamp_ps},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        json_object_set_new(object, all[i].name, mw_json_count(all[i].value));
    dump_line(dump, "cost", with_process(dump, process, object));
}

static void dump_state(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        dump_line(dump, "thread",
                  with_process(dump, process,
                               json_pack("{s:o, s:o, s:o, s:b}", "index",
                                         mw_json_count(process->threads[i].index), "tid",
                                         mw_json_count(process->threads[i].tid), "name",
                                         mw_json_text(process->threads[i].name), "main",
                                         process->threads[i].main)));
    for (size_t i = 0; i < process->count_count; i++)
        dump_line(
            dump, "count",
            with_process(dump, process,
                         json_pack("{s:o, s:o}", "function", mw_json_text(process->counts[i].name),
                                   "calls", mw_json_count(process->counts[i].calls))));
    for (size_t i = 0; i < process->open_call_count; i++) {
        const struct mw_open_call *call = &process->open_calls[i];
        dump_line(
            dump, "open",
            with_process(dump, process,
                         json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "thread",
                                   mw_json_count(call->thread), "function",
                                   mw_json_text(call->name), "start", mw_json_count(call->start),
                                   "comm", mw_json_number(call->comm, -1), "peer",
                                   (json_int_t)call->peer, "tag", (json_int_t)call->tag, "instance",
                                   mw_json_number(call->instance, -1), "site",
                                   mw_json_count(call->site))));
    }
    dump_cost(dump, process);
    for (size_t i = 0; i < process->health_count; i++)
        dump_line(
            dump, "health",
            with_process(dump, process,
                         json_pack("{s:o, s:o, s:o}", "code", mw_json_text(process->health[i].code),
                                   "message", mw_json_text(process->health[i].message), "count",
                                   mw_json_count(process->health[i].count))));
}

static void dump_facts(const struct mw_dump *dump, const struct mw_process *process)
{
    for (size_t i = 0; i < process->fact_count; i++) {
        const struct mw_fact *fact = &process->facts[i];
        dump_line(dump, "fact",
                  with_process(
                      dump, process,
                      json_pack("{s:o, s:o, s:o, s:o}", "section", mw_json_text(fact->section),
                                "key", mw_json_text(fact->key), "value", mw_json_text(fact->value),
                                "source", mw_json_text(fact->source))));
    }
}

static enum mw_status dump_process(const struct mw_dump *dump, size_t number)
{
    const struct mw_process *process = mw_trace_process(dump->model->trace, number);
    enum mw_status first = MW_OK;
    uint64_t thread;
    dump_head(dump, process);
    dump_clocks(dump, process);
    dump_modules(dump, process);
    dump_sites(dump, process);
    dump_comms(dump, number);
    dump_objects(dump, process);
    dump_state(dump, process);
    dump_facts(dump, process);
    mw_dump_fabric(dump, process);
    mw_dump_sums(dump, process);
    mw_dump_placement(dump, process);
    for (size_t i = 0; mw_model_thread(dump->model, process, i, &thread) == MW_OK; i++) {
        if (dump->thread >= 0 && (uint64_t)dump->thread != thread)
            continue;
        enum mw_status status = mw_dump_events(dump, number, thread);
        if (first == MW_OK)
            first = status;
    }
    return first;
}

enum mw_status mw_dump(const struct mw_dump *dump)
{
    enum mw_status first = MW_OK;
    dump_files(dump);
    for (size_t i = 0; i < dump->model->process_count && !ferror(dump->out); i++) {
        size_t number = dump->model->in_order[i];
        if (dump->place >= 0 && mw_model_place(dump->model, number) != dump->place)
            continue;
        enum mw_status status = dump_process(dump, number);
        if (first == MW_OK)
            first = status;
    }
    return first;
}
