/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment, health, our own cost and damage: what the report says besides the job's calls
 * (doc.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

#define FACT_VALUES 8 /* different values of one fact that are listed */

struct fact_value {
    const struct mw_fact *fact;
    size_t processes;
    struct mw_rank_set ranks;
};

struct fact_total {
    const struct mw_fact *fact;
    MW_VECTOR(struct fact_value) values;
    size_t processes;
};

struct facts {
    struct mw_index by_key, by_value; /* by_value → its place in the list of its key */
    MW_VECTOR(struct fact_total) totals;
    MW_VECTOR(uint32_t) places;
};

static void facts_add(struct facts *facts, const struct mw_model *model, size_t process,
                      const struct mw_fact *fact)
{
    uint64_t key = mw_hash_text(mw_hash_text(1, fact->section), fact->key);
    size_t at = mw_index_put(&facts->by_key, key);
    if (at == facts->totals.count)
        mw_vector_add(&facts->totals)->fact = fact;
    struct fact_total *total = &facts->totals.at[at];
    size_t place = mw_index_put(&facts->by_value, mw_hash_text(key, fact->value));
    if (place == facts->places.count) {
        *mw_vector_add(&facts->places) = (uint32_t)total->values.count;
        mw_vector_add(&total->values)->fact = fact;
    }
    struct fact_value *value = &total->values.at[facts->places.at[place]];
    total->processes++;
    value->processes++;
    mw_rank_set_add_process(&value->ranks, model, process);
}

static int total_compare(const void *left, const void *right)
{
    const struct fact_total *a = left, *b = right;
    int order = strcmp(a->fact->section, b->fact->section);
    return order ? order : strcmp(a->fact->key, b->fact->key);
}

static json_t *fact_values(struct fact_total *total)
{
    json_t *values = json_array();
    for (size_t i = 0; i < total->values.count; i++) {
        struct fact_value *value = &total->values.at[i];
        json_t *ranks = mw_rank_set_json(&value->ranks);
        if (i >= FACT_VALUES) {
            json_decref(ranks);
            continue;
        }
        json_array_append_new(values, json_pack("{s:o, s:o, s:I, s:o}", "value",
                                                mw_json_text(value->fact->value), "source",
                                                mw_json_text(value->fact->source), "processes",
                                                (json_int_t)value->processes, "ranks", ranks));
    }
    return values;
}

json_t *mw_doc_environment(const struct mw_model *model)
{
    struct facts facts = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        for (size_t f = 0; f < process->fact_count; f++)
            facts_add(&facts, model, i, &process->facts[f]);
    }
    mw_index_free(&facts.by_key);
    mw_index_free(&facts.by_value);
    free(facts.places.at);
    if (facts.totals.count)
        qsort(facts.totals.at, facts.totals.count, sizeof(facts.totals.at[0]), total_compare);
    for (size_t i = 0; i < facts.totals.count; i++) {
        struct fact_total *total = &facts.totals.at[i];
        size_t distinct = total->values.count;
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:b, s:I}", "section", mw_json_text(total->fact->section),
                      "key", mw_json_text(total->fact->key), "values", fact_values(total),
                      "everywhere", distinct == 1 && total->processes == model->process_count,
                      "distinct", (json_int_t)distinct));
        free(total->values.at);
    }
    free(facts.totals.at);
    return list;
}

struct health_total {
    const struct mw_health *health;
    uint64_t count;
    size_t processes;
    struct mw_rank_set ranks;
};

json_t *mw_doc_health(const struct mw_model *model)
{
    struct mw_index index = {0};
    MW_VECTOR(struct health_total) totals = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        for (size_t h = 0; h < process->health_count; h++) {
            const struct mw_health *health = &process->health[h];
            size_t at =
                mw_index_put(&index, mw_hash_text(mw_hash_text(1, health->code), health->message));
            if (at == totals.count)
                mw_vector_add(&totals)->health = health;
            totals.at[at].count += health->count ? health->count : 1;
            totals.at[at].processes++;
            mw_rank_set_add_process(&totals.at[at].ranks, model, i);
        }
    }
    for (size_t i = 0; i < totals.count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:I, s:o}", "code",
                                              mw_json_text(totals.at[i].health->code), "message",
                                              mw_json_text(totals.at[i].health->message), "count",
                                              mw_json_count(totals.at[i].count), "processes",
                                              (json_int_t)totals.at[i].processes, "ranks",
                                              mw_rank_set_json(&totals.at[i].ranks)));
    mw_index_free(&index);
    free(totals.at);
    return list;
}

struct cost_sums {
    struct mw_cost sum, most;
    uint64_t calls, processes;
    double stamps_ns; /* two clock readings for each call */
};

static void cost_add(struct cost_sums *sums, const struct mw_process *process)
{
    const struct mw_cost *cost = &process->cost;
    uint64_t calls = 0;
    for (size_t i = 0; i < process->count_count; i++)
        calls += process->counts[i].calls;
#define COST_FIELD(name)                                                                           \
    sums->sum.name += cost->name;                                                                  \
    if (cost->name > sums->most.name)                                                              \
        sums->most.name = cost->name;
    COST_FIELD(init_ns)
    COST_FIELD(encode_ns)
    COST_FIELD(write_ns)
    COST_FIELD(bytes)
    COST_FIELD(chunks)
    COST_FIELD(events)
    COST_FIELD(longest_ns)
    COST_FIELD(finalize_ns)
    COST_FIELD(memory)
    COST_FIELD(stamp_ps)
#undef COST_FIELD
    sums->calls += calls;
    sums->processes += cost->events || cost->bytes || cost->init_ns;
    sums->stamps_ns += 2.0 * (double)cost->stamp_ps * (double)calls / 1000;
}

json_t *mw_doc_cost(const struct mw_model *model)
{
    struct cost_sums sums = {0};
    for (size_t i = 0; i < model->process_count; i++)
        cost_add(&sums, mw_trace_process(model->trace, i));
    double processes = sums.processes ? (double)sums.processes : 1;
    double recording = sums.stamps_ns + (double)sums.sum.encode_ns + (double)sums.sum.write_ns;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "processes",
        mw_json_count(sums.processes), "calls", mw_json_count(sums.calls), "events",
        mw_json_count(sums.sum.events), "bytes_written", mw_json_count(sums.sum.bytes), "chunks",
        mw_json_count(sums.sum.chunks), "bytes_per_event",
        mw_json_share((double)sums.sum.bytes, (double)sums.sum.events), "init_mean_s",
        mw_json_real((double)sums.sum.init_ns / processes / 1e9), "init_max_s",
        mw_json_ns(sums.most.init_ns), "finalize_max_s", mw_json_ns(sums.most.finalize_ns),
        "encode_s", mw_json_ns(sums.sum.encode_ns), "write_s", mw_json_ns(sums.sum.write_ns),
        "clock_readings_s", mw_json_real(sums.stamps_ns / 1e9), "per_call_at_least_s",
        mw_json_share(recording / 1e9, (double)sums.calls), "longest_delay_s",
        mw_json_ns(sums.most.longest_ns), "memory_max_bytes", mw_json_count(sums.most.memory));
}

static json_t *damage_entry(const char *file, uint64_t offset, uint64_t length, const char *text)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "file", mw_json_text(file), "offset",
                     mw_json_count(offset), "length", mw_json_count(length), "text",
                     mw_json_text(text));
}

json_t *mw_doc_damage(const mw_trace *trace, const struct mw_tally *tally)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mw_trace_damage_count(trace); i++) {
        const struct mw_damage *damage = mw_trace_damage(trace, i);
        json_array_append_new(
            list, damage_entry(damage->file, damage->offset, damage->length, damage->text));
    }
    for (size_t i = 0; tally && i < tally->damage.count; i++) {
        const struct mw_event_damage *damage = &tally->damage.at[i];
        json_array_append_new(
            list, damage_entry(damage->file, damage->offset, damage->length, damage->text));
    }
    return list;
}
