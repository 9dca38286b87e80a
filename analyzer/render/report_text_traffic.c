/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people: call sites, message sizes, pairs and communicators (doc.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/table.h"
#include "analyzer/render/text.h"

#define STACK_WIDTH  60
#define STACK_INDENT 18

/* What is above main is of no interest, also where main has no name. */
static int is_start_code(const json_t *frame)
{
    const char *module = mw_json_string(frame, "module");
    return !strncmp(module, "libc.so", 7) || !strncmp(module, "libc-", 5) ||
           !strncmp(module, "ld-linux", 8) || !strncmp(module, "libpthread", 10);
}

/* "solver!exchange halo.c:120 < step app.c:88 < main app.c:40" */
static char *stack_text(const json_t *site)
{
    const json_t *frames = json_object_get(site, "frames");
    size_t from = (size_t)mw_json_count_of(site, "caller"), count = json_array_size(frames);
    if (from >= count)
        return mw_text_copy("call site not recorded");
    char *text = mw_frame_text(json_array_get(frames, from));
    for (size_t i = from + 1; i < count; i++) {
        const json_t *frame = json_array_get(frames, i);
        if (!strcmp(mw_json_string(json_array_get(frames, i - 1), "function"), "main") ||
            is_start_code(frame))
            break;
        char *one = mw_frame_text(frame), *bang = strchr(one, '!');
        char *longer = mw_format("%s < %s", text, bang ? bang + 1 : one);
        free(one);
        free(text);
        text = longer;
    }
    return text;
}

static void site_print(FILE *out, const json_t *site)
{
    char *time = mw_number_seconds(mw_json_real_of(site, "time_s"));
    char *share = mw_number_percent(mw_json_real_of(site, "share"));
    char *calls =
        mw_number_count(mw_json_count_of(site, "calls") + mw_json_count_of(site, "nested_calls"));
    char *sent = mw_number_bytes(mw_json_count_of(site, "sent_bytes"));
    char *function = mw_text_fit(mw_json_string(site, "function"), 38, 0);
    char *stack = stack_text(site), *fit = mw_text_fit(stack, STACK_WIDTH, 0);
    fprintf(out, "  %8s  %6s  %8s  %9s  %s\n", time, share, calls, sent, function);
    fprintf(out, "  %*s%s%s%s\n", STACK_INDENT, "", mw_style_on(out, MW_STYLE_DIM), fit,
            mw_style_off(out, MW_STYLE_DIM));
    free(time), free(share), free(calls), free(sent);
    free(function), free(stack), free(fit);
}

void mw_text_sites(const json_t *report, FILE *out)
{
    const json_t *sites = json_object_get(report, "sites");
    const json_t *listed = json_object_get(sites, "listed");
    size_t index;
    json_t *site;
    if (!json_array_size(listed))
        return;
    mw_text_heading(out, "Top call sites");
    fprintf(out, "  %8s  %6s  %8s  %9s  %s\n", "time", "share", "calls", "sent",
            "call, and where it stands");
    json_array_foreach(listed, index, site) site_print(out, site);
    mw_text_more(out, mw_json_count_of(sites, "total"), json_array_size(listed), "call sites");
}

char *mw_sizes_text(const json_t *size)
{
    double first = mw_json_count_of(size, "from"), last = mw_json_count_of(size, "to");
    if (first == last)
        return mw_number_bytes(first);
    char *from = mw_number_bytes(first), *to = mw_number_bytes(last + 1);
    char *text = mw_format("%s to < %s", from, to);
    free(from);
    free(to);
    return text;
}

static void text_sizes(const json_t *report, FILE *out)
{
    static const char *const columns[] = {">size",  ">messages",    ">bytes",
                                          ">share", ">collectives", ">their bytes"};
    const json_t *sizes = json_object_get(report, "sizes");
    const json_t *messages = json_object_get(report, "messages");
    double whole = mw_json_count_of(messages, "bytes");
    size_t index;
    json_t *size;
    if (!json_array_size(sizes))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Message sizes (bytes that a rank sent or contributed)");
    json_array_foreach(sizes, index, size)
    {
        double bytes = mw_json_count_of(size, "bytes");
        mw_table_row(table);
        mw_table_cell(table, mw_sizes_text(size));
        mw_table_cell(table, mw_number_count(mw_json_count_of(size, "messages")));
        mw_table_cell(table, mw_number_bytes(bytes));
        mw_table_cell(table, mw_number_percent(whole > 0 ? bytes / whole : NAN));
        mw_table_cell(table, mw_number_count(mw_json_count_of(size, "collectives")));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(size, "collective_bytes")));
    }
    mw_table_print(table, out);
}

static void pairs_table(const json_t *messages, FILE *out)
{
    static const char *const columns[] = {">from", ">to", ">bytes", ">share", ">messages", ">time"};
    double whole = mw_json_count_of(messages, "bytes");
    struct mw_table *table = mw_table_create();
    size_t index;
    json_t *pair;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    json_array_foreach(json_object_get(messages, "listed"), index, pair)
    {
        double bytes = mw_json_count_of(pair, "bytes");
        mw_table_row(table);
        mw_table_cell(table, mw_rank_text(pair, "src"));
        mw_table_cell(table, mw_rank_text(pair, "dst"));
        mw_table_cell(table, mw_number_bytes(bytes));
        mw_table_cell(table, mw_number_percent(whole > 0 ? bytes / whole : NAN));
        mw_table_cell(table, mw_number_count(mw_json_count_of(pair, "messages")));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(pair, "time_s")));
    }
    mw_table_print(table, out);
}

static void text_other_messages(const json_t *messages, FILE *out)
{
    static const char *const others[][2] = {
        {"outside_world", "to processes outside this MPI_COMM_WORLD"},
        {"unknown_peer", "to ranks that could not be told"},
    };
    for (size_t i = 0; i < 2; i++) {
        const json_t *other = json_object_get(messages, others[i][0]);
        double count = mw_json_count_of(other, "messages");
        char *bytes = mw_number_bytes(mw_json_count_of(other, "bytes"));
        if (count > 0)
            mw_text_paragraph(out, MW_STYLE_PLAIN, "Besides, %.0f messages (%s) went %s.", count,
                              bytes, others[i][1]);
        free(bytes);
    }
    if (mw_json_count_of(messages, "counted_at_receiver") > 0)
        mw_text_paragraph(out, MW_STYLE_PLAIN,
                          "%.0f of these messages are counted at their receiver, because their "
                          "sender was not recorded; %.0f of them with the room in the buffer as "
                          "an upper bound of their size.",
                          mw_json_count_of(messages, "counted_at_receiver"),
                          mw_json_count_of(messages, "sizes_that_are_upper_bounds"));
}

static void text_pairs(const json_t *report, FILE *out)
{
    const json_t *messages = json_object_get(report, "messages");
    char *count = mw_number_count(mw_json_count_of(messages, "messages"));
    char *bytes = mw_number_bytes(mw_json_count_of(messages, "bytes"));
    if (mw_json_count_of(messages, "pairs") > 0) {
        mw_text_heading(out, "Top pairs (%s messages, %s in all)", count, bytes);
        pairs_table(messages, out);
        mw_text_more(out, mw_json_count_of(messages, "pairs"),
                     json_array_size(json_object_get(messages, "listed")), "pairs");
    }
    text_other_messages(messages, out);
    free(count);
    free(bytes);
}

static void text_comms(const json_t *report, FILE *out)
{
    static const char *const columns[] = {">size",     ">in collectives", ">collectives",
                                          ">messages", ">bytes",          "communicator"};
    const json_t *comms = json_object_get(report, "communicators");
    const json_t *listed = json_object_get(comms, "listed");
    size_t index;
    json_t *comm;
    if (!json_array_size(listed))
        return;
    struct mw_table *table = mw_table_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        mw_table_column(table, columns[i]);
    mw_text_heading(out, "Communicators");
    json_array_foreach(listed, index, comm)
    {
        double remote = mw_json_count_of(comm, "remote_size");
        mw_table_row(table);
        mw_table_cell(table, remote > 0
                                 ? mw_format("%.0f+%.0f", mw_json_count_of(comm, "size"), remote)
                                 : mw_format("%.0f", mw_json_count_of(comm, "size")));
        mw_table_cell(table, mw_number_seconds(mw_json_real_of(comm, "collective_s")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(comm, "collectives")));
        mw_table_cell(table, mw_number_count(mw_json_count_of(comm, "messages")));
        mw_table_cell(table, mw_number_bytes(mw_json_count_of(comm, "bytes")));
        mw_table_text(table, mw_json_string(comm, "communicator"));
    }
    mw_table_print(table, out);
    mw_text_more(out, mw_json_count_of(comms, "total"), json_array_size(listed), "communicators");
}

void mw_text_traffic(const json_t *report, FILE *out)
{
    text_sizes(report, out);
    text_pairs(report, out);
    mw_text_objects(report, out);
    text_comms(report, out);
}
