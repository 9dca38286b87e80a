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

/* In flight; where no sample is certain, a lower bound. */
static uint64_t measured_bandwidth(const struct mw_speed *speed, uint64_t *weight, int *bound)
{
    *weight = speed->bytes;
    return (uint64_t)mw_speed_in_flight(speed, bound);
}

static uint64_t measured_throughput(const struct mw_speed *speed, uint64_t *weight, int *bound)
{
    *weight = speed->bytes;
    *bound = 0;
    return (uint64_t)mw_rate_value(&speed->throughput);
}

static uint64_t measured_latency(const struct mw_speed *speed, uint64_t *weight, int *bound)
{
    *weight = speed->latencies;
    *bound = 0;
    return speed->latency_median;
}

static uint64_t waited_time(const struct mw_pair_waits *waits)
{
    return waits->late_sender + waits->late_receiver;
}

static uint64_t node_bandwidth(const struct mw_node_speed *speed)
{
    return (uint64_t)mw_rate_value(&(struct mw_rate){speed->joint.bytes, speed->joint.time});
}

const struct mw_metric mw_metrics[] = {
    {.name = "bytes", .unit = "bytes", .title = "bytes sent", .value = value_bytes},
    {.name = "messages", .unit = "messages", .title = "messages sent", .value = value_messages},
    {.name = "time",
     .unit = "seconds",
     .title = "seconds in calls that belong to the pair",
     .value = value_time},
    {.name = "transport", .unit = "transport", .title = "transports used"},
    {.name = "bandwidth",
     .unit = "bytes/s",
     .title = "bandwidth in flight",
     .measured = measured_bandwidth,
     .of_nodes = node_bandwidth,
     .of_accesses = 1},
    {.name = "throughput",
     .unit = "bytes/s",
     .title = "throughput of bursts",
     .measured = measured_throughput,
     .of_accesses = 1},
    {.name = "latency", .unit = "seconds", .title = "median latency", .measured = measured_latency},
    {.name = "wait",
     .unit = "seconds",
     .title = "seconds that one waited for the other",
     .waited = waited_time},
    {.name = NULL},
};

int mw_metric_needs_exchange(const struct mw_metric *metric)
{
    return metric->measured || metric->waited;
}

int mw_metric_is_transport(const struct mw_metric *metric)
{
    return !metric->value && !mw_metric_needs_exchange(metric);
}

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

/* The row or column of a rank; a file stays what it is. */
static int64_t matrix_row(struct mw_matrix *matrix, int64_t rank, int64_t process)
{
    if (rank >= MW_FILE_VERTEX || matrix->by == MW_BY_RANK)
        return rank;
    if (!matrix->vertices)
        return process < 0 ? -1 : (int64_t)matrix->model->process_node[process];
    return process < 0 ? -1 : mw_vertex_of(matrix->vertices, matrix->placements, (uint32_t)process);
}

/* The cell of an ordered pair of ranks. */
static struct mw_matrix_cell *matrix_cell(struct mw_matrix *matrix, int64_t src, int64_t dst)
{
    int64_t from = src < MW_FILE_VERTEX ? mw_model_rank(matrix->model, src) : -1;
    int64_t to = dst < MW_FILE_VERTEX ? mw_model_rank(matrix->model, dst) : -1;
    src = matrix_row(matrix, src, from);
    dst = matrix_row(matrix, dst, to);
    size_t at = mw_index_put(&matrix->index, (uint64_t)(src + 1) << 32 | (uint64_t)(dst + 1));
    if (at == matrix->cells.count)
        *mw_vector_add(&matrix->cells) = (struct mw_matrix_cell){.src = src, .dst = dst};
    struct mw_matrix_cell *cell = &matrix->cells.at[at];
    if (matrix->vertices && !cell->between.known && src >= 0 && dst >= 0 && from >= 0 && to >= 0)
        cell->between =
            mw_vertices_between(matrix->vertices, matrix->placements, (uint32_t)from, (uint32_t)to);
    return cell;
}

/* What of a pair's messages counts. */
static struct mw_pair matrix_part_of(const struct mw_matrix *matrix, const struct mw_pair *pair)
{
    struct mw_pair part = *pair;
    const struct mw_memory_amounts *memory = &pair->memory;
    if (matrix->buffer == MW_BUFFER_DEVICE) {
        part.messages = memory->device_messages;
        part.bytes = memory->device_bytes;
    } else if (matrix->buffer == MW_BUFFER_HOST) {
        part.messages -= memory->device_messages + memory->unsure_messages;
        part.bytes -= memory->device_bytes + memory->unsure_bytes;
    }
    return part;
}

static void matrix_pair(struct mw_matrix *matrix, const struct mw_pair *pair)
{
    struct mw_pair part = matrix_part_of(matrix, pair);
    uint64_t value = matrix->metric->value(&part);
    matrix->total += value;
    if (value)
        matrix_cell(matrix, pair->src, pair->dst)->value += value;
}

static void matrix_collective(void *context, int64_t src, int64_t dst, uint64_t messages,
                              uint64_t bytes)
{
    matrix_pair(context,
                &(struct mw_pair){.src = src, .dst = dst, .messages = messages, .bytes = bytes});
}

static void matrix_files(struct mw_matrix *matrix, const struct mw_flows *flows)
{
    for (size_t i = 0; i < flows->io.count; i++) {
        const struct mw_io_pair *io = &flows->io.at[i];
        int64_t file = MW_FILE_VERTEX + io->file;
        matrix_pair(matrix, &(struct mw_pair){.src = io->rank,
                                              .dst = file,
                                              .messages = io->writes,
                                              .bytes = io->written,
                                              .time = io->time_written});
        matrix_pair(matrix, &(struct mw_pair){.src = file,
                                              .dst = io->rank,
                                              .messages = io->reads,
                                              .bytes = io->read,
                                              .time = io->time_read});
    }
}

static void matrix_figures(struct mw_matrix *matrix)
{
    const struct mw_tally *tally = matrix->tally;
    for (size_t i = 0; matrix->kinds & MW_KIND_P2P && i < tally->pairs.count; i++)
        matrix_pair(matrix, &tally->pairs.at[i]);
    for (size_t i = 0; matrix->kinds & MW_KIND_RMA && i < tally->flows->rma.count; i++)
        matrix_pair(matrix, &tally->flows->rma.at[i]);
    if (matrix->kinds & MW_KIND_IO)
        matrix_files(matrix, tally->flows);
    if (matrix->kinds & MW_KIND_COLL) {
        matrix->left_out += tally->flows->peers_lost;
        mw_flows_collectives(tally->flows, tally->comms, matrix_collective, matrix,
                             &matrix->left_out);
    }
}

/* Whether messages out of this kind of memory count. */
static int matrix_takes(const struct mw_matrix *matrix, enum mw_memory_kind kind)
{
    int device = kind == MW_MEMORY_DEVICE || kind == MW_MEMORY_MANAGED;
    if (matrix->buffer == MW_BUFFER_DEVICE)
        return device;
    return matrix->buffer != MW_BUFFER_HOST || (!device && kind != MW_MEMORY_UNKNOWN);
}

static void part_add(struct mw_matrix *matrix, struct mw_index *index,
                     const struct mw_matrix_cell *cell, const struct mw_route *route)
{
    uint64_t key = mw_mix((uint64_t)(cell->src + 1) << 32 | (uint64_t)(cell->dst + 1));
    size_t at = mw_index_put(
        index, mw_mix(key ^ (((uint64_t)route->way + 1) << 3 | (uint64_t)route->buffer)));
    int fresh = at == matrix->parts.count;
    if (fresh)
        *mw_vector_add(&matrix->parts) = (struct mw_matrix_part){
            .src = cell->src, .dst = cell->dst, .way = route->way, .buffer = route->buffer,
            .certainty = MW_SEEN};
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

/* What of a pair's messages counts. */
static struct mw_pair matrix_amounts(const struct mw_matrix *matrix,
                                     const struct mw_pair_transport *pair)
{
    const struct mw_tally *tally = matrix->transports->tally;
    size_t at = mw_index_find(&tally->pair_index, (uint64_t)pair->src << 32 | (uint64_t)pair->dst);
    if (at == MW_INDEX_NONE)
        return (struct mw_pair){.src = pair->src, .dst = pair->dst};
    return matrix_part_of(matrix, &tally->pairs.at[at]);
}

/* A pair in the cell; its routes as far as they are of messages that count. */
static void matrix_routes(struct mw_matrix *matrix, struct mw_index *parts,
                          const struct mw_pair_transport *pair, const struct mw_pair *amounts)
{
    struct mw_matrix_cell *cell = matrix_cell(matrix, pair->src, pair->dst);
    uint64_t known = 0;
    cell->value += amounts->bytes;
    cell->messages += amounts->messages;
    matrix->total += amounts->bytes;
    for (size_t r = 0; r < pair->routes.count; r++) {
        const struct mw_route *route = &pair->routes.at[r];
        if (matrix->buffer && (!route->messages || !matrix_takes(matrix, route->buffer)))
            continue;
        known += route->messages;
        part_add(matrix, parts, cell, route);
    }
    if (!pair->unknown || (matrix->buffer && known >= amounts->messages))
        return;
    cell->unknown_pairs++;
    if (!cell->unknown)
        cell->unknown = pair->unknown;
}

static void matrix_transports(struct mw_matrix *matrix)
{
    struct mw_index parts = {0};
    for (size_t i = 0; i < matrix->transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &matrix->transports->pairs.at[i];
        if (!pair->messages && !pair->routes.count)
            continue; /* bytes of nobody's messages, as UCX sends to itself */
        struct mw_pair amounts = matrix_amounts(matrix, pair);
        if (!matrix->buffer || amounts.messages)
            matrix_routes(matrix, &parts, pair, &amounts);
    }
    mw_index_free(&parts);
}

/* Those of messages, or of accesses to windows. */
static const struct mw_speeds *matrix_speeds(const struct mw_matrix *matrix)
{
    return matrix->kinds == MW_KIND_RMA ? matrix->exchange->accesses : matrix->exchange->speeds;
}

/* Of the size classes of a pair that were asked for, the one with the most weight. */
static void matrix_measured(struct mw_matrix *matrix)
{
    const struct mw_speeds *speeds = matrix_speeds(matrix);
    uint64_t heaviest = 0;
    for (size_t i = 0; i < speeds->all.count; i++) {
        const struct mw_speed *speed = &speeds->all.at[i];
        if (!i || speed[-1].src != speed->src || speed[-1].dst != speed->dst)
            heaviest = 0;
        uint64_t weight;
        int bound;
        uint64_t value = matrix->metric->measured(speed, &weight, &bound);
        if (!value || weight <= heaviest || speed->class < matrix->first_class ||
            speed->class > matrix->last_class)
            continue;
        struct mw_matrix_cell *cell = matrix_cell(matrix, speed->src, speed->dst);
        heaviest = weight;
        cell->value = value;
        cell->speed = speed;
        cell->bound = bound;
    }
}

static void matrix_of_nodes(struct mw_matrix *matrix)
{
    const struct mw_speeds *speeds = matrix_speeds(matrix);
    for (size_t i = 0; i < speeds->nodes.count; i++) {
        const struct mw_node_speed *speed = &speeds->nodes.at[i];
        uint64_t value = matrix->metric->of_nodes(speed);
        if (value)
            *mw_vector_add(&matrix->cells) = (struct mw_matrix_cell){
                .src = speed->src, .dst = speed->dst, .value = value, .bound = 1};
    }
}

static void matrix_waits(struct mw_matrix *matrix)
{
    const struct mw_waits *waits = matrix->exchange->waits;
    for (size_t i = 0; i < waits->pairs.count; i++) {
        uint64_t value = matrix->metric->waited(&waits->pairs.at[i]);
        matrix->total += value;
        matrix_cell(matrix, waits->pairs.at[i].src, waits->pairs.at[i].dst)->value += value;
    }
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
              matrix->by != MW_BY_RANK ? part_bytes_compare : part_size_compare);
    for (size_t i = 0; i < matrix->cells.count; i++) {
        struct mw_matrix_cell *cell = &matrix->cells.at[i];
        cell->part = next;
        while (next < matrix->parts.count && matrix->parts.at[next].src == cell->src &&
               matrix->parts.at[next].dst == cell->dst)
            next++;
        cell->part_count = next - cell->part;
    }
}

static void matrix_fill(struct mw_matrix *matrix)
{
    if (matrix->transports)
        matrix_transports(matrix);
    else if (matrix->metric->measured && matrix->by == MW_BY_NODE)
        matrix_of_nodes(matrix);
    else if (matrix->metric->measured)
        matrix_measured(matrix);
    else if (matrix->metric->waited)
        matrix_waits(matrix);
    else
        matrix_figures(matrix);
}

struct mw_matrix *mw_matrix_begin(const struct mw_matrix_question *question, int vertices)
{
    struct mw_matrix *matrix = mw_alloc(1, sizeof(*matrix));
    matrix->metric = question->metric;
    matrix->kinds = question->kinds;
    matrix->by = question->by;
    matrix->buffer = question->buffer;
    matrix->first_class = question->first_class;
    matrix->last_class = question->last_class;
    if (vertices) {
        matrix->vertices = mw_alloc(1, sizeof(*matrix->vertices));
        mw_vertices_begin(matrix->vertices, question->by);
    }
    return matrix;
}

static void amounts_add(struct mw_pair *to, const struct mw_pair *from)
{
    to->messages += from->messages;
    to->bytes += from->bytes;
}

static void rest_add(struct mw_matrix_rest *rest, const struct mw_tally *tally)
{
    amounts_add(&rest->outside, &tally->outside);
    amounts_add(&rest->unknown, &tally->unknown);
    rest->rma_elsewhere.messages += tally->flows->rma_elsewhere.messages;
    rest->rma_elsewhere.bytes += tally->flows->rma_elsewhere.bytes;
    rest->io_elsewhere += tally->flows->io_elsewhere;
    rest->cancelled += tally->cancelled;
    rest->receiver_side += tally->receiver_side;
    rest->upper += tally->upper;
    rest->p2p_time += tally->p2p_time;
    rest->pair_time += tally->pair_time;
    for (size_t i = 0; i < tally->model->process_count; i++)
        rest->events_missing += tally->processes[i].events_missing;
}

void mw_matrix_add(struct mw_matrix *matrix, const struct mw_tally *tally,
                   const struct mw_transports *transports, const struct mw_exchange *exchange,
                   const struct mw_placements *placements)
{
    matrix->jobs++;
    rest_add(&matrix->rest, tally);
    matrix->model = tally->model;
    matrix->tally = tally;
    matrix->placements = placements;
    matrix->transports = mw_metric_is_transport(matrix->metric) ? transports : NULL;
    matrix->exchange = mw_metric_needs_exchange(matrix->metric) ? exchange : NULL;
    if (matrix->vertices)
        mw_vertices_join(matrix->vertices, placements);
    /* Places of ranks that sent nothing are rows, too. */
    for (uint32_t p = 0; matrix->vertices && p < tally->model->process_count; p++)
        mw_vertex_of(matrix->vertices, placements, p);
    matrix_fill(matrix);
}

/* Brings vertices into order, and cells with them. */
static void vertices_sort(struct mw_matrix *matrix)
{
    int64_t *where = mw_vertices_sort(matrix->vertices);
    for (size_t i = 0; i < matrix->cells.count; i++) {
        struct mw_matrix_cell *cell = &matrix->cells.at[i];
        if (cell->src >= 0 && cell->src < MW_FILE_VERTEX)
            cell->src = where[cell->src];
        if (cell->dst >= 0 && cell->dst < MW_FILE_VERTEX)
            cell->dst = where[cell->dst];
    }
    for (size_t i = 0; i < matrix->parts.count; i++) {
        struct mw_matrix_part *part = &matrix->parts.at[i];
        part->src = part->src < 0 ? part->src : where[part->src];
        part->dst = part->dst < 0 ? part->dst : where[part->dst];
    }
    free(where);
}

/* What all traces together know of GPUs tells how they are joined. */
static void cells_paths(struct mw_matrix *matrix)
{
    for (size_t i = 0; matrix->by == MW_BY_GPU && i < matrix->cells.count; i++) {
        struct mw_matrix_cell *cell = &matrix->cells.at[i];
        if (cell->src >= 0 && cell->dst >= 0 && !cell->between.known)
            cell->between = mw_vertices_path(matrix->vertices, cell->src, cell->dst);
    }
}

void mw_matrix_finish(struct mw_matrix *matrix)
{
    mw_index_free(&matrix->index);
    if (matrix->vertices)
        vertices_sort(matrix);
    cells_paths(matrix);
    matrix->size = matrix->vertices           ? (int64_t)matrix->vertices->all.count
                   : matrix->by == MW_BY_NODE ? (int64_t)matrix->model->node_count
                                              : matrix->model->rank_total;
    if (matrix->cells.count)
        qsort(matrix->cells.at, matrix->cells.count, sizeof(matrix->cells.at[0]), cell_compare);
    parts_hand_out(matrix);
}

void mw_matrix_free(struct mw_matrix *matrix)
{
    if (!matrix)
        return;
    if (matrix->vertices)
        mw_vertices_end(matrix->vertices);
    free(matrix->vertices);
    mw_index_free(&matrix->index);
    free(matrix->parts.at);
    free(matrix->cells.at);
    free(matrix);
}
