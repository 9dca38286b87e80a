/* SPDX-License-Identifier: BSD-3-Clause */
/* Why these transports: what was chosen, what failed, what lay idle, what was looked at, what the
 * libraries logged (transports.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/transports.h"

/* Processes in groups that have the same key. */
struct groups {
    struct mw_index index;
    MW_VECTOR(struct mw_rank_set) sets;
    MW_VECTOR(uint32_t) first; /* process */
    MW_VECTOR(const void *) item;
};

/* The number of the group. */
static size_t groups_add(struct groups *groups, const struct mw_model *model, uint64_t key,
                         size_t process, const void *item)
{
    size_t at = mw_index_put(&groups->index, key);
    if (at == groups->sets.count) {
        mw_vector_add(&groups->sets);
        *mw_vector_add(&groups->first) = (uint32_t)process;
        *mw_vector_add(&groups->item) = item;
    }
    mw_rank_set_add_process(&groups->sets.at[at], model, process);
    return at;
}

/* Adds "processes" and "ranks" of a group to its entry. */
static json_t *groups_entry(struct groups *groups, size_t at, json_t *entry)
{
    json_object_set_new(entry, "processes", json_integer((json_int_t)groups->sets.at[at].count));
    json_object_set_new(entry, "ranks", mw_rank_set_json(&groups->sets.at[at]));
    return entry;
}

static void groups_free(struct groups *groups)
{
    mw_index_free(&groups->index);
    free(groups->sets.at);
    free(groups->first.at);
    free(groups->item.at);
}

static json_t *choice_json(const struct mw_process *process, const struct mw_process_choice *choice)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "pml", mw_json_known(choice->pml),
                     "mtl", mw_json_known(choice->mtl), "btls", mw_json_known(choice->btls),
                     "netmod", mw_json_known(choice->netmod), "shm", mw_json_known(choice->shm),
                     "mpi", mw_json_known(process->library_version), "abi",
                     mw_abi_word(process->abi));
}

json_t *mw_doc_choices(const struct mw_transports *transports)
{
    const struct mw_model *model = transports->tally->model;
    struct groups groups = {0};
    json_t *list = json_array();
    for (size_t i = 0; transports->choices && i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        const struct mw_process_choice *choice = &transports->choices[i];
        const char *const texts[] = {choice->pml,    choice->mtl, choice->btls,
                                     choice->netmod, choice->shm, process->library_version};
        uint64_t key = mw_mix((uint64_t)process->abi);
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
            key = mw_hash_text(key, texts[k] ? texts[k] : "");
        groups_add(&groups, model, key, i, choice);
    }
    for (size_t i = 0; i < groups.sets.count; i++)
        json_array_append_new(
            list, groups_entry(&groups, i,
                               choice_json(mw_trace_process(model->trace, groups.first.at[i]),
                                           groups.item.at[i])));
    groups_free(&groups);
    return list;
}

json_t *mw_doc_chosen_items(const struct mw_model *model, const char *what, const char *name_key,
                            const char *how_key)
{
    struct groups groups = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        for (size_t c = 0; c < process->choice_count; c++) {
            const struct mw_choice *item = &process->choices[c];
            if (!strcmp(item->what, what))
                groups_add(&groups, model,
                           mw_hash_text(mw_hash_text(mw_hash_text(1, item->name), item->how),
                                        item->source),
                           i, item);
        }
    }
    for (size_t i = 0; i < groups.sets.count; i++) {
        const struct mw_choice *item = groups.item.at[i];
        json_array_append_new(
            list, groups_entry(&groups, i,
                               json_pack("{s:o, s:o, s:o}", name_key, mw_json_text(item->name),
                                         how_key, mw_json_text(item->how), "source",
                                         mw_json_known(item->source))));
    }
    groups_free(&groups);
    return list;
}

static json_t *log_line_json(const struct mw_log_line *line)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "library", mw_json_text(line->library), "level",
        mw_json_known(line->level), "subsystem", mw_json_known(line->subsystem), "provider",
        mw_json_known(line->provider), "function", mw_json_known(line->function), "line",
        line->line ? mw_json_count(line->line) : json_null(), "text", mw_json_text(line->text),
        "count", mw_json_count(line->count ? line->count : 1));
}

static const char *weight_word(enum mw_failure_weight weight)
{
    static const char *const words[] = {"matters", "minor", "recovered", "layer", "nothing"};
    return (unsigned)weight < sizeof(words) / sizeof(words[0]) ? words[weight] : words[1];
}

static json_t *failure_json(const struct mw_model *model, const struct mw_failure *failure)
{
    json_t *log = json_array();
    for (size_t i = 0; i < failure->log.count; i++)
        json_array_append_new(log, log_line_json(failure->log.at[i]));
    json_t *entry = json_pack(
        "{s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "library", mw_json_text(failure->library),
        "call", mw_json_text(failure->call), "result", (json_int_t)failure->result, "words",
        mw_json_known(failure->words), "provider", mw_json_known(failure->provider), "domain",
        mw_json_known(failure->domain), "device", mw_json_known(failure->device), "opener",
        mw_json_known(failure->opener), "line_rate_bits_s", mw_json_known_count(failure->speed));
    json_object_set_new(entry, "weight", json_string(weight_word(failure->weight)));
    json_object_set_new(entry, "native", json_boolean(failure->native));
    json_object_set_new(entry, "inner", json_boolean(failure->inner));
    json_object_set_new(entry, "hangs", json_boolean(failure->hangs));
    json_object_set_new(entry, "silent", json_boolean(failure->silent));
    json_object_set_new(entry, "processes", json_integer((json_int_t)failure->processes.count));
    json_object_set_new(entry, "ranks",
                        mw_processes_json(model, failure->processes.at, failure->processes.count));
    json_object_set_new(entry, "log_of", mw_processes_json(model, &failure->process, 1));
    json_object_set_new(entry, "log", log);
    return entry;
}

json_t *mw_doc_failures(const struct mw_transports *transports, size_t top)
{
    json_t *listed = json_array();
    for (size_t i = 0; i < transports->failures.count && i < top; i++)
        json_array_append_new(listed,
                              failure_json(transports->tally->model, &transports->failures.at[i]));
    return json_pack("{s:I, s:o, s:o}", "total", (json_int_t)transports->failures.count,
                     "left_out", mw_json_count(transports->left_out), "listed", listed);
}

static json_t *idle_json(const struct mw_model *model, const struct mw_idle *idle)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:I, s:o}", "library",
                     mw_json_known(idle->library), "provider", mw_json_known(idle->provider),
                     "device", mw_json_known(idle->device), "driver", mw_json_known(idle->driver),
                     "state", mw_json_known(idle->state), "line_rate_bits_s",
                     mw_json_known_count(idle->speed), "native", idle->native, "tried", idle->tried,
                     "processes", (json_int_t)idle->processes.count, "ranks",
                     mw_processes_json(model, idle->processes.at, idle->processes.count));
}

json_t *mw_doc_idle(const struct mw_transports *transports, size_t top)
{
    json_t *listed = json_array();
    for (size_t i = 0; i < transports->idle.count && i < top; i++)
        json_array_append_new(listed, idle_json(transports->tally->model, &transports->idle.at[i]));
    return json_pack("{s:I, s:o}", "total", (json_int_t)transports->idle.count, "listed", listed);
}

json_t *mw_doc_probes(const struct mw_transports *transports)
{
    json_t *list = json_array();
    for (size_t i = 0; i < transports->coverage.count; i++) {
        const struct mw_probe_coverage *probe = &transports->coverage.at[i];
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:I, s:o}", "probe", mw_json_text(probe->probe), "how",
                            mw_json_text(probe->how), "why", mw_json_known(probe->why), "processes",
                            (json_int_t)probe->processes.count, "ranks",
                            mw_processes_json(transports->tally->model, probe->processes.at,
                                              probe->processes.count)));
    }
    return list;
}

/* Equal lines of several processes. */
struct logged {
    const struct mw_log_line *line;
    uint64_t count;
    size_t group;
};

static uint64_t line_key(const struct mw_log_line *line)
{
    const char *const texts[] = {line->library,  line->level,    line->subsystem,
                                 line->provider, line->function, line->text};
    uint64_t key = line->line;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        key = mw_hash_text(key, texts[i]);
    return key;
}

static int logged_compare(const void *left, const void *right)
{
    const struct logged *a = left, *b = right;
    return (a->group > b->group) - (a->group < b->group);
}

/* Whether the lines of a failure have this one, too. */
static int shown_with_failure(const struct mw_index *failures, const struct mw_log_line *line)
{
    return mw_index_find(failures, line_key(line)) != MW_INDEX_NONE;
}

json_t *mw_doc_log(const struct mw_transports *transports, size_t top)
{
    const struct mw_model *model = transports->tally->model;
    struct groups groups = {0};
    struct mw_index failures = {0};
    MW_VECTOR(struct logged) lines = {0};
    uint64_t lost = 0;
    json_t *listed = json_array();
    for (size_t i = 0; i < transports->failures.count; i++)
        for (size_t l = 0; l < transports->failures.at[i].log.count; l++)
            mw_index_put(&failures, line_key(transports->failures.at[i].log.at[l]));
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        lost += process->log_lost;
        for (size_t l = 0; l < process->log_count; l++) {
            const struct mw_log_line *line = &process->log[l];
            size_t at = groups_add(&groups, model, line_key(line), i, line);
            if (at == lines.count)
                *mw_vector_add(&lines) = (struct logged){line, 0, at};
            lines.at[at].count += line->count ? line->count : 1;
        }
    }
    if (lines.count)
        qsort(lines.at, lines.count, sizeof(lines.at[0]), logged_compare);
    for (size_t i = 0; i < lines.count; i++) {
        json_t *entry = groups_entry(&groups, lines.at[i].group, log_line_json(lines.at[i].line));
        json_object_set_new(entry, "count", mw_json_count(lines.at[i].count));
        json_object_set_new(entry, "with_failure",
                            json_boolean(shown_with_failure(&failures, lines.at[i].line)));
        if (i < top)
            json_array_append(listed, entry);
        json_decref(entry);
    }
    mw_index_free(&failures);
    groups_free(&groups);
    json_t *log = json_pack("{s:I, s:o, s:o}", "total", (json_int_t)lines.count, "lost",
                            mw_json_count(lost), "listed", listed);
    free(lines.at);
    return log;
}
