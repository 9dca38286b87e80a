/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a trace in the same canonical JSON lines as mwdecode.py, by the public reader API and
 * nothing else. The two are compared line for line. Bytes of texts are printed as the code points
 * U+0000 to U+00FF.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpiwatch/trace.h>

static int first_field;

static void record_begin(const char *name)
{
    printf("{\"record\":\"%s\"", name);
}

static void record_end(void)
{
    puts("}");
}

static void put_quoted(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c == '\n' || *c == '\r' || *c == '\t' || *c == '\b' || *c == '\f')
            printf("\\%c", "btn?fr"[*c - '\b']);
        else if (*c < 0x20 || *c > 0x7e)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void put_text(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    put_quoted(text);
}

static void put_u64(const char *name, uint64_t value)
{
    printf(",\"%s\":%" PRIu64, name, value);
}

static void put_i64(const char *name, int64_t value)
{
    printf(",\"%s\":%" PRId64, name, value);
}

static void put_key(const char *name, uint64_t key)
{
    printf(",\"%s\":\"%016" PRIx64 "\"", name, key);
}

static void put_texts(const char *name, const char *const *texts, size_t count)
{
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i)
            putchar(',');
        put_quoted(texts[i]);
    }
    putchar(']');
}

static void list_begin(const char *name)
{
    printf(",\"%s\":[", name);
    first_field = 1;
}

static void list_separate(void)
{
    if (!first_field)
        putchar(',');
    first_field = 0;
}

static const char *status_word(enum mw_status status)
{
    static const char *const words[] = {
#define WORD(id, text) #id,
        MW_STATUS_LIST(WORD)
#undef WORD
    };
    const char *word = words[status];
    return strncmp(word, "MW_ERR_", 7) == 0 ? word + 7 : word;
}

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

static void dump_process(const struct mw_process *process)
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

static void dump_clocks_and_modules(const struct mw_process *process)
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

static void dump_sites(const struct mw_process *process)
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

static void dump_comms(const struct mw_process *process)
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
        record_end();
    }
}

static void dump_counts_and_open(const struct mw_process *process)
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

static void dump_health_and_facts(const struct mw_process *process)
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

static void put_hex(const char *name, const uint8_t *bytes, size_t size)
{
    printf(",\"%s\":\"", name);
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('"');
}

static void dump_attempt(const struct mw_attempt *attempt)
{
    record_begin("attempt");
    put_u64("id", attempt->id);
    put_text("library", attempt->library);
    put_text("call", attempt->call);
    put_i64("result", attempt->result);
    put_text("words", attempt->words);
    put_text("provider", attempt->provider);
    put_text("domain", attempt->domain);
    put_text("fabric", attempt->fabric);
    put_u64("caller", attempt->caller);
    put_u64("start", attempt->start);
    put_u64("end", attempt->end);
    put_i64("inner", attempt->inner);
    put_text("device", attempt->device);
    put_u64("speed", attempt->speed);
    put_text("driver", attempt->driver);
    put_text("asked", attempt->asked);
    put_u64("endpoint", attempt->endpoint);
    record_end();
    for (size_t i = 0; i < attempt->offer_count; i++) {
        const struct mw_offer *offer = &attempt->offers[i];
        record_begin("offer");
        put_text("provider", offer->provider);
        put_text("domain", offer->domain);
        put_text("fabric", offer->fabric);
        put_text("device", offer->device);
        put_u64("speed", offer->speed);
        put_text("state", offer->state);
        put_text("driver", offer->driver);
        record_end();
    }
}

static void dump_peer(const struct mw_peer *peer)
{
    record_begin("peer");
    put_hex("address", peer->address, peer->address_size);
    put_u64("sends", peer->sends);
    put_u64("sent", peer->sent);
    put_u64("puts", peer->puts);
    put_u64("put", peer->put);
    put_u64("gets", peer->gets);
    put_u64("got", peer->got);
    put_u64("unsized", peer->unsized);
    record_end();
    for (size_t i = 0; i < peer->lane_count; i++) {
        record_begin("lane");
        put_text("use", peer->lanes[i].use);
        put_text("transport", peer->lanes[i].transport);
        put_text("device", peer->lanes[i].device);
        record_end();
    }
}

static void dump_endpoint(const struct mw_endpoint *endpoint)
{
    record_begin("endpoint");
    put_u64("id", endpoint->id);
    put_text("library", endpoint->library);
    put_text("provider", endpoint->provider);
    put_text("domain", endpoint->domain);
    put_u64("caller", endpoint->caller);
    put_hex("address", endpoint->address, endpoint->address_size);
    put_u64("format", endpoint->format);
    put_text("device", endpoint->device);
    put_u64("speed", endpoint->speed);
    put_i64("inner", endpoint->inner);
    put_u64("time", endpoint->time);
    put_u64("unlisted", endpoint->unlisted);
    record_end();
    for (size_t i = 0; i < endpoint->peer_count; i++)
        dump_peer(&endpoint->peers[i]);
}

static void dump_log(const struct mw_process *process)
{
    for (size_t i = 0; i < process->log_count; i++) {
        const struct mw_log_line *line = &process->log[i];
        record_begin("log");
        put_u64("id", line->id);
        put_text("library", line->library);
        put_text("level", line->level);
        put_text("subsystem", line->subsystem);
        put_text("provider", line->provider);
        put_text("function", line->function);
        put_u64("line", line->line);
        put_text("text", line->text);
        put_u64("count", line->count);
        put_u64("time", line->time);
        record_end();
    }
    if (!process->log_lost)
        return;
    record_begin("log_lost");
    put_u64("count", process->log_lost);
    record_end();
}

static void dump_sockets(const struct mw_sockets *look)
{
    record_begin("sockets");
    put_i64("when", look->when);
    put_u64("time", look->time);
    put_u64("unseen", look->unseen);
    record_end();
    for (size_t i = 0; i < look->connection_count; i++) {
        const struct mw_connection *connection = &look->connections[i];
        record_begin("connection");
        put_hex("local", connection->local, connection->local_size);
        put_hex("remote", connection->remote, connection->remote_size);
        put_u64("sent", connection->sent);
        put_u64("received", connection->received);
        put_u64("rtt", connection->rtt_us);
        put_u64("retransmits", connection->retransmits);
        put_text("interface", connection->interface);
        put_u64("cookie", connection->cookie);
        put_u64("state", connection->state);
        put_u64("fd", connection->fd);
        put_u64("waiting", connection->waiting);
        put_u64("min_rtt", connection->min_rtt_us);
        record_end();
    }
}

static void dump_ports(const struct mw_ports *look)
{
    record_begin("ports");
    put_i64("when", look->when);
    put_u64("time", look->time);
    record_end();
    for (size_t i = 0; i < look->port_count; i++) {
        const struct mw_port *port = &look->ports[i];
        record_begin("port");
        put_text("name", port->name);
        put_text("kind", port->kind);
        put_u64("number", port->number);
        put_u64("received", port->received);
        put_u64("sent", port->sent);
        put_u64("rate", port->rate);
        put_text("state", port->state);
        put_u64("errors", port->errors);
        put_text("address", port->address);
        record_end();
    }
}

static void dump_cma_and_choices(const struct mw_process *process)
{
    if (process->cma_count) {
        record_begin("cma");
        put_u64("time", process->cma_time);
        record_end();
    }
    for (size_t i = 0; i < process->cma_count; i++) {
        const struct mw_cma_peer *peer = &process->cma[i];
        record_begin("cma_peer");
        put_u64("pid", peer->pid);
        put_u64("reads", peer->reads);
        put_u64("read", peer->read);
        put_u64("writes", peer->writes);
        put_u64("written", peer->written);
        put_u64("refused", peer->refused);
        put_u64("error", peer->error);
        put_u64("error_time", peer->error_time);
        record_end();
    }
    for (size_t i = 0; i < process->choice_count; i++) {
        record_begin("choice");
        put_text("what", process->choices[i].what);
        put_text("name", process->choices[i].name);
        put_text("how", process->choices[i].how);
        put_text("source", process->choices[i].source);
        record_end();
    }
}

static void dump_fabric(const struct mw_process *process)
{
    for (size_t i = 0; i < process->attempt_count; i++)
        dump_attempt(&process->attempts[i]);
    for (size_t i = 0; i < process->endpoint_count; i++)
        dump_endpoint(&process->endpoints[i]);
    dump_log(process);
    for (size_t i = 0; i < process->sockets_count; i++)
        dump_sockets(&process->sockets[i]);
    for (size_t i = 0; i < process->ports_count; i++)
        dump_ports(&process->ports[i]);
    dump_cma_and_choices(process);
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

static void put_numbers(const char *name, const uint64_t *numbers, size_t count)
{
    list_begin(name);
    for (size_t i = 0; i < count; i++) {
        list_separate();
        printf("%" PRIu64, numbers[i]);
    }
    putchar(']');
}

static void put_cpus(const char *name, const struct mw_cpu_run *runs, size_t count)
{
    list_begin(name);
    for (size_t i = 0; i < count; i++) {
        list_separate();
        printf("[%" PRIu64 ",%" PRIu64 "]", runs[i].first, runs[i].count);
    }
    putchar(']');
}

static void dump_pci(const struct mw_pci *pci)
{
    record_begin("pci");
    put_text("address", pci->address);
    put_text("parent", pci->parent);
    put_u64("class", pci->class_code);
    put_u64("vendor", pci->vendor);
    put_u64("device", pci->device);
    put_i64("node", pci->node);
    put_u64("speed", pci->speed);
    put_u64("speed_max", pci->speed_max);
    put_u64("width", pci->width);
    put_u64("width_max", pci->width_max);
    put_text("driver", pci->driver);
    put_text("names", pci->names);
    put_cpus("cpus", pci->cpus, pci->cpu_runs);
    record_end();
}

static void dump_gpus(const struct mw_topology *topology)
{
    for (size_t i = 0; i < topology->gpu_count; i++) {
        const struct mw_gpu *gpu = &topology->gpus[i];
        record_begin("gpu");
        put_u64("node", gpu->node);
        put_text("pci", gpu->pci);
        put_u64("gpu_id", gpu->gpu_id);
        put_text("name", gpu->name);
        put_u64("unique_id", gpu->unique_id);
        put_u64("hive", gpu->hive);
        record_end();
    }
    for (size_t i = 0; i < topology->link_count; i++) {
        const struct mw_gpu_link *link = &topology->links[i];
        record_begin("link");
        put_u64("from", link->from);
        put_u64("to", link->to);
        put_u64("type", link->type);
        put_u64("weight", link->weight);
        put_u64("min_bandwidth", link->min_bandwidth);
        put_u64("max_bandwidth", link->max_bandwidth);
        record_end();
    }
}

static void dump_topology(const struct mw_topology *topology)
{
    if (!topology)
        return;
    record_begin("topology");
    put_hex("xml", topology->xml, topology->xml_size);
    put_text("source", topology->source);
    put_u64("took", topology->took_ns);
    put_text("failure", topology->failure);
    record_end();
    for (size_t i = 0; i < topology->slit_count; i++) {
        const struct mw_slit *slit = &topology->slit[i];
        record_begin("slit");
        put_u64("node", slit->node);
        put_u64("memory", slit->memory);
        put_numbers("distance", slit->distances, slit->distance_count);
        put_cpus("cpus", slit->cpus, slit->cpu_runs);
        record_end();
    }
    for (size_t i = 0; i < topology->pci_count; i++)
        dump_pci(&topology->pci[i]);
    dump_gpus(topology);
}

static void dump_placed(const struct mw_placement *look)
{
    for (size_t i = 0; i < look->thread_count; i++) {
        const struct mw_placed_thread *thread = &look->threads[i];
        record_begin("placed_thread");
        put_u64("tid", thread->tid);
        put_i64("cpu", thread->cpu);
        put_cpus("cpus", thread->cpus, thread->cpu_runs);
        put_u64("ticks", thread->ticks);
        put_text("name", thread->name);
        put_i64("mpi", thread->mpi);
        record_end();
    }
    for (size_t i = 0; i < look->foreign_count; i++) {
        const struct mw_foreign *foreign = &look->foreign[i];
        record_begin("foreign");
        put_u64("pid", foreign->pid);
        put_u64("parent", foreign->parent);
        put_text("name", foreign->name);
        put_u64("busy", foreign->busy);
        put_i64("cpu", foreign->cpu);
        put_i64("same_user", foreign->same_user);
        put_cpus("cpus", foreign->cpus, foreign->cpu_runs);
        record_end();
    }
}

static void dump_placement(const struct mw_placement *look)
{
    record_begin("placement");
    put_i64("when", look->when);
    put_u64("time", look->time);
    put_cpus("cpus", look->cpus, look->cpu_runs);
    put_cpus("process_cpus", look->process_cpus, look->process_cpu_runs);
    put_cpus("parent_cpus", look->parent_cpus, look->parent_cpu_runs);
    put_cpus("cgroup_cpus", look->cgroup_cpus, look->cgroup_cpu_runs);
    put_cpus("mems", look->mems, look->mem_runs);
    put_text("parent", look->parent);
    put_text("policy", look->policy);
    put_i64("cpu", look->cpu);
    put_i64("node", look->node);
    put_i64("migrations", look->migrations);
    put_u64("involuntary", look->involuntary);
    put_u64("voluntary", look->voluntary);
    put_u64("threads", look->thread_total);
    put_u64("watched", look->watched_ns);
    put_u64("unwatched", look->unwatched);
    record_end();
    dump_placed(look);
}

static void dump_devices(const struct mw_process *process)
{
    if (process->device_count) {
        record_begin("devices");
        put_u64("time", process->device_time);
        put_text("visible", process->devices_visible);
        record_end();
    }
    for (size_t i = 0; i < process->device_count; i++) {
        const struct mw_device *device = &process->devices[i];
        record_begin("device");
        put_text("runtime", device->runtime);
        put_u64("index", device->index);
        put_text("pci", device->pci);
        put_text("name", device->name);
        put_u64("memory", device->memory);
        put_text("uuid", device->uuid);
        put_i64("current", device->current);
        record_end();
        for (size_t p = 0; p < device->peer_count; p++) {
            record_begin("device_peer");
            put_u64("index", device->peers[p].index);
            put_u64("access", device->peers[p].access);
            put_text("link", device->peers[p].link);
            put_u64("hops", device->peers[p].hops);
            record_end();
        }
    }
    for (size_t i = 0; i < process->space_count; i++) {
        const struct mw_memory_space *space = &process->spaces[i];
        record_begin("space");
        put_u64("id", space->id);
        put_i64("kind", space->kind);
        put_text("runtime", space->runtime);
        put_i64("device", space->device);
        put_text("note", space->note);
        put_u64("calls", space->calls);
        put_u64("bytes", space->bytes);
        record_end();
    }
}

static void dump_row(const struct mw_aggregate_row *row)
{
    record_begin("row");
    put_u64("function", row->function);
    put_u64("site", row->site);
    put_u64("kind", row->kind);
    put_u64("flags", row->flags);
    put_i64("comm", row->comm);
    put_i64("peer", row->peer);
    put_u64("class", row->size_class);
    put_u64("region", row->region);
    put_u64("calls", row->calls);
    put_u64("time", row->time);
    put_u64("least", row->least);
    put_u64("most", row->most);
    put_u64("errors", row->errors);
    put_u64("operations", row->operations);
    put_u64("bytes", row->bytes);
    put_u64("bytes_in", row->bytes_in);
    put_u64("next", row->next);
    put_i64("object", row->object);
    record_end();
}

static void dump_sums(const struct mw_process *process)
{
    for (size_t i = 0; i < process->region_count; i++) {
        const struct mw_region *region = &process->regions[i];
        record_begin("region");
        put_u64("id", region->id);
        put_u64("parent", region->parent);
        put_i64("level", region->level);
        put_text("name", region->name);
        put_u64("entries", region->entries);
        put_u64("time", region->time);
        put_u64("since", region->since);
        record_end();
    }
    for (size_t i = 0; i < process->aggregate_count; i++) {
        const struct mw_aggregate *slice = &process->aggregates[i];
        record_begin("aggregate");
        put_u64("thread", slice->thread);
        put_u64("number", slice->number);
        put_u64("start", slice->start);
        put_u64("end", slice->end);
        put_u64("why", slice->why);
        put_u64("last_function", slice->last_function);
        put_u64("last_site", slice->last_site);
        put_u64("last_end", slice->last_end);
        record_end();
        for (size_t r = 0; r < slice->row_count; r++)
            dump_row(&slice->rows[r]);
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
