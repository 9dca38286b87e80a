/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds matrices from a tally (matrix.h). Memory grows with the pairs that talked. */
#include "analyzer/analysis/matrix.h"

#include <stdlib.h>

#include "analyzer/analysis/flows.h"

static uint64_t value_bytes(const struct mw_pair *pair)
{
    return pair->bytes;
}

static uint64_t value_messages(const struct mw_pair *pair)
{
    return pair->messages;
}

static uint64_t value_time(const struct mw_pair *pair)
{
    return pair->time;
}

const struct mw_metric mw_metrics[] = {
    {"bytes", "bytes", "bytes sent", value_bytes},
    {"messages", "messages", "messages sent", value_messages},
    {"time", "seconds", "seconds in calls that belong to the pair", value_time},
    {"transport", "transport", "transports used", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct mw_kind mw_kinds[] = {
    {"p2p", "point-to-point", MW_KIND_P2P},
    {"rma", "one-sided", MW_KIND_RMA},
    {"coll", "collective", MW_KIND_COLL},
    {"io", "file", MW_KIND_IO},
    {NULL, NULL, 0},
};

static int cell_compare(const void *left, const void *right)
{
    const struct mw_matrix_cell *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

/* The cell of an ordered pair of ranks. */
static struct mw_matrix_cell *matrix_cell(struct mw_matrix *matrix, struct mw_index *index,
                                          int64_t src, int64_t dst)
{
    if (matrix->by == MW_BY_NODE) {
        src = src < MW_FILE_VERTEX ? mw_model_rank_node(matrix->model, src) : src;
        dst = dst < MW_FILE_VERTEX ? mw_model_rank_node(matrix->model, dst) : dst;
    }
    size_t at = mw_index_put(index, (uint64_t)(src + 1) << 32 | (uint64_t)(dst + 1));
    if (at == matrix->cells.count)
        *mw_vector_add(&matrix->cells) = (struct mw_matrix_cell){.src = src, .dst = dst};
    return &matrix->cells.at[at];
}

struct building {
    struct mw_matrix *matrix;
    struct mw_index *index;
};

static void matrix_pair(const struct building *building, const struct mw_pair *pair)
{
    struct mw_matrix *matrix = building->matrix;
    uint64_t value = matrix->metric->value(pair);
    matrix->total += value;
    if (value)
        matrix_cell(matrix, building->index, pair->src, pair->dst)->value += value;
}

static void matrix_collective(void *context, int64_t src, int64_t dst, uint64_t messages,
                              uint64_t bytes)
{
    matrix_pair(context,
                &(struct mw_pair){.src = src, .dst = dst, .messages = messages, .bytes = bytes});
}

static void matrix_files(const struct building *building, const struct mw_flows *flows)
{
    for (size_t i = 0; i < flows->io.count; i++) {
        const struct mw_io_pair *io = &flows->io.at[i];
        int64_t file = MW_FILE_VERTEX + io->file;
        matrix_pair(building, &(struct mw_pair){.src = io->rank,
                                                .dst = file,
                                                .messages = io->writes,
                                                .bytes = io->written,
                                                .time = io->time_written});
        matrix_pair(building, &(struct mw_pair){.src = file,
                                                .dst = io->rank,
                                                .messages = io->reads,
                                                .bytes = io->read,
                                                .time = io->time_read});
    }
}

static void matrix_figures(struct mw_matrix *matrix, struct mw_index *index)
{
    const struct mw_tally *tally = matrix->tally;
    struct building building = {matrix, index};
    for (size_t i = 0; matrix->kinds & MW_KIND_P2P && i < tally->pairs.count; i++)
        matrix_pair(&building, &tally->pairs.at[i]);
    for (size_t i = 0; matrix->kinds & MW_KIND_RMA && i < tally->flows->rma.count; i++)
        matrix_pair(&building, &tally->flows->rma.at[i]);
    if (matrix->kinds & MW_KIND_IO)
        matrix_files(&building, tally->flows);
    if (matrix->kinds & MW_KIND_COLL) {
        matrix->left_out = tally->flows->peers_lost;
        mw_flows_collectives(tally->flows, tally->comms, matrix_collective, &building,
                             &matrix->left_out);
    }
}

static void part_add(struct mw_matrix *matrix, struct mw_index *index,
                     const struct mw_matrix_cell *cell, const struct mw_route *route)
{
    uint64_t key = mw_mix((uint64_t)(cell->src + 1) << 32 | (uint64_t)(cell->dst + 1));
    size_t at = mw_index_put(index, mw_mix(key ^ ((uint64_t)route->way + 1)));
    int fresh = at == matrix->parts.count;
    if (fresh)
        *mw_vector_add(&matrix->parts) = (struct mw_matrix_part){
            .src = cell->src, .dst = cell->dst, .way = route->way, .certainty = MW_SEEN};
    struct mw_matrix_part *part = &matrix->parts.at[at];
    if (fresh || (route->messages && (!part->messages || route->first_class < part->first_class)))
        part->first_class = route->first_class;
    if (fresh || (route->messages && (!part->messages || route->last_class > part->last_class)))
        part->last_class = route->last_class;
    part->messages += route->messages;
    part->bytes += route->bytes;
    part->carried += route->carried;
    if (route->certainty > part->certainty)
        part->certainty = route->certainty;
}

static void matrix_transports(struct mw_matrix *matrix, struct mw_index *index)
{
    struct mw_index parts = {0};
    for (size_t i = 0; i < matrix->transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &matrix->transports->pairs.at[i];
        if (!pair->messages && !pair->routes.count)
            continue; /* bytes of nobody's messages, as UCX sends to itself */
        struct mw_matrix_cell *cell = matrix_cell(matrix, index, pair->src, pair->dst);
        cell->value += pair->bytes;
        cell->messages += pair->messages;
        matrix->total += pair->bytes;
        cell->unknown_pairs += pair->unknown != NULL;
        if (pair->unknown && !cell->unknown)
            cell->unknown = pair->unknown;
        for (size_t r = 0; r < pair->routes.count; r++)
            part_add(matrix, &parts, cell, &pair->routes.at[r]);
    }
    mw_index_free(&parts);
}

static int part_pair_compare(const struct mw_matrix_part *a, const struct mw_matrix_part *b)
{
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

static int part_bytes_compare(const void *left, const void *right)
{
    const struct mw_matrix_part *a = left, *b = right;
    int order = part_pair_compare(a, b);
    if (order)
        return order;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->way > b->way) - (a->way < b->way);
}

static int part_size_compare(const void *left, const void *right)
{
    const struct mw_matrix_part *a = left, *b = right;
    int order = part_pair_compare(a, b);
    if (order)
        return order;
    if (!a->messages != !b->messages)
        return !a->messages - !b->messages;
    if (a->first_class != b->first_class)
        return a->first_class < b->first_class ? -1 : 1;
    return part_bytes_compare(a, b);
}

/* Brings the parts into order and tells each cell, which are in order, which are its own. */
static void parts_hand_out(struct mw_matrix *matrix)
{
    size_t next = 0;
    if (matrix->parts.count)
        qsort(matrix->parts.at, matrix->parts.count, sizeof(matrix->parts.at[0]),
              matrix->by == MW_BY_NODE ? part_bytes_compare : part_size_compare);
    for (size_t i = 0; i < matrix->cells.count; i++) {
        struct mw_matrix_cell *cell = &matrix->cells.at[i];
        cell->part = next;
        while (next < matrix->parts.count && matrix->parts.at[next].src == cell->src &&
               matrix->parts.at[next].dst == cell->dst)
            next++;
        cell->part_count = next - cell->part;
    }
}

struct mw_matrix *mw_matrix_create(const struct mw_tally *tally,
                                   const struct mw_transports *transports,
                                   const struct mw_metric *metric, unsigned kinds,
                                   enum mw_matrix_by by)
{
    struct mw_matrix *matrix = mw_alloc(1, sizeof(*matrix));
    struct mw_index index = {0};
    matrix->metric = metric;
    matrix->kinds = kinds;
    matrix->by = by;
    matrix->model = tally->model;
    matrix->tally = tally;
    matrix->transports = metric->value ? NULL : transports;
    matrix->size = by == MW_BY_NODE ? (int64_t)tally->model->node_count : tally->model->rank_total;
    if (matrix->transports)
        matrix_transports(matrix, &index);
    else if (metric->value)
        matrix_figures(matrix, &index);
    mw_index_free(&index);
    if (matrix->cells.count)
        qsort(matrix->cells.at, matrix->cells.count, sizeof(matrix->cells.at[0]), cell_compare);
    parts_hand_out(matrix);
    return matrix;
}

void mw_matrix_free(struct mw_matrix *matrix)
{
    if (!matrix)
        return;
    free(matrix->parts.at);
    free(matrix->cells.at);
    free(matrix);
}
