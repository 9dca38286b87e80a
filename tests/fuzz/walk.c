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
        use_bytes(comm->places, comm->place_runs * sizeof *comm->places);
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

static void walk_attempts(const struct mw_process *process)
{
    for (size_t i = 0; i < process->attempt_count; i++) {
        const struct mw_attempt *attempt = &process->attempts[i];
        CHECK(i == 0 || attempt[-1].id < attempt->id);
        const char *const texts[] = {attempt->library,  attempt->call,   attempt->words,
                                     attempt->provider, attempt->domain, attempt->fabric,
                                     attempt->device,   attempt->driver, attempt->asked};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            use_text(texts[t]);
        CHECK(attempt->inner == 0 || attempt->inner == 1);
        for (size_t o = 0; o < attempt->offer_count; o++) {
            const struct mw_offer *offer = &attempt->offers[o];
            const char *const names[] = {offer->provider, offer->domain, offer->fabric,
                                         offer->device,   offer->state,  offer->driver};
            for (size_t t = 0; t < sizeof names / sizeof *names; t++)
                use_text(names[t]);
            sink += offer->speed;
        }
    }
}

static int address_order(const struct mw_peer *a, const struct mw_peer *b)
{
    size_t both = a->address_size < b->address_size ? a->address_size : b->address_size;
    int order = memcmp(a->address, b->address, both);
    return order ? order
                 : (a->address_size > b->address_size) - (a->address_size < b->address_size);
}

static void walk_endpoints(const struct mw_process *process)
{
    for (size_t i = 0; i < process->endpoint_count; i++) {
        const struct mw_endpoint *endpoint = &process->endpoints[i];
        CHECK(i == 0 || endpoint[-1].id < endpoint->id);
        use_text(endpoint->library);
        use_text(endpoint->provider);
        use_text(endpoint->domain);
        use_text(endpoint->device);
        use_bytes(endpoint->address, endpoint->address_size);
        for (size_t p = 0; p < endpoint->peer_count; p++) {
            const struct mw_peer *peer = &endpoint->peers[p];
            use_bytes(peer->address, peer->address_size);
            CHECK(p == 0 || address_order(&peer[-1], peer) < 0);
            for (size_t l = 0; l < peer->lane_count; l++) {
                use_text(peer->lanes[l].use);
                use_text(peer->lanes[l].transport);
                use_text(peer->lanes[l].device);
            }
        }
    }
}

static void walk_looks(const struct mw_process *process)
{
    for (size_t i = 0; i < process->sockets_count; i++) {
        const struct mw_sockets *look = &process->sockets[i];
        CHECK(i == 0 || look[-1].time <= look->time);
        for (size_t c = 0; c < look->connection_count; c++) {
            const struct mw_connection *seen = &look->connections[c];
            CHECK(c == 0 || seen[-1].fd <= seen->fd);
            CHECK(seen->local_size == 0 || seen->local_size == 6 || seen->local_size == 18);
            CHECK(seen->remote_size == 0 || seen->remote_size == 6 || seen->remote_size == 18);
            use_bytes(seen->local, seen->local_size);
            use_bytes(seen->remote, seen->remote_size);
            use_text(seen->interface);
        }
    }
    for (size_t i = 0; i < process->ports_count; i++) {
        const struct mw_ports *look = &process->ports[i];
        CHECK(i == 0 || look[-1].time <= look->time);
        for (size_t p = 0; p < look->port_count; p++) {
            CHECK(p == 0 || strcmp(look->ports[p - 1].kind, look->ports[p].kind) <= 0);
            use_text(look->ports[p].name);
            use_text(look->ports[p].kind);
            use_text(look->ports[p].state);
            use_text(look->ports[p].address);
        }
    }
}

static void walk_fabric(const struct mw_process *process)
{
    walk_attempts(process);
    walk_endpoints(process);
    walk_looks(process);
    for (size_t i = 0; i < process->log_count; i++) {
        const struct mw_log_line *line = &process->log[i];
        CHECK(line->id != 0 && (i == 0 || line[-1].id < line->id));
        use_text(line->library);
        use_text(line->level);
        use_text(line->subsystem);
        use_text(line->provider);
        use_text(line->function);
        use_text(line->text);
    }
    for (size_t i = 0; i < process->cma_count; i++)
        CHECK(i == 0 || process->cma[i - 1].pid < process->cma[i].pid);
    for (size_t i = 0; i < process->choice_count; i++) {
        const struct mw_choice *choice = &process->choices[i];
        int order = i ? strcmp(choice[-1].what, choice->what) : -1;
        CHECK(order < 0 || (order == 0 && strcmp(choice[-1].name, choice->name) < 0));
        use_text(choice->how);
        use_text(choice->source);
    }
}

static void walk_objects(const struct mw_process *process)
{
    for (size_t i = 0; i < process->window_count; i++) {
        const struct mw_rma_window *window = &process->windows[i];
        CHECK(i == 0 || window[-1].id < window->id);
        CHECK(mw_process_window(process, window->id) == window);
        CHECK(window->comm >= -1);
        use_text(mw_window_flavour_word(window->flavour));
        use_text(window->name);
    }
    for (size_t i = 0; i < process->iofile_count; i++) {
        const struct mw_iofile *file = &process->iofiles[i];
        CHECK(i == 0 || file[-1].id < file->id);
        CHECK(mw_process_iofile(process, file->id) == file);
        CHECK(file->comm >= -1);
        use_text(file->name);
    }
    for (size_t i = 1; i < process->flow_count; i++) {
        const struct mw_coll_flow *flow = &process->flows[i];
        CHECK(flow[-1].comm < flow->comm ||
              (flow[-1].comm == flow->comm && flow[-1].peer < flow->peer));
    }
}

static void use_cpus(const struct mw_cpu_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sink += runs[i].first + runs[i].count;
}

static void walk_topology(const struct mw_topology *topology)
{
    if (!topology)
        return;
    use_bytes(topology->xml, topology->xml_size);
    use_text(topology->source);
    use_text(topology->failure);
    for (size_t i = 0; i < topology->slit_count; i++) {
        const struct mw_slit *slit = &topology->slit[i];
        CHECK(i == 0 || slit[-1].node < slit->node);
        use_bytes(slit->distances, slit->distance_count * sizeof *slit->distances);
        use_cpus(slit->cpus, slit->cpu_runs);
    }
    for (size_t i = 0; i < topology->pci_count; i++) {
        const struct mw_pci *pci = &topology->pci[i];
        CHECK(i == 0 || strcmp(pci[-1].address, pci->address) < 0);
        CHECK(pci->node >= -1);
        use_text(pci->parent);
        use_text(pci->driver);
        use_text(pci->names);
        use_cpus(pci->cpus, pci->cpu_runs);
    }
    for (size_t i = 0; i < topology->gpu_count; i++) {
        CHECK(i == 0 || topology->gpus[i - 1].node < topology->gpus[i].node);
        use_text(topology->gpus[i].pci);
        use_text(topology->gpus[i].name);
    }
    for (size_t i = 1; i < topology->link_count; i++)
        CHECK(topology->links[i - 1].from <= topology->links[i].from);
}

static void walk_placements(const struct mw_process *process)
{
    for (size_t i = 0; i < process->placement_count; i++) {
        const struct mw_placement *look = &process->placements[i];
        CHECK(i == 0 || look[-1].time <= look->time);
        CHECK(look->cpu >= -1 && look->node >= -1 && look->migrations >= -1);
        use_cpus(look->cpus, look->cpu_runs);
        use_cpus(look->process_cpus, look->process_cpu_runs);
        use_cpus(look->parent_cpus, look->parent_cpu_runs);
        use_cpus(look->cgroup_cpus, look->cgroup_cpu_runs);
        use_cpus(look->mems, look->mem_runs);
        use_text(look->parent);
        use_text(look->policy);
        for (size_t t = 0; t < look->thread_count; t++) {
            CHECK(t == 0 || look->threads[t - 1].tid < look->threads[t].tid);
            use_text(look->threads[t].name);
            use_cpus(look->threads[t].cpus, look->threads[t].cpu_runs);
        }
        for (size_t f = 0; f < look->foreign_count; f++) {
            CHECK(f == 0 || look->foreign[f - 1].pid < look->foreign[f].pid);
            use_text(look->foreign[f].name);
            use_cpus(look->foreign[f].cpus, look->foreign[f].cpu_runs);
        }
    }
}

static void walk_devices(const struct mw_process *process)
{
    use_text(process->devices_visible);
    for (size_t i = 0; i < process->device_count; i++) {
        const struct mw_device *device = &process->devices[i];
        const char *const texts[] = {device->runtime, device->pci, device->name, device->uuid};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            use_text(texts[t]);
        for (size_t p = 0; p < device->peer_count; p++)
            use_text(device->peers[p].link);
    }
    for (size_t i = 0; i < process->space_count; i++) {
        const struct mw_memory_space *space = &process->spaces[i];
        CHECK(i == 0 || space[-1].id < space->id);
        use_text(mw_memory_kind_word(space->kind));
        use_text(space->runtime);
        use_text(space->note);
    }
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
        walk_fabric(process);
        walk_objects(process);
        walk_topology(process->topology);
        walk_placements(process);
        walk_devices(process);
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
