/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of a job as SVG: the boxes of the drawn map, sockets side by side (placement.h). Texts
 * are escaped here: a trace may come from anybody, and browsers run what stands in SVG. Main
 * thread.
 */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/render/json.h"
#include "analyzer/render/placement.h"
#include "analyzer/render/text.h"

#define LINE   18 /* pixels */
#define PAD    10
#define COLUMN 420 /* a NUMA node's width */
#define WIDTH  62  /* characters that fit into it */

static void put_escaped(const char *text, FILE *out)
{
    char *plain = mw_text_fit(text, WIDTH, 0);
    mw_text_markup(out, plain);
    free(plain);
}

static void put_text(FILE *out, int x, int y, int bold, const char *text)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\"%s>", x, y, bold ? " class=\"title\"" : "");
    put_escaped(text, out);
    fputs("</text>\n", out);
}

static void put_box(FILE *out, const char *class, int x, int y, int width, int height)
{
    fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class, x, y,
            width, height);
}

/* Lines below a title; returns the height of both. With out NULL nothing is drawn. */
static int draw_lines(FILE *out, int x, int y, char *title, json_t *lines)
{
    size_t i, count = json_array_size(lines);
    const json_t *line;
    if (out && title)
        put_text(out, x, y + LINE - 4, 1, title);
    int height = title ? LINE : 0;
    json_array_foreach(lines, i, line)
        if (out)
            put_text(out, x, y + height + (int)(i + 1) * LINE - 4, 0, json_string_value(line));
    free(title);
    json_decref(lines);
    return height + (int)count * LINE;
}

static int draw_numa(FILE *out, int x, int y, const json_t *section, const json_t *node,
                     const json_t *package, const json_t *numa)
{
    int height = 2 * PAD + draw_lines(NULL, 0, 0, mw_map_numa_title(numa),
                                      mw_map_lines(section, node, numa, package));
    if (out) {
        put_box(out, "numa", x, y, COLUMN, height);
        draw_lines(out, x + PAD, y + PAD, mw_map_numa_title(numa),
                   mw_map_lines(section, node, numa, package));
    }
    return height;
}

/* A package, or (NULL) NUMA nodes of which the package is not known. */
static int draw_package(FILE *out, int x, int y, const json_t *section, const json_t *node,
                        const json_t *package)
{
    size_t i;
    const json_t *numa;
    int height = PAD;
    char *title = package ? mw_format("socket %.0f", mw_json_count_of(package, "number")) : NULL;
    height += draw_lines(out, x + PAD, y + height, title,
                         package ? mw_map_lines(section, node, NULL, package) : json_array());
    json_array_foreach(json_object_get(node, "numa"), i, numa) {
        if (!json_equal(json_object_get(numa, "package"),
                        package ? json_object_get(package, "number") : json_null()))
            continue;
        height += PAD + draw_numa(out, x + PAD, y + height + PAD, section, node, package, numa);
    }
    return height + PAD;
}

static int draw_node(FILE *out, int y, const json_t *section, const json_t *node)
{
    const json_t *packages = json_object_get(node, "packages"), *package;
    size_t i, count = json_array_size(packages);
    int top = y + PAD, tallest = 0;
    top +=
        draw_lines(out, 2 * PAD, top, mw_map_title(node), mw_map_lines(section, node, NULL, NULL));
    for (i = 0; i < (count ? count : 1); i++) {
        package = json_array_get(packages, i);
        int height = draw_package(NULL, 0, 0, section, node, package);
        tallest = height > tallest ? height : tallest;
    }
    for (i = 0; i < (count ? count : 1); i++) {
        int x = 2 * PAD + (int)i * (COLUMN + 3 * PAD);
        package = json_array_get(packages, i);
        if (out && package)
            put_box(out, "package", x, top, COLUMN + 2 * PAD, tallest);
        if (out)
            draw_package(out, x, top, section, node, package);
    }
    return top + tallest + PAD - y;
}

static int picture_width(const json_t *nodes)
{
    size_t i, most = 1;
    const json_t *node;
    json_array_foreach(nodes, i, node) {
        size_t packages = json_array_size(json_object_get(node, "packages"));
        most = packages > most ? packages : most;
    }
    return (int)most * (COLUMN + 3 * PAD) + 3 * PAD;
}

void mw_placement_svg(const json_t *document, FILE *out)
{
    const json_t *section = json_object_get(document, "placement");
    const json_t *nodes = json_object_get(section, "nodes"), *node;
    int width = picture_width(nodes), height = PAD, y = PAD;
    size_t i;
    json_array_foreach(nodes, i, node)
        height += draw_node(NULL, 0, section, node) + PAD;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
            "<style>text{font:13px monospace}.title{font-weight:bold}rect{stroke:#555;fill:#fff}"
            ".node{fill:#f4f4f4}.package{fill:#e6eef7}</style>\n",
            width, height);
    json_array_foreach(nodes, i, node) {
        int tall = draw_node(NULL, 0, section, node);
        put_box(out, "node", PAD, y, width - 2 * PAD, tall);
        draw_node(out, y, section, node);
        y += tall + PAD;
    }
    fputs("</svg>\n", out);
}
