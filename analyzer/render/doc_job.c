/* SPDX-License-Identifier: BSD-3-Clause */
/* Who ran what, where, on which stack: the first sections of the report (doc.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

/* Adds a process to the entry of `list` that has the same key; the caller fills a new one. */
struct groups {
    struct mw_index index;
    MW_VECTOR(struct mw_rank_set) sets;
    MW_VECTOR(uint32_t) first; /* process */
};

static void groups_add(struct groups *groups, const struct mw_model *model, uint64_t key,
                       size_t process)
{
    size_t at = mw_index_put(&groups->index, key);
    if (at == groups->sets.count) {
        mw_vector_add(&groups->sets);
        *mw_vector_add(&groups->first) = (uint32_t)process;
    }
    mw_rank_set_add_process(&groups->sets.at[at], model, process);
}

static void groups_free(struct groups *groups)
{
    mw_index_free(&groups->index);
    free(groups->sets.at);
    free(groups->first.at);
}

json_t *mw_doc_trace(const struct mw_model *model, const char *const *paths, size_t count)
{
    json_t *names = json_array();
    uint64_t bytes = 0, events = 0;
    size_t files = mw_trace_file_count(model->trace), residues = 0;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(names, mw_json_text(paths[i]));
    for (size_t i = 0; i < files; i++) {
        const struct mw_file *file = mw_trace_file(model->trace, i);
        bytes += file->residue ? 0 : file->size;
        residues += file->residue != 0;
    }
    for (size_t i = 0; i < model->threads.count; i++)
        events += model->threads.at[i].next;
    return json_pack("{s:o, s:I, s:I, s:o, s:o}", "paths", names, "files",
                     (json_int_t)(files - residues), "residues", (json_int_t)residues, "bytes",
                     mw_json_count(bytes), "events", mw_json_count(events));
}

static json_t *text_array(const char *const *texts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, mw_json_text(texts[i]));
    return array;
}

/* The last time that a process is known to have been recording. */
static uint64_t process_last(const struct mw_process *process)
{
    uint64_t last = process->finalize_end ? process->finalize_end : process->end_time;
    if (!last && process->clock_count)
        last = process->clocks[process->clock_count - 1].time;
    return last;
}

/* Every distinct program with its arguments, and the ranks that ran it: one interpreter may have
 * been started with several scripts. */
static json_t *doc_programs(const struct mw_model *model)
{
    struct groups groups = {0};
    json_t *programs = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        if (!process->exe[0] && !process->argument_count)
            continue; /* not known */
        uint64_t key = mw_hash_text(process->argument_count, process->exe);
        for (size_t k = 0; k < process->argument_count; k++)
            key = mw_hash_text(key, process->arguments[k]);
        groups_add(&groups, model, key, i);
    }
    for (size_t i = 0; i < groups.sets.count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, groups.first.at[i]);
        json_int_t count = (json_int_t)groups.sets.at[i].count;
        json_array_append_new(
            programs,
            json_pack("{s:o, s:o, s:I, s:o}", "program", mw_json_text(process->exe), "arguments",
                      text_array(process->arguments, process->argument_count), "processes", count,
                      "ranks", mw_rank_set_json(&groups.sets.at[i])));
    }
    groups_free(&groups);
    return programs;
}

json_t *mw_doc_job(const struct mw_model *model)
{
    const struct mw_job *job = mw_trace_job(model->trace);
    const struct mw_process *first =
        model->process_count ? mw_trace_process(model->trace, 0) : NULL;
    double began = NAN, ended = NAN;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        if (process->began)
            began = fmin(began, mw_process_time_ns(process, process->began, 0) / 1e9);
        if (process_last(process))
            ended = fmax(ended, mw_process_time_ns(process, process_last(process), 0) / 1e9);
    }
    const char *program = job->program;
    if (!program[0] && first)
        program = mw_basename(first->exe);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "program", mw_json_text(program),
        "programs", doc_programs(model), "launcher", mw_json_text(job->launcher), "job_id",
        mw_json_text(job->job_id), "key", mw_json_text(job->key), "command",
        text_array(job->command, job->command_count), "arguments",
        first ? text_array(first->arguments, first->argument_count) : json_array(), "directory",
        first ? mw_json_text(first->cwd) : json_null(), "began", mw_json_time(began), "ended",
        mw_json_time(ended), "elapsed_s", mw_json_real(ended - began));
}

static json_t *doc_ends(const struct mw_model *model)
{
    struct groups groups = {0};
    json_t *ends = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        uint64_t code = process->end_reason == MW_END_ABORT ? (uint64_t)process->end_code : 0;
        groups_add(&groups, model, mw_mix(code) ^ (uint64_t)process->end_reason, i);
    }
    for (size_t i = 0; i < groups.sets.count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, groups.first.at[i]);
        size_t count = groups.sets.at[i].count;
        json_array_append_new(
            ends, json_pack("{s:s, s:o, s:I, s:o}", "how", mw_end_word(process), "code",
                            process->end_reason == MW_END_ABORT ? json_integer(process->end_code)
                                                                : json_null(),
                            "processes", (json_int_t)count, "ranks",
                            mw_rank_set_json(&groups.sets.at[i])));
    }
    groups_free(&groups);
    return ends;
}

/* Whether more may have happened in a process than its trace holds. */
static int process_incomplete(const struct mw_process *process)
{
    return !process->end_reason || process->end_reason == MW_END_SNAPSHOT;
}

json_t *mw_doc_processes(const struct mw_comms *comms)
{
    const struct mw_model *model = comms->model;
    uint64_t missing = 0;
    char *ranks = mw_missing_ranks(model, &missing);
    struct mw_rank_set incomplete = {0};
    for (size_t i = 0; i < model->process_count; i++)
        if (process_incomplete(mw_trace_process(model->trace, i)))
            mw_rank_set_add_process(&incomplete, model, i);
    json_int_t incomplete_count = (json_int_t)incomplete.count;
    return json_pack(
        "{s:I, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:o, s:I, s:o}", "processes",
        (json_int_t)model->process_count, "worlds", mw_doc_worlds(comms), "world_size",
        mw_json_number(model->rank_total, -1), "recorded_ranks", (json_int_t)model->rank_count,
        "missing_ranks", mw_json_take(ranks), "missing_count", mw_json_count(missing),
        "without_rank", (json_int_t)model->rankless, "duplicate_ranks",
        (json_int_t)model->duplicate_ranks, "incomplete", mw_rank_set_json(&incomplete),
        "incomplete_count", incomplete_count, "ended", doc_ends(model));
}

json_t *mw_doc_nodes(const struct mw_model *model)
{
    json_t *nodes = json_array();
    struct mw_rank_set *sets = mw_alloc(model->node_count, sizeof(*sets));
    for (size_t i = 0; i < model->process_count; i++)
        mw_rank_set_add_process(&sets[model->process_node[i]], model, i);
    for (size_t i = 0; i < model->node_count; i++)
        json_array_append_new(nodes, json_pack("{s:o, s:I, s:o}", "host",
                                               mw_json_text(model->nodes[i].host), "processes",
                                               (json_int_t)model->nodes[i].process_count, "ranks",
                                               mw_rank_set_json(&sets[i])));
    free(sets);
    return nodes;
}

static const struct mw_module *library_of(const struct mw_process *process)
{
    for (size_t i = 0; i < process->module_count; i++)
        if (!strcmp(process->modules[i].path, process->mpi_library))
            return &process->modules[i];
    return NULL;
}

/* "MPI_THREAD_SINGLE" and so on. */
static json_t *thread_level(int level)
{
    static const char *const words[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                        "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    return level >= 0 && level < 4 ? json_string(words[level]) : json_null();
}

static json_t *stack_entry(const struct mw_process *process, struct mw_rank_set *ranks)
{
    const struct mw_module *library = library_of(process);
    return json_pack(
        "{s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "version", mw_json_text(process->library_version),
        "standard", process->standard > 0 ? mw_json_real(process->standard / 10.0) : json_null(),
        "abi", mw_abi_word(process->abi), "path", mw_json_text(process->mpi_library), "build_id",
        library ? mw_json_build_id(library->build_id, library->build_id_size) : json_null(),
        "thread_level", thread_level(process->thread_level), "ranks", mw_rank_set_json(ranks));
}

static json_t *stack_mpi(const struct mw_model *model)
{
    struct groups groups = {0};
    json_t *entries = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        const struct mw_module *library = library_of(process);
        uint64_t key = mw_hash_text((uint64_t)process->thread_level, process->library_version);
        key = mw_hash_text(key, process->mpi_library);
        if (library && library->build_id_size)
            key = mw_hash_bytes(key, library->build_id, library->build_id_size);
        groups_add(&groups, model, key, i);
    }
    for (size_t i = 0; i < groups.sets.count; i++)
        json_array_append_new(
            entries,
            stack_entry(mw_trace_process(model->trace, groups.first.at[i]), &groups.sets.at[i]));
    groups_free(&groups);
    return entries;
}

struct library {
    const struct mw_module *module;
    size_t processes;
    size_t last; /* process + 1 that was counted last */
};

static int library_compare(const void *left, const void *right)
{
    const struct library *a = left, *b = right;
    int order = strcmp(mw_basename(a->module->path), mw_basename(b->module->path));
    return order ? order : strcmp(a->module->path, b->module->path);
}

static json_t *stack_libraries(const struct mw_model *model)
{
    struct mw_index index = {0};
    MW_VECTOR(struct library) libraries = {0};
    json_t *entries = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        for (size_t m = 0; m < process->module_count; m++) {
            const struct mw_module *module = &process->modules[m];
            uint64_t key = mw_hash_bytes(mw_hash_text(1, module->path), module->build_id,
                                         module->build_id_size);
            size_t at = mw_index_put(&index, key);
            if (at == libraries.count)
                mw_vector_add(&libraries)->module = module;
            libraries.at[at].processes += libraries.at[at].last != i + 1;
            libraries.at[at].last = i + 1;
        }
    }
    if (libraries.count)
        qsort(libraries.at, libraries.count, sizeof(libraries.at[0]), library_compare);
    for (size_t i = 0; i < libraries.count; i++) {
        const struct mw_module *module = libraries.at[i].module;
        json_array_append_new(entries,
                              json_pack("{s:o, s:o, s:o, s:s, s:I}", "name",
                                        mw_json_text(mw_basename(module->path)), "path",
                                        mw_json_text(module->path), "build_id",
                                        mw_json_build_id(module->build_id, module->build_id_size),
                                        "role", mw_role_word(module->role), "processes",
                                        (json_int_t)libraries.at[i].processes));
    }
    mw_index_free(&index);
    free(libraries.at);
    return entries;
}

json_t *mw_doc_stack(const struct mw_model *model)
{
    return json_pack("{s:o, s:o}", "mpi", stack_mpi(model), "libraries", stack_libraries(model));
}
