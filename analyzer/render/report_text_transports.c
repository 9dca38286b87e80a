/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transports for people, as far as the report shows them: what was chosen, the ways with what
 * they reached, what failed, what lay idle, what is not known. `mpiwatch transports` shows the same
 * parts at length (transports_text.c). Reads only the JSON document.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"
#include "analyzer/render/transports.h"
#include "analyzer/render/transports_text.h"

#define REPORT_WAYS     12
#define REPORT_FAILURES 4
#define REPORT_UNKNOWN  3
#define LIST_LINES      12 /* of choices and of probes */

char *mw_on_ranks(const json_t *entry)
{
    char *ranks = mw_text_fit_list(mw_json_string(entry, "ranks"), 40);
    char *text = mw_format("%s%s", mw_rank_word(ranks), ranks);
    free(ranks);
    return text;
}

/* A word more to a list of them, "PML ob1, BTLs self,tcp". */
static void list_add(char **list, const char *label, const char *value)
{
    if (!value[0])
        return;
    char *longer = mw_format("%s%s%s%s", *list, (*list)[0] ? ", " : "", label, value);
    free(*list);
    *list = longer;
}

static char *choice_text(const json_t *choice)
{
    char *text = mw_text_copy("");
    list_add(&text, "PML ", mw_json_string(choice, "pml"));
    list_add(&text, "MTL ", mw_json_string(choice, "mtl"));
    list_add(&text, "BTLs ", mw_json_string(choice, "btls"));
    list_add(&text, "netmod ", mw_json_string(choice, "netmod"));
    list_add(&text, "shm ", mw_json_string(choice, "shm"));
    if (text[0])
        return text;
    free(text);
    return mw_text_copy("not known");
}

void mw_text_choices(const json_t *section, int with_version, FILE *out)
{
    const json_t *choices = json_object_get(section, "choices");
    size_t index, several = json_array_size(choices) > 1;
    json_t *choice;
    json_array_foreach(choices, index, choice) {
        if (index == LIST_LINES)
            break;
        char *what = choice_text(choice), *ranks = mw_on_ranks(choice);
        char *version = mw_text_copy(mw_json_string(choice, "mpi"));
        mw_version_shorten(version);
        mw_text_entry(out, index ? "" : "MPI chose", "%s%s%s%s%s%s", with_version ? version : "",
                      with_version && version[0] ? ": " : "", what, several ? " (" : "",
                      several ? ranks : "", several ? ")" : "");
        free(version);
        free(ranks);
        free(what);
    }
    if (json_array_size(choices) > LIST_LINES)
        mw_text_entry(out, "", "... %zu more (--format json has all)",
                      json_array_size(choices) - LIST_LINES);
}

char *mw_way_text(const json_t *way)
{
    const char *device = mw_json_string(way, "device"), *layer = mw_json_string(way, "layer");
    int network = !strcmp(mw_json_string(way, "kind"), "network");
    return mw_format("%s%s%s%s%s%s", mw_json_string(way, "transport"),
                     device[0] && network ? " over " : "", network ? device : "",
                     layer[0] ? " (" : "", layer, layer[0] ? ")" : "");
}

/* "seen", "concluded", or how much of it was seen. */
static char *known_text(const json_t *way)
{
    double seen = mw_json_count_of(way, "bytes_seen");
    double concluded = mw_json_count_of(way, "bytes_concluded");
    if (seen > 0 && concluded > 0) {
        char *percent = mw_number_percent(seen / (seen + concluded));
        char *text = mw_format("%s seen", percent);
        free(percent);
        return text;
    }
    return mw_text_copy(concluded > 0 || !(mw_json_count_of(way, "carried_bytes") > 0) ? "concluded"
                                                                                       : "seen");
}

char *mw_reached_text(const json_t *way)
{
    double line = mw_json_real_of(way, "line_rate_bits_s") / 8;
    const json_t *reached = json_object_get(way, "reached");
    if (!json_is_object(reached))
        return mw_text_copy("-");
    char *rate = mw_number_rate_of(mw_json_real_of(reached, "bytes_s"), isnan(line) ? 0 : line);
    char *text =
        mw_format("%s%s", json_is_true(json_object_get(reached, "bound")) ? ">= " : "", rate);
    free(rate);
    return text;
}

void mw_text_ways(const json_t *section, size_t limit, FILE *out)
{
    static const char *const columns[] = {"transport", "device",   ">bytes", ">share",
                                          ">reached",  ">latency", "known"};
    const json_t *ways = json_object_get(section, "ways");
    size_t index;
    json_t *way;
    if (!json_array_size(ways))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    json_array_foreach(ways, index, way) {
        if (index >= limit)
            break;
        mw_table_row(table);
        mw_table_text(table, mw_json_string(way, "transport"));
        mw_table_text(table, mw_json_string(way, "device"));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(way, "bytes")));
        mw_table_cell(table, mw_number_percent(mw_json_real_of(way, "share")));
        mw_table_cell(table, mw_reached_text(way));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(way, "latency_s")));
        mw_table_cell(table, known_text(way));
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)json_array_size(ways), limit, "transports (--format json has all)");
}

/* "fi_enable returned -262 (Invalid resource domain)". */
static char *outcome_text(const json_t *failure)
{
    const char *call = mw_json_string(failure, "call"), *words = mw_json_string(failure, "words");
    double result = mw_json_real_of(failure, "result");
    if (json_is_true(json_object_get(failure, "hangs")))
        return mw_format("%s had not returned", call);
    if (json_is_true(json_object_get(failure, "silent")) && result == 0)
        return mw_format("%s did not offer it", call);
    return mw_format("%s returned %.0f%s%s%s", call, result, words[0] ? " (" : "", words,
                     words[0] ? ")" : "");
}

char *mw_failure_text(const json_t *failure)
{
    const char *provider = mw_json_string(failure, "provider");
    const char *domain = mw_json_string(failure, "domain");
    const char *opener = mw_json_string(failure, "opener");
    char *outcome = outcome_text(failure), *ranks = mw_on_ranks(failure);
    char *text = mw_format("%s%s%s%s%s: %s on %s%s%s", mw_json_string(failure, "library"),
                           provider[0] ? " " : "", provider, domain[0] ? ", domain " : "", domain,
                           outcome, ranks, opener[0] ? ", called by " : "", opener);
    free(outcome);
    free(ranks);
    return text;
}

int mw_failure_matters(const json_t *failure)
{
    return !strcmp(mw_json_string(failure, "weight"), "matters");
}

static void text_failures(const json_t *section, FILE *out)
{
    size_t index, shown = 0, matter = 0;
    json_t *failure;
    json_array_foreach(json_object_get(json_object_get(section, "failures"), "listed"), index,
                       failure) {
        if (!mw_failure_matters(failure) || matter++ >= REPORT_FAILURES)
            continue;
        char *text = mw_failure_text(failure);
        mw_text_entry(out, shown++ ? "" : "failed", "%s", text);
        free(text);
    }
    if (matter > shown)
        mw_text_entry(out, "", "... %zu more failed attempts", matter - shown);
}

char *mw_idle_text(const json_t *idle)
{
    const char *library = mw_json_string(idle, "library"), *state = mw_json_string(idle, "state");
    const char *provider = mw_json_string(idle, "provider"), *name = mw_json_string(idle, "device");
    double line = mw_json_real_of(idle, "line_rate_bits_s") / 8;
    char *rate = isnan(line) ? mw_text_copy("") : mw_number_rate(line);
    char *ranks = mw_on_ranks(idle);
    const char *parts[] = {mw_json_string(idle, "driver"), state, rate};
    char *about = mw_text_copy("");
    for (size_t i = 0; i < 3; i++)
        list_add(&about, "", parts[i]);
    char *text =
        mw_format("%s%s%s%s%s%s%s%s, not used by %s%s", library, library[0] ? " " : "", provider,
                  provider[0] && name[0] ? " on " : "", name, about[0] ? " (" : "", about,
                  about[0] ? ")" : "", ranks,
                  json_is_true(json_object_get(idle, "tried")) ? ": tried without success" : "");
    free(about);
    free(ranks);
    free(rate);
    return text;
}

static void text_idle(const json_t *section, FILE *out)
{
    size_t index, shown = 0;
    json_t *idle;
    json_array_foreach(json_object_get(json_object_get(section, "idle"), "listed"), index, idle) {
        if (!json_is_true(json_object_get(idle, "native")) || shown == REPORT_FAILURES)
            continue;
        char *text = mw_idle_text(idle);
        mw_text_entry(out, shown++ ? "" : "idle", "%s", text);
        free(text);
    }
}

char *mw_group_text(const json_t *group)
{
    const char *shape = mw_json_string(group, "shape");
    double pairs = mw_json_count_of(group, "pairs");
    char *from = mw_text_fit_list(mw_json_string(group, "sources"), 24);
    char *to = mw_text_fit_list(mw_json_string(group, "destinations"), 24);
    char *text;
    if (!strcmp(shape, "each to itself"))
        text = mw_format("%s%s %s itself", mw_rank_word(from), from, pairs == 1 ? "to" : "each to");
    else if (!strncmp(shape, "with each other", 15))
        text = mw_format("%s%s %s", mw_rank_word(from), from, shape);
    else if (!strcmp(shape, "all to all"))
        text = mw_format("%s%s to %s", mw_rank_word(from), from, to);
    else if (!strcmp(from, to))
        text = mw_format("%.0f pairs of %s%s", pairs, mw_rank_word(from), from);
    else
        text = mw_format("%.0f pairs from %s%s to %s", pairs, mw_rank_word(from), from, to);
    free(from);
    free(to);
    return text;
}

/* The largest groups of pairs whose transport is not known, or not for all sizes. */
static void text_unknown(const json_t *section, FILE *out)
{
    const json_t *unknown = json_object_get(section, "unknown");
    double pairs =
        mw_json_count_of(unknown, "pairs") + mw_json_count_of(unknown, "partly_known_pairs");
    size_t index, shown = 0;
    json_t *group;
    json_array_foreach(json_object_get(json_object_get(section, "groups"), "listed"), index,
                       group) {
        if (mw_json_is_null(group, "unknown") || shown == REPORT_UNKNOWN)
            continue;
        char *who = mw_group_text(group);
        mw_text_entry(out, shown++ ? "" : "not known", "%s: %s", who,
                      mw_json_string(group, "unknown"));
        pairs -= mw_json_count_of(group, "pairs");
        free(who);
    }
    if (shown && pairs > 0)
        mw_text_entry(out, "", "... and %.0f more pairs", pairs);
}

/* Probes that could not see all: where they are missing, so may be what they would have said. */
void mw_text_probes(const json_t *section, FILE *out)
{
    size_t index, shown = 0;
    json_t *probe;
    json_array_foreach(json_object_get(section, "probes"), index, probe) {
        const char *how = mw_json_string(probe, "how"), *why = mw_json_string(probe, "why");
        if (!strcmp(how, "on") || !strcmp(how, "absent"))
            continue;
        if (shown++ >= LIST_LINES)
            continue;
        char *ranks = mw_on_ranks(probe);
        mw_text_entry(out, shown > 1 ? "" : "probes", "%s %s on %s%s%s",
                      mw_json_string(probe, "probe"), how, ranks, why[0] ? ": " : "", why);
        free(ranks);
    }
    if (shown > LIST_LINES)
        mw_text_entry(out, "", "... %zu more (--format json has all)", shown - LIST_LINES);
}

void mw_report_text_transports(const json_t *report, FILE *out)
{
    const json_t *section = json_object_get(report, "transports");
    if (!json_is_object(section))
        return;
    mw_text_heading(out, "Transports");
    if (!mw_json_is_null(section, "missing")) {
        mw_text_paragraph(out, MW_STYLE_PLAIN, "Not known: %s.",
                          mw_json_string(section, "missing"));
        return;
    }
    mw_text_choices(section, 0, out);
    mw_text_ways(section, REPORT_WAYS, out);
    text_failures(section, out);
    text_idle(section, out);
    text_unknown(section, out);
    mw_text_probes(section, out);
}
