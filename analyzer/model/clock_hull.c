/* SPDX-License-Identifier: BSD-3-Clause */
/* Convex hulls of clock bounds, and straight lines between them (clock_hull.h). */
#include "analyzer/model/clock_hull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCHES   64   /* of an edge; their width doubles where that is not enough */
#define FIRST_WIDTH 0.25 /* seconds */
#define UNSORTED    64   /* points that may wait before a hull is made */
#define STEPS       60   /* of a search for the best drift */
#define KEPT        0.9  /* of the room that the best drift has */
#define DRIFT_NS    (MW_CLOCK_DRIFT * 1e9) /* ns a second */

static int point_compare(const void *left, const void *right)
{
    const struct mw_clock_point *a = left, *b = right;
    return a->time != b->time ? (a->time < b->time ? -1 : 1)
                              : (a->value > b->value) - (a->value < b->value);
}

/* Whether the middle one of three points lies on or behind the straight line through the others:
 * above it for `most`, below it for least. */
static int point_is_idle(const struct mw_clock_point *a, const struct mw_clock_point *b,
                         const struct mw_clock_point *c, int most)
{
    double turn =
        (b->time - a->time) * (c->value - a->value) - (b->value - a->value) * (c->time - a->time);
    return most ? turn <= 0 : turn >= 0;
}

static void hull_compact(struct mw_clock_hull *hull, int most)
{
    struct mw_clock_point *at = hull->points.at;
    size_t kept = 0, count = hull->points.count;
    if (hull->sorted == count)
        return;
    qsort(at, count, sizeof(at[0]), point_compare);
    for (size_t i = 0; i < count; i++) {
        if (kept && at[kept - 1].time == at[i].time) { /* the tighter of two at one time */
            if (most)
                continue;
            kept--;
        }
        while (kept > 1 && point_is_idle(&at[kept - 2], &at[kept - 1], &at[i], most))
            kept--;
        at[kept++] = at[i];
    }
    hull->points.count = hull->sorted = kept;
}

static void hull_add(struct mw_clock_hull *hull, struct mw_clock_point point, int most)
{
    *mw_vector_add(&hull->points) = point;
    if (hull->points.count - hull->sorted > UNSORTED)
        hull_compact(hull, most);
}

static void hull_take(struct mw_clock_hull *to, const struct mw_clock_hull *from, int most)
{
    for (size_t i = 0; i < from->points.count; i++)
        *mw_vector_add(&to->points) = from->points.at[i];
    hull_compact(to, most);
}

static void stretch_free(struct mw_clock_stretch *stretch)
{
    free(stretch->least.points.at);
    free(stretch->most.points.at);
}

/* Halves the number of stretches. */
static void edge_widen(struct mw_clock_edge *edge)
{
    size_t half = (edge->stretches.count + 1) / 2;
    for (size_t i = 0; i < half; i++) {
        struct mw_clock_stretch first = edge->stretches.at[2 * i], none = {0}, *second = &none;
        if (2 * i + 1 < edge->stretches.count)
            second = &edge->stretches.at[2 * i + 1];
        hull_take(&first.least, &second->least, 0);
        hull_take(&first.most, &second->most, 1);
        stretch_free(second);
        edge->stretches.at[i] = first;
    }
    memset(&edge->stretches.at[half], 0,
           (edge->stretches.count - half) * sizeof(edge->stretches.at[0]));
    edge->stretches.count = half;
    edge->width *= 2;
}

void mw_clock_edge_add(struct mw_clock_edge *edge, int64_t ns, double value, int most)
{
    if (!edge->bounds++) {
        edge->origin = ns;
        edge->width = FIRST_WIDTH;
    }
    double time = (double)(ns - edge->origin) * 1e-9;
    while (time >= edge->width * STRETCHES)
        edge_widen(edge);
    size_t stretch = time > 0 ? (size_t)(time / edge->width) : 0;
    while (edge->stretches.count <= stretch)
        mw_vector_add(&edge->stretches);
    struct mw_clock_stretch *to = &edge->stretches.at[stretch];
    hull_add(most ? &to->most : &to->least, (struct mw_clock_point){time, value}, most);
}

/* The room between both hulls for a line of some drift, and where its middle is. */
static double line_room(const struct mw_clock_line *line, double drift, double *middle)
{
    double least = -INFINITY, most = INFINITY;
    for (size_t i = 0; i < line->least.points.count; i++) {
        const struct mw_clock_point *at = &line->least.points.at[i];
        least = fmax(least, at->value - drift * (at->time - line->middle));
    }
    for (size_t i = 0; i < line->most.points.count; i++) {
        const struct mw_clock_point *at = &line->most.points.at[i];
        most = fmin(most, at->value - drift * (at->time - line->middle));
    }
    *middle = (least + most) / 2;
    return most - least;
}

/* The drift with the most room: the room is concave in it. */
static double drift_with_most_room(const struct mw_clock_line *line)
{
    double low = -DRIFT_NS, high = DRIFT_NS, ignored;
    for (int i = 0; i < STEPS; i++) {
        double first = low + (high - low) / 3, second = high - (high - low) / 3;
        if (line_room(line, first, &ignored) < line_room(line, second, &ignored))
            low = first;
        else
            high = second;
    }
    return (low + high) / 2;
}

/* Fits the line to its hulls; the room that is left, negative where none fits. Where little is
 * known many drifts have room: then the smallest that has nearly as much. */
static double line_fit(struct mw_clock_line *line)
{
    double best = drift_with_most_room(line), small = 0, ignored;
    double room = line_room(line, best, &ignored);
    line->drift = best;
    if (room > 0) {
        for (int i = 0; i < STEPS; i++) {
            double middle = (small + line->drift) / 2;
            if (line_room(line, middle, &ignored) >= KEPT * room)
                line->drift = middle;
            else
                small = middle;
        }
        if (line_room(line, 0, &ignored) >= KEPT * room)
            line->drift = 0;
    }
    line_room(line, line->drift, &line->value);
    return room;
}

static void line_reach(struct mw_clock_line *line)
{
    line->from = INFINITY;
    line->to = -INFINITY;
    const struct mw_clock_hull *hulls[] = {&line->least, &line->most};
    for (size_t h = 0; h < 2; h++) {
        size_t count = hulls[h]->points.count;
        if (!count)
            continue;
        line->from = fmin(line->from, hulls[h]->points.at[0].time);
        line->to = fmax(line->to, hulls[h]->points.at[count - 1].time);
    }
    line->middle = (line->from + line->to) / 2;
}

static void line_take(struct mw_clock_line *line, const struct mw_clock_stretch *stretch)
{
    hull_take(&line->least, &stretch->least, 0);
    hull_take(&line->most, &stretch->most, 1);
    line_reach(line);
}

static void line_free(struct mw_clock_line *line)
{
    free(line->least.points.at);
    free(line->most.points.at);
}

static int line_is_bounded(const struct mw_clock_line *line)
{
    return line->least.points.count && line->most.points.count;
}

/* One line over the stretches from `first` up to, not including, `end`. */
static struct mw_clock_line line_over(const struct mw_clock_edge *edge, size_t first, size_t end,
                                      double *room)
{
    struct mw_clock_line line = {0};
    for (size_t i = first; i < end; i++)
        line_take(&line, &edge->stretches.at[i]);
    *room = line_is_bounded(&line) ? line_fit(&line) : INFINITY;
    return line;
}

/* As many stretches as one line fits, at least one; its end. */
static size_t line_longest(const struct mw_clock_edge *edge, size_t first,
                           struct mw_clock_line *line)
{
    size_t end = edge->stretches.count;
    double room;
    *line = line_over(edge, first, end, &room);
    if (room >= 0)
        return end;
    line_free(line);
    for (size_t low = first + 1; low + 1 < end;) { /* fits to low, not to end */
        size_t middle = low + (end - low) / 2;
        struct mw_clock_line tried = line_over(edge, first, middle, &room);
        line_free(&tried);
        if (room >= 0)
            low = middle;
        else
            end = middle;
    }
    end = end > first + 1 ? end - 1 : end;
    *line = line_over(edge, first, end, &room);
    return end;
}

struct mw_clock_fit mw_clock_edge_fit(struct mw_clock_edge *edge)
{
    struct mw_clock_fit fit = {0};
    for (size_t i = 0; i < edge->stretches.count; i++) {
        hull_compact(&edge->stretches.at[i].least, 0);
        hull_compact(&edge->stretches.at[i].most, 1);
    }
    for (size_t at = 0; at < edge->stretches.count;) {
        struct mw_clock_line line;
        at = line_longest(edge, at, &line);
        if (line_is_bounded(&line))
            *mw_vector_add(&fit.lines) = line;
        else
            line_free(&line); /* the lines beside it stand for it, with their error grown */
    }
    return fit;
}

/* What a hull says at a time: between its points by the straight line through them, beyond by the
 * drift that is possible. */
static double hull_at(const struct mw_clock_hull *hull, double time, int most)
{
    const struct mw_clock_point *at = hull->points.at;
    double found = most ? INFINITY : -INFINITY;
    for (size_t i = 0; i < hull->points.count; i++) {
        double apart = DRIFT_NS * fabs(time - at[i].time);
        double value = most ? at[i].value + apart : at[i].value - apart;
        if (i && at[i - 1].time <= time && time <= at[i].time) {
            double part = (time - at[i - 1].time) / (at[i].time - at[i - 1].time);
            double between = at[i - 1].value + part * (at[i].value - at[i - 1].value);
            value = most ? fmin(value, between) : fmax(value, between);
        }
        found = most ? fmin(found, value) : fmax(found, value);
    }
    return found;
}

double mw_clock_fit_value(const struct mw_clock_fit *fit, const struct mw_clock_edge *edge,
                          int64_t ns, double *error)
{
    double time = (double)(ns - edge->origin) * 1e-9, nearest = INFINITY;
    const struct mw_clock_line *line = NULL;
    for (size_t i = 0; i < fit->lines.count; i++) {
        const struct mw_clock_line *at = &fit->lines.at[i];
        double away = time < at->from ? at->from - time : time > at->to ? time - at->to : 0;
        if (away < nearest) {
            nearest = away;
            line = at;
        }
    }
    double value = line->value + line->drift * (time - line->middle);
    *error = fmax(
        0, fmax(hull_at(&line->most, time, 1) - value, value - hull_at(&line->least, time, 0)));
    return value;
}

void mw_clock_fit_reach(const struct mw_clock_fit *fit, const struct mw_clock_edge *edge,
                        int64_t *from, int64_t *to)
{
    *from = edge->origin + (int64_t)(fit->lines.at[0].from * 1e9);
    *to = edge->origin + (int64_t)(fit->lines.at[fit->lines.count - 1].to * 1e9);
}

void mw_clock_fit_free(struct mw_clock_fit *fit)
{
    for (size_t i = 0; i < fit->lines.count; i++)
        line_free(&fit->lines.at[i]);
    free(fit->lines.at);
}

void mw_clock_edge_free(struct mw_clock_edge *edge)
{
    for (size_t i = 0; i < edge->stretches.count; i++)
        stretch_free(&edge->stretches.at[i]);
    free(edge->stretches.at);
}
