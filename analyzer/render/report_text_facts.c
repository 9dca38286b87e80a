/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people: environment, health, our own cost, damage (doc.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/settings.h"
#include "analyzer/render/text.h"

#define DAMAGE_SHOWN 10

/* "value", "value and 2 others" where the ranks differ, or NULL. */
static char *fact_text(const json_t *facts, const char *section, const char *key)
{
    size_t index;
    json_t *fact;
    json_array_foreach(facts, index, fact)
    {
        if (strcmp(mw_json_string(fact, "key"), key) ||
            strcmp(mw_json_string(fact, "section"), section))
            continue;
        const json_t *first = json_array_get(json_object_get(fact, "values"), 0);
        double others = mw_json_count_of(fact, "distinct") - 1;
        return others > 0 ? mw_format("%s and %.0f other%s", mw_json_string(first, "value"), others,
                                      others == 1 ? "" : "s")
                          : mw_text_copy(mw_json_string(first, "value"));
    }
    return NULL;
}

/* One line of facts that belong together. */
static void facts_line(const json_t *facts, const char *label, const char *const (*parts)[3],
                       FILE *out)
{
    char *line = mw_text_copy("");
    for (; (*parts)[0]; parts++) {
        char *value = fact_text(facts, (*parts)[0], (*parts)[1]);
        if (!value)
            continue;
        char *longer = mw_format("%s%s%s%s", line, line[0] ? ", " : "", (*parts)[2], value);
        free(value);
        free(line);
        line = longer;
    }
    if (line[0])
        mw_text_entry(out, label, "%s", line);
    free(line);
}

static void text_machine(const json_t *facts, FILE *out)
{
    static const char *const system[][3] = {{"system", "distribution", ""},
                                            {"system", "kernel", "kernel "},
                                            {"system", "libc", "libc "},
                                            {NULL, NULL, NULL}};
    static const char *const processor[][3] = {{"cpu", "model", ""},
                                               {"cpu", "online", "CPUs "},
                                               {"cpu", "governor", "governor "},
                                               {"memory", "numa_nodes", "NUMA nodes "},
                                               {"memory", "numa_balancing", "NUMA balancing "},
                                               {NULL, NULL, NULL}};
    static const char *const place[][3] = {{"container", "kind", "container "},
                                           {"system", "virtual_machine", "virtual machine: "},
                                           {"process", "seccomp", "seccomp "},
                                           {"limit", "memlock", "locked memory "},
                                           {NULL, NULL, NULL}};
    facts_line(facts, "system", system, out);
    facts_line(facts, "processor", processor, out);
    facts_line(facts, "confinement", place, out);
}

void mw_text_environment(const json_t *report, FILE *out)
{
    const json_t *facts = json_object_get(report, "environment");
    if (!json_array_size(facts))
        return;
    mw_text_heading(out, "Environment");
    text_machine(facts, out);
    mw_text_settings(report, out);
    fprintf(out, "  %s%zu facts about the environment in all: --format json%s\n",
            mw_style_on(out, MW_STYLE_DIM), json_array_size(facts),
            mw_style_off(out, MW_STYLE_DIM));
}

static void text_cost(const json_t *cost, FILE *out)
{
    char *text[9] = {mw_number_seconds(mw_json_real_of(cost, "init_mean_s")),
                     mw_number_seconds(mw_json_real_of(cost, "init_max_s")),
                     mw_number_seconds(mw_json_real_of(cost, "encode_s")),
                     mw_number_seconds(mw_json_real_of(cost, "write_s")),
                     mw_number_seconds(mw_json_real_of(cost, "longest_delay_s")),
                     mw_number_seconds(mw_json_real_of(cost, "per_call_at_least_s")),
                     mw_number_bytes(mw_json_count_of(cost, "bytes_written")),
                     mw_number_count(mw_json_count_of(cost, "events")),
                     mw_number_bytes(mw_json_count_of(cost, "memory_max_bytes"))};
    double each = mw_json_real_of(cost, "bytes_per_event");
    mw_text_heading(out, "What recording cost");
    mw_text_entry(out, "per call", "at least %s; longest delay of one %s", text[5], text[4]);
    mw_text_entry(out, "all ranks", "encoding %s, writing %s", text[2], text[3]);
    mw_text_entry(out, "MPI_Init", "%s on average, %s at most", text[0], text[1]);
    if (isnan(each))
        mw_text_entry(out, "trace", "%s for %s events", text[6], text[7]);
    else
        mw_text_entry(out, "trace", "%s for %s events, %.1f bytes each", text[6], text[7], each);
    mw_text_entry(out, "memory", "%s in one process at most", text[8]);
    for (size_t i = 0; i < 9; i++)
        free(text[i]);
}

/* Whether anything was said. */
static int text_losses(const json_t *ranks, FILE *out)
{
    double events = 0, calls = 0, open = 0;
    size_t index;
    json_t *rank;
    json_array_foreach(ranks, index, rank)
    {
        events += mw_json_count_of(rank, "events_missing");
        calls += mw_json_count_of(rank, "calls_missing");
        open += mw_json_count_of(rank, "operations_without_call");
    }
    if (events > 0)
        mw_text_paragraph(out, MW_STYLE_BAD, "%.0f events are missing from the trace", events);
    if (calls > 0)
        mw_text_paragraph(out, MW_STYLE_BAD, "%.0f calls were counted but have no event", calls);
    if (open > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%.0f operation%s to calls that never ended", open,
                          open == 1 ? " belongs" : "s belong");
    return events > 0 || calls > 0 || open > 0;
}

/* What is wrong with the trace as a whole. Whether anything was said. */
static int text_gaps(const json_t *report, FILE *out)
{
    char *incomplete = mw_incomplete_text(json_object_get(report, "processes"));
    size_t damage = json_array_size(json_object_get(report, "damage"));
    int said = damage > 0;
    if (incomplete) {
        mw_text_paragraph(out, MW_STYLE_BAD, "%s", incomplete);
        said = 1;
    }
    if (damage)
        mw_text_paragraph(out, MW_STYLE_BAD, "%zu place%s could not be read: see Damage below",
                          damage, damage == 1 ? "" : "s");
    free(incomplete);
    return said;
}

void mw_text_health(const json_t *report, FILE *out)
{
    const json_t *health = json_object_get(report, "health");
    const json_t *cost = json_object_get(report, "cost");
    size_t index;
    json_t *entry;
    mw_text_heading(out, "Health of the recording");
    int said = text_gaps(report, out);
    json_array_foreach(health, index, entry)
    {
        char *ranks = mw_text_fit_list(mw_json_string(entry, "ranks"), 32);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s: %s (rank %s, %.0f times)",
                          mw_json_string(entry, "code"), mw_json_string(entry, "message"), ranks,
                          mw_json_count_of(entry, "count"));
        free(ranks);
    }
    said |= text_losses(json_object_get(report, "ranks"), out);
    if (!said && !json_array_size(health))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "no complaints");
    if (mw_json_count_of(cost, "processes") > 0)
        text_cost(cost, out);
}

void mw_text_damage(const json_t *document, FILE *out)
{
    const json_t *damage = json_object_get(document, "damage");
    size_t index;
    json_t *entry;
    if (!json_array_size(damage))
        return;
    mw_text_heading(out, "Damage: what could not be read");
    json_array_foreach(damage, index, entry)
    {
        if (index == DAMAGE_SHOWN)
            break;
        mw_text_paragraph(out, MW_STYLE_BAD, "%s: offset %.0f: %s", mw_json_string(entry, "file"),
                          mw_json_count_of(entry, "offset"), mw_json_string(entry, "text"));
    }
    mw_text_more(out, (double)json_array_size(damage), DAMAGE_SHOWN, "damaged places");
}
