/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices as CSV and JSON (matrix.h). */
#include "analyzer/render/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/flows.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/text.h"

static int in_seconds(const struct mw_matrix *matrix)
{
    return !strcmp(matrix->metric->unit, "seconds");
}

static void value_print(const struct mw_matrix *matrix, uint64_t value, FILE *out)
{
    if (in_seconds(matrix))
        fprintf(out, "%" PRIu64 ".%09" PRIu64, value / 1000000000, value % 1000000000);
    else
        fprintf(out, "%" PRIu64, value);
}

const char *mw_matrix_file(const struct mw_matrix *matrix, int64_t number)
{
    const struct mw_flows *flows = matrix->tally->flows;
    uint64_t file = (uint64_t)(number - MW_FILE_VERTEX);
    return number >= MW_FILE_VERTEX && file < flows->files.count ? flows->files.at[file].name
                                                                 : NULL;
}

const char *mw_matrix_place(const struct mw_matrix *matrix, int64_t number, const char *unknown)
{
    if (number < 0)
        return unknown;
    return matrix->vertices ? matrix->vertices->all.at[number].name
                            : matrix->model->nodes[number].host;
}

/* A place that is not known is empty. */
static void csv_name(const struct mw_matrix *matrix, int64_t number, FILE *out)
{
    const char *file = mw_matrix_file(matrix, number);
    if (file) {
        char *text = mw_format("file:%s", file);
        mw_csv_text(text, out);
        free(text);
    } else if (matrix->by == MW_BY_RANK) {
        char *label = mw_rank_label(matrix->model, number);
        fputs(label, out);
        free(label);
    } else {
        mw_csv_text(mw_matrix_place(matrix, number, ""), out);
    }
}

static void csv_label(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell, FILE *out)
{
    char *label = mw_matrix_cell_label(matrix, cell);
    mw_csv_text(label, out);
    free(label);
}

void mw_matrix_csv(const struct mw_matrix *matrix, FILE *out)
{
    fputs("src,dst,value\n", out);
    for (size_t i = 0; i < matrix->cells.count; i++) {
        const struct mw_matrix_cell *cell = &matrix->cells.at[i];
        if (cell->bound && cell->speed)
            continue; /* no figure, only that it was at least so much */
        csv_name(matrix, cell->src, out);
        fputc(',', out);
        csv_name(matrix, cell->dst, out);
        fputc(',', out);
        if (matrix->transports)
            csv_label(matrix, cell, out);
        else
            value_print(matrix, cell->value, out);
        fputc('\n', out);
    }
}

static void json_name(const struct mw_matrix *matrix, int64_t number, FILE *out)
{
    const char *file = mw_matrix_file(matrix, number);
    if (file) {
        json_t *name = mw_json_text(file);
        fputs("{\"file\": ", out);
        mw_json_put(name, JSON_ENCODE_ANY, out);
        fputc('}', out);
        json_decref(name);
    } else if (matrix->by == MW_BY_RANK) {
        json_t *name = mw_rank_json(matrix->model, number);
        mw_json_put(name, JSON_ENCODE_ANY, out);
        json_decref(name);
    } else if (number < 0) {
        fputs("null", out);
    } else {
        json_t *name = mw_json_text(mw_matrix_place(matrix, number, ""));
        mw_json_put(name, JSON_ENCODE_ANY, out);
        json_decref(name);
    }
}

/* The members of an object, without its braces, behind others. Frees it. */
static void json_members(json_t *members, FILE *out)
{
    char *text = json_dumps(members, JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII);
    if (text)
        fprintf(out, ", %.*s", (int)strlen(text) - 2, text + 1);
    free(text);
    json_decref(members);
}

/* What lies between the two places of a cell. */
static void json_between(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell,
                         FILE *out)
{
    const struct mw_between *between = &cell->between;
    int linked = between->known && between->path.kind != MW_PATH_UNKNOWN;
    if (!matrix->vertices || matrix->by == MW_BY_NODE)
        return;
    char *title = linked ? mw_path_title(&between->path) : NULL;
    json_t *members =
        json_pack("{s:o, s:o, s:o}", "distance",
                  mw_json_text(linked           ? mw_path_word(between->path.kind)
                               : between->known ? mw_locality_word(between->reach.farthest)
                                                : NULL),
                  "link", mw_json_take(title), "slit",
                  mw_json_known_count(linked ? 0 : between->reach.slit_most));
    json_members(members, out);
}

/* Which messages a measured figure is of, and whether it is a bound. */
static void json_measured(const struct mw_matrix *matrix, const struct mw_matrix_cell *cell,
                          FILE *out)
{
    const struct mw_speed *speed = cell->speed;
    if (!matrix->exchange)
        return;
    if (matrix->metric->measured)
        fprintf(out, ", \"bound\": %s", cell->bound ? "true" : "false");
    if (speed)
        fprintf(out,
                ", \"from\": %" PRIu64 ", \"to\": %" PRIu64 ", \"messages\": %" PRIu64
                ", \"certain\": %" PRIu64,
                mw_class_from(speed->class), mw_class_to(speed->class), speed->messages,
                speed->certain);
}

void mw_matrix_json(const struct mw_matrix *matrix, const json_t *head, FILE *out)
{
    char *text = json_dumps(head, MW_JSON_FLAGS | JSON_ENSURE_ASCII);
    if (!text)
        return;
    /* The head ends in "\n}": the cells go before that. */
    text[strlen(text) - 2] = 0;
    fprintf(out, "%s,\n \"cells\": [", text);
    free(text);
    for (size_t i = 0; i < matrix->cells.count; i++) {
        const struct mw_matrix_cell *cell = &matrix->cells.at[i];
        fprintf(out, "%s\n  {\"src\": ", i ? "," : "");
        json_name(matrix, cell->src, out);
        fputs(", \"dst\": ", out);
        json_name(matrix, cell->dst, out);
        if (matrix->transports) {
            json_members(mw_matrix_cell_json(matrix, cell), out);
        } else {
            fputs(", \"value\": ", out);
            value_print(matrix, cell->value, out);
            json_measured(matrix, cell, out);
        }
        json_between(matrix, cell, out);
        fputc('}', out);
    }
    fputs("\n ]\n}\n", out);
}

/* "p2p,rma", or as titles. */
static char *kinds_text(const struct mw_matrix *matrix, int titles)
{
    char *text = mw_text_copy("");
    for (size_t i = 0; mw_kinds[i].name; i++) {
        if (!(matrix->kinds & mw_kinds[i].bit))
            continue;
        char *longer = mw_format("%s%s%s", text, *text ? titles ? ", " : "," : "",
                                 titles ? mw_kinds[i].title : mw_kinds[i].name);
        free(text);
        text = longer;
    }
    return text;
}

char *mw_matrix_kinds_title(const struct mw_matrix *matrix)
{
    return kinds_text(matrix, 1);
}

static json_t *amounts_json(const struct mw_pair *amounts)
{
    return json_pack("{s:o, s:o}", "messages", mw_json_count(amounts->messages), "bytes",
                     mw_json_count(amounts->bytes));
}

/* What is not in the cells, of the kinds beside messages. */
static void others_add(const struct mw_matrix *matrix, json_t *besides)
{
    if (matrix->kinds & MW_KIND_RMA)
        json_object_set_new(besides, "one_sided_unknown_target",
                            amounts_json(&matrix->rest.rma_elsewhere));
    if (matrix->kinds & MW_KIND_IO)
        json_object_set_new(besides, "operations_on_unknown_files",
                            mw_json_count(matrix->rest.io_elsewhere));
    if (matrix->kinds & MW_KIND_COLL)
        json_object_set_new(besides, "collective_bytes_left_out", mw_json_count(matrix->left_out));
}

static json_t *others(const struct mw_matrix *matrix)
{
    const struct mw_matrix_rest *rest = &matrix->rest;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "outside_world",
                     amounts_json(&rest->outside), "unknown_peer", amounts_json(&rest->unknown),
                     "cancelled", mw_json_count(rest->cancelled), "counted_at_receiver",
                     mw_json_count(rest->receiver_side), "sizes_that_are_upper_bounds",
                     mw_json_count(rest->upper), "time_s", mw_json_ns(rest->p2p_time),
                     "time_in_pairs_s", mw_json_ns(rest->pair_time));
}

/* What the rows are, in their order; null where they are ranks. */
static json_t *vertices_json(const struct mw_matrix *matrix)
{
    if (!matrix->vertices)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < matrix->vertices->all.count; i++) {
        const struct mw_vertex *vertex = &matrix->vertices->all.at[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", mw_json_text(vertex->name),
                                              "host", mw_json_text(vertex->host), "part",
                                              mw_json_known(vertex->part)));
    }
    return list;
}

/* Whether the cells are all that the job did: every rank was recorded to its end, and all was read.
 */
static int head_complete(const json_t *head)
{
    const json_t *processes = json_object_get(head, "processes");
    return !(mw_json_count_of(processes, "incomplete_count") > 0) &&
           !(mw_json_count_of(processes, "missing_count") > 0) &&
           !(mw_json_count_of(head, "events_missing") > 0) &&
           !(mw_json_count_of(json_object_get(head, "besides"), "collective_bytes_left_out") > 0) &&
           !json_array_size(json_object_get(head, "damage"));
}

/* Speeds have no sum. */
static json_t *head_total(const struct mw_matrix *matrix)
{
    if (matrix->metric->measured)
        return json_null();
    return in_seconds(matrix) ? mw_json_ns(matrix->total) : mw_json_count(matrix->total);
}

json_t *mw_matrix_head(const struct mw_matrix *matrix, const struct mw_comms *whole, json_t *damage,
                       const char *const *paths, size_t count)
{
    static const char *const by[] = {[MW_BY_RANK] = "rank",
                                     [MW_BY_NODE] = "node",
                                     [MW_BY_NUMA] = "numa",
                                     [MW_BY_SOCKET] = "socket",
                                     [MW_BY_GPU] = "gpu"};
    static const char *const buffers[] = {"any", "device", "host"};
    json_t *head = mw_json_document("matrix");
    json_object_set_new(head, "trace", mw_doc_trace(whole->model, paths, count));
    json_object_set_new(head, "jobs", mw_json_count(matrix->jobs));
    json_object_set_new(head, "metric", json_string(matrix->metric->name));
    json_object_set_new(head, "unit", json_string(matrix->metric->unit));
    json_object_set_new(head, "kind", mw_json_take(kinds_text(matrix, 0)));
    json_object_set_new(head, "by", json_string(by[matrix->by]));
    json_object_set_new(head, "buffer", json_string(buffers[matrix->buffer]));
    json_object_set_new(head, "size", mw_json_number(matrix->size, -1));
    json_object_set_new(head, "vertices", vertices_json(matrix));
    json_object_set_new(head, "processes", mw_doc_processes(whole));
    json_object_set_new(head, "nodes", mw_doc_nodes(whole->model));
    json_object_set_new(head, "total", head_total(matrix));
    json_object_set_new(head, "cell_count", json_integer((json_int_t)matrix->cells.count));
    json_object_set_new(head, "events_missing", mw_json_count(matrix->rest.events_missing));
    json_t *besides = others(matrix);
    others_add(matrix, besides);
    json_object_set_new(head, "besides", besides);
    json_object_set_new(head, "damage", damage);
    json_object_set_new(head, "complete", json_boolean(head_complete(head)));
    return head;
}
