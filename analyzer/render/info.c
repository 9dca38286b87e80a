/* SPDX-License-Identifier: BSD-3-Clause */
/* The document and the text of mpiwatch info (info.h). */
#include "analyzer/render/info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/number.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define LINES 20

static json_t *info_files(const struct mw_model *model)
{
    json_t *files = json_array();
    for (size_t i = 0; i < mw_trace_file_count(model->trace); i++) {
        const struct mw_file *file = mw_trace_file(model->trace, i);
        json_array_append_new(
            files, json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "path", mw_json_text(file->path),
                             "bytes", mw_json_count(file->size), "chunks",
                             mw_json_count(file->chunks), "writer", mw_json_text(file->writer),
                             "host", mw_json_text(file->host), "residue", file->residue));
    }
    return files;
}

static json_t *info_chunks(const struct mw_model *model)
{
    json_t *chunks = json_array();
    for (unsigned i = 0; i < 256; i++) {
        const struct mw_type_total *total = &model->types[i];
        if (!total->chunks)
            continue;
        json_array_append_new(chunks, json_pack("{s:i, s:s, s:o, s:o}", "type", (int)i, "name",
                                                mw_chunk_type_name(i), "count",
                                                mw_json_count(total->chunks), "bytes",
                                                mw_json_count(total->stored)));
    }
    return chunks;
}

static json_t *info_process(const struct mw_model *model, const struct mw_process *process)
{
    uint64_t threads = 0, thread;
    while (mw_model_thread(model, process, threads, &thread) == MW_OK)
        threads++;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:o, s:o}", "rank",
        mw_json_number(mw_process_rank(process), -1), "host", mw_json_text(process->host), "pid",
        mw_json_count(process->pid), "key", mw_json_take(mw_format("%016" PRIx64, process->key)),
        "end", mw_end_word(process), "threads", mw_json_count(threads), "events",
        mw_json_count(mw_model_events(model, process)), "abi", mw_abi_word(process->abi), "program",
        mw_json_text(process->exe), "began",
        mw_json_time(process->began ? mw_process_time_ns(process, process->began, 0) / 1e9 : 0));
}

json_t *mw_info_document(const struct mw_model *model, const char *const *paths, size_t count)
{
    json_t *info = mw_json_document("info"), *list = json_array();
    for (size_t i = 0; i < model->process_count; i++)
        json_array_append_new(list, info_process(model, mw_trace_process(model->trace, i)));
    json_object_set_new(info, "trace", mw_doc_trace(model, paths, count));
    json_object_set_new(info, "job", mw_doc_job(model));
    json_object_set_new(info, "processes", mw_doc_processes(model));
    json_object_set_new(info, "nodes", mw_doc_nodes(model));
    json_object_set_new(info, "files", info_files(model));
    json_object_set_new(info, "chunks", info_chunks(model));
    json_object_set_new(info, "process_list", list);
    json_object_set_new(info, "damage", mw_doc_damage(model->trace, NULL));
    return info;
}

static void text_files(const json_t *info, FILE *out)
{
    const json_t *files = json_object_get(info, "files");
    struct mw_table *table = mw_table_create();
    size_t index;
    json_t *file;
    mw_table_column(table, ">bytes");
    mw_table_column(table, ">chunks");
    mw_table_column(table, "writer");
    mw_table_column(table, "host");
    mw_table_column(table, "file");
    mw_text_heading(out, "Files");
    json_array_foreach(files, index, file)
    {
        if (index == LINES)
            break;
        const char *path = mw_json_string(file, "path");
        mw_table_row(table);
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(file, "bytes")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(file, "chunks")));
        mw_table_text(table, mw_json_string(file, "writer"));
        mw_table_cell(table, mw_text_fit(mw_json_string(file, "host"), 16, 1));
        mw_table_cell(table, mw_text_fit(mw_basename(path), 24, 1));
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)json_array_size(files), LINES, "files");
}

static void text_chunks(const json_t *info, FILE *out)
{
    struct mw_table *table = mw_table_create();
    size_t index;
    json_t *chunk;
    mw_table_column(table, "chunks");
    mw_table_column(table, ">count");
    mw_table_column(table, ">bytes");
    mw_text_heading(out, "Content");
    json_array_foreach(json_object_get(info, "chunks"), index, chunk)
    {
        const char *name = mw_json_string(chunk, "name");
        mw_table_row(table);
        mw_table_cell(table, strcmp(name, "UNKNOWN")
                                 ? mw_text_copy(name)
                                 : mw_format("type %.0f, not known to this version",
                                             mw_json_count_of(chunk, "type")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(chunk, "count")));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(chunk, "bytes")));
    }
    mw_table_print(table, out);
}

static void text_processes(const json_t *info, FILE *out)
{
    static const char *const columns[] = {">rank",   "host", ">pid", ">threads",
                                          ">events", "MPI",  "end"};
    const json_t *list = json_object_get(info, "process_list");
    struct mw_table *table = mw_table_create();
    size_t index;
    json_t *process;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Processes");
    json_array_foreach(list, index, process)
    {
        if (index == LINES)
            break;
        mw_table_row(table);
        mw_table_cell(table, mw_json_is_null(process, "rank")
                                 ? mw_text_copy("?")
                                 : mw_format("%.0f", mw_json_count_of(process, "rank")));
        mw_table_cell(table, mw_text_fit(mw_json_string(process, "host"), 20, 1));
        mw_table_cell(table, mw_format("%.0f", mw_json_count_of(process, "pid")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(process, "threads")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(process, "events")));
        mw_table_text(table, mw_json_string(process, "abi"));
        mw_table_text(table, mw_json_string(process, "end"));
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)json_array_size(list), LINES, "processes");
}

void mw_info_text(const json_t *info, FILE *out)
{
    const json_t *trace = json_object_get(info, "trace"), *job = json_object_get(info, "job");
    const json_t *processes = json_object_get(info, "processes");
    char *program = mw_text_escape(mw_json_string(job, "program"));
    char *bytes = mw_number_bytes(mw_json_count_of(trace, "bytes"));
    char *events = mw_number_count(mw_json_count_of(trace, "events"));
    fprintf(out, "%smpiwatch trace of %s%s\n", mw_style_on(out, MW_STYLE_HEAD),
            program[0] ? program : "an unknown program", mw_style_off(out, MW_STYLE_HEAD));
    if (!mw_json_is_null(job, "began"))
        mw_text_entry(out, "began", "%s", mw_json_string(job, "began"));
    mw_text_entry(out, "holds", "%s events in %s, %.0f of %.0f ranks on %zu nodes", events, bytes,
                  mw_json_count_of(processes, "recorded_ranks"),
                  mw_json_count_of(processes, "world_size"),
                  json_array_size(json_object_get(info, "nodes")));
    if (mw_json_count_of(trace, "residues") > 0)
        mw_text_entry(out, "in memory",
                      "%.0f process%s more in /dev/shm of this machine (shown here; "
                      "\"mpiwatch collect\" saves what dead ones left)",
                      mw_json_count_of(trace, "residues"),
                      mw_json_count_of(trace, "residues") == 1 ? " has" : "es have");
    free(program);
    free(bytes);
    free(events);
    text_files(info, out);
    text_chunks(info, out);
    text_processes(info, out);
    mw_text_damage(info, out);
}
