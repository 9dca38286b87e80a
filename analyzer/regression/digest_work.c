/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job was: program, ranks, how it ended, how much it did, what disturbed it (digest.h). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/finding.h"
#include "analyzer/findings/foreigners.h"
#include "analyzer/findings/whole.h"
#include "analyzer/model/labels.h"
#include "analyzer/regression/digest_build.h"

#define MANY 100 /* percent: a processor */

/* A process of the program that most ranks ran; NULL there is none. */
static const struct mw_process *typical(const struct mw_model *model)
{
    const struct mw_process *best = NULL;
    struct mw_index index = {0};
    MW_VECTOR(size_t) counts = {0};
    size_t most = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        size_t at = mw_index_put(&index, mw_hash_text(1, mw_basename(process->exe)));
        if (at == counts.count)
            *mw_vector_add(&counts) = 0;
        counts.at[at]++;
    }
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        size_t at = mw_index_find(&index, mw_hash_text(1, mw_basename(process->exe)));
        if (counts.at[at] > most) {
            most = counts.at[at];
            best = process;
        }
    }
    mw_index_free(&index);
    free(counts.at);
    return best;
}

static char *arguments_of(const struct mw_process *process)
{
    char *text;
    size_t size;
    FILE *out = mw_text_stream(&text, &size);
    for (size_t i = 1; i < process->argument_count; i++)
        fprintf(out, "%s%s", i > 1 ? " " : "", process->arguments[i]);
    fclose(out);
    return text;
}

static char *hex(const uint8_t *data, size_t size)
{
    char *text = mw_alloc(2 * size + 1, 1);
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    return text;
}

static char *executable_id(const struct mw_process *process)
{
    for (size_t i = 0; i < process->module_count; i++)
        if (!strcmp(process->modules[i].path, process->exe))
            return hex(process->modules[i].build_id, process->modules[i].build_id_size);
    return mw_text_copy("");
}

/* The job's key; of a trace without one, what its processes are. */
static char *identity_of(const struct mw_model *model)
{
    const char *key = mw_trace_job(model->trace)->key;
    uint64_t sum = 0;
    if (key[0] || !model->process_count)
        return mw_text_copy(key);
    for (size_t i = 0; i < model->process_count; i++) /* in whatever order they come */
        sum += mw_mix(mw_trace_process(model->trace, i)->key);
    return mw_format("%016" PRIx64, sum);
}

static void add_program(struct mw_digest *digest, const struct mw_model *model)
{
    const struct mw_process *process = typical(model);
    digest->program = mw_text_copy(process ? mw_basename(process->exe) : "");
    digest->arguments = process ? arguments_of(process) : mw_text_copy("");
    digest->executable_id = process ? executable_id(process) : mw_text_copy("");
}

static void add_began(struct mw_digest *digest, const struct mw_model *model)
{
    double began = NAN;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        if (process->began)
            began = fmin(began, mw_process_time_ns(process, process->began, MW_TIME_REAL) / 1e9);
    }
    digest->began = began > 0 && began < 1e12 ? (int64_t)began : 0;
}

static void add_amounts(struct mw_digest *digest, const struct mw_tally *tally)
{
    for (size_t i = 0; i < tally->pairs.count; i++) {
        digest->messages += tally->pairs.at[i].messages;
        digest->bytes += tally->pairs.at[i].bytes;
    }
    for (size_t i = 0; i < tally->functions.count; i++)
        digest->calls += tally->functions.at[i].amounts.calls;
    for (size_t i = 0; i < MW_SIZE_CLASSES; i++)
        digest->collective_calls += tally->sizes[i].collectives;
}

/* --- what else ran there ---------------------------------------------------------------------- */

struct busy {
    uint64_t percent; /* of a processor */
    const struct mw_foreign *most;
};

/* Busy processes of others, as that process of a node saw them which saw most. */
static struct busy busiest(const struct mw_analysis *analysis, uint32_t node)
{
    struct busy worst = {0};
    const struct mw_model *model = analysis->model;
    for (uint32_t p = 0; p < model->process_count; p++) {
        const struct mw_placement *last = analysis->placements->places[p].last;
        struct busy seen = {0};
        if (model->process_node[p] != node)
            continue;
        for (size_t i = 0; last && i < mw_foreign_count(last); i++) {
            const struct mw_foreign *foreign = &last->foreign[i];
            if (mw_foreign_is_ours(model, p, foreign))
                continue;
            seen.percent += foreign->busy;
            if (!seen.most || foreign->busy > seen.most->busy)
                seen.most = foreign;
        }
        if (seen.percent > worst.percent)
            worst = seen;
    }
    return worst;
}

/* Do ranks and others want more processors than a node has? NULL: no, or it is not known. */
static char *crowded(const struct mw_analysis *analysis, uint32_t node)
{
    const struct mw_hardware *hardware = analysis->placements->hardware[node];
    size_t cpus = hardware ? mw_cpus_count(&hardware->cpus) : 0;
    struct busy busy = busiest(analysis, node);
    size_t ranks = analysis->model->nodes[node].process_count;
    if (!busy.most || busy.percent + MANY * ranks <= MANY * cpus)
        return NULL;
    return mw_format("processes of others used %" PRIu64 " %% of a processor on %s, most of it "
                     "process %" PRIu64 " (%s)",
                     busy.percent, analysis->model->nodes[node].host, busy.most->pid,
                     busy.most->name);
}

static char *disturbance(const struct mw_analysis *analysis)
{
    const struct mw_finding *shared = mw_findings_of(analysis->findings, "shared-cpu");
    char *words = shared ? mw_text_copy(shared->title) : NULL;
    for (uint32_t node = 0; node < analysis->model->node_count && !words; node++)
        words = crowded(analysis, node);
    return words;
}

static void add_rank_names(struct mw_digest *digest, const struct mw_model *model)
{
    for (int64_t place = 0; model->world_count > 1 && place < model->rank_total; place++)
        *mw_vector_add(&digest->rank_names) = mw_rank_label(model, place);
}

void mw_digest_add_work(struct mw_digest *digest, const struct mw_analysis *analysis)
{
    const struct mw_model *model = analysis->model;
    add_program(digest, model);
    digest->identity = identity_of(model);
    add_began(digest, model);
    add_amounts(digest, analysis->tally);
    add_rank_names(digest, model);
    digest->ranks = model->rank_total;
    digest->recorded_ranks = (int64_t)model->rank_count;
    digest->nodes = (int64_t)model->node_count;
    digest->crashed = mw_bad_ends_words(model);
    digest->incomplete = mw_missing_ranks_words(model);
    if (!digest->incomplete)
        digest->incomplete = mw_missing_events_words(analysis->tally);
    digest->disturbed = disturbance(analysis);
}
