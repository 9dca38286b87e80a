/* SPDX-License-Identifier: BSD-3-Clause */
/* Speeds in the report, for people (speeds.h). Reads only the JSON document. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/speeds.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define CLASSES_SHOWN     24
#define COLLECTIVES_SHOWN 12
#define PLACES_SHOWN      16
#define ACCESSES_SHOWN    12

/* "2.30 of 25.0 GB/s (0-1)": the best pair of a class. */
static char *best_text(const json_t *class)
{
    const json_t *best = json_object_get(class, "best");
    double rate = mw_json_real_of(best, "in_flight_bytes_s");
    double line = mw_json_count_of(class, "line_rate_bits_s") / 8;
    if (!json_is_object(best))
        return mw_text_copy("-");
    char *reached = line > 0 ? mw_number_rate_of(rate, line) : mw_number_rate(rate);
    char *src = mw_rank_text(best, "src"), *dst = mw_rank_text(best, "dst");
    char *text = mw_format("%s (%s to %s)", reached, src, dst);
    free(dst);
    free(src);
    free(reached);
    return text;
}

static void class_row(struct mw_table *table, const json_t *class)
{
    mw_table_row(table);
    mw_table_text(table, mw_json_string(class, "distance"));
    mw_table_text(table, mw_json_string(class, "transport"));
    char *sizes = mw_number_bytes(mw_json_count_of(class, "from"));
    mw_table_cell(table, sizes);
    mw_table_cell(table, mw_number_count(mw_json_count_of(class, "pairs")));
    mw_table_cell(table, mw_number_seconds(mw_json_real_of(class, "latency_s")));
    mw_table_cell(table, mw_number_rate(mw_json_real_of(class, "in_flight_bytes_s")));
    mw_table_cell(table, best_text(class));
}

/* Something can be said of it: a latency or a bandwidth. */
static int class_is_known(const json_t *class)
{
    return !mw_json_is_null(class, "latency_s") || !mw_json_is_null(class, "in_flight_bytes_s");
}

static size_t classes_known(const json_t *classes)
{
    size_t index, known = 0;
    json_t *class;
    json_array_foreach(classes, index, class)
        known += class_is_known(class) != 0;
    return known;
}

static void text_classes(const json_t *classes, size_t known, FILE *out)
{
    static const char *const columns[] = {"distance", "over",       ">from",    ">pairs",
                                          ">latency", ">in flight", "best pair"};
    size_t index, shown = 0;
    json_t *class;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    json_array_foreach(classes, index, class) {
        if (!class_is_known(class) || shown == CLASSES_SHOWN)
            continue;
        class_row(table, class);
        shown++;
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)known, shown, "classes");
}

static void text_collectives(const json_t *speeds, FILE *out)
{
    static const char *const columns[] = {"collective", ">from", ">ranks",      ">times",
                                          ">algorithm", ">bus",  "communicator"};
    const json_t *section = json_object_get(speeds, "collectives");
    const json_t *listed = json_object_get(section, "listed");
    size_t index;
    json_t *entry;
    if (!json_array_size(listed))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Bandwidth of collectives");
    json_array_foreach(listed, index, entry) {
        if (index == COLLECTIVES_SHOWN)
            break;
        mw_table_row(table);
        mw_table_text(table, mw_json_string(entry, "function"));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(entry, "from")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(entry, "ranks")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(entry, "collectives")));
        mw_table_cell(table, mw_number_rate(mw_json_real_of(entry, "algorithm_bytes_s")));
        mw_table_cell(table, mw_number_rate(mw_json_real_of(entry, "bus_bytes_s")));
        mw_table_text(table, mw_json_string(entry, "communicator"));
    }
    mw_table_print(table, out);
    size_t shown = json_array_size(listed);
    mw_text_more(out, mw_json_count_of(section, "total"),
                 shown < COLLECTIVES_SHOWN ? shown : COLLECTIVES_SHOWN, "entries");
}

/* "2.30 of 25.0 GB/s": at least, while something was on the way. */
static char *joint_rate_text(const json_t *place, const char *way)
{
    double rate = mw_json_real_of(json_object_get(place, way), "at_least_bytes_s");
    double line = mw_json_count_of(place, "line_rate_bits_s") / 8;
    return line > 0 && rate > 0 ? mw_number_rate_of(rate, line) : mw_number_rate(rate);
}

/* One way: "sent" or "received". */
static void place_row(struct mw_table *table, const json_t *place, const char *way)
{
    const json_t *joint = json_object_get(place, way);
    mw_table_row(table);
    mw_table_text(table, mw_json_string(place, "host"));
    mw_table_cell(table, json_object_get(place, "nic")
                             ? mw_text_copy(mw_json_string(place, "nic"))
                             : mw_format("NUMA %.0f", mw_json_count_of(place, "numa")));
    mw_table_cell(table, mw_number_count(mw_json_count_of(place, "processes")));
    mw_table_text(table, way);
    mw_table_cell(table, mw_number_bytes(mw_json_count_of(joint, "bytes")));
    mw_table_cell(table, joint_rate_text(place, way));
    mw_table_cell(table, mw_number_count(round(mw_json_real_of(joint, "messages_per_s"))));
    mw_table_cell(table, mw_format("%.1f", mw_json_count_of(joint, "concurrency")));
}

/* Network cards, and NUMA nodes where there are several. */
static void text_places(const json_t *speeds, FILE *out)
{
    static const char *const columns[] = {"node",   "place",     ">ranks",    "",
                                          ">bytes", ">at least", ">a second", ">at once"};
    const json_t *nics = json_object_get(json_object_get(speeds, "nics"), "listed");
    const json_t *numas = json_object_get(json_object_get(speeds, "numa_nodes"), "listed");
    size_t shown = 0, cards = json_array_size(nics);
    size_t total = cards + (json_array_size(numas) > 1 ? json_array_size(numas) : 0);
    if (!total)
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Messages of network cards and NUMA nodes together");
    for (; shown < total && shown < PLACES_SHOWN; shown++) {
        const json_t *place =
            shown < cards ? json_array_get(nics, shown) : json_array_get(numas, shown - cards);
        place_row(table, place, "sent");
        place_row(table, place, "received");
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)total, shown, "places");
}

static void access_row(struct mw_table *table, const json_t *pair)
{
    char *src = mw_rank_text(pair, "src"), *dst = mw_rank_text(pair, "dst");
    mw_table_row(table);
    mw_table_cell(table, mw_format("%s to %s", src, dst));
    mw_table_cell(table, mw_number_bytes(mw_json_count_of(pair, "from")));
    mw_table_cell(table, mw_number_count(mw_json_count_of(pair, "messages") +
                                         mw_json_count_of(pair, "warm_up_messages")));
    mw_table_cell(table, mw_number_rate(mw_json_real_of(pair, "in_flight_bytes_s")));
    mw_table_cell(table, mw_number_rate(mw_json_real_of(pair, "at_least_bytes_s")));
    mw_table_cell(table, mw_number_rate(mw_json_real_of(pair, "throughput_bytes_s")));
    free(dst);
    free(src);
}

static void text_accesses(const json_t *speeds, FILE *out)
{
    static const char *const columns[] = {"pair",       ">from",     ">accesses",
                                          ">in flight", ">at least", ">throughput"};
    const json_t *section = json_object_get(speeds, "accesses");
    const json_t *listed = json_object_get(section, "listed");
    size_t shown = 0, known = json_array_size(listed);
    if (!known)
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Speeds of one-sided accesses");
    for (; shown < known && shown < ACCESSES_SHOWN; shown++)
        access_row(table, json_array_get(listed, shown));
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(section, "total"), shown, "pairs and sizes");
}

/* How well the clocks of several nodes are known, where that matters. */
static void text_clock_error(const json_t *clocks, FILE *out)
{
    const json_t *nodes = json_object_get(clocks, "nodes");
    double error = 0;
    size_t index;
    json_t *node;
    json_array_foreach(nodes, index, node)
        error = fmax(error, mw_json_count_of(node, "error_s"));
    char *most = mw_number_seconds(error);
    if (error > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "The nodes' clocks are known to within %s of each other, from the job's "
                          "own messages.",
                          most);
    free(most);
}

/* What is in no figure, or may be wrong. */
static void text_doubts(const json_t *clocks, FILE *out)
{
    double loose = mw_json_count_of(clocks, "unsynchronised");
    double violations = mw_json_count_of(clocks, "violations");
    double ambiguous = mw_json_count_of(json_object_get(clocks, "matching"), "ambiguous");
    if (loose > 0)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "%.0f messages are in no figure of speed: nothing ties the clocks of "
                          "their nodes together.",
                          loose);
    if (violations > 0)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "%.0f messages seem to have come before they were sent: the clocks of "
                          "their nodes are wrong by more than can be corrected.",
                          violations);
    if (ambiguous > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f messages of concurrent threads may be matched with each other's "
                          "receives.",
                          ambiguous);
}

void mw_text_speeds(const json_t *report, FILE *out)
{
    const json_t *speeds = json_object_get(report, "speeds");
    const json_t *clocks = json_object_get(report, "clocks");
    const json_t *classes = json_object_get(speeds, "classes");
    size_t known = classes_known(classes);
    if (known || mw_json_count_of(clocks, "unsynchronised") > 0 ||
        mw_json_count_of(clocks, "violations") > 0)
        mw_text_heading(out, "Speeds of messages (medians over pairs, by size from)");
    if (known) {
        text_classes(classes, known, out);
        text_clock_error(clocks, out);
    }
    text_doubts(clocks, out);
    text_places(speeds, out);
    text_accesses(speeds, out);
    text_collectives(speeds, out);
}
