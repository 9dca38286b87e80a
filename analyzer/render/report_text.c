/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report for people: the job, the time, ranks and calls (doc.h). Reads only the JSON document.
 * Made for 80 columns; long lists are cut and say how much is left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/findings.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/placement.h"
#include "analyzer/render/speeds.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"
#include "analyzer/render/transports.h"

#define RANKS_ALL     16 /* a job with at most as many shows each */
#define RANKS_EXTREME 3  /* else so many at either end */
#define CALLS_SHOWN   15
#define PROGRAMS_MAX  8
#define HOST_WIDTH    14 /* nodes differ at the end of their names */

void mw_text_more(FILE *out, double total, size_t shown, const char *what)
{
    if (total > (double)shown)
        fprintf(out, "  %s... %.0f more %s%s\n", mw_style_on(out, MW_STYLE_DIM),
                total - (double)shown, what, mw_style_off(out, MW_STYLE_DIM));
}

static char *joined(const json_t *array)
{
    char *text = mw_text_copy("");
    size_t index;
    json_t *value;
    json_array_foreach(array, index, value)
    {
        char *longer = mw_format("%s%s%s", text, index ? " " : "", json_string_value(value));
        free(text);
        text = longer;
    }
    return text;
}

void mw_text_title(const json_t *report, const char *command, FILE *out)
{
    const json_t *job = json_object_get(report, "job");
    const json_t *processes = json_object_get(report, "processes");
    size_t nodes = json_array_size(json_object_get(report, "nodes"));
    char *program = mw_text_escape(mw_json_string(job, "program"));
    double size = mw_json_count_of(processes, "world_size");
    fprintf(out, "%smpiwatch %s: %s, ", mw_style_on(out, MW_STYLE_HEAD), command,
            program[0] ? program : "unknown program");
    if (size > 0)
        fprintf(out, "%.0f rank%s", size, size == 1 ? "" : "s");
    else
        fprintf(out, "%.0f processes", mw_json_count_of(processes, "processes"));
    fprintf(out, " on %zu node%s%s\n", nodes, nodes == 1 ? "" : "s",
            mw_style_off(out, MW_STYLE_HEAD));
    free(program);
}

static void text_times(const json_t *job, FILE *out)
{
    char *elapsed = mw_number_seconds(mw_json_real_of(job, "elapsed_s"));
    if (mw_json_is_null(job, "began"))
        mw_text_entry(out, "began", "not known: the trace has no clock readings");
    else
        mw_text_entry(out, "began", "%s, took %s", mw_json_string(job, "began"), elapsed);
    free(elapsed);
}

/* Each program of a job that has several. */
static void text_programs(const json_t *programs, FILE *out)
{
    size_t index;
    json_t *entry;
    json_array_foreach(programs, index, entry)
    {
        if (index == PROGRAMS_MAX)
            break;
        char *arguments = joined(json_object_get(entry, "arguments"));
        char *ranks = mw_text_fit_list(mw_json_string(entry, "ranks"), 60);
        mw_text_entry(out, index ? "" : "programs", "%s (%s%s)",
                      arguments[0] ? arguments : mw_basename(mw_json_string(entry, "program")),
                      mw_rank_word(ranks), ranks);
        free(arguments);
        free(ranks);
    }
    if (json_array_size(programs) > PROGRAMS_MAX)
        mw_text_entry(out, "", "... %zu more programs or arguments (--format json has all)",
                      json_array_size(programs) - PROGRAMS_MAX);
}

static void text_command(const json_t *job, FILE *out)
{
    const json_t *programs = json_object_get(job, "programs");
    int several = json_array_size(programs) > 1;
    char *command = joined(json_object_get(job, "command"));
    char *arguments = joined(json_object_get(job, "arguments"));
    const char *launcher = mw_json_string(job, "launcher"), *id = mw_json_string(job, "job_id");
    if (command[0] || (arguments[0] && !several))
        mw_text_entry(out, "command", "%s", command[0] ? command : arguments);
    if (several)
        text_programs(programs, out);
    if (launcher[0] || id[0])
        mw_text_entry(out, "launcher", "%s%s%s", launcher, launcher[0] && id[0] ? ", job " : "",
                      id);
    free(command);
    free(arguments);
}

const char *mw_rank_word(const char *ranks)
{
    size_t digits = strspn(ranks, "0123456789");
    if (!digits || !strncmp(ranks + digits, " without", 8))
        return "";
    return strpbrk(ranks, "-, ") ? "ranks " : "rank ";
}

char *mw_incomplete_text(const json_t *processes)
{
    double count = mw_json_count_of(processes, "incomplete_count");
    if (!(count > 0))
        return NULL;
    char *ranks = mw_text_fit_list(mw_json_string(processes, "incomplete"), 60);
    char *text =
        mw_format("%s%s: %s no end; all figures are lower bounds (disk full, killed, or "
                  "still running)",
                  mw_rank_word(ranks), ranks, count == 1 ? "its trace has" : "their traces have");
    free(ranks);
    return text;
}

void mw_text_recorded(const json_t *processes, FILE *out)
{
    double size = mw_json_count_of(processes, "world_size");
    double missing = mw_json_count_of(processes, "missing_count");
    double rankless = mw_json_count_of(processes, "without_rank");
    double duplicates = mw_json_count_of(processes, "duplicate_ranks");
    mw_text_worlds(processes, out);
    mw_text_entry(out, "recorded", "%.0f of %.0f ranks",
                  mw_json_count_of(processes, "recorded_ranks"), size);
    char *incomplete = mw_incomplete_text(processes);
    if (incomplete)
        mw_text_entry(out, "incomplete", "%s", incomplete);
    free(incomplete);
    if (missing > 0) {
        char *ranks = mw_text_fit_list(mw_json_string(processes, "missing_ranks"), 200);
        mw_text_paragraph(
            out, MW_STYLE_BAD,
            "%.0f rank%s not recorded (%s): what %s did is known only from the others.", missing,
            missing == 1 ? " was" : "s were", ranks, missing == 1 ? "it" : "they");
        free(ranks);
    }
    if (rankless > 0)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "%.0f process%s did not get as far as learning a rank.", rankless,
                          rankless == 1 ? "" : "es");
    if (duplicates > 0)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "%.0f process%s a rank that another one of its world has, too (the "
                          "launcher did not tell them apart): their figures are added up.",
                          duplicates, duplicates == 1 ? " has" : "es have");
}

/* What the words of processes.ended mean. */
static const char *end_text(const char *how)
{
    static const char *const texts[][2] = {
        {"MPI_Finalize", "MPI_Finalize"},
        {"exit", "exit without MPI_Finalize"},
        {"abort", "MPI_Abort"},
        {"collected", "died; what it left was collected"},
        {"snapshot", "still running when it was read"},
        {"none", "end not recorded (still running, or died and not yet collected)"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!strcmp(how, texts[i][0]))
            return texts[i][1];
    return how;
}

static void text_ends(const json_t *processes, FILE *out)
{
    size_t index;
    json_t *end;
    json_array_foreach(json_object_get(processes, "ended"), index, end)
    {
        char *ranks = mw_text_fit_list(mw_json_string(end, "ranks"), 60);
        char *code = mw_json_is_null(end, "code")
                         ? mw_text_copy("")
                         : mw_format(" with code %.0f", mw_json_real_of(end, "code"));
        mw_text_entry(out, index ? "" : "ended", "%s%s: %.0f (%s)",
                      end_text(mw_json_string(end, "how")), code,
                      mw_json_count_of(end, "processes"), ranks);
        free(ranks);
        free(code);
    }
}

static void text_nodes(const json_t *nodes, FILE *out)
{
    char *text = mw_text_copy("");
    size_t index;
    json_t *node;
    json_array_foreach(nodes, index, node)
    {
        if (index == 8)
            break;
        char *ranks = mw_text_fit_list(mw_json_string(node, "ranks"), 24);
        char *longer =
            mw_format("%s%s%s (%s)", text, index ? ", " : "", mw_json_string(node, "host"), ranks);
        free(ranks);
        free(text);
        text = longer;
    }
    if (json_array_size(nodes) > 8)
        mw_text_entry(out, "nodes", "%s ... %zu more", text, json_array_size(nodes) - 8);
    else
        mw_text_entry(out, "nodes", "%s", text);
    free(text);
}

void mw_version_shorten(char *version)
{
    char *package = strstr(version, ", package:");
    if (package)
        *package = 0;
    version[strcspn(version, "\r\n")] = 0;
    for (char *at = version; *at; at++)
        if (*at == '\t')
            *at = ' ';
}

static void text_mpi(const json_t *stack, FILE *out)
{
    size_t index;
    json_t *mpi;
    json_array_foreach(json_object_get(stack, "mpi"), index, mpi)
    {
        char *version = mw_text_copy(mw_json_string(mpi, "version"));
        char *id = mw_text_fit(mw_json_string(mpi, "build_id"), 19, 0);
        mw_version_shorten(version);
        mw_text_entry(out, index ? "" : "MPI", "%s%s%s", version[0] ? version : "unknown version",
                      mw_json_string(mpi, "thread_level")[0] ? ", " : "",
                      mw_json_string(mpi, "thread_level"));
        if (mw_json_string(mpi, "path")[0])
            mw_text_entry(out, "", "%s (build-id %s)", mw_json_string(mpi, "path"),
                          id[0] ? id : "none");
        free(version);
        free(id);
    }
}

/* Libraries between the program and the wire: what a person asks about first. */
static int library_matters(const json_t *library)
{
    static const char *const names[] = {"libfabric",  "libucp",  "libuct",   "libucs", "libpsm",
                                        "libibverbs", "libcxi",  "libpmix",  "libpmi", "libhcoll",
                                        "librccl",    "libnccl", "libprrte", "mca_"};
    const char *role = mw_json_string(library, "role"), *name = mw_json_string(library, "name");
    if (!strcmp(role, "tool") || !strcmp(role, "mpiwatch") || !strcmp(role, "binding"))
        return 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return strcmp(names[i], "mca_") || strstr(name, "btl") || strstr(name, "mtl") ||
                   strstr(name, "pml");
    return 0;
}

static void text_libraries(const json_t *stack, FILE *out)
{
    const json_t *libraries = json_object_get(stack, "libraries");
    char *text = mw_text_copy("");
    size_t index, shown = 0;
    json_t *library;
    json_array_foreach(libraries, index, library)
    {
        if (!library_matters(library))
            continue;
        char *longer = mw_format(
            "%s%s%s (%.8s)", text, shown++ ? ", " : "", mw_json_string(library, "name"),
            mw_json_is_null(library, "build_id") ? "no id" : mw_json_string(library, "build_id"));
        free(text);
        text = longer;
    }
    if (json_array_size(libraries) > shown)
        mw_text_entry(out, "libraries", "%s%sand %zu more (--format json has all)", text,
                      shown ? " " : "", json_array_size(libraries) - shown);
    else if (shown)
        mw_text_entry(out, "libraries", "%s", text);
    free(text);
}

static void text_head(const json_t *report, FILE *out)
{
    const json_t *processes = json_object_get(report, "processes");
    text_times(json_object_get(report, "job"), out);
    text_command(json_object_get(report, "job"), out);
    text_nodes(json_object_get(report, "nodes"), out);
    text_mpi(json_object_get(report, "stack"), out);
    text_libraries(json_object_get(report, "stack"), out);
    mw_text_recorded(processes, out);
    mw_text_detail(report, out);
    text_ends(processes, out);
}

static void text_time(const json_t *report, FILE *out)
{
    const json_t *time = json_object_get(report, "time"), *by = json_object_get(time, "by_class");
    const json_t *spread = json_object_get(time, "per_rank");
    char *text[10] = {mw_number_seconds(mw_json_real_of(time, "mpi_s")), /* the rest: NULL */
                     mw_number_percent(mw_json_real_of(time, "share")),
                     mw_number_seconds(mw_json_real_of(by, "point_to_point_s")),
                     mw_number_seconds(mw_json_real_of(by, "collective_s")),
                     mw_number_seconds(mw_json_real_of(by, "polling_s")),
                     mw_number_seconds(mw_json_real_of(by, "other_s")),
                     mw_number_seconds(mw_json_real_of(by, "init_and_finalize_s")),
                     mw_number_seconds(mw_json_real_of(by, "one_sided_s")),
                     mw_number_seconds(mw_json_real_of(by, "file_s"))};
    char *rare = mw_text_copy(""); /* what most programs have not */
    if (mw_json_real_of(by, "one_sided_s") > 0 || mw_json_real_of(by, "file_s") > 0) {
        free(rare);
        rare = mw_format("one-sided %s, files %s, ", text[7], text[8]);
    }
    mw_text_heading(out, "Time in MPI");
    mw_text_entry(out, "all ranks", "%s, %s of their wall time", text[0], text[1]);
    mw_text_entry(
        out, "of which",
        "point-to-point %s, collectives %s, %spolling %s, MPI_Init and MPI_Finalize %s, other %s",
        text[2], text[3], rare, text[4], text[6], text[5]);
    free(rare);
    if (json_is_object(spread)) {
        char *least = mw_rank_text(spread, "min_rank"), *most = mw_rank_text(spread, "max_rank");
        char *min = mw_number_seconds(mw_json_real_of(spread, "min_s"));
        char *mean = mw_number_seconds(mw_json_real_of(spread, "mean_s"));
        char *max = mw_number_seconds(mw_json_real_of(spread, "max_s"));
        mw_text_entry(out, "per rank", "min %s (rank %s), mean %s, max %s (rank %s)", min, least,
                      mean, max, most);
        free(least), free(most), free(min), free(mean), free(max);
    }
    if (mw_json_count_of(time, "processes_without_clock") > 0)
        mw_text_paragraph(out, MW_STYLE_BAD,
                          "%.0f process%s left too few clock readings: their times are not known.",
                          mw_json_count_of(time, "processes_without_clock"),
                          mw_json_count_of(time, "processes_without_clock") == 1 ? "" : "es");
    if (json_array_size(json_object_get(json_object_get(report, "stuck"), "calls")))
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "The calls that had not ended are not in these figures.");
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        free(text[i]);
}

/* "<=" where the sizes of some receives are known from above only. */
static char *received_text(const json_t *object)
{
    double known = mw_json_count_of(object, "received_bytes");
    double room = mw_json_count_of(object, "receive_room_bytes");
    char *bytes = mw_number_bytes(known + room);
    char *text = mw_format("%s%s", room > 0 ? "<=" : "", bytes);
    free(bytes);
    return text;
}

static void rank_row(struct mw_table *table, const json_t *rank)
{
    mw_table_row(table);
    mw_table_cell(table, mw_rank_text(rank, "rank"));
    mw_table_cell(table, mw_text_fit(mw_json_string(rank, "host"), HOST_WIDTH, 1));
    mw_table_cell(table, mw_number_seconds(mw_json_real_of(rank, "time_s")));
    mw_table_cell(table, mw_number_percent(mw_json_real_of(rank, "share")));
    mw_table_cell(table, mw_number_count(mw_json_count_of(rank, "calls")));
    mw_table_cell(table, mw_number_bytes(mw_json_count_of(rank, "sent_bytes")));
    mw_table_cell(table, received_text(rank));
    mw_table_text(table, mw_json_string(rank, "end"));
    if (strcmp(mw_json_string(rank, "end"), "MPI_Finalize"))
        mw_table_style_bad(table);
}

static int rank_time_compare(const void *left, const void *right)
{
    const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
    double x = mw_json_count_of(a, "time_s"), y = mw_json_count_of(b, "time_s");
    if (x != y)
        return x > y ? -1 : 1;
    return mw_rank_id_compare(mw_rank_id_of(a, "rank"), mw_rank_id_of(b, "rank"));
}

static void text_ranks(const json_t *report, FILE *out)
{
    static const char *const columns[] = {">rank",  "host",  ">in MPI",   ">share",
                                          ">calls", ">sent", ">received", "end"};
    const json_t *ranks = json_object_get(report, "ranks");
    size_t count = json_array_size(ranks), skip_from = count, skip_to = count;
    json_t **sorted = mw_alloc(count, sizeof(*sorted));
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_array_get(ranks, i);
    if (count > RANKS_ALL) {
        qsort(sorted, count, sizeof(*sorted), rank_time_compare);
        skip_from = RANKS_EXTREME;
        skip_to = count - RANKS_EXTREME;
    }
    fputc('\n', out);
    for (size_t i = 0; i < count; i++)
        if (i < skip_from || i >= skip_to)
            rank_row(table, sorted[i]);
    mw_table_print(table, out);
    if (count > RANKS_ALL)
        mw_text_more(out, (double)count, 2 * RANKS_EXTREME,
                     "ranks between these extremes (--format json has all)");
    free(sorted);
}

static void call_row(struct mw_table *table, const json_t *call)
{
    mw_table_row(table);
    mw_table_text(table, mw_json_string(call, "function"));
    mw_table_cell(table, mw_number_count(mw_json_count_of(call, "calls") +
                                         mw_json_count_of(call, "nested_calls")));
    mw_table_cell(table, mw_number_seconds(mw_json_real_of(call, "time_s")));
    mw_table_cell(table, mw_number_percent(mw_json_real_of(call, "share")));
    mw_table_cell(table, mw_number_seconds(mw_json_real_of(call, "max_s")));
    mw_table_cell(table, mw_rank_text(call, "max_rank"));
    mw_table_cell(table, mw_number_bytes(mw_json_count_of(call, "sent_bytes")));
    mw_table_cell(table, received_text(call));
}

static void text_counted(const json_t *calls, FILE *out)
{
    char *text = mw_text_copy("");
    size_t index, shown = 0, total = 0;
    json_t *call;
    json_array_foreach(calls, index, call)
    {
        if (json_is_true(json_object_get(call, "recorded")) ||
            mw_json_count_of(call, "counted_calls") == 0 || ++total > CALLS_SHOWN)
            continue;
        char *count = mw_number_count(mw_json_count_of(call, "counted_calls"));
        char *longer = mw_format("%s%s%s %s", text, shown++ ? ", " : "",
                                 mw_json_string(call, "function"), count);
        free(count);
        free(text);
        text = longer;
    }
    if (total > shown)
        mw_text_entry(out, "only counted", "%s ... %zu more", text, total - shown);
    else if (shown)
        mw_text_entry(out, "only counted", "%s", text);
    free(text);
}

static void text_calls(const json_t *report, FILE *out)
{
    static const char *const columns[] = {"call",      ">calls", ">time", ">share",
                                          ">max rank", ">of",    ">sent", ">received"};
    const json_t *calls = json_object_get(report, "calls");
    struct mw_table *table = mw_table_create();
    size_t index, shown = 0, total = 0;
    json_t *call;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "By call");
    json_array_foreach(calls, index, call) if (json_is_true(json_object_get(call, "recorded")) &&
                                               ++total <= CALLS_SHOWN)
    {
        call_row(table, call);
        shown++;
    }
    mw_table_print(table, out);
    mw_text_more(out, (double)total, shown, "calls");
    text_counted(calls, out);
}

void mw_report_text(const json_t *report, FILE *out)
{
    mw_text_title(report, "report", out);
    if (json_array_size(json_object_get(report, "findings"))) {
        mw_text_findings(report, out);
        mw_text_heading(out, "Job");
    }
    text_head(report, out);
    mw_text_stuck(report, out);
    text_time(report, out);
    text_ranks(report, out);
    text_calls(report, out);
    mw_text_regions(report, out);
    mw_text_sites(report, out);
    mw_text_waits_short(report, out);
    mw_text_traffic(report, out);
    mw_text_speeds(report, out);
    mw_report_text_transports(report, out);
    mw_text_placement(report, out);
    mw_text_environment(report, out);
    mw_text_health(report, out);
    mw_text_damage(report, out);
}
