/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing a trace, and what the public sees of it. Opening runs on one thread; what is
 * opened is only read afterwards.
 */
#include "trace/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a trace may hold in memory: some times its size on disk, for tables and for what zstd had
 * made small; and enough for small files in any case. */
#define MEMORY_PER_BYTE 64
#define MEMORY_AT_LEAST ((uint64_t)256 << 20)

/* What became of one of the paths that open was given. */
struct path {
    size_t first, end;     /* its files among the trace's */
    enum mw_status status; /* of opening it */
    int error;             /* errno with MW_ERR_SYSTEM */
};

static enum mw_status path_add(struct mw_trace *trace, const char *name, struct path *path)
{
    path->first = trace->sources.count;
    path->status = mw_sources_add(trace, name);
    path->error = errno;
    path->end = trace->sources.count;
    if (path->status == MW_OK || path->status == MW_ERR_MEMORY || path->status == MW_ERR_LIMIT)
        return path->status;
    enum mw_status status = mw_sources_add_absent(trace, name);
    if (status != MW_OK)
        return status;
    if (path->status == MW_ERR_SYSTEM)
        mw_damage_add(trace, (uint32_t)path->end, 0, 0, MW_ERR_SYSTEM, "cannot be read: %s",
                      strerror(path->error));
    else
        mw_damage_add(trace, (uint32_t)path->end, 0, 0, path->status, "%s",
                      mw_status_text(path->status));
    return MW_OK;
}

/* Why nothing of a path was of use. */
static enum mw_status path_fault(const struct mw_trace *trace, const struct path *path)
{
    enum mw_status status = path->status != MW_OK ? path->status : MW_ERR_NOT_TRACE;
    for (size_t i = path->first; i < path->end; i++) {
        const struct mw_source *source = mw_trace_source(trace, i);
        if (source->file.chunks > source->newer)
            return MW_OK;
        if (source->newer)
            status = MW_ERR_NEWER;
        else if (source->begins_like_one && status == MW_ERR_NOT_TRACE)
            status =
                source->file.size < MW_CHUNK_HEADER_SIZE ? MW_ERR_TRUNCATED : source->first_damage;
    }
    return status;
}

/* A path that gave nothing, without anything being wrong with it, is wrong itself. */
static void path_judge(struct mw_trace *trace, const struct path *path)
{
    if (path->first == path->end || path_fault(trace, path) == MW_OK)
        return;
    for (size_t i = path->first; i < path->end; i++)
        if (mw_trace_source(trace, i)->damage_count || mw_trace_source(trace, i)->newer)
            return;
    mw_damage_add(trace, (uint32_t)path->first, 0, 0, MW_ERR_NOT_TRACE, "no chunk in it");
}

/* The trace as a whole: MW_OK when anything in it can be used. */
static enum mw_status paths_judge(const struct mw_trace *trace, const struct path *paths,
                                  size_t *failed)
{
    for (size_t i = 0; i < trace->sources.count; i++) {
        const struct mw_source *source = mw_trace_source(trace, i);
        if (source->file.chunks > source->newer)
            return MW_OK;
    }
    enum mw_status status = path_fault(trace, &paths[0]);
    if (failed)
        *failed = 0;
    errno = paths[0].error;
    return status;
}

static void job_fill(const char **text, const char *from)
{
    if (!**text)
        *text = from;
}

/* job.mpiw says most; what it does not say comes from a process of the same job. */
static void job_finish(struct mw_trace *trace)
{
    struct mw_process_entry **processes = trace->processes.items;
    struct mw_job *job = &trace->job;
    *job = trace->no_process.has_job ? trace->no_process.job
                                     : (struct mw_job){"", "", "", "", NULL, 0};
    int known = trace->no_process.has_job;
    for (size_t i = 0; i < trace->processes.count; i++) {
        const struct mw_job *other = &processes[i]->job;
        if (!processes[i]->has_job)
            continue;
        if (!known) {
            *job = *other;
            known = 1;
        } else if (!*job->key || strcmp(job->key, other->key) == 0) {
            job_fill(&job->key, other->key);
            job_fill(&job->launcher, other->launcher);
            job_fill(&job->job_id, other->job_id);
            job_fill(&job->program, other->program);
            if (!job->command_count) {
                job->command = other->command;
                job->command_count = other->command_count;
            }
        }
    }
}

static enum mw_status files_finish(struct mw_trace *trace)
{
    enum mw_status status = MW_OK;
    for (size_t i = 0; i < trace->sources.count && status == MW_OK; i++) {
        struct mw_source *source = mw_trace_source(trace, i);
        if (source->absent)
            continue;
        const struct mw_file **slot = mw_vector_add(NULL, &trace->files, sizeof *slot, &status);
        if (slot)
            *slot = &source->file;
    }
    return status;
}

static enum mw_status trace_read(struct mw_trace *trace, unsigned flags, const struct path *paths,
                                 size_t count, size_t *failed)
{
    enum mw_status status = MW_OK;
    /* Memory first, then files: what a running process moves from one to the other meanwhile is
     * then read twice, which event numbers sort out, and not lost. */
    if (flags & MW_OPEN_RESIDUE)
        status = mw_sources_add_residues(trace);
    for (size_t i = 0; i < trace->sources.count && status == MW_OK; i++) {
        struct mw_source *source = mw_trace_source(trace, i);
        mw_source_measure(source);
        trace->account.limit += source->file.size * MEMORY_PER_BYTE;
        trace->unpacked.limit = trace->account.limit;
    }
    for (size_t i = 0; i < trace->sources.count && status == MW_OK; i++)
        status = mw_load_source(trace, (uint32_t)i);
    free(trace->raw);
    trace->raw = NULL;
    for (size_t i = 0; i < count && status == MW_OK; i++)
        path_judge(trace, &paths[i]);
    if (status == MW_OK)
        status = paths_judge(trace, paths, failed);
    if (status != MW_OK)
        return status;
    job_finish(trace); /* while the processes are in the order in which they were found */
    status = mw_processes_finish(trace);
    if (status == MW_OK)
        status = files_finish(trace);
    if (status != MW_OK)
        return status;
    mw_damage_finish(trace);
    return MW_OK;
}

enum mw_status mw_trace_open(const char *const *names, size_t count, unsigned flags,
                             struct mw_trace **opened, size_t *failed)
{
    if (!names || count == 0 || !opened || (flags & ~(unsigned)MW_OPEN_RESIDUE))
        return MW_ERR_ARGUMENT;
    struct mw_trace *trace = calloc(1, sizeof *trace);
    struct path *paths = calloc(count, sizeof *paths);
    if (!trace || !paths) {
        free(trace);
        free(paths);
        return MW_ERR_MEMORY;
    }
    trace->account.limit = MEMORY_AT_LEAST;
    trace->pool.account = &trace->account;
    trace->pool.seed = mw_hash_seed();
    pthread_mutex_init(&trace->names_lock, NULL);
    enum mw_status status = MW_OK;
    for (size_t i = 0; i < count && status == MW_OK; i++)
        status = path_add(trace, names[i], &paths[i]);
    if (status == MW_OK)
        status = trace_read(trace, flags, paths, count, failed);
    free(paths);
    if (status == MW_OK) {
        *opened = trace;
    } else {
        int error = errno;
        mw_trace_close(trace);
        errno = error;
    }
    return status;
}

void mw_trace_close(struct mw_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->sources.count; i++) {
        struct mw_source *source = mw_trace_source(trace, i);
        if (source->fd >= 0)
            close(source->fd);
        free(source->memory);
    }
    for (size_t i = 0; i < trace->processes.count; i++)
        mw_process_entry_free(((struct mw_process_entry **)trace->processes.items)[i]);
    mw_process_entry_free(&trace->no_process);
    for (size_t i = 0; i < trace->names.count; i++)
        free(((void **)trace->names.items)[i]);
    mw_vector_free(&trace->sources);
    mw_vector_free(&trace->files);
    mw_vector_free(&trace->folders);
    mw_vector_free(&trace->damage);
    mw_vector_free(&trace->processes);
    mw_vector_free(&trace->names);
    free(trace->table);
    free(trace->raw);
    mw_pool_free(&trace->pool);
    pthread_mutex_destroy(&trace->names_lock);
    free(trace);
}

size_t mw_trace_damage_count(const struct mw_trace *trace)
{
    return trace->damage.count;
}

const struct mw_damage *mw_trace_damage(const struct mw_trace *trace, size_t index)
{
    if (index >= trace->damage.count)
        return NULL;
    return &((const struct mw_damage_entry *)trace->damage.items)[index].damage;
}

size_t mw_trace_file_count(const struct mw_trace *trace)
{
    return trace->files.count;
}

const struct mw_file *mw_trace_file(const struct mw_trace *trace, size_t index)
{
    return index < trace->files.count ? ((const struct mw_file **)trace->files.items)[index] : NULL;
}

const struct mw_job *mw_trace_job(const struct mw_trace *trace)
{
    return &trace->job;
}

size_t mw_trace_process_count(const struct mw_trace *trace)
{
    return trace->processes.count;
}

const struct mw_process *mw_trace_process(const struct mw_trace *trace, size_t index)
{
    if (index >= trace->processes.count)
        return NULL;
    return &((struct mw_process_entry *const *)trace->processes.items)[index]->process;
}

struct visit {
    const struct mw_source *source;
    enum mw_status (*visit)(void *context, const struct mw_chunk_view *chunk);
    void *context;
};

static enum mw_status visit_chunk(void *context, uint64_t offset,
                                  const struct mw_chunk_header *header, const uint8_t *payload)
{
    const struct visit *visit = context;
    struct mw_chunk_view view = {
        .file = visit->source->file.path,
        .offset = offset,
        .type = header->type,
        .version = header->version,
        .flags = header->flags,
        .process = header->process,
        .payload = payload,
        .length = header->length,
        .raw_length = header->raw_length,
    };
    return visit->visit(visit->context, &view);
}

enum mw_status mw_trace_visit(const struct mw_trace *trace,
                              enum mw_status (*visitor)(void *context,
                                                        const struct mw_chunk_view *chunk),
                              void *context)
{
    enum mw_status status = MW_OK;
    for (size_t i = 0; i < trace->sources.count && status == MW_OK; i++) {
        struct visit visit = {mw_trace_source(trace, i), visitor, context};
        struct mw_scan scan = {visit_chunk, NULL, &visit};
        status = mw_scan_source(visit.source, &scan);
    }
    return status;
}
