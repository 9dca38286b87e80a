/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiwatch transports` for people (transports.h). Reads only the JSON document; made for 80
 * columns; long lists are cut and say how much is left. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"
#include "analyzer/render/transports.h"
#include "analyzer/render/transports_text.h"

#define LOG_LINES   24 /* of one failure */
#define WAYS_SHOWN  24
#define ITEMS_SHOWN 12 /* libraries, device files */

/* Things with a state, and whose they are: "/dev/cxi0 open (ranks 0-3)". */
static void text_items(const json_t *items, const char *label, const char *name, const char *state,
                       FILE *out)
{
    size_t index;
    json_t *item;
    json_array_foreach(items, index, item) {
        if (index == ITEMS_SHOWN)
            break;
        char *ranks = mw_on_ranks(item);
        mw_text_entry(out, index ? "" : label, "%s %s (%s)", mw_json_string(item, name),
                      mw_json_string(item, state), ranks);
        free(ranks);
    }
    if (json_array_size(items) > ITEMS_SHOWN)
        mw_text_entry(out, "", "... %zu more (--format json has all)",
                      json_array_size(items) - ITEMS_SHOWN);
}

static void text_chosen(const json_t *section, FILE *out)
{
    mw_text_heading(out, "What was in use");
    mw_text_choices(section, 1, out);
    text_items(json_object_get(section, "libraries"), "libraries", "library", "version", out);
    text_items(json_object_get(section, "devices"), "devices", "path", "state", out);
    mw_text_probes(section, out);
}

static char *moved_text(const json_t *entry)
{
    double messages = mw_json_count_of(entry, "messages");
    if (!(messages > 0))
        return mw_text_copy("no messages");
    char *bytes = mw_number_bytes(mw_json_count_of(entry, "bytes"));
    char *count = mw_number_count(messages);
    char *text = mw_format("%s in %s message%s", bytes, count, mw_text_plural(messages));
    free(count);
    free(bytes);
    return text;
}

/* ", 3.90 GiB of it between nodes", or where all of it went. */
static char *where_text(const json_t *way)
{
    double within = mw_json_count_of(way, "bytes_within_nodes");
    double between = mw_json_count_of(way, "bytes_between_nodes");
    if (!(between > 0))
        return mw_text_copy(within > 0 ? ", all within nodes" : "");
    if (!(within > 0))
        return mw_text_copy(", all between nodes");
    char *part = mw_number_bytes(between), *text = mw_format(", %s of it between nodes", part);
    free(part);
    return text;
}

/* What a way carried: more than the table has room for. */
static void text_way(const json_t *way, FILE *out)
{
    char *name = mw_way_text(way), *moved = moved_text(way), *where = where_text(way);
    char *ranks = mw_on_ranks(way);
    const json_t *sizes = json_object_get(way, "sizes");
    const json_t *reached = json_object_get(way, "reached");
    double pairs = mw_json_count_of(way, "pairs"), carried = mw_json_count_of(way, "carried_bytes");
    mw_text_paragraph(out, MW_STYLE_PLAIN, "%s%s: %.0f pair%s of %s", name,
                      json_is_true(json_object_get(way, "software")) ? ", in software" : "", pairs,
                      mw_text_plural(pairs), ranks);
    if (json_is_object(sizes)) {
        char *range = mw_sizes_text(sizes);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    %s of %s%s", moved, range, where);
        free(range);
    }
    if (carried > 0) {
        char *bytes = mw_number_bytes(carried);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    %s counted on it, whatever they were for",
                          bytes);
        free(bytes);
    }
    if (json_is_object(reached)) {
        char *rate = mw_reached_text(way);
        char *src = mw_rank_text(reached, "src"), *dst = mw_rank_text(reached, "dst");
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "    reached %s, from rank %s to rank %s, the best of %.0f pair%s", rate,
                          src, dst, mw_json_count_of(reached, "pairs"),
                          mw_text_plural(mw_json_count_of(reached, "pairs")));
        free(rate);
        free(src);
        free(dst);
    }
    free(name), free(moved), free(where), free(ranks);
}

static void text_ways(const json_t *section, FILE *out)
{
    const json_t *ways = json_object_get(section, "ways");
    const json_t *unknown = json_object_get(section, "unknown");
    double pairs = mw_json_count_of(unknown, "pairs");
    size_t index;
    json_t *way;
    char *moved = moved_text(section), *lost = moved_text(unknown);
    mw_text_heading(out, "Transports (%s, point-to-point)", moved);
    if (!json_array_size(ways) && !(pairs > 0))
        mw_text_paragraph(
            out, MW_STYLE_PLAIN,
            "No two ranks exchanged messages, and none of the evidence is of a pair.");
    mw_text_ways(section, WAYS_SHOWN, out);
    if (json_array_size(ways))
        fputc('\n', out);
    json_array_foreach(ways, index, way)
        if (index < WAYS_SHOWN)
            text_way(way, out);
    if (pairs > 0)
        mw_text_paragraph(out, MW_STYLE_BAD, "not known: %.0f pair%s, %s", pairs,
                          mw_text_plural(pairs), lost);
    free(lost);
    free(moved);
}

static void text_route(const json_t *route, int of_messages, FILE *out)
{
    const json_t *sizes = json_object_get(route, "sizes");
    char *name = mw_way_text(route), *evidence = mw_text_copy(mw_json_string(route, "evidence"));
    char *moved = moved_text(route), *range = NULL;
    const char *buffer = mw_json_string(route, "buffer");
    int host = !strcmp(buffer, "host");
    if (json_is_object(sizes))
        range = mw_sizes_text(sizes);
    int differs = json_is_true(json_object_get(route, "evidence_differs"));
    mw_text_paragraph(out, MW_STYLE_PLAIN, "    %s%s%s: %s%s%s, %s%s%s%s", name,
                      host ? "" : ", out of memory: ", host ? "" : buffer,
                      range         ? moved
                      : of_messages ? "also used, share of the messages not known"
                                    : "used, but not for messages",
                      range ? " of " : "", range ? range : "", mw_json_string(route, "certainty"),
                      evidence[0] ? ": " : "", evidence, differs ? " (in the first pair)" : "");
    free(range);
    free(moved);
    free(evidence);
    free(name);
}

static const char *place_text(const json_t *entry)
{
    static const char *const words[][2] = {
        {"self", ""}, {"node", "within a node"}, {"network", "between nodes"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(mw_json_string(entry, "where"), words[i][0]))
            return words[i][1];
    return "nodes not known";
}

/* What the evidence counted beyond the messages, or less than them, and what that is. */
static void text_remainder(const json_t *entry, FILE *out)
{
    double remainder = mw_json_real_of(entry, "remainder_bytes");
    const char *is = mw_json_string(entry, "remainder_is");
    char *carried = mw_number_bytes(mw_json_count_of(entry, "carried_bytes"));
    char *rest = mw_number_bytes(fabs(remainder));
    if (mw_json_count_of(entry, "carried_bytes") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    counted there: %s, %s %s than the messages%s%s",
                          carried, rest, remainder < 0 ? "less" : "more", is[0] ? ": " : "", is);
    free(rest);
    free(carried);
}

static void text_routes(const json_t *entry, FILE *out)
{
    size_t index;
    json_t *route;
    int of_messages = mw_json_count_of(entry, "messages") > 0;
    json_array_foreach(json_object_get(entry, "routes"), index, route)
        text_route(route, of_messages, out);
    if (!mw_json_is_null(entry, "unknown"))
        mw_text_paragraph(out, MW_STYLE_BAD, "    %s", mw_json_string(entry, "unknown"));
    text_remainder(entry, out);
}

static void text_groups(const json_t *section, FILE *out)
{
    const json_t *groups = json_object_get(section, "groups");
    const json_t *listed = json_object_get(groups, "listed");
    size_t index;
    json_t *group;
    if (!json_array_size(listed))
        return;
    mw_text_heading(out, "Pairs, those with equal transports together");
    json_array_foreach(listed, index, group) {
        char *who = mw_group_text(group), *moved = moved_text(group);
        double pairs = mw_json_count_of(group, "pairs");
        const char *place =
            strstr(mw_json_string(group, "shape"), "nodes") ? "" : place_text(group);
        char *count = strcmp(mw_json_string(group, "shape"), "some")
                          ? mw_format("%.0f pair%s, ", pairs, mw_text_plural(pairs))
                          : mw_text_copy("");
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s%s%s: %s%s", who, place[0] ? ", " : "", place,
                          count, moved);
        free(count);
        text_routes(group, out);
        free(moved);
        free(who);
    }
    mw_text_more(out, mw_json_count_of(groups, "total"), json_array_size(listed),
                 "groups of pairs (--top N shows more)");
}

static void text_pair_speed(const json_t *pair, FILE *out)
{
    double rate = mw_json_real_of(pair, "reached_bytes_s");
    double latency = mw_json_real_of(pair, "latency_s");
    const char *bound = json_is_true(json_object_get(pair, "bound")) ? "reached >= " : "reached ";
    char *rate_text = mw_number_rate(rate), *latency_text = mw_number_seconds(latency);
    if (!isnan(rate) || !isnan(latency))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    %s%s%s%s%s", isnan(rate) ? "" : bound,
                          isnan(rate) ? "" : rate_text, isnan(rate) || isnan(latency) ? "" : ", ",
                          isnan(latency) ? "" : "latency ", isnan(latency) ? "" : latency_text);
    free(latency_text);
    free(rate_text);
}

static void text_pairs(const json_t *pairs, FILE *out)
{
    const json_t *listed = json_object_get(pairs, "listed");
    size_t index;
    json_t *pair;
    char *rank = mw_rank_text(pairs, "rank");
    mw_text_heading(out, "Pairs of rank %s", rank);
    free(rank);
    if (!json_array_size(listed))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "It exchanged nothing that is known.");
    json_array_foreach(listed, index, pair) {
        char *moved = moved_text(pair);
        char *src = mw_rank_text(pair, "src"), *dst = mw_rank_text(pair, "dst");
        const char *place = place_text(pair);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s to %s%s%s: %s", src, dst, place[0] ? ", " : "",
                          place, moved);
        free(src);
        free(dst);
        text_routes(pair, out);
        text_pair_speed(pair, out);
        free(moved);
    }
    mw_text_more(out, mw_json_count_of(pairs, "total"), json_array_size(listed),
                 "pairs (--top N shows more)");
}

/* "warn cxi core: cxip_ep_enable: text (3 times)". */
static void text_log_line(const json_t *line, FILE *out)
{
    const char *provider = mw_json_string(line, "provider");
    const char *function = mw_json_string(line, "function");
    const char *subsystem = mw_json_string(line, "subsystem");
    double count = mw_json_count_of(line, "count");
    char *times = count > 1 ? mw_format(" (%.0f times)", count) : mw_text_copy("");
    mw_text_paragraph(out, MW_STYLE_PLAIN, "      %s%s%s%s%s: %s%s%s%s",
                      mw_json_string(line, "level"), provider[0] ? " " : "", provider,
                      subsystem[0] ? " " : "", subsystem, function, function[0] ? ": " : "",
                      mw_json_string(line, "text"), times);
    free(times);
}

static void text_failure(const json_t *failure, FILE *out)
{
    const json_t *log = json_object_get(failure, "log");
    double line = mw_json_real_of(failure, "line_rate_bits_s") / 8;
    char *what = mw_failure_text(failure), *rate = mw_number_rate(line);
    char *of = mw_text_fit_list(mw_json_string(failure, "log_of"), 24);
    const char *device = mw_json_string(failure, "device");
    size_t index;
    json_t *entry;
    mw_text_paragraph(out, mw_failure_matters(failure) ? MW_STYLE_BAD : MW_STYLE_PLAIN, "%s", what);
    if (device[0] || !isnan(line))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    device %s%s%s", device[0] ? device : "unknown",
                          isnan(line) ? "" : ", line rate ", isnan(line) ? "" : rate);
    if (json_array_size(log))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    logged on %s%s up to then:", mw_rank_word(of),
                          of);
    json_array_foreach(log, index, entry)
        if (index < LOG_LINES)
            text_log_line(entry, out);
    mw_text_more(out, (double)json_array_size(log), LOG_LINES, "lines (--format json has all)");
    free(of);
    free(rate);
    free(what);
}

/* Questions to which the answer was no, and what the same process then did get. */
static int failure_counts(const json_t *failure)
{
    const char *weight = mw_json_string(failure, "weight");
    return !strcmp(weight, "matters") || !strcmp(weight, "minor");
}

static void text_failures(const json_t *section, FILE *out)
{
    const json_t *failures = json_object_get(section, "failures");
    const json_t *listed = json_object_get(failures, "listed");
    double others = mw_json_count_of(failures, "total");
    size_t index;
    json_t *failure;
    if (!json_array_size(listed))
        return;
    mw_text_heading(out, "Attempts that failed");
    json_array_foreach(listed, index, failure) {
        if (!failure_counts(failure))
            continue;
        text_failure(failure, out);
        others--;
    }
    if (others > 0)
        mw_text_paragraph(out, MW_STYLE_DIM,
                          "%.0f more without consequence: another attempt succeeded, or nothing "
                          "was there (--format json has them)",
                          others);
    if (mw_json_count_of(failures, "left_out") > 0)
        mw_text_paragraph(
            out, MW_STYLE_BAD,
            "%.0f attempts, log lines and offers were not looked at: more than mpiwatch "
            "writes of one process",
            mw_json_count_of(failures, "left_out"));
}

static void text_idle(const json_t *section, FILE *out)
{
    const json_t *idle = json_object_get(section, "idle");
    const json_t *listed = json_object_get(idle, "listed");
    double others = mw_json_count_of(idle, "total");
    size_t index;
    json_t *entry;
    if (!json_array_size(listed))
        return;
    mw_text_heading(out, "What could be had and was not used");
    json_array_foreach(listed, index, entry) {
        if (!json_is_true(json_object_get(entry, "native")))
            continue;
        char *text = mw_idle_text(entry);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s", text);
        free(text);
        others--;
    }
    if (others > 0)
        mw_text_paragraph(out, MW_STYLE_DIM,
                          "%.0f %sin software or through memory (--format json has them)", others,
                          json_array_size(listed) > others ? "more " : "");
}

/* What a library would have printed by itself, had it not been silenced: warnings and worse. */
static int log_line_loud(const json_t *line)
{
    static const char *const loud[] = {"warn", "warning", "error", "fatal", "critical"};
    for (size_t i = 0; i < sizeof(loud) / sizeof(loud[0]); i++)
        if (!strcasecmp(mw_json_string(line, "level"), loud[i]))
            return 1;
    return !mw_json_string(line, "level")[0];
}

static void text_log(const json_t *section, FILE *out)
{
    const json_t *log = json_object_get(section, "log");
    const json_t *listed = json_object_get(log, "listed");
    double others = mw_json_count_of(log, "total") - (double)json_array_size(listed);
    size_t index, shown = 0;
    json_t *line;
    json_array_foreach(listed, index, line) {
        if (json_is_true(json_object_get(line, "with_failure")))
            continue;
        if (!log_line_loud(line)) {
            others++;
            continue;
        }
        if (!shown++)
            mw_text_heading(out, "What the libraries logged besides");
        char *ranks = mw_on_ranks(line);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s, %s:", mw_json_string(line, "library"), ranks);
        text_log_line(line, out);
        free(ranks);
    }
    if (shown && others > 0)
        mw_text_paragraph(out, MW_STYLE_DIM, "... %.0f more lines (--format json has them)",
                          others);
    if (mw_json_count_of(log, "lost") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%.0f more log lines found no room in the trace.",
                          mw_json_count_of(log, "lost"));
}

static char *bytes_or_dash(const json_t *object, const char *key)
{
    return mw_json_is_null(object, key) ? mw_text_copy("-")
                                        : mw_number_bytes(mw_json_count_of(object, key));
}

static void port_row(struct mw_table *table, const json_t *port)
{
    const char *host = mw_json_string(port, "host"), *name = mw_json_string(port, "port");
    double number = mw_json_count_of(port, "number");
    double line = mw_json_real_of(port, "line_rate_bits_s") / 8;
    double rate = mw_json_real_of(port, "sent_bytes_s");
    double in = mw_json_real_of(port, "received_bytes_s");
    rate = isnan(rate) || in > rate ? in : rate;
    mw_table_row(table);
    mw_table_cell(table, mw_text_fit(host, 14, 1));
    mw_table_cell(table, number > 0 ? mw_format("%s/%.0f", name, number) : mw_text_copy(name));
    mw_table_text(table, mw_json_string(port, "state"));
    mw_table_cell(table, bytes_or_dash(port, "received_bytes"));
    mw_table_cell(table, bytes_or_dash(port, "sent_bytes"));
    mw_table_cell(table, mw_number_rate_of(rate, isnan(line) ? 0 : line));
    mw_table_cell(table, mw_json_is_null(port, "errors")
                             ? mw_text_copy("-")
                             : mw_number_count(mw_json_count_of(port, "errors")));
    if (mw_json_count_of(port, "errors") > 0)
        mw_table_style_bad(table);
}

/* Without traffic and without a link. */
static int port_dead(const json_t *port)
{
    const char *state = mw_json_string(port, "state");
    return !(mw_json_count_of(port, "received_bytes") > 0) &&
           !(mw_json_count_of(port, "sent_bytes") > 0) && !(mw_json_count_of(port, "errors") > 0) &&
           (!strcasecmp(state, "down") || !strcasecmp(state, "lowerlayerdown") ||
            !strcasecmp(state, "notpresent"));
}

static void text_ports(const json_t *section, FILE *out)
{
    static const char *const columns[] = {"node",  "port",       "state",  ">received",
                                          ">sent", ">mean rate", ">errors"};
    const json_t *ports = json_object_get(section, "ports");
    const json_t *listed = json_object_get(ports, "listed");
    size_t index, shown = 0;
    json_t *port;
    if (!json_array_size(listed))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Ports of the nodes, while the job ran (all traffic)");
    json_array_foreach(listed, index, port) {
        if (port_dead(port))
            continue;
        port_row(table, port);
        shown++;
    }
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(ports, "total"), shown, "ports");
}

static void text_tcp(const json_t *section, FILE *out)
{
    static const char *const columns[] = {"interface", "ranks",        ">connections",
                                          ">sent",     ">retransmits", ">round trip"};
    const json_t *tcp = json_object_get(section, "tcp");
    const json_t *interfaces = json_object_get(tcp, "interfaces");
    size_t index;
    json_t *one;
    if (!json_array_size(interfaces))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "TCP connections of the ranks, also of their launcher");
    json_array_foreach(interfaces, index, one) {
        const char *name = mw_json_string(one, "interface");
        char *least = mw_number_seconds(mw_json_real_of(one, "min_round_trip_s"));
        mw_table_row(table);
        mw_table_text(table, name[0] ? name : "not known");
        mw_table_cell(table, mw_text_fit_list(mw_json_string(one, "ranks"), 20));
        mw_table_cell(table, mw_number_count(mw_json_count_of(one, "connections")));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(one, "sent_bytes")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(one, "retransmitted_segments")));
        mw_table_cell(table, least);
        if (mw_json_count_of(one, "retransmitted_segments") > 0)
            mw_table_style_bad(table);
    }
    mw_table_print(table, out);
    if (mw_json_count_of(tcp, "unseen_descriptors") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f file descriptors were not looked at: there were too many.",
                          mw_json_count_of(tcp, "unseen_descriptors"));
}

void mw_transports_text(const json_t *document, FILE *out)
{
    const json_t *section = json_object_get(document, "transports");
    const json_t *pairs = json_object_get(document, "pairs");
    mw_text_title(document, "transports", out);
    mw_text_recorded(json_object_get(document, "processes"), out);
    if (!mw_json_is_null(section, "missing"))
        mw_text_paragraph(out, MW_STYLE_BAD, "Not known: %s.", mw_json_string(section, "missing"));
    else
        text_chosen(section, out);
    text_ways(section, out);
    if (json_is_object(pairs))
        text_pairs(pairs, out);
    else
        text_groups(section, out);
    text_failures(section, out);
    text_idle(section, out);
    text_log(section, out);
    text_ports(section, out);
    text_tcp(section, out);
    mw_text_damage(document, out);
}
