/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of a history (history.h): no script, nothing loaded from elsewhere, readable without
 * the charts. What came from traces may be anything: all of it goes through mw_html_text, and links
 * are made of numbers alone. Main thread only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/history.h"
#include "analyzer/render/json.h"
#include "analyzer/render/text.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--dim:#59636e;--grid:#d8dee4;"
    "--mark:#0b5cad;--worse:#b3261e;--better:#1a7f37}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--dim:#9aa4af;"
    "--grid:#30363d;--mark:#6cb6ff;--worse:#ff8a80;--better:#7ee787}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:60rem;margin:0 auto;padding:1rem}a{color:var(--mark)}"
    "table{border-collapse:collapse;margin:.5rem 0;display:block;overflow-x:auto}"
    "th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid var(--grid);"
    "vertical-align:top;overflow-wrap:anywhere}td.n,th.n{text-align:right;white-space:nowrap}"
    "svg{width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--dim)}"
    ".grid{stroke:var(--grid)}.point{fill:var(--mark)}.level{stroke:var(--ink);stroke-width:1.5}"
    ".change{stroke-dasharray:4 3;stroke-width:1.5}line.worse{stroke:var(--worse)}"
    "line.better{stroke:var(--better)}svg text.worse{fill:var(--worse)}"
    "svg text.better{fill:var(--better)}.worse{color:var(--worse)}.better{color:var(--better)}"
    ".dim{color:var(--dim)}summary{cursor:pointer}code{overflow-wrap:anywhere}";

void mw_html_text(FILE *out, const char *text)
{
    char *plain = mw_text_escape(text);
    mw_text_markup(out, plain);
    free(plain);
}

static void put_taken(FILE *out, const char *before, char *text, const char *after)
{
    fputs(before, out);
    mw_html_text(out, text);
    fputs(after, out);
    free(text);
}

static void put(FILE *out, const char *before, const char *text, const char *after)
{
    put_taken(out, before, mw_text_copy(text), after);
}

static void page_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"generator\" content=\"mpiwatch history\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          out);
    put(out, "<title>", title, "</title>\n");
    fprintf(out, "<style>%s</style></head><body>\n", style);
}

static void page_end(FILE *out)
{
    fputs("<footer class=\"dim\"><p>Made by mpiwatch " MW_VERSION
          ". A level is marked as changed where Student's t, the ranks of the values and a change "
          "of at least 5 % agree; of 100 series that only have noise one may be marked.</p>"
          "</footer>\n</body></html>\n",
          out);
}

/* --- parts of pages --------------------------------------------------------------------------- */

static void put_run_link(FILE *out, json_int_t run)
{
    fprintf(out, "<a href=\"run-%" JSON_INTEGER_FORMAT ".html\">run %" JSON_INTEGER_FORMAT "</a>",
            run, run);
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void put_began(FILE *out, const json_t *run)
{
    const char *began = mw_json_string(run, "began");
    put_taken(out, "<td>", mw_format("%.10s %.5s", began, strlen(began) > 11 ? began + 11 : ""),
              "</td>");
}

static void put_list(FILE *out, const json_t *list, char *(*text)(const json_t *))
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
        put_taken(out, "<li>", text(entry), "</li>\n");
}

static char *percent_text(double ratio)
{
    if (ratio >= 2 || ratio <= 0.5)
        return mw_format("%.3g times", ratio);
    return mw_format("%+.1f %%", 100 * (ratio - 1));
}

static void put_change(FILE *out, const json_t *change)
{
    const char *unit = mw_json_string(change, "unit");
    int worse = json_is_true(json_object_get(change, "worse"));
    char *about = mw_history_about(change);
    char *before = mw_history_value(mw_json_real_of(change, "before"), unit);
    char *after = mw_history_value(mw_json_real_of(change, "after"), unit);
    char *percent = percent_text(mw_json_real_of(change, "ratio"));
    fprintf(out, "<li class=\"%s\">%s: ", worse ? "worse" : "better", worse ? "slower" : "faster");
    put_taken(out, "",
              mw_format("%s: %s -> %s (%s, p below %.2g)", about, before, after, percent,
                        fmax(mw_json_real_of(change, "p"), 1e-9)),
              "</li>\n");
    free(about);
    free(before);
    free(after);
    free(percent);
}

static void put_suspects(FILE *out, const json_t *step)
{
    const json_t *suspects = json_object_get(json_object_get(step, "suspects"), "listed");
    if (!json_array_size(suspects)) {
        fputs("<p>Nothing that was recorded of the stack differs.</p>\n", out);
        return;
    }
    fputs("<p>What changed in the stack, the nearest first:</p>\n<ul>\n", out);
    put_list(out, suspects, mw_history_suspect);
    fputs("</ul>\n", out);
}

static void put_step(FILE *out, const json_t *step)
{
    json_int_t run = number_of(step, "run");
    size_t i;
    json_t *change;
    fprintf(out, "<section id=\"change-%" JSON_INTEGER_FORMAT "\"><h3>From ", run);
    put_run_link(out, number_of(step, "before"));
    fputs(" to ", out);
    put_run_link(out, run);
    fputs("</h3>\n<ul>\n", out);
    put_list(out, json_object_get(step, "identity"), mw_history_identity);
    json_array_foreach(json_object_get(step, "changes"), i, change)
        put_change(out, change);
    fputs("</ul>\n", out);
    put_suspects(out, step);
    fputs("</section>\n", out);
}

static void put_values(FILE *out, const json_t *trend)
{
    const char *unit = mw_json_string(trend, "unit");
    size_t i;
    json_t *point;
    fputs("<details><summary>Values</summary><table><tr><th scope=\"col\">run</th><th "
          "scope=\"col\" class=\"n\">value</th>"
          "</tr>\n",
          out);
    json_array_foreach(json_object_get(trend, "points"), i, point) {
        fputs("<tr><td>", out);
        put_run_link(out, number_of(point, "run"));
        put_taken(out, "</td><td class=\"n\">",
                  mw_history_value(mw_json_real_of(point, "value"), unit), "</td></tr>\n");
    }
    fputs("</table></details>\n", out);
}

static void put_runs(FILE *out, const json_t *runs)
{
    size_t i;
    json_t *run;
    fputs("<h2>Runs</h2>\n<table><tr><th scope=\"col\">run</th><th scope=\"col\">began "
          "(UTC)</th><th scope=\"col\">stack</th><th scope=\"col\">what else"
          "</th></tr>\n",
          out);
    json_array_foreach(runs, i, run) {
        fputs("<tr><td>", out);
        put_run_link(out, number_of(run, "id"));
        fputs("</td>", out);
        put_began(out, run);
        put(out, "<td><code>", mw_json_string(run, "stack"), "</code></td>");
        put_taken(out, "<td>", mw_history_state(run), "</td></tr>\n");
    }
    fputs("</table>\n", out);
}

/* --- a benchmark ------------------------------------------------------------------------------ */

static void put_trends(FILE *out, const json_t *document, const json_t *order)
{
    const json_t *trends = json_object_get(document, "trends");
    size_t i;
    json_t *trend;
    fputs("<h2>Trends</h2>\n", out);
    if (!json_array_size(trends))
        fputs("<p>No run has enough measured messages of one kind.</p>\n", out);
    json_array_foreach(trends, i, trend) {
        put_taken(out, "<section><h3>", mw_history_about(trend), "</h3>\n");
        mw_html_chart(trend, order, out);
        put_values(out, trend);
        fputs("</section>\n", out);
    }
}

void mw_html_benchmark(const json_t *document, FILE *out)
{
    const char *name = mw_json_string(document, "benchmark");
    json_t *order = json_array(), *entry;
    size_t i;
    json_array_foreach(json_object_get(document, "runs"), i, entry)
        json_array_append(order, json_object_get(entry, "id"));
    page_begin(out, name);
    fputs("<p><a href=\"index.html\">All benchmarks</a></p>\n", out);
    put(out, "<h1>", name, "</h1>\n<h2>What changed</h2>\n");
    if (!json_array_size(json_object_get(document, "steps")))
        fputs("<p>Nothing that stands out from the noise.</p>\n", out);
    json_array_foreach(json_object_get(document, "steps"), i, entry)
        put_step(out, entry);
    put_trends(out, document, order);
    put_runs(out, json_object_get(document, "runs"));
    page_end(out);
    json_decref(order);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void put_benchmark_row(FILE *out, const json_t *benchmark)
{
    const char *page = mw_json_string(benchmark, "page");
    json_int_t changed = number_of(benchmark, "changed");
    fprintf(out, "<tr><td><a href=\"%s.html\">", page);
    mw_html_text(out, mw_json_string(benchmark, "benchmark"));
    fprintf(out, "</a></td><td class=\"n\">%.0f</td>", mw_json_count_of(benchmark, "runs"));
    put_began(out, benchmark);
    if (changed)
        fprintf(out,
                "<td><a href=\"%s.html#change-%" JSON_INTEGER_FORMAT "\">run %" JSON_INTEGER_FORMAT
                "</a></td></tr>\n",
                page, changed, changed);
    else
        fputs("<td>none</td></tr>\n", out);
}

void mw_html_index(const json_t *index, FILE *out)
{
    size_t i;
    json_t *benchmark;
    page_begin(out, "History of runs");
    fputs("<h1>History of runs</h1>\n<table><tr><th scope=\"col\">benchmark</th>"
          "<th scope=\"col\" class=\"n\">runs</th><th scope=\"col\">last (UTC)</th>"
          "<th scope=\"col\">last change</th></tr>\n",
          out);
    json_array_foreach(json_object_get(index, "benchmarks"), i, benchmark)
        put_benchmark_row(out, benchmark);
    fputs("</table>\n", out);
    page_end(out);
}

/* --- a run ------------------------------------------------------------------------------------ */

static void put_facts(FILE *out, const json_t *facts)
{
    static const char *const columns[] = {"kind", "name", "value", "detail"};
    size_t i;
    json_t *fact;
    fputs("<h2>The stack</h2>\n<table><tr><th scope=\"col\">kind</th><th "
          "scope=\"col\">name</th><th scope=\"col\">value</th><th scope=\"col\">from</th>"
          "</tr>\n",
          out);
    json_array_foreach(facts, i, fact) {
        fputs("<tr>", out);
        for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
            put(out, "<td>", mw_json_string(fact, columns[k]), "</td>");
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void put_ways(FILE *out, const json_t *ways)
{
    size_t i;
    json_t *way;
    fputs("<h2>Ways of messages</h2>\n<table><tr><th scope=\"col\">distance</th><th "
          "scope=\"col\">transport</th><th scope=\"col\">device"
          "</th><th scope=\"col\">sizes</th><th scope=\"col\" class=\"n\">messages</th><th "
          "scope=\"col\" class=\"n\">bytes</th></tr>\n",
          out);
    json_array_foreach(ways, i, way) {
        put(out, "<tr><td>", mw_json_string(way, "distance"), "</td>");
        put(out, "<td>", mw_json_string(way, "transport"), "</td>");
        put(out, "<td>", mw_json_string(way, "device"), "</td>");
        put_taken(out, "<td>", mw_sizes_text(way), "</td>");
        put_taken(out, "<td class=\"n\">", mw_number_count(mw_json_count_of(way, "messages")),
                  "</td>");
        put_taken(out, "<td class=\"n\">", mw_number_bytes(mw_json_count_of(way, "bytes")),
                  "</td></tr>\n");
    }
    fputs("</table>\n", out);
}

static void put_figures(FILE *out, const json_t *figures)
{
    size_t i;
    json_t *figure;
    fputs("<h2>Figures</h2>\n<table><tr><th scope=\"col\">of</th><th scope=\"col\" "
          "class=\"n\">value</th>"
          "<th scope=\"col\" class=\"n\">samples</th></tr>\n",
          out);
    json_array_foreach(figures, i, figure) {
        put_taken(out, "<tr><td>", mw_history_about(figure), "</td>");
        put_taken(
            out, "<td class=\"n\">",
            mw_history_value(mw_json_real_of(figure, "value"), mw_json_string(figure, "unit")),
            "</td>");
        put_taken(out, "<td class=\"n\">", mw_number_count(mw_json_count_of(figure, "samples")),
                  "</td></tr>\n");
    }
    fputs("</table>\n", out);
}

static void put_difference(FILE *out, const json_t *difference)
{
    if (!json_is_object(difference)) {
        fputs("<p>The first run of this benchmark.</p>\n", out);
        return;
    }
    fputs("<h2>Since ", out);
    put_run_link(out, number_of(difference, "before"));
    fputs("</h2>\n<ul>\n", out);
    put_list(out, json_object_get(difference, "identity"), mw_history_identity);
    fputs("</ul>\n", out);
    put_suspects(out, difference);
}

void mw_html_run(const json_t *document, FILE *out)
{
    const json_t *run = json_object_get(document, "run");
    char *title =
        mw_format("Run %.0f: %s", mw_json_count_of(run, "id"), mw_json_string(run, "benchmark"));
    char *state = mw_history_state(run);
    page_begin(out, title);
    fprintf(out, "<p><a href=\"index.html\">All benchmarks</a> · <a href=\"%s.html\">",
            mw_json_string(document, "page"));
    mw_html_text(out, mw_json_string(run, "benchmark"));
    put(out, "</a></p>\n<h1>", title, "</h1>\n");
    put_taken(out, "<p>",
              mw_format("%s %s, %.0f ranks on %.0f node%s, began %s, stack %s",
                        mw_json_string(run, "program"), mw_json_string(run, "arguments"),
                        mw_json_count_of(run, "ranks"), mw_json_count_of(run, "nodes"),
                        mw_text_plural(mw_json_count_of(run, "nodes")),
                        mw_json_string(run, "began"), mw_json_string(run, "stack")),
              "</p>\n");
    if (*state)
        put(out, "<p class=\"worse\">", state, "</p>\n");
    put_difference(out, json_object_get(document, "difference"));
    put_ways(out, json_object_get(document, "ways"));
    put_figures(out, json_object_get(document, "figures"));
    put_facts(out, json_object_get(document, "facts"));
    page_end(out);
    free(state);
    free(title);
}
