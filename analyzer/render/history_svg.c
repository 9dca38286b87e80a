/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chart of a trend as SVG inside a page (history.h): a point for each run, a line for each
 * level, a number where it changed. Colours come from the page's style, so that they suit light
 * and dark; nothing is told by colour alone. Main thread only.
 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/render/history.h"
#include "analyzer/render/json.h"

#define WIDTH  720
#define HEIGHT 200
#define LEFT   84 /* of the drawing; room for the words of the axis */
#define RIGHT  16
#define TOP    18
#define BOTTOM 24
#define TICKS  4

struct chart {
    FILE *out;
    const json_t *trend, *points;
    const char *unit;
    size_t runs;      /* of the benchmark */
    double low, high; /* of the axis */
};

static double chart_x(const struct chart *chart, double place)
{
    double width = WIDTH - LEFT - RIGHT;
    return LEFT + (chart->runs > 1 ? width * (place + 0.5) / (double)chart->runs : width / 2);
}

static double chart_y(const struct chart *chart, double value)
{
    return HEIGHT - BOTTOM -
           (HEIGHT - TOP - BOTTOM) * (value - chart->low) / (chart->high - chart->low);
}

/* Where a run stands among all; they are few enough to be looked for. */
static double place_of(const json_t *order, json_int_t run)
{
    size_t i;
    json_t *number;
    json_array_foreach(order, i, number)
        if (json_integer_value(number) == run)
            return (double)i;
    return 0;
}

/* From 0, unless all values are close to each other: then around them. */
static void chart_range(struct chart *chart)
{
    size_t i;
    json_t *point;
    chart->low = INFINITY;
    chart->high = 0;
    json_array_foreach(chart->points, i, point) {
        double value = mw_json_real_of(point, "value");
        chart->low = fmin(chart->low, value);
        chart->high = fmax(chart->high, value);
    }
    double room = fmax(chart->high - chart->low, chart->high * 0.05) * 0.15;
    chart->low = chart->low < chart->high * 0.5 ? 0 : chart->low - room;
    chart->high += room;
}

static void put_axis(const struct chart *chart)
{
    for (int i = 0; i <= TICKS; i++) {
        double value = chart->low + (chart->high - chart->low) * i / TICKS;
        double y = chart_y(chart, value);
        char *text = mw_history_value(value, chart->unit);
        fprintf(chart->out,
                "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y + 4);
        mw_html_text(chart->out, text);
        fputs("</text>\n", chart->out);
        free(text);
    }
}

static void put_points(const struct chart *chart, const json_t *order)
{
    size_t i;
    json_t *point;
    json_array_foreach(chart->points, i, point) {
        json_int_t run = json_integer_value(json_object_get(point, "run"));
        double value = mw_json_real_of(point, "value");
        char *text = mw_history_value(value, chart->unit);
        double x = chart_x(chart, place_of(order, run));
        fprintf(chart->out,
                "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>run "
                "%" JSON_INTEGER_FORMAT ": ",
                x, chart_y(chart, value), run);
        mw_html_text(chart->out, text);
        fputs("</title></circle>\n", chart->out);
        free(text);
        if (i == 0 || i + 1 == json_array_size(chart->points))
            fprintf(chart->out,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" JSON_INTEGER_FORMAT
                    "</text>\n",
                    x, HEIGHT - 8, run);
    }
}

static void put_level(const struct chart *chart, double from, double to, double value)
{
    fprintf(chart->out, "<line class=\"level\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            from, chart_y(chart, value), to, chart_y(chart, value));
}

/* The levels and what parts them. */
static void put_changes(const struct chart *chart, const json_t *order)
{
    const json_t *changes = json_object_get(chart->trend, "changes");
    double from = chart_x(chart, -0.5);
    size_t i;
    json_t *change;
    json_array_foreach(changes, i, change) {
        json_int_t run = json_integer_value(json_object_get(change, "run"));
        int worse = json_is_true(json_object_get(change, "worse"));
        double x = chart_x(chart, place_of(order, run) - 0.5);
        fprintf(chart->out,
                "<a href=\"#change-%" JSON_INTEGER_FORMAT
                "\"><line class=\"change %s\" x1=\"%.1f\" "
                "y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/><text class=\"%s\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%s at run %" JSON_INTEGER_FORMAT "</text></a>\n",
                run, worse ? "worse" : "better", x, TOP, x, HEIGHT - BOTTOM,
                worse ? "worse" : "better", x, TOP - 5, worse ? "slower" : "faster", run);
        put_level(chart, from, x, mw_json_real_of(change, "before"));
        if (i + 1 == json_array_size(changes))
            put_level(chart, x, chart_x(chart, (double)chart->runs - 0.5),
                      mw_json_real_of(change, "after"));
        from = x;
    }
}

void mw_html_chart(const json_t *trend, const json_t *order, FILE *out)
{
    struct chart chart = {.out = out,
                          .trend = trend,
                          .points = json_object_get(trend, "points"),
                          .unit = mw_json_string(trend, "unit"),
                          .runs = json_array_size(order)};
    char *about = mw_history_about(trend);
    if (!json_array_size(chart.points)) {
        free(about);
        return;
    }
    chart_range(&chart);
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    mw_html_text(out, about);
    fputs("; the values are in the table below\">\n", out);
    put_axis(&chart);
    put_points(&chart, order);
    put_changes(&chart, order);
    fputs("</svg>\n", out);
    free(about);
}
