/* SPDX-License-Identifier: BSD-3-Clause */
/* The document and the text of mpiwatch info (info.h). */
#include "analyzer/render/info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
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

static json_t *info_process(const struct mw_model *model, size_t number)
{
    const struct mw_process *process = mw_trace_process(model->trace, number);
    uint64_t threads = 0, thread;
    while (mw_model_thread(model, process, threads, &thread) == MW_OK)
        threads++;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:o, s:o}", "rank",
        mw_rank_json(model, mw_model_place(model, number)), "host", mw_json_text(process->host),
        "pid", mw_json_count(process->pid), "key",
        mw_json_take(mw_format("%016" PRIx64, process->key)), "end", mw_end_word(process),
        "threads", mw_json_count(threads), "events", mw_json_count(mw_model_events(model, process)),
        "abi", mw_abi_word(process->abi), "program", mw_json_text(process->exe), "began",
        mw_json_time(process->began ? mw_process_time_ns(process, process->began, 0) / 1e9 : 0));
}

/* How much was seen of fabrics and of the kernel, in all processes. */
static json_t *info_fabric(const struct mw_model *model)
{
    enum {
        ATTEMPTS,
        FAILED,
        OPEN,
        ENDPOINTS,
        PEERS,
        LOG,
        LOST,
        CONNECTIONS,
        PORTS,
        CMA,
        CHOICES,
        END
    };
    static const char *const names[END] = {
        "attempts",       "failed_attempts", "open_attempts", "endpoints", "peers",  "log_lines",
        "lost_log_lines", "connections",     "ports",         "cma_peers", "choices"};
    uint64_t counts[END] = {0};
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        counts[ATTEMPTS] += process->attempt_count;
        for (size_t a = 0; a < process->attempt_count; a++) {
            counts[FAILED] += process->attempts[a].end && process->attempts[a].result != 0;
            counts[OPEN] += process->attempts[a].end == 0;
        }
        counts[ENDPOINTS] += process->endpoint_count;
        for (size_t e = 0; e < process->endpoint_count; e++)
            counts[PEERS] += process->endpoints[e].peer_count;
        counts[LOG] += process->log_count;
        counts[LOST] += process->log_lost;
        /* Of looks the last tells most. */
        if (process->sockets_count)
            counts[CONNECTIONS] += process->sockets[process->sockets_count - 1].connection_count;
        if (process->ports_count)
            counts[PORTS] += process->ports[process->ports_count - 1].port_count;
        counts[CMA] += process->cma_count;
        counts[CHOICES] += process->choice_count;
    }
    json_t *object = json_object();
    for (size_t i = 0; i < END; i++)
        json_object_set_new(object, names[i], mw_json_count(counts[i]));
    return object;
}

json_t *mw_info_document(const struct mw_comms *comms, const char *const *paths, size_t count)
{
    const struct mw_model *model = comms->model;
    json_t *info = mw_json_document("info"), *list = json_array();
    for (size_t i = 0; i < model->process_count; i++)
        json_array_append_new(list, info_process(model, model->in_order[i]));
    json_object_set_new(info, "trace", mw_doc_trace(model, paths, count));
    json_object_set_new(info, "job", mw_doc_job(model));
    json_object_set_new(info, "processes", mw_doc_processes(comms));
    json_object_set_new(info, "nodes", mw_doc_nodes(model));
    json_object_set_new(info, "files", info_files(model));
    json_object_set_new(info, "chunks", info_chunks(model));
    json_object_set_new(info, "process_list", list);
    json_object_set_new(info, "fabric", info_fabric(model));
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
        mw_table_cell(table, mw_rank_text(process, "rank"));
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

/* "12 attempts (1 failed), 2 endpoints ..."; what there is none of is left out. */
static void text_fabric(const json_t *info, FILE *out)
{
    static const struct {
        const char *name, *one, *more;
    } counts[] = {
        {"attempts", "attempt to open a fabric", "attempts to open a fabric"},
        {"failed_attempts", "of them failed", "of them failed"},
        {"open_attempts", "of them never returned", "of them never returned"},
        {"endpoints", "endpoint", "endpoints"},
        {"peers", "peer of one", "peers of them"},
        {"log_lines", "line of a fabric's log", "lines of fabrics' logs"},
        {"lost_log_lines", "more line that found no room", "more lines that found no room"},
        {"connections", "TCP connection", "TCP connections"},
        {"ports", "network port", "network ports"},
        {"cma_peers", "process read or written by another", "processes read or written by another"},
        {"choices", "choice of MPI", "choices of MPI"},
    };
    const json_t *fabric = json_object_get(info, "fabric");
    char *text = mw_text_copy("");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        double count = mw_json_count_of(fabric, counts[i].name);
        if (count == 0)
            continue;
        char *number = mw_number_count(count);
        char *longer = mw_format("%s%s%s %s", text, text[0] ? ", " : "", number,
                                 count == 1 ? counts[i].one : counts[i].more);
        free(number);
        free(text);
        text = longer;
    }
    if (text[0])
        mw_text_entry(out, "fabric", "%s", text);
    free(text);
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
    mw_text_worlds(processes, out);
    text_fabric(info, out);
    free(program);
    free(bytes);
    free(events);
    text_files(info, out);
    text_chunks(info, out);
    text_processes(info, out);
    mw_text_damage(info, out);
}
