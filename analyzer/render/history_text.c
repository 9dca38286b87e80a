/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories for people (history.h), and the words that pages use, too. Reads only the documents. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/history.h"
#include "analyzer/render/json.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define STACK_SHOWN 8 /* digits */

/* --- words ------------------------------------------------------------------------------------ */

char *mw_history_value(double value, const char *unit)
{
    return !strcmp(unit, "s") ? mw_number_seconds(value) : mw_number_rate(value);
}

static char *side(const json_t *suspect, const char *value, const char *detail)
{
    const char *text = mw_json_string(suspect, value), *where = mw_json_string(suspect, detail);
    if (!*text)
        return mw_text_copy("not there");
    return *where ? mw_format("%s (%s)", text, where) : mw_text_copy(text);
}

char *mw_history_suspect(const json_t *suspect)
{
    char *old = side(suspect, "base", "base_detail"), *new = side(suspect, "new", "new_detail");
    char *line = mw_format("%s %s: %s -> %s", mw_json_string(suspect, "kind"),
                           mw_json_string(suspect, "name"), old, new);
    free(old);
    free(new);
    return line;
}

char *mw_history_identity(const json_t *identity)
{
    const char *distance = mw_json_string(identity, "distance");
    const char *name = mw_json_string(identity, "name");
    return mw_format("%s%s%s%s%s: %s -> %s", mw_json_string(identity, "kind"), *name ? " " : "",
                     name, *distance ? ", " : "", distance, mw_json_string(identity, "base"),
                     mw_json_string(identity, "new"));
}

char *mw_history_about(const json_t *trend)
{
    static const char *const names[] = {"metric", "name", "distance", "transport", "buffer"};
    char *text = mw_text_copy(""), *longer;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *word = mw_json_string(trend, names[i]);
        if (!*word)
            continue;
        longer = mw_format("%s%s%s", text, *text ? ", " : "", word);
        free(text);
        text = longer;
    }
    if (mw_json_is_null(trend, "from"))
        return text;
    char *sizes = mw_sizes_text(trend);
    longer = mw_format("%s, %s", text, sizes);
    free(sizes);
    free(text);
    return longer;
}

char *mw_history_state(const json_t *run)
{
    static const char *const names[] = {"crashed", "incomplete", "disturbed"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (*mw_json_string(run, names[i]))
            return mw_format("%s: %s", names[i], mw_json_string(run, names[i]));
    return mw_text_copy("");
}

/* "2026-11-30 12:00:03" of an absolute time. */
static char *time_text(const json_t *run)
{
    const char *began = mw_json_string(run, "began");
    if (strlen(began) < 19)
        return mw_text_copy("-");
    return mw_format("%.10s %.8s", began, began + 11);
}

static char *tags_text(const json_t *run)
{
    char *text = mw_text_copy("");
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(run, "tags"), key, value) {
        char *longer =
            mw_format("%s%s%s=%s", text, *text ? " " : "", key, json_string_value(value));
        free(text);
        text = longer;
    }
    return text;
}

/* --- list ------------------------------------------------------------------------------------- */

static void list_row(struct mw_table *table, const json_t *run)
{
    char *state = mw_history_state(run), *tags = tags_text(run);
    mw_table_row(table);
    mw_table_cell(table, mw_format("%.0f", mw_json_count_of(run, "id")));
    mw_table_cell(table, time_text(run));
    mw_table_cell(table, mw_format("%.*s", STACK_SHOWN, mw_json_string(run, "stack")));
    mw_table_cell(table, mw_format("%.0f", mw_json_count_of(run, "ranks")));
    mw_table_cell(table, mw_format("%s%s%s", tags, *state && *tags ? "; " : "", state));
    if (!json_is_true(json_object_get(run, "in_trends")))
        mw_table_style_bad(table);
    free(state);
    free(tags);
}

static struct mw_table *list_begin(const char *benchmark, FILE *out)
{
    char *fitted = mw_text_fit(benchmark, MW_TEXT_WIDTH, 0);
    struct mw_table *table = mw_table_create();
    mw_text_heading(out, "%s", fitted);
    free(fitted);
    mw_table_column(table, ">run");
    mw_table_column(table, ">began (UTC)");
    mw_table_column(table, ">stack");
    mw_table_column(table, ">ranks");
    mw_table_column(table, "what else");
    return table;
}

void mw_history_list_text(const json_t *document, FILE *out)
{
    const json_t *runs = json_object_get(document, "runs");
    struct mw_table *table = NULL;
    const char *benchmark = NULL;
    json_t *run;
    size_t i;
    fprintf(out, "mpiwatch history: %zu run%s\n", json_array_size(runs),
            mw_text_plural((double)json_array_size(runs)));
    json_array_foreach(runs, i, run) {
        if (!benchmark || strcmp(benchmark, mw_json_string(run, "benchmark"))) {
            if (table)
                mw_table_print(table, out);
            benchmark = mw_json_string(run, "benchmark");
            table = list_begin(benchmark, out);
        }
        list_row(table, run);
    }
    if (table)
        mw_table_print(table, out);
}

/* --- show ------------------------------------------------------------------------------------- */

static void show_head(const json_t *run, FILE *out)
{
    char *state = mw_history_state(run), *tags = tags_text(run), *time = time_text(run);
    fprintf(out, "mpiwatch history: run %.0f\n", mw_json_count_of(run, "id"));
    mw_text_entry(out, "benchmark", "%s", mw_json_string(run, "benchmark"));
    mw_text_entry(out, "command", "%s %s", mw_json_string(run, "program"),
                  mw_json_string(run, "arguments"));
    mw_text_entry(out, "ranks", "%.0f on %.0f node%s", mw_json_count_of(run, "ranks"),
                  mw_json_count_of(run, "nodes"), mw_text_plural(mw_json_count_of(run, "nodes")));
    mw_text_entry(out, "began", "%s UTC", time);
    mw_text_entry(out, "trace", "%s", mw_json_string(run, "path"));
    mw_text_entry(out, "stack", "%s", mw_json_string(run, "stack"));
    if (*tags)
        mw_text_entry(out, "tags", "%s", tags);
    if (*state)
        mw_text_entry(out, json_is_true(json_object_get(run, "in_trends")) ? "note" : "no trend",
                      "%s", state);
    free(state);
    free(tags);
    free(time);
}

static void show_items(const json_t *list, char *(*text)(const json_t *), FILE *out)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        char *line = text(entry);
        mw_text_item(out, line);
        free(line);
    }
}

static void show_difference(const json_t *difference, FILE *out)
{
    const json_t *identity = json_object_get(difference, "identity");
    const json_t *suspects = json_object_get(json_object_get(difference, "suspects"), "listed");
    if (!json_is_object(difference)) {
        mw_text_heading(out, "The first run of this benchmark");
        return;
    }
    mw_text_heading(out, "What changed since run %.0f", mw_json_count_of(difference, "before"));
    if (!json_array_size(identity) && !json_array_size(suspects))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "Nothing that was recorded.");
    show_items(identity, mw_history_identity, out);
    show_items(suspects, mw_history_suspect, out);
}

static void show_ways(const json_t *ways, FILE *out)
{
    struct mw_table *table = mw_table_create();
    json_t *way;
    size_t i;
    mw_text_heading(out, "Ways of messages");
    mw_table_column(table, "distance");
    mw_table_column(table, "transport");
    mw_table_column(table, "device");
    mw_table_column(table, ">messages");
    mw_table_column(table, ">bytes");
    mw_table_column(table, "sizes");
    json_array_foreach(ways, i, way) {
        mw_table_row(table);
        mw_table_text(table, mw_json_string(way, "distance"));
        mw_table_text(table, mw_json_string(way, "transport"));
        mw_table_text(table, mw_json_string(way, "device"));
        mw_table_cell(table, mw_number_count(mw_json_count_of(way, "messages")));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(way, "bytes")));
        mw_table_cell(table, mw_sizes_text(way));
    }
    mw_table_print(table, out);
}

static void show_figures(const json_t *figures, FILE *out)
{
    struct mw_table *table = mw_table_create();
    json_t *figure;
    size_t i;
    mw_text_heading(out, "Figures");
    mw_table_column(table, ">value");
    mw_table_column(table, ">samples");
    mw_table_column(table, "of");
    json_array_foreach(figures, i, figure) {
        mw_table_row(table);
        mw_table_cell(table, mw_history_value(mw_json_real_of(figure, "value"),
                                              mw_json_string(figure, "unit")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(figure, "samples")));
        mw_table_cell(table, mw_history_about(figure));
    }
    mw_table_print(table, out);
}

static char *fact_text(const json_t *fact)
{
    const char *detail = mw_json_string(fact, "detail");
    return mw_format("%s %s: %s%s%s%s", mw_json_string(fact, "kind"), mw_json_string(fact, "name"),
                     mw_json_string(fact, "value"), *detail ? " (" : "", detail,
                     *detail ? ")" : "");
}

void mw_history_show_text(const json_t *document, FILE *out)
{
    show_head(json_object_get(document, "run"), out);
    show_difference(json_object_get(document, "difference"), out);
    show_ways(json_object_get(document, "ways"), out);
    show_figures(json_object_get(document, "figures"), out);
    mw_text_heading(out, "The stack");
    show_items(json_object_get(document, "facts"), fact_text, out);
}
