/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report for people: a job that died or hangs (doc.h). Ranks that sit in the same call are
 * shown together, so that ten thousand of them take a line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/text.h"

#define GROUPS_SHOWN 12

struct group {
    const json_t *first;
    struct mw_rank_set ranks;
    const json_t *earliest; /* began first */
};

struct groups {
    struct mw_index index;
    MW_VECTOR(struct group) list;
};

/* Calls whose peer is the target of an access. */
static int is_one_sided(const char *function)
{
    static const char *const words[] = {"Put",
                                        "Get",
                                        "Accumulate",
                                        "Rput",
                                        "Rget",
                                        "Raccumulate",
                                        "Get_accumulate",
                                        "Rget_accumulate",
                                        "Fetch_and_op",
                                        "Compare_and_swap"};
    if (!strncmp(function, "MPI_Win_", 8))
        return 1;
    for (size_t i = 0; !strncmp(function, "MPI_", 4) && i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        if (!strncmp(function + 4, words[i], length) &&
            (!function[4 + length] || !strcmp(function + 4 + length, "_c")))
            return 1;
    }
    return 0;
}

/* "MPI_Recv from 3, tag 7, on MPI_COMM_WORLD" */
static char *call_text(const json_t *call)
{
    char *text = mw_text_copy(mw_json_string(call, "function")), *longer;
    if (!mw_json_is_null(call, "peer")) {
        double tag = mw_json_real_of(call, "tag");
        const char *who = mw_json_string(call, "peer_words");
        if (is_one_sided(text))
            longer = mw_format("%s, target %s", text, who);
        else if (mw_json_is_null(call, "instance"))
            longer = mw_format("%s, peer %s, tag %.0f", text, who, tag);
        else if (mw_rank_id_of(call, "peer").rank >= 0)
            longer = mw_format("%s, root %s", text, who);
        else
            longer = mw_text_copy(text);
        free(text);
        text = longer;
    }
    if (!mw_json_is_null(call, "communicator")) {
        longer = mw_format("%s, on %s", text, mw_json_string(call, "communicator"));
        free(text);
        text = longer;
    }
    if (!mw_json_is_null(call, "instance")) {
        longer = mw_format("%s, instance %.0f", text, mw_json_count_of(call, "instance"));
        free(text);
        text = longer;
    }
    return text;
}

static void group_print(FILE *out, struct group *group)
{
    char *ranks = mw_rank_set_take(&group->ranks), *fit = mw_text_fit_list(ranks, 50);
    char *call = call_text(group->first);
    char *where = mw_frame_text(json_object_get(group->first, "caller"));
    double held = mw_json_real_of(group->earliest, "held_s");
    char *held_text = mw_number_seconds(held);
    char *clock = mw_number_clock(mw_json_string(group->earliest, "since"));
    mw_text_paragraph(out, MW_STYLE_BAD, "rank %s: %s", fit, call);
    mw_text_paragraph(out, MW_STYLE_PLAIN, "    since %s%s%s%s, from %s",
                      clock[0] ? clock : "an unknown time", isnan(held) ? "" : ", for ",
                      isnan(held) ? "" : held_text,
                      json_is_true(json_object_get(group->first, "alive")) ? " so far" : "", where);
    free(ranks), free(fit), free(call), free(where), free(held_text), free(clock);
}

static void groups_add(struct groups *groups, const json_t *entry, const char *text)
{
    size_t at = mw_index_put(&groups->index, mw_hash_text(1, text));
    if (at == groups->list.count) {
        struct group *added = mw_vector_add(&groups->list);
        added->first = added->earliest = entry;
    }
    struct group *group = &groups->list.at[at];
    mw_rank_set_add(&group->ranks, mw_rank_id_of(entry, "rank"));
    if (mw_json_real_of(entry, "held_s") > mw_json_real_of(group->earliest, "held_s"))
        group->earliest = entry;
}

static void groups_print(struct groups *groups, void (*print)(FILE *out, struct group *group),
                         FILE *out)
{
    for (size_t i = 0; i < groups->list.count; i++) {
        if (i < GROUPS_SHOWN)
            print(out, &groups->list.at[i]);
        else
            free(mw_rank_set_take(&groups->list.at[i].ranks));
    }
    mw_text_more(out, (double)groups->list.count, GROUPS_SHOWN,
                 "groups of ranks (--format json has all)");
    mw_index_free(&groups->index);
    free(groups->list.at);
}

static void text_open_calls(const json_t *calls, FILE *out)
{
    struct groups groups = {0};
    size_t i;
    json_t *call;
    json_array_foreach(calls, i, call)
    {
        char *what = call_text(call), *where = mw_frame_text(json_object_get(call, "caller"));
        char *both = mw_format("%s %s", what, where);
        groups_add(&groups, call, both);
        free(what), free(where), free(both);
    }
    groups_print(&groups, group_print, out);
}

/* The last call before a rank left MPI, for grouping. */
static char *last_text(const json_t *entry)
{
    const json_t *last = json_object_get(entry, "last_call");
    if (!json_is_object(last))
        return mw_text_copy("it had made no call that is recorded");
    char *where = mw_frame_text(json_object_get(last, "caller"));
    char *text =
        mw_format("the last call was %s, from %s", mw_json_string(last, "function"), where);
    free(where);
    return text;
}

static void outside_print(FILE *out, struct group *group)
{
    char *last = last_text(group->first);
    char *clock =
        mw_number_clock(mw_json_string(json_object_get(group->first, "last_call"), "ended"));
    size_t count = group->ranks.count;
    char *ranks = mw_rank_set_take(&group->ranks), *fit = mw_text_fit_list(ranks, 50);
    mw_text_paragraph(out, MW_STYLE_BAD, "rank %s: outside MPI", fit);
    mw_text_paragraph(out, MW_STYLE_PLAIN, "    %s%s%s%s", last, clock[0] ? ", ended at " : "",
                      clock, count > 1 && clock[0] ? " (on the first of them)" : "");
    free(last), free(clock), free(ranks), free(fit);
}

static void text_outside(const json_t *outside, FILE *out)
{
    struct groups groups = {0};
    size_t i;
    json_t *entry;
    json_array_foreach(outside, i, entry)
    {
        char *last = last_text(entry);
        groups_add(&groups, entry, last);
        free(last);
    }
    groups_print(&groups, outside_print, out);
}

static void text_inside(const json_t *instance, FILE *out)
{
    size_t index;
    json_t *part;
    json_array_foreach(json_object_get(instance, "inside"), index, part)
    {
        char *ranks = mw_text_fit_list(mw_json_string(part, "ranks"), 40);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    %.0f sit in %s: rank %s",
                          mw_json_count_of(part, "count"), mw_json_string(part, "function"), ranks);
        free(ranks);
    }
    if (index > 1)
        mw_text_paragraph(
            out, MW_STYLE_BAD,
            "    Different collectives on one communicator: an error of the program.");
}

static void text_never(const json_t *instance, FILE *out)
{
    size_t index;
    json_t *part;
    json_array_foreach(json_object_get(instance, "never_reached"), index, part)
    {
        char *ranks = mw_text_fit_list(mw_json_string(part, "ranks"), 40);
        char *last = mw_json_is_null(part, "last_instance")
                         ? mw_text_copy("never took part in one")
                         : mw_format("came as far as instance %.0f",
                                     mw_json_count_of(part, "last_instance"));
        mw_text_paragraph(out, MW_STYLE_BAD, "    %.0f never reached it: rank %s, %s; %s",
                          mw_json_count_of(part, "count"), ranks, last,
                          mw_json_string(part, "state"));
        free(ranks);
        free(last);
    }
}

static void text_instances(const json_t *instances, FILE *out)
{
    size_t index;
    json_t *instance;
    json_array_foreach(instances, index, instance)
    {
        if (index == GROUPS_SHOWN)
            break;
        mw_text_paragraph(
            out, MW_STYLE_PLAIN,
            "Collective %.0f on %s (%.0f ranks):", mw_json_count_of(instance, "instance"),
            mw_json_string(instance, "communicator"), mw_json_count_of(instance, "size"));
        text_inside(instance, out);
        text_never(instance, out);
        if (mw_json_count_of(instance, "passed") > 0)
            mw_text_paragraph(out, MW_STYLE_PLAIN, "    %.0f had passed it",
                              mw_json_count_of(instance, "passed"));
        if (mw_json_count_of(instance, "not_recorded") > 0)
            mw_text_paragraph(out, MW_STYLE_PLAIN, "    %.0f members are not in the trace",
                              mw_json_count_of(instance, "not_recorded"));
    }
    mw_text_more(out, (double)json_array_size(instances), GROUPS_SHOWN, "collectives");
}

void mw_text_stuck(const json_t *report, FILE *out)
{
    const json_t *stuck = json_object_get(report, "stuck");
    const json_t *calls = json_object_get(stuck, "calls");
    const json_t *outside = json_object_get(stuck, "outside_mpi");
    if (!json_array_size(calls) && !json_array_size(outside))
        return;
    mw_text_heading(out, "Where the ranks were at the end (times are UTC)");
    text_open_calls(calls, out);
    text_outside(outside, out);
    text_instances(json_object_get(stuck, "collectives"), out);
}
