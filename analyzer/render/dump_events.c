/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of one thread, a line each (dump.h). Times are seconds since the process began to
 * initialise MPI. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/labels.h"
#include "analyzer/model/operation.h"
#include "analyzer/render/dump.h"
#include "analyzer/render/json.h"
#include "analyzer/render/text.h"

static const char *const kind_words[] = {"NONE", "CALL", "SEND", "RECV",  "DONE", "COLL",  "POLL",
                                         "NONE", "RMA",  "EPOCH", "READ", "WRITE", "FILE"};
static const char *const flag_words[] = {
    "PART",       "ERROR",  "NESTED",  "REQUEST",    "FOREIGN",  "ORDINAL",
    "COUNTED",    "STATUS", "MATCHED", "ANY_SOURCE", "ANY_TAG",  "CANCELLED",
    "PERSISTENT", "FREED",  "INTER",   "SYNC",       "BUFFERED", "READY",
    "NONE",       "COLLECTIVE", "OFFSET",
};
#define FLAGS (sizeof(flag_words) / sizeof(flag_words[0]))

struct position {
    const struct mw_dump *dump;
    const struct mw_process *process;
    size_t number; /* of the process */
    uint64_t thread, event;
};

static const char *kind_word(enum mw_event_kind kind)
{
    return (unsigned)kind < sizeof(kind_words) / sizeof(kind_words[0]) ? kind_words[kind] : "NONE";
}

const char *mw_dump_kind(uint64_t kind)
{
    return kind <= INT32_MAX ? kind_word((enum mw_event_kind)kind) : kind_word(0);
}

json_t *mw_dump_flags(uint32_t flags)
{
    json_t *words = json_array();
    for (unsigned bit = 0; bit < FLAGS; bit++)
        if (flags >> bit & 1)
            json_array_append_new(words, json_string(flag_words[bit]));
    return words;
}

/* A name as a JSON string; those of MPI functions need no escapes. */
static void json_name(const char *name, FILE *out)
{
    if (strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
        strlen(name)) {
        fprintf(out, "\"%s\"", name);
        return;
    }
    json_t *text = mw_json_text(name);
    mw_json_put(text, JSON_ENCODE_ANY, out);
    json_decref(text);
}

static void json_seconds(const char *key, double ns, FILE *out)
{
    if (isnan(ns))
        fprintf(out, ", \"%s\": null", key);
    else
        fprintf(out, ", \"%s\": %.9f", key, ns / 1e9);
}

static double since_began(const struct mw_process *process, uint64_t time)
{
    return time >= process->began ? mw_process_span_ns(process, time - process->began)
                                  : -mw_process_span_ns(process, process->began - time);
}

/* As mw_rank_json has it. */
static void json_place(const struct mw_model *model, const char *key, int64_t place, FILE *out)
{
    struct mw_rank_id id = mw_model_rank_id(model, place);
    if (place < 0)
        fprintf(out, ", \"%s\": null", key);
    else if (id.world)
        fprintf(out, ", \"%s\": \"%" PRIu32 ":%" PRId64 "\"", key, id.world, id.rank);
    else
        fprintf(out, ", \"%s\": %" PRId64, key, id.rank);
}

static void json_rank(const struct position *at)
{
    const struct mw_model *model = at->dump->model;
    json_place(model, "rank", mw_model_place(model, at->number), at->dump->out);
}

static int64_t peer_place(const struct position *at, const struct mw_event *event)
{
    return mw_comms_peer(at->dump->comms, at->number, event->comm, event->peer);
}

static void json_flags(uint32_t flags, FILE *out)
{
    int any = 0;
    fputs(", \"flags\": [", out);
    for (unsigned bit = 0; bit < FLAGS; bit++)
        if (flags >> bit & 1)
            fprintf(out, "%s\"%s\"", any++ ? ", " : "", flag_words[bit]);
    fputc(']', out);
}

static void json_event(const struct position *at, const struct mw_event *event)
{
    FILE *out = at->dump->out;
    fprintf(out, "{\"type\": \"event\", \"process\": \"%016" PRIx64 "\"", at->process->key);
    json_rank(at);
    fprintf(out,
            ", \"thread\": %" PRIu64 ", \"number\": %" PRIu64 ", \"kind\": \"%s\", \"function\": ",
            at->thread, at->event, kind_word(event->kind));
    json_name(mw_process_function_name(at->process, event->function), out);
    if (!(event->flags & MW_EVENT_PART)) {
        fprintf(out, ", \"start\": %" PRIu64 ", \"end\": %" PRIu64, event->start, event->end);
        json_seconds("start_s", since_began(at->process, event->start), out);
        json_seconds("duration_s", mw_process_span_ns(at->process, event->end - event->start), out);
        fprintf(out, ", \"site\": %" PRIu64, event->site);
    }
    json_flags(event->flags, out);
    fprintf(out,
            ", \"comm\": %" PRId64 ", \"peer\": %" PRId64 ", \"tag\": %" PRId64
            ", \"bytes\": %" PRIu64 ", \"bytes_in\": %" PRIu64,
            event->comm, event->peer, event->tag, event->bytes, event->bytes_in);
    if (at->dump->model->world_count > 1 && peer_place(at, event) >= 0)
        json_place(at->dump->model, "peer_rank", peer_place(at, event), out);
    if (event->flags & MW_EVENT_REQUEST)
        fprintf(out, ", \"request\": %" PRIu64 ", \"origin\": %" PRIu64, event->request,
                event->origin);
    if (event->flags & MW_EVENT_COUNTED)
        fprintf(out, ", \"ordinal\": %" PRId64, event->ordinal);
    if (event->kind == MW_EVENT_POLL)
        fprintf(out, ", \"polls\": %" PRIu64 ", \"busy\": %" PRIu64, event->polls, event->busy);
    if (event->flags & MW_EVENT_ERROR)
        fprintf(out, ", \"code\": %" PRId64, event->code);
    if (event->flags & MW_EVENT_OFFSET)
        fprintf(out, ", \"%s\": %" PRId64, event->kind == MW_EVENT_CALL ? "held" : "offset",
                event->offset);
    if (event->flags & MW_EVENT_SPACES)
        fprintf(out, ", \"send_space\": %" PRIu32 ", \"receive_space\": %" PRIu32,
                MW_EVENT_SPACE_SEND(event->flags), MW_EVENT_SPACE_RECEIVE(event->flags));
    fputs("}\n", out);
}

/* PART, REQUEST, ORDINAL and COUNTED show in what else the line has. */
static const uint32_t shown_otherwise =
    MW_EVENT_PART | MW_EVENT_REQUEST | MW_EVENT_ORDINAL | MW_EVENT_COUNTED | MW_EVENT_OFFSET;

static void text_flags(uint32_t flags, FILE *out)
{
    if (MW_EVENT_SPACE_SEND(flags))
        fprintf(out, " from space %" PRIu32, MW_EVENT_SPACE_SEND(flags));
    if (MW_EVENT_SPACE_RECEIVE(flags))
        fprintf(out, " into space %" PRIu32, MW_EVENT_SPACE_RECEIVE(flags));
    for (unsigned bit = 0; bit < FLAGS; bit++)
        if (flags >> bit & 1 && !(shown_otherwise >> bit & 1))
            fprintf(out, " %s", flag_words[bit]);
}

/* " peer 3", " peer 2:3", " peer -3", " peer rank 0 of a remote group (not recorded)". */
static void text_peer(const struct position *at, const char *word, const struct mw_event *event)
{
    int64_t place = peer_place(at, event);
    if (place < 0 && place > MW_PEER_OUTSIDE(0)) {
        fprintf(at->dump->out, " %s %" PRId64, word, place);
        return;
    }
    char *label =
        place < 0 ? mw_peer_label(at->dump->model, place) : mw_rank_label(at->dump->model, place);
    fprintf(at->dump->out, " %s %s", word, label);
    free(label);
}

/* The window or the file of a call, and where in it. */
static void text_object(const struct position *at, const struct mw_event *event, FILE *out)
{
    int file = event->kind >= MW_EVENT_READ;
    if (!file && event->peer == MW_PEER_ANY)
        fputs(" peer all", out);
    else if (!file && event->peer != MW_PEER_NONE)
        text_peer(at, "peer", event);
    if (event->tag < 0)
        fprintf(out, " %s unknown", file ? "file" : "window");
    else
        fprintf(out, " %s %" PRId64, file ? "file" : "window", event->tag);
    if (event->flags & MW_EVENT_OFFSET)
        fprintf(out, " offset %" PRId64, event->offset);
}

static void text_details(const struct position *at, const struct mw_event *event)
{
    FILE *out = at->dump->out;
    if (event->kind >= MW_EVENT_RMA)
        text_object(at, event, out);
    else if (event->kind == MW_EVENT_COLL &&
             (event->peer >= 0 || event->peer <= MW_PEER_OUTSIDE(0)))
        text_peer(at, "root", event);
    else if (event->kind != MW_EVENT_COLL && event->peer != MW_PEER_NONE) {
        text_peer(at, "peer", event);
        fprintf(out, " tag %" PRId64, event->tag);
    }
    uint64_t part = mw_event_part(event);
    if ((event->bytes && event->kind != MW_EVENT_RECV) || event->kind == MW_EVENT_SEND ||
        event->kind == MW_EVENT_COLL)
        fprintf(out, " bytes %" PRIu64, event->bytes);
    if (part)
        fprintf(out, " partitioned #%" PRIu64, part - 1);
    if (event->bytes_in && event->kind != MW_EVENT_SEND)
        fprintf(out, " %s %" PRIu64, event->flags & MW_EVENT_STATUS ? "received" : "in",
                event->bytes_in);
    if (event->comm >= 0)
        fprintf(out, " comm %" PRId64, event->comm);
    if (event->flags & MW_EVENT_REQUEST)
        fprintf(out, " request %" PRIu64, event->request);
    if (event->flags & MW_EVENT_FOREIGN)
        fprintf(out, " of thread %" PRIu64, event->origin);
    if (event->flags & MW_EVENT_COUNTED)
        fprintf(out, " ordinal %" PRId64, event->ordinal);
    if (event->kind == MW_EVENT_POLL)
        fprintf(out, " polls %" PRIu64, event->polls);
    if (event->kind == MW_EVENT_CALL && event->flags & MW_EVENT_HELD)
        fprintf(out, " held %" PRId64, event->offset);
    if (event->flags & MW_EVENT_ERROR && event->code)
        fprintf(out, " code %" PRId64, event->code);
    else if (event->flags & MW_EVENT_ERROR)
        fputs(" did not return", out);
    if (event->site)
        fprintf(out, " site %" PRIu64, event->site);
    text_flags(event->flags, out);
}

/* "3.0" or "2:3.0": rank and thread. */
static void text_position(const struct position *at)
{
    struct mw_rank_id id =
        mw_model_rank_id(at->dump->model, mw_model_place(at->dump->model, at->number));
    if (id.rank < 0)
        fprintf(at->dump->out, "?.%" PRIu64, at->thread);
    else if (id.world)
        fprintf(at->dump->out, "%" PRIu32 ":%" PRId64 ".%" PRIu64, id.world, id.rank, at->thread);
    else
        fprintf(at->dump->out, "%" PRId64 ".%" PRIu64, id.rank, at->thread);
}

static void text_event(const struct position *at, const struct mw_event *event)
{
    FILE *out = at->dump->out;
    char *name = mw_text_escape(mw_process_function_name(at->process, event->function));
    double start = since_began(at->process, event->start);
    text_position(at);
    fprintf(out, " #%" PRIu64, at->event);
    if (event->flags & MW_EVENT_PART)
        fprintf(out, "   %s part of %s", kind_word(event->kind), name);
    else if (isnan(start))
        fprintf(out, " - - %s %s", kind_word(event->kind), name);
    else
        fprintf(out, " %.9f +%.9f %s %s", start / 1e9,
                mw_process_span_ns(at->process, event->end - event->start) / 1e9,
                kind_word(event->kind), name);
    text_details(at, event);
    fputc('\n', out);
    free(name);
}

static void dump_event(const struct position *at, const struct mw_event *event)
{
    if (at->dump->json)
        json_event(at, event);
    else
        text_event(at, event);
}

static void dump_missing(const struct position *at, uint64_t missing)
{
    FILE *out = at->dump->out;
    if (!at->dump->json) {
        text_position(at);
        fprintf(out, "   %" PRIu64 " events are missing\n", missing);
        return;
    }
    fprintf(out, "{\"type\": \"missing\", \"process\": \"%016" PRIx64 "\"", at->process->key);
    json_rank(at);
    fprintf(out, ", \"thread\": %" PRIu64 ", \"events\": %" PRIu64 "}\n", at->thread, missing);
}

static void dump_record(struct position *at, const struct mw_call_record *record)
{
    at->event = record->number - record->part_count;
    for (size_t i = 0; i < record->part_count; i++, at->event++)
        dump_event(at, &record->parts[i]);
    if (!record->incomplete) {
        dump_event(at, &record->call);
    } else if (!at->dump->json) {
        text_position(at);
        fputs("   the call of these parts never ended\n", at->dump->out);
    }
}

enum mw_status mw_dump_events(const struct mw_dump *dump, size_t number, uint64_t thread)
{
    struct position at = {.dump = dump, .number = number, .thread = thread};
    const struct mw_call_record *record;
    mw_cursor *cursor;
    uint64_t missing = 0;
    at.process = mw_trace_process(dump->model->trace, number);
    enum mw_status status = mw_cursor_open(dump->model->trace, at.process, thread, &cursor);
    if (status != MW_OK)
        return status == MW_ERR_NOT_FOUND ? MW_OK : status;
    while ((status = mw_cursor_next(cursor, &record)) == MW_OK && !ferror(dump->out)) {
        uint64_t now = mw_cursor_missing(cursor);
        if (now > missing)
            dump_missing(&at, now - missing);
        missing = now;
        dump_record(&at, record);
    }
    if (status == MW_END && mw_cursor_missing(cursor) > missing)
        dump_missing(&at, mw_cursor_missing(cursor) - missing);
    for (size_t i = 0; i < mw_cursor_damage_count(cursor); i++)
        mw_dump_damage(dump, mw_cursor_damage(cursor, i));
    mw_cursor_close(cursor);
    return status == MW_END ? MW_OK : status;
}
