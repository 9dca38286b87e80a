/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node drawn with characters: a box for the node, in it one for each socket, in these one for
 * each NUMA node, with the ranks, network cards and GPUs that are there (placement.h). Main thread.
 */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/json.h"
#include "analyzer/render/placement.h"
#include "analyzer/render/text.h"

/* --- what stands in the boxes ----------------------------------------------------------------- */

static size_t cpu_count(const json_t *object)
{
    size_t count = 0;
    for (const char *at = mw_json_string(object, "cpus"); *at;) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        count += last - first + 1;
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

char *mw_map_title(const json_t *node)
{
    size_t packages = json_array_size(json_object_get(node, "packages"));
    size_t numas = json_array_size(json_object_get(node, "numa")), cpus = cpu_count(node);
    char *title = mw_text_copy(mw_json_string(node, "host"));
    const struct {
        size_t count;
        const char *what;
    } parts[] = {{packages, "socket"}, {numas, "NUMA node"}, {cpus, "CPU"}};
    const char *separator = ": ";
    for (size_t i = 0; i < 3; i++) {
        if (!parts[i].count)
            continue;
        char *longer = mw_format("%s%s%zu %s%s", title, separator, parts[i].count, parts[i].what,
                                 mw_text_plural((double)parts[i].count));
        free(title);
        title = longer;
        separator = ", ";
    }
    return title;
}

char *mw_map_numa_title(const json_t *numa)
{
    double memory = mw_json_count_of(numa, "memory");
    char *bytes = mw_number_bytes(memory);
    char *title = mw_format("NUMA %.0f  CPUs %s%s%s", mw_json_count_of(numa, "number"),
                            mw_json_is_null(numa, "cpus") ? "none" : mw_json_string(numa, "cpus"),
                            memory > 0 ? "  " : "", memory > 0 ? bytes : "");
    free(bytes);
    return title;
}

static int same_number(const json_t *object, const char *key, const json_t *part)
{
    const json_t *value = json_object_get(object, key);
    return part ? json_equal(value, json_object_get(part, "number")) : !json_is_integer(value);
}

/* Is it here? What has a NUMA node of its own is not beside it. */
static int is_here(const json_t *object, const json_t *numa, const json_t *package)
{
    return same_number(object, "numa", numa) && (numa || same_number(object, "package", package));
}

static json_t *ranks_line(const json_t *group)
{
    const char *ranks = mw_json_string(group, "ranks"), *origin = mw_json_string(group, "origin");
    const json_t *nic = json_object_get(group, "nic");
    int far = !strcmp(mw_json_string(nic, "farthest"), "other-socket");
    char *bound = !json_is_true(json_object_get(group, "recorded")) ? mw_text_copy("not recorded")
                  : !strcmp(origin, "none")                         ? mw_text_copy("not bound")
                  : !strcmp(origin, "unknown") ? mw_text_copy("bound by nobody knows whom")
                                               : mw_format("bound by: %s", origin);
    json_t *line = mw_json_take(mw_format("rank%s %s  (%s%s%s%s)", strpbrk(ranks, ",-") ? "s" : "",
                                          ranks, bound, far ? "; far from " : "",
                                          far ? mw_json_string(nic, "name") : "", ""));
    free(bound);
    return line;
}

json_t *mw_map_lines(const json_t *section, const json_t *node, const json_t *numa,
                     const json_t *package)
{
    static const struct {
        const char *list, *title;
    } kinds[] = {{"nics", "NIC"}, {"gpus", "GPU"}};
    json_t *lines = json_array();
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(section, "groups"), i, item)
        if (json_equal(json_object_get(item, "host"), json_object_get(node, "host")) &&
            is_here(item, numa, package))
            json_array_append_new(lines, ranks_line(item));
    for (size_t k = 0; k < 2; k++)
        json_array_foreach(json_object_get(node, kinds[k].list), i, item)
            if (is_here(item, numa, package))
                json_array_append_new(
                    lines, mw_json_take(mw_format("%s %s%s%s", kinds[k].title,
                                                  mw_json_string(item, "names"),
                                                  *mw_json_string(item, "names") ? "  " : "",
                                                  mw_json_string(item, "address"))));
    return lines;
}

/* --- drawing ---------------------------------------------------------------------------------- */

struct style {
    const char *top_left, *top_right, *bottom_left, *bottom_right, *across, *down;
};

/* As the environment says, whatever this program set for itself. */
static int terminal_has_lines(FILE *out)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
    int lines = locale && isatty(fileno(out)) && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
    if (locale)
        freelocale(locale);
    return lines;
}

static const struct style *style_for(FILE *out)
{
    static const struct style ascii = {"+", "+", "+", "+", "-", "|"};
    static const struct style lines = {"\u250c", "\u2510", "\u2514", "\u2518", "\u2500", "\u2502"};
    return terminal_has_lines(out) ? &lines : &ascii;
}

struct drawing {
    FILE *out;
    const struct style *style;
    size_t level; /* boxes that are open */
};

static void repeat(FILE *out, const char *text, size_t times)
{
    while (times-- > 0)
        fputs(text, out);
}

/* The sides of the boxes around a line, and their room within. */
static void sides(const struct drawing *drawing, int right)
{
    for (size_t i = 0; i < drawing->level; i++)
        fprintf(drawing->out, right ? " %s" : "%s ", drawing->style->down);
}

static size_t room(const struct drawing *drawing)
{
    return MW_TEXT_WIDTH - 4 - 4 * drawing->level;
}

static void draw_line(const struct drawing *drawing, const char *text)
{
    char *fit = mw_text_fit(text, room(drawing) + 2, 0);
    fputs("  ", drawing->out);
    sides(drawing, 0);
    fputs(fit, drawing->out);
    repeat(drawing->out, " ", room(drawing) + 2 - mw_text_length(fit));
    sides(drawing, 1);
    fputc('\n', drawing->out);
    free(fit);
}

static void draw_edge(const struct drawing *drawing, const char *left, const char *title,
                      const char *right)
{
    char *fit = mw_text_fit(title, room(drawing) - 4, 0), *middle = NULL;
    size_t used = mw_text_length(fit), size;
    FILE *line = mw_text_stream(&middle, &size);
    fputs(left, line);
    fputs(drawing->style->across, line);
    if (used)
        fprintf(line, " %s ", fit);
    repeat(line, drawing->style->across, room(drawing) - 1 - (used ? used + 2 : 0));
    fputs(right, line);
    fclose(line);
    fputs("  ", drawing->out);
    sides(drawing, 0);
    fputs(middle, drawing->out);
    sides(drawing, 1);
    fputc('\n', drawing->out);
    free(middle);
    free(fit);
}

static void box_open(struct drawing *drawing, char *title)
{
    draw_edge(drawing, drawing->style->top_left, title, drawing->style->top_right);
    drawing->level++;
    free(title);
}

static void box_close(struct drawing *drawing)
{
    drawing->level--;
    draw_edge(drawing, drawing->style->bottom_left, "", drawing->style->bottom_right);
}

static void draw_lines(const struct drawing *drawing, json_t *lines)
{
    size_t i;
    const json_t *line;
    json_array_foreach(lines, i, line)
        draw_line(drawing, json_string_value(line));
    json_decref(lines);
}

/* NUMA nodes of a package; package NULL: those of which the package is not known. */
static void draw_numas(struct drawing *drawing, const json_t *section, const json_t *node,
                       const json_t *package)
{
    size_t i;
    const json_t *numa;
    json_array_foreach(json_object_get(node, "numa"), i, numa) {
        if (!same_number(numa, "package", package))
            continue;
        box_open(drawing, mw_map_numa_title(numa));
        draw_lines(drawing, mw_map_lines(section, node, numa, package));
        box_close(drawing);
    }
}

void mw_placement_map(const json_t *section, const json_t *node, FILE *out)
{
    struct drawing drawing = {.out = out, .style = style_for(out)};
    size_t i;
    const json_t *package;
    box_open(&drawing, mw_map_title(node));
    json_array_foreach(json_object_get(node, "packages"), i, package) {
        box_open(&drawing, mw_format("socket %.0f", mw_json_count_of(package, "number")));
        draw_lines(&drawing, mw_map_lines(section, node, NULL, package));
        draw_numas(&drawing, section, node, package);
        box_close(&drawing);
    }
    draw_numas(&drawing, section, node, NULL);
    draw_lines(&drawing, mw_map_lines(section, node, NULL, NULL));
    box_close(&drawing);
}
