/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison for people (compare.h): the verdict, what went another way, what got slower and by
 * how much, and what could explain it, on one screen. Reads only the document.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/compare.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define PAIRS_SHOWN    8
#define EFFECTS_SHOWN  12
#define SUSPECTS_SHOWN 8
#define WIDE           100 /* an interval whose ends are so far apart says nothing */

/* --- words ------------------------------------------------------------------------------------ */

static char *value_text(const json_t *effect, const char *key)
{
    double value = mw_json_real_of(effect, key);
    return !strcmp(mw_json_string(effect, "unit"), "s") ? mw_number_seconds(value)
                                                        : mw_number_rate(value);
}

/* "12.3 % slower", "10.0x slower", "4.2 % faster": by how much the value itself changed. */
static char *change_text(const json_t *effect)
{
    double ratio = mw_json_real_of(effect, "ratio"), times = ratio < 1 ? 1 / ratio : ratio;
    if (!isfinite(ratio))
        return mw_text_copy("-");
    const char *word = mw_json_real_of(effect, "slower_times") < 1 ? "faster" : "slower";
    if (times >= 2)
        return mw_format("%.3gx %s", times, word);
    return mw_format("%.1f %% %s", 100 * fabs(ratio - 1), word);
}

/* Between which two the change of the value surely is: "-12..-8 %", "0.08..0.12x". */
static char *interval_text(const json_t *effect)
{
    double low = mw_json_real_of(effect, "ratio_low"), high = mw_json_real_of(effect, "ratio_high");
    if (!isfinite(low) || !isfinite(high))
        return mw_text_copy("-");
    if (high > WIDE * low)
        return mw_text_copy("anything");
    if (high >= 2 || low <= 0.5)
        return mw_format("%.2g..%.2gx", low, high);
    return mw_format("%+.0f..%+.0f %%", 100 * (low - 1), 100 * (high - 1));
}

/* "0 -> 1, 1.00 MiB", "1:0 -> 2:3". */
static char *pair_text(const json_t *pair, const char *between, const char *sizes)
{
    char *src = mw_rank_text(pair, "src"), *dst = mw_rank_text(pair, "dst");
    char *text = mw_format("%s -> %s%s%s", src, dst, between, sizes);
    free(src);
    free(dst);
    return text;
}

/* "MPI_Send", "0 -> 1", "other node": what it is about, with its smallest size. */
static char *about_text(const json_t *effect)
{
    const char *scope = mw_json_string(effect, "scope");
    int sized = !mw_json_is_null(effect, "from");
    char *sizes = sized ? mw_number_bytes(mw_json_count_of(effect, "from")) : mw_text_copy("");
    char *text;
    const char *between = *sizes ? ", " : "";
    if (!strcmp(scope, "pair"))
        text = pair_text(effect, between, sizes);
    else if (!strcmp(scope, "class"))
        text = mw_format("%s%s%s", mw_json_string(effect, "distance"), between, sizes);
    else if (!strcmp(scope, "job"))
        text = mw_format("the job, %s", mw_json_string(effect, "name"));
    else
        text = mw_format("%s%s%s", mw_json_string(effect, "name"), between, sizes);
    free(sizes);
    return text;
}

/* --- sections --------------------------------------------------------------------------------- */

static void text_list(const json_t *document, const char *key, const char *heading, FILE *out)
{
    const json_t *list = json_object_get(document, key);
    size_t index;
    json_t *text;
    if (!json_array_size(list))
        return;
    mw_text_heading(out, "%s", heading);
    json_array_foreach(list, index, text)
        mw_text_item(out, json_string_value(text));
}

static char *pairs_text(const json_t *group)
{
    const json_t *pairs = json_object_get(group, "listed");
    char *list = mw_text_copy("");
    size_t index;
    json_t *pair;
    json_array_foreach(pairs, index, pair) {
        if (index == PAIRS_SHOWN)
            break;
        char *ranks = pair_text(pair, "", "");
        char *longer = mw_format("%s%s%s", list, *list ? ", " : "", ranks);
        free(ranks);
        free(list);
        list = longer;
    }
    double total = mw_json_count_of(group, "pairs");
    char *text = mw_format("%.0f pair%s (%s%s)", total, mw_text_plural(total), list,
                           total > PAIRS_SHOWN ? ", ..." : "");
    free(list);
    return text;
}

/* "; 0 -> 1, 1 MiB: bandwidth 23.1 GB/s -> 2.30 GB/s, 10.0x slower" */
static char *cost_text(const json_t *group)
{
    const json_t *effect = json_object_get(group, "largest_effect");
    if (!json_is_object(effect))
        return mw_text_copy("");
    char *about = about_text(effect), *base = value_text(effect, "base");
    char *new = value_text(effect, "new");
    char *change = change_text(effect);
    char *text = mw_format("; %s: %s %s -> %s, %s", about, mw_json_string(effect, "metric"), base,
                           new, change);
    free(about);
    free(base);
    free(new);
    free(change);
    return text;
}

static void text_identity(const json_t *document, FILE *out)
{
    const json_t *groups = json_object_get(document, "identity");
    size_t index;
    json_t *group;
    if (!json_array_size(groups))
        return;
    mw_text_heading(out, "What went another way");
    json_array_foreach(groups, index, group) {
        const char *name = mw_json_string(group, "name");
        double pairs = mw_json_count_of(group, "pairs");
        char *where = pairs > 0 ? pairs_text(group) : NULL, *cost = cost_text(group);
        char *line = mw_format(
            "%s%s%s%s%s: %s -> %s%s%s%s%s", mw_json_string(group, "kind"), *name ? " " : "", name,
            where || *name ? "" : ", ", where || *name ? "" : mw_json_string(group, "distance"),
            mw_json_string(group, "base"), mw_json_string(group, "new"), where ? ", " : "",
            where ? where : "", cost,
            json_is_true(json_object_get(group, "steady")) ? "" : " (not in each run)");
        mw_text_item(out, line);
        free(line);
        free(where);
        free(cost);
    }
}

/* One table of the figures with a verdict. */
static void text_effects(const json_t *document, const char *verdict, const char *heading,
                         FILE *out)
{
    static const char *const columns[] = {"what", "metric", ">base", ">new", ">change", ">between"};
    const json_t *figures = json_object_get(document, "figures");
    double total = mw_json_count_of(json_object_get(figures, "verdicts"), verdict);
    size_t index, shown = 0;
    json_t *effect;
    if (!(total > 0))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "%s", heading);
    json_array_foreach(json_object_get(figures, "listed"), index, effect) {
        if (strcmp(mw_json_string(effect, "verdict"), verdict) || shown == EFFECTS_SHOWN)
            continue;
        char *about = about_text(effect);
        shown++;
        mw_table_row(table);
        mw_table_cell(table, mw_text_fit(about, 24, 0));
        mw_table_text(table, mw_json_string(effect, "metric"));
        mw_table_cell(table, value_text(effect, "base"));
        mw_table_cell(table, value_text(effect, "new"));
        mw_table_cell(table, change_text(effect));
        mw_table_cell(table, interval_text(effect));
        free(about);
    }
    mw_table_print(table, out);
    mw_text_more(out, total, shown, "figures");
}

/* Why figures that look slower are not sure, each reason once: "one run a side says too little of
 * it (12)". Those without one lie beyond the threshold, and chance does as much. */
static void text_reasons(const json_t *document, FILE *out)
{
    json_t *reasons = json_object(), *count, *effect;
    const char *why;
    size_t index;
    json_array_foreach(json_object_get(json_object_get(document, "figures"), "listed"), index,
                       effect) {
        why = mw_json_string(effect, "why");
        if (*why && !strcmp(mw_json_string(effect, "verdict"), "not sure"))
            json_object_set_new(reasons, why,
                                json_integer((json_int_t)mw_json_count_of(reasons, why) + 1));
    }
    json_object_foreach(reasons, why, count)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s (%.0f of them)", why, json_number_value(count));
    json_decref(reasons);
}

/* "libcxi-fi.so: 1.2, build-id aa (/opt/a/libcxi-fi.so) -> build-id bb (/opt/b/libcxi-fi.so)" */
static char *suspect_side(const json_t *suspect, const char *value, const char *detail)
{
    const char *text = mw_json_string(suspect, value), *where = mw_json_string(suspect, detail);
    if (!*text)
        return mw_text_copy("not there");
    return *where ? mw_format("%s (%s)", text, where) : mw_text_copy(text);
}

static void text_suspects(const json_t *document, FILE *out)
{
    const json_t *suspects = json_object_get(document, "suspects");
    const json_t *listed = json_object_get(suspects, "listed");
    size_t index;
    json_t *suspect;
    if (!json_array_size(listed))
        return;
    mw_text_heading(out, "What could explain it, the nearest first");
    json_array_foreach(listed, index, suspect) {
        if (index == SUSPECTS_SHOWN)
            break;
        char *base = suspect_side(suspect, "base", "base_detail");
        char *new = suspect_side(suspect, "new", "new_detail");
        char *line = mw_format("%s %s: %s -> %s", mw_json_string(suspect, "kind"),
                               mw_json_string(suspect, "name"), base, new);
        mw_text_item(out, line);
        free(line);
        free(base);
        free(new);
    }
    size_t shown = index < SUSPECTS_SHOWN ? index : SUSPECTS_SHOWN;
    mw_text_more(out, mw_json_count_of(suspects, "total"), shown, "differences");
}

static void text_head(const json_t *document, FILE *out)
{
    const json_t *base = json_object_get(document, "base"), *new = json_object_get(document, "new");
    const json_t *run = json_array_get(new, 0);
    const char *verdict = mw_json_string(document, "verdict");
    int bad = mw_json_count_of(document, "exit_code") > 0;
    char *program = mw_text_escape(mw_json_string(run, "program"));
    char *fitted = mw_text_fit(program, 24, 0);
    fprintf(out, "%s%s%s: %s on %.0f ranks, %zu run%s against %zu\n",
            bad ? mw_style_on(out, MW_STYLE_BAD) : "", verdict,
            bad ? mw_style_off(out, MW_STYLE_BAD) : "", fitted, mw_json_count_of(run, "ranks"),
            json_array_size(new), mw_text_plural((double)json_array_size(new)),
            json_array_size(base));
    free(fitted);
    free(program);
    double needed = mw_json_count_of(document, "runs_needed");
    if (needed > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "About %.0f runs a side would tell.", needed);
}

/* How much was looked at, so that "no regression" is not said of nothing. */
static void text_counts(const json_t *document, FILE *out)
{
    const json_t *figures = json_object_get(document, "figures");
    const json_t *verdicts = json_object_get(figures, "verdicts");
    mw_text_heading(out, "Figures compared");
    mw_text_paragraph(out, MW_STYLE_PLAIN,
                      "%.0f slower, %.0f not sure, %.0f faster, %.0f the same; %.0f not judged; "
                      "%.0f with too few samples.",
                      mw_json_count_of(verdicts, "slower"), mw_json_count_of(verdicts, "not sure"),
                      mw_json_count_of(verdicts, "faster"), mw_json_count_of(verdicts, "same"),
                      mw_json_count_of(verdicts, "not judged"),
                      mw_json_count_of(figures, "too_few_samples"));
}

void mw_compare_text(const json_t *document, FILE *out)
{
    int stopped = !strcmp(mw_json_string(document, "verdict"), "cannot be compared");
    text_head(document, out);
    text_list(document, "obstacles", "Why they cannot be compared", out);
    if (stopped) {
        mw_text_paragraph(out, MW_STYLE_PLAIN, "--force compares them even so.");
        return;
    }
    text_identity(document, out);
    text_effects(document, "slower", "What got slower", out);
    text_effects(document, "not sure", "What is not sure", out);
    text_reasons(document, out);
    text_suspects(document, out);
    text_effects(document, "faster", "What got faster", out);
    text_list(document, "notes", "To be kept in mind", out);
    text_counts(document, out);
}
