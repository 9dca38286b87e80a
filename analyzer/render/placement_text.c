/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ranks sat, for people: tables of the section "placement" (placement.h). Main thread. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/placement.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define HOST_WIDTH   12
#define RANKS_WIDTH  14
#define CPUS_WIDTH   14
#define GROUPS_SHOWN 8
#define LABEL_WIDTH  4 /* of a row of a square of paths, with the table's indent */

/* "other-socket" of the document, for people; "" where it is not known. */
static const char *distance_title(const char *word)
{
    for (int i = 0; i < MW_LOCALITY_UNKNOWN; i++)
        if (!strcmp(word, mw_locality_word((enum mw_locality)i)))
            return mw_locality_title((enum mw_locality)i);
    return "";
}

/* "mlx5_0, other socket", "eth0, same NUMA node to other socket". */
static char *near_text(const json_t *near)
{
    const char *name = mw_json_string(near, "name");
    const char *nearest = distance_title(mw_json_string(near, "nearest"));
    const char *farthest = distance_title(mw_json_string(near, "farthest"));
    if (!*nearest)
        return mw_text_copy(name);
    return strcmp(nearest, farthest) ? mw_format("%s, %s to %s", name, nearest, farthest)
                                     : mw_format("%s, %s", name, nearest);
}

static char *number_text(const json_t *object, const char *key)
{
    return mw_json_is_null(object, key) ? mw_text_copy("-")
                                        : mw_format("%.0f", mw_json_count_of(object, key));
}

static const char *origin_text(const json_t *object)
{
    return json_is_true(json_object_get(object, "recorded")) ? mw_json_string(object, "origin")
                                                             : "not recorded";
}

/* --- groups: the short form ------------------------------------------------------------------- */

static void group_row(struct mw_table *table, const json_t *group, int nics)
{
    const json_t *nic = json_object_get(group, "nic");
    int far = !strcmp(mw_json_string(nic, "farthest"), mw_locality_word(MW_LOCALITY_OTHER_PACKAGE));
    mw_table_row(table);
    mw_table_cell(table, mw_text_fit_list(mw_json_string(group, "ranks"), RANKS_WIDTH));
    mw_table_cell(table, mw_text_fit(mw_json_string(group, "host"), HOST_WIDTH, 1));
    mw_table_cell(table, number_text(group, "numa"));
    mw_table_cell(table, number_text(group, "package"));
    mw_table_text(table, origin_text(group));
    if (nics)
        mw_table_cell(table, near_text(nic));
    if (far)
        mw_table_style_bad(table);
}

static void text_groups(const json_t *section, size_t shown, FILE *out)
{
    const json_t *groups = json_object_get(section, "groups");
    struct mw_table *table = mw_table_create();
    size_t i;
    const json_t *group;
    int nics = 0;
    json_array_foreach(groups, i, group)
        nics |= *mw_json_string(json_object_get(group, "nic"), "name") != '\0';
    mw_table_column(table, "ranks");
    mw_table_column(table, "node");
    mw_table_column(table, ">NUMA");
    mw_table_column(table, ">socket");
    mw_table_column(table, "bound by");
    if (nics)
        mw_table_column(table, "network card");
    json_array_foreach(groups, i, group)
        if (i < shown)
            group_row(table, group, nics);
    mw_table_print(table, out);
    mw_text_more(out, (double)json_array_size(groups), shown,
                 "places (mpiwatch placement has all)");
}

void mw_text_placement(const json_t *report, FILE *out)
{
    const json_t *section = json_object_get(report, "placement");
    if (!(mw_json_count_of(section, "recorded") > 0))
        return;
    mw_text_heading(out, "Where ranks sat");
    text_groups(section, GROUPS_SHOWN, out);
}

/* --- ranks ------------------------------------------------------------------------------------ */

/* How many devices of a kind all ranks of the table have together. */
static size_t devices_of(const json_t *ranks, const char *kind)
{
    size_t i, count = 0;
    const json_t *rank;
    json_array_foreach(ranks, i, rank)
        count += json_array_size(json_object_get(rank, kind));
    return count;
}

/* The GPU that was used, else how many there are. */
static char *gpu_text(const json_t *rank)
{
    const json_t *gpus = json_object_get(rank, "gpus"), *gpu;
    size_t i;
    json_array_foreach(gpus, i, gpu)
        if (json_is_true(json_object_get(gpu, "used")))
            return near_text(gpu);
    size_t count = json_array_size(gpus);
    return count ? mw_format("%zu visible", count) : mw_text_copy("");
}

static char *nics_text(const json_t *rank)
{
    const json_t *nics = json_object_get(rank, "nics");
    char *first = near_text(json_array_get(nics, 0));
    size_t count = json_array_size(nics);
    if (count < 2)
        return first;
    char *text = mw_format("%s and %zu more", first, count - 1);
    free(first);
    return text;
}

static void rank_row(struct mw_table *table, const json_t *rank, int nics, int gpus)
{
    char *moved =
        strchr(mw_json_string(rank, "numa_seen"), ',') ||
                strchr(mw_json_string(rank, "numa_seen"), '-')
            ? mw_format("%s (ran on %s)", origin_text(rank), mw_json_string(rank, "numa_seen"))
            : mw_text_copy(origin_text(rank));
    mw_table_row(table);
    mw_table_cell(table, mw_rank_text(rank, "rank"));
    mw_table_cell(table, mw_text_fit(mw_json_string(rank, "host"), HOST_WIDTH, 1));
    mw_table_cell(
        table, mw_text_fit_list(mw_json_is_null(rank, "cpus") ? "-" : mw_json_string(rank, "cpus"),
                                CPUS_WIDTH));
    mw_table_cell(table, number_text(rank, "numa"));
    mw_table_cell(table, number_text(rank, "package"));
    mw_table_cell(table, moved);
    if (nics)
        mw_table_cell(table, nics_text(rank));
    if (gpus)
        mw_table_cell(table, gpu_text(rank));
}

static void text_ranks(const json_t *section, FILE *out)
{
    const json_t *ranks = json_object_get(section, "ranks"), *rank;
    struct mw_table *table = mw_table_create();
    size_t i, nics = devices_of(ranks, "nics"), gpus = devices_of(ranks, "gpus");
    mw_text_heading(out, "Ranks");
    mw_table_column(table, ">rank");
    mw_table_column(table, "node");
    mw_table_column(table, "CPUs");
    mw_table_column(table, ">NUMA");
    mw_table_column(table, ">socket");
    mw_table_column(table, "bound by");
    if (nics)
        mw_table_column(table, "network card");
    if (gpus)
        mw_table_column(table, "GPU");
    json_array_foreach(ranks, i, rank)
        rank_row(table, rank, nics > 0, gpus > 0);
    mw_table_print(table, out);
    size_t count = json_array_size(ranks);
    mw_text_more(out, (double)count + mw_json_count_of(section, "ranks_left_out"), count,
                 "ranks (--top N shows more)");
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* "4 links", "2 hops", "PCIe switch": what joins two GPUs, in a few characters. */
static char *path_short(const json_t *path)
{
    double links = mw_json_count_of(path, "links"), hops = mw_json_count_of(path, "hops");
    if (hops > 1)
        return mw_format("%.0f hops", hops);
    if (links > 0)
        return mw_format("%.0f link%s", links, links > 1 ? "s" : "");
    return mw_text_copy(mw_json_string(path, "title"));
}

static char *path_cell(const json_t *node, const json_t *from, const json_t *to)
{
    size_t i;
    const json_t *path;
    if (from == to)
        return mw_text_copy(".");
    json_array_foreach(json_object_get(node, "gpu_paths"), i, path)
        if (json_equal(json_object_get(path, "from"), json_object_get(from, "address")) &&
            json_equal(json_object_get(path, "to"), json_object_get(to, "address")))
            return path_short(path);
    return mw_text_copy("");
}

/* So many columns of the square fit beside each other. */
static size_t paths_beside(const json_t *node)
{
    size_t i, widest = 1;
    const json_t *path;
    json_array_foreach(json_object_get(node, "gpu_paths"), i, path) {
        char *text = path_short(path);
        if (mw_text_length(text) > widest)
            widest = mw_text_length(text);
        free(text);
    }
    size_t beside = (MW_TEXT_WIDTH - LABEL_WIDTH) / (widest + 1);
    return beside ? beside : 1;
}

/* The name of a GPU that has one: its address is none. */
static const char *gpu_name(const json_t *gpu)
{
    const char *name = mw_json_string(gpu, "name");
    return strcmp(name, mw_json_string(gpu, "address")) ? name : "";
}

/* Which GPU has which number in the square. */
static void text_gpus(const json_t *gpus, FILE *out)
{
    struct mw_table *table = mw_table_create();
    size_t i;
    const json_t *gpu;
    int named = 0;
    json_array_foreach(gpus, i, gpu)
        named |= *gpu_name(gpu) != '\0';
    mw_table_column(table, ">GPU");
    mw_table_column(table, "address");
    if (named)
        mw_table_column(table, "name");
    json_array_foreach(gpus, i, gpu) {
        mw_table_row(table);
        mw_table_cell(table, mw_format("%zu", i));
        mw_table_text(table, mw_json_string(gpu, "address"));
        if (named)
            mw_table_text(table, gpu_name(gpu));
    }
    mw_table_print(table, out);
}

/* The columns [first, end) of the square. */
static void text_square(const json_t *node, size_t first, size_t end, FILE *out)
{
    const json_t *gpus = json_object_get(node, "gpus"), *from;
    struct mw_table *table = mw_table_create();
    size_t row;
    mw_table_column(table, ">");
    for (size_t column = first; column < end; column++) {
        char *title = mw_format(">%zu", column);
        mw_table_column(table, title);
        free(title);
    }
    json_array_foreach(gpus, row, from) {
        mw_table_row(table);
        mw_table_cell(table, mw_format("%zu", row));
        for (size_t column = first; column < end; column++)
            mw_table_cell(table, path_cell(node, from, json_array_get(gpus, column)));
    }
    fputc('\n', out);
    mw_table_print(table, out);
}

/* What joins GPUs, as a square, cut into pieces that fit into the width of the page. */
static void text_paths(const json_t *node, FILE *out)
{
    size_t count = json_array_size(json_object_get(node, "gpus"));
    if (count < 2)
        return;
    mw_text_heading(out, "Between GPUs of %s", mw_json_string(node, "host"));
    text_gpus(json_object_get(node, "gpus"), out);
    size_t beside = paths_beside(node);
    for (size_t first = 0; first < count; first += beside)
        text_square(node, first, first + beside < count ? first + beside : count, out);
}

static void text_node(const json_t *section, const json_t *node, FILE *out)
{
    fputc('\n', out);
    mw_placement_map(section, node, out);
    if (!mw_json_is_null(node, "problem"))
        mw_text_paragraph(out, MW_STYLE_DIM, "%s", mw_json_string(node, "problem"));
    if (json_is_false(json_object_get(node, "distances_tell")))
        mw_text_paragraph(out, MW_STYLE_DIM,
                          "The firmware calls all other NUMA nodes equally far: its distances say "
                          "nothing.");
    text_paths(node, out);
}

static void text_distances(const json_t *section, FILE *out)
{
    const json_t *list = json_object_get(section, "distances"), *entry;
    struct mw_table *table = mw_table_create();
    size_t i;
    if (!json_array_size(list))
        mw_text_heading(out, "No messages between ranks");
    else
        mw_text_heading(out, "Messages by distance");
    mw_table_column(table, "distance");
    mw_table_column(table, ">pairs");
    mw_table_column(table, ">messages");
    mw_table_column(table, ">bytes");
    json_array_foreach(list, i, entry) {
        mw_table_row(table);
        mw_table_text(table, mw_json_string(entry, "title"));
        mw_table_cell(table, number_text(entry, "pairs"));
        mw_table_cell(table, mw_number_count(mw_json_count_of(entry, "messages")));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(entry, "bytes")));
    }
    mw_table_print(table, out);
}

void mw_placement_text(const json_t *document, size_t top, FILE *out)
{
    const json_t *section = json_object_get(document, "placement");
    const json_t *nodes = json_object_get(section, "nodes"), *node;
    size_t i;
    mw_text_title(document, "placement", out);
    mw_text_recorded(json_object_get(document, "processes"), out);
    if (!(mw_json_count_of(section, "recorded") > 0))
        mw_text_paragraph(
            out, MW_STYLE_PLAIN,
            "Where processes sat was not recorded: the trace is of an older mpiwatch, "
            "or MPIWATCH_PROBES switched the probe \"placement\" off.");
    json_array_foreach(nodes, i, node)
        if (i < top)
            text_node(section, node, out);
    mw_text_more(out, (double)json_array_size(nodes), top, "nodes (--top N shows more)");
    text_ranks(section, out);
    text_distances(section, out);
    mw_text_damage(document, out);
}
