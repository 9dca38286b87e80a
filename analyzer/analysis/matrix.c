/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds matrices from a tally (matrix.h). Memory grows with the pairs that talked. */
#include "analyzer/analysis/matrix.h"

#include <stdlib.h>

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
    {NULL, NULL, NULL, NULL},
};

const struct mw_kind mw_kinds[] = {
    {"p2p", "point-to-point"},
    {NULL, NULL},
};

static int cell_compare(const void *left, const void *right)
{
    const struct mw_matrix_cell *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

static void matrix_add(struct mw_matrix *matrix, struct mw_index *index, const struct mw_pair *pair)
{
    uint64_t value = matrix->metric->value(pair);
    int64_t src = pair->src, dst = pair->dst;
    if (!value)
        return;
    matrix->total += value;
    if (matrix->by == MW_BY_NODE) {
        src = mw_model_rank_node(matrix->model, src);
        dst = mw_model_rank_node(matrix->model, dst);
    }
    size_t at = mw_index_put(index, (uint64_t)(src + 1) << 32 | (uint64_t)(dst + 1));
    if (at == matrix->cells.count)
        *mw_vector_add(&matrix->cells) = (struct mw_matrix_cell){src, dst, 0};
    matrix->cells.at[at].value += value;
}

struct mw_matrix *mw_matrix_create(const struct mw_tally *tally, const struct mw_metric *metric,
                                   const struct mw_kind *kind, enum mw_matrix_by by)
{
    struct mw_matrix *matrix = mw_alloc(1, sizeof(*matrix));
    struct mw_index index = {0};
    matrix->metric = metric;
    matrix->kind = kind;
    matrix->by = by;
    matrix->model = tally->model;
    matrix->tally = tally;
    matrix->size = by == MW_BY_NODE ? (int64_t)tally->model->node_count : tally->model->world_size;
    for (size_t i = 0; i < tally->pairs.count; i++)
        matrix_add(matrix, &index, &tally->pairs.at[i]);
    mw_index_free(&index);
    if (matrix->cells.count)
        qsort(matrix->cells.at, matrix->cells.count, sizeof(matrix->cells.at[0]), cell_compare);
    return matrix;
}

void mw_matrix_free(struct mw_matrix *matrix)
{
    if (!matrix)
        return;
    free(matrix->cells.at);
    free(matrix);
}
