/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiwatch matrix: who talked to whom. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/analysis.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/matrix.h"
#include "analyzer/render/progress.h"

#define NAMES_MAX 16 /* of metrics or kinds, and NULL */

enum format { TEXT, CSV, JSON };
static const char *const formats[] = {"text", "csv", "json", NULL};
static const char *const groupings[] = {"rank", "node", "numa", "socket", "gpu", NULL};
static const char *const buffers[] = {"any", "device", "host", NULL};

struct options {
    struct mw_view_options view;
    struct mw_matrix_question question;
    int sized; /* --size was given */
};

static const struct argp_option option_list[] = {
    {"metric", 'm', "METRIC", 0,
     "bytes (the default), messages, time, transport, bandwidth, throughput, latency or wait", 0},
    {"kind", 'k', "KIND", 0, "which calls: a list of p2p (the default), rma, coll and io", 0},
    {"by", 'b', "WHAT", 0, "rank (the default), node, numa, socket or gpu", 0},
    {"buffer", 'u', "WHERE", 0, "only messages out of memory of a device or of the host", 0},
    {"size", 's', "FROM-TO", 0,
     "sizes of the messages that are measured: 64K-1M; by default that with most of the pair's "
     "bytes",
     0},
    {"format", 'f', "FORMAT", 0, "text (the default), csv or json", 0},
    {"top", 'n', "N", 0, "pairs that the text shows of a large matrix (20)", 0},
    MW_OPTION_OUTPUT,
    {0},
};

static const char *const *metric_names(void)
{
    static const char *names[NAMES_MAX];
    for (size_t i = 0; mw_metrics[i].name && i < NAMES_MAX - 1; i++)
        names[i] = mw_metrics[i].name;
    return names;
}

static const char *const *kind_names(void)
{
    static const char *names[NAMES_MAX];
    for (size_t i = 0; mw_kinds[i].name && i < NAMES_MAX - 1; i++)
        names[i] = mw_kinds[i].name;
    return names;
}

/* "p2p,rma" as bits. */
static unsigned find_kinds(struct argp_state *state, const char *list)
{
    char *copy = mw_text_copy(list), *rest = copy;
    unsigned kinds = 0;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ","))
        kinds |= mw_kinds[mw_option_word(state, "--kind", word, kind_names())].bit;
    free(copy);
    return kinds;
}

/* "64K": a number with K, M or G; where it ends. */
static uint64_t find_size(const char *text, char **end)
{
    static const char units[] = "KMG";
    uint64_t size = strtoull(text, end, 10);
    const char *unit = **end ? strchr(units, toupper((unsigned char)**end)) : NULL;
    if (*end == text || size > (uint64_t)1 << 32) {
        *end = (char *)text;
        return 0;
    }
    if (!unit)
        return size;
    ++*end;
    return size << 10 * (unit - units + 1);
}

/* "64K-1M", "64K", "64K-": the size classes that have such messages. */
static void find_sizes(struct argp_state *state, const char *text,
                       struct mw_matrix_question *question)
{
    char *end;
    uint64_t from = find_size(text, &end), to = from;
    int found = end != text;
    if (found && *end == '-' && !end[1]) {
        to = UINT64_MAX;
        end++;
    } else if (found && *end == '-') {
        const char *second = end + 1;
        to = find_size(second, &end);
        found = end != second;
    }
    if (!found || *end || to < from)
        argp_error(state, "--size: '%s' is no range of sizes like 64K-1M", text);
    question->first_class = mw_size_class(from);
    question->last_class = mw_size_class(to);
}

/* What has no meaning together. */
static void check_options(struct argp_state *state, const struct options *options)
{
    const struct mw_metric *metric = options->question.metric;
    if (mw_metric_is_transport(metric) && options->question.kinds != MW_KIND_P2P)
        argp_error(state, "transports are known of point-to-point messages: --kind p2p");
    if (mw_metric_needs_exchange(metric) && options->question.kinds != MW_KIND_P2P &&
        !(metric->of_accesses && options->question.kinds == MW_KIND_RMA))
        argp_error(state, "the %s is measured of point-to-point messages%s: --kind p2p%s",
                   metric->name, metric->of_accesses ? ", or of one-sided accesses" : "",
                   metric->of_accesses ? " or --kind rma" : "");
    if (metric->measured && options->question.by != MW_BY_RANK &&
        !(metric->of_nodes && options->question.by == MW_BY_NODE))
        argp_error(state, "the %s is one of two ranks%s: --by rank", metric->name,
                   metric->of_nodes ? " or nodes" : "");
    if (options->sized && (!metric->measured || options->question.by != MW_BY_RANK))
        argp_error(state, "--size is for bandwidth, throughput and latency by rank");
    if (!strcmp(metric->unit, "seconds") && options->question.kinds & MW_KIND_COLL)
        argp_error(state, "the time in a collective belongs to no pair");
    int amounts = metric->value && strcmp(metric->unit, "seconds");
    if (options->question.buffer && (!(amounts || mw_metric_is_transport(metric)) ||
                                     options->question.kinds != MW_KIND_P2P))
        argp_error(state, "--buffer is for bytes, messages and transports of point-to-point "
                          "messages");
    if (options->question.by > MW_BY_NODE && options->question.kinds & MW_KIND_IO)
        argp_error(state, "files are at no such place: --by rank or --by node");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'm':
        options->question.metric =
            &mw_metrics[mw_option_word(state, "--metric", value, metric_names())];
        return 0;
    case 'k':
        options->question.kinds = find_kinds(state, value);
        return 0;
    case 'b':
        options->question.by = (enum mw_matrix_by)mw_option_word(state, "--by", value, groupings);
        return 0;
    case 's':
        find_sizes(state, value, &options->question);
        options->sized = 1;
        return 0;
    case 'u':
        options->question.buffer =
            (enum mw_matrix_buffer)mw_option_word(state, "--buffer", value, buffers);
        return 0;
    case ARGP_KEY_END:
        check_options(state, options);
        return 0;
    default:
        return mw_view_option(&options->view, key, value, state);
    }
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* Traces of one job are one; by place, those of several jobs are added up. */
struct job {
    char *key;
    struct mw_index seats;         /* ranks that its traces have, */
    MW_VECTOR(uint64_t) processes; /* and which process each is */
    struct mw_paths paths;
    struct mw_analysis *analysis;
    struct mw_placements *placements;
};
struct jobs {
    MW_VECTOR(struct job) all;
};

/* The seat of a process in its job: each world has its own ranks. 0: its rank is not known. */
static int seat_of(const struct mw_process *process, uint64_t *seat)
{
    int64_t rank = process->has_rank ? process->rank : process->rank_hint;
    *seat = mw_mix(process->world) ^ (uint64_t)rank;
    return rank >= 0;
}

/* Whether one rank is a process here and another process there: a launcher may call two jobs by the
 * same name, as hydra does with the port it happens to get. */
static int is_other_job(const struct job *job, const mw_trace *trace)
{
    for (size_t i = 0; i < mw_trace_process_count(trace); i++) {
        const struct mw_process *process = mw_trace_process(trace, i);
        uint64_t seat;
        if (!seat_of(process, &seat))
            continue;
        size_t at = mw_index_find(&job->seats, seat);
        if (at != MW_INDEX_NONE && job->processes.at[at] != process->key)
            return 1;
    }
    return 0;
}

static void job_take(struct job *job, const char *path, const mw_trace *trace)
{
    mw_paths_add(&job->paths, path);
    for (size_t i = 0; trace && i < mw_trace_process_count(trace); i++) {
        const struct mw_process *process = mw_trace_process(trace, i);
        uint64_t seat;
        if (seat_of(process, &seat) && mw_index_put(&job->seats, seat) == job->processes.count)
            *mw_vector_add(&job->processes) = process->key;
    }
}

/* Finds the job that a trace is of, or begins one. What cannot be opened is said when its job is.
 */
static void jobs_add(struct jobs *jobs, const char *path, int apart)
{
    mw_trace *trace = NULL;
    if (apart && mw_trace_open(&path, 1, MW_OPEN_RESIDUE, &trace, NULL) != MW_OK)
        trace = NULL;
    const char *key = trace ? mw_trace_job(trace)->key : "";
    size_t at = 0;
    while (at < jobs->all.count &&
           (strcmp(jobs->all.at[at].key, key) || (trace && is_other_job(&jobs->all.at[at], trace))))
        at++;
    if (at == jobs->all.count)
        mw_vector_add(&jobs->all)->key = mw_text_copy(key);
    job_take(&jobs->all.at[at], path, trace);
    mw_trace_close(trace);
}

static void jobs_group(struct jobs *jobs, const struct options *options)
{
    int apart = options->question.by != MW_BY_RANK && options->view.paths.count > 1;
    for (size_t i = 0; i < options->view.paths.count; i++)
        jobs_add(jobs, options->view.paths.at[i], apart);
}

static unsigned parts_of(const struct mw_metric *metric)
{
    if (mw_metric_needs_exchange(metric))
        return MW_ANALYSIS_EXCHANGE;
    return mw_metric_is_transport(metric) ? MW_ANALYSIS_TRANSPORTS : MW_ANALYSIS_TALLY;
}

/* 0, or -1 when one cannot be read (said). */
static int jobs_open(struct jobs *jobs, const struct options *options, int vertices)
{
    for (size_t i = 0; i < jobs->all.count; i++) {
        struct job *job = &jobs->all.at[i];
        job->analysis = mw_analysis_open(&job->paths, parts_of(options->question.metric));
        if (!job->analysis)
            return -1;
        if (vertices)
            job->placements = mw_placements_create(job->analysis->model, NULL);
    }
    return 0;
}

static void jobs_close(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->all.count; i++) {
        struct job *job = &jobs->all.at[i];
        mw_placements_free(job->placements);
        mw_analysis_close(job->analysis);
        mw_index_free(&job->seats);
        free(job->processes.at);
        free(job->paths.at);
        free(job->key);
    }
    free(jobs->all.at);
}

/* --- output ----------------------------------------------------------------------------------- */

static json_t *jobs_damage(const struct jobs *jobs)
{
    json_t *damage = json_array();
    for (size_t i = 0; i < jobs->all.count; i++) {
        const struct mw_analysis *analysis = jobs->all.at[i].analysis;
        json_t *one = mw_doc_damage(analysis->trace, analysis->tally);
        json_array_extend(damage, one);
        json_decref(one);
    }
    return damage;
}

/* The head is about all traces together. */
static json_t *matrix_head(const struct mw_matrix *matrix, const struct jobs *jobs,
                           const struct options *options)
{
    const struct mw_paths *paths = &options->view.paths;
    if (jobs->all.count == 1)
        return mw_matrix_head(matrix, jobs->all.at[0].analysis->comms, jobs_damage(jobs), paths->at,
                              paths->count);
    mw_trace *trace = NULL;
    if (mw_trace_open(paths->at, paths->count, MW_OPEN_RESIDUE, &trace, NULL) != MW_OK)
        return NULL;
    struct mw_model *whole = mw_model_create(trace);
    struct mw_comms *comms = mw_comms_create(whole);
    json_t *head = mw_matrix_head(matrix, comms, jobs_damage(jobs), paths->at, paths->count);
    mw_comms_free(comms);
    mw_model_free(whole);
    mw_trace_close(trace);
    return head;
}

static void matrix_print(const struct mw_matrix *matrix, const json_t *head,
                         const struct options *options, FILE *out)
{
    if (options->view.format == CSV)
        mw_matrix_csv(matrix, out);
    else if (options->view.format == JSON)
        mw_matrix_json(matrix, head, out);
    else
        mw_matrix_text(matrix, head, (size_t)options->view.top, out);
}

static int matrix_write(const struct jobs *jobs, const struct options *options, int vertices)
{
    struct mw_output output;
    struct mw_matrix *matrix = mw_matrix_begin(&options->question, vertices);
    for (size_t i = 0; i < jobs->all.count; i++) {
        const struct mw_analysis *analysis = jobs->all.at[i].analysis;
        mw_matrix_add(matrix, analysis->tally, analysis->transports, analysis->exchange,
                      jobs->all.at[i].placements);
    }
    mw_matrix_finish(matrix);
    json_t *head = matrix_head(matrix, jobs, options);
    mw_progress_end();
    int status = MW_EXIT_FAILED;
    if (head && !mw_output_open(&output, options->view.output, 0)) {
        matrix_print(matrix, head, options, output.stream);
        status = mw_output_close(&output, 0, 1);
    }
    json_decref(head);
    mw_matrix_free(matrix);
    return status;
}

static int matrix_run(const struct options *options)
{
    struct jobs jobs = {0};
    jobs_group(&jobs, options);
    int several = jobs.all.count > 1, vertices = options->question.by > MW_BY_NODE || several;
    int status = MW_EXIT_FAILED;
    if (several && !options->question.metric->value)
        mw_complain("the %s of several jobs makes no matrix: one job at a time",
                    options->question.metric->name);
    else if (!jobs_open(&jobs, options, vertices))
        status = matrix_write(&jobs, options, vertices);
    jobs_close(&jobs);
    return status;
}

static const char *const *values(int key)
{
    switch (key) {
    case 'm':
        return metric_names();
    case 'k':
        return kind_names();
    case 'b':
        return groupings;
    case 'u':
        return buffers;
    default:
        return NULL;
    }
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "TRACE...",
    .doc = "Who talked to whom: a figure for each ordered pair of ranks, nodes, NUMA nodes, "
           "sockets or GPUs; other than by rank, the jobs of several traces are added up. CSV has "
           "the header src,dst,value and a row for each pair that is not zero, in bytes, messages, "
           "seconds or bytes per second, or with the names of the transports that it used.",
};

static int run(int argc, char **argv)
{
    struct options options = {.view = {.formats = formats, .top = 20, .top_least = 1},
                              .question = {.metric = &mw_metrics[0],
                                           .kinds = MW_KIND_P2P,
                                           .last_class = MW_SIZE_CLASSES - 1}};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    int status = matrix_run(&options);
    free(options.view.paths.at);
    return status;
}

const struct mw_command mw_command_matrix = {
    .name = "matrix",
    .summary = "who talked to whom, and how fast",
    .run = run,
    .parser = &parser,
    .formats = formats,
    .values = values,
};
