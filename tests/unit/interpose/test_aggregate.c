/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of calls: which row a call and its operations count in, and that rows keep everything when
 * they are written, emptied, or must make room. The recorder around it is played here; what is
 * written is decoded and added to what is still in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/output.h"
#include "probe/probe.h"
#include "record/aggregate.h"
#include "record/objects.h"
#include "record/pace.h"
#include "record/regions.h"
#include "record/sums.h"
#include "trace/fields.h"

enum { SITE = 7, COMM = 3, ROWS = MW_MAP_GROUPS * MW_MAP_ROWS };

struct mw_recorder mw_recorder = {.clock = MW_CLOCK_MONOTONIC, .tick = (uint64_t)1 << MW_TICK_SHIFT};
__thread struct mw_thread_local mw_self;
_Atomic uint32_t mw_region_open;

static struct mw_thread_state thread;
static struct mw_map_thread area;
static struct mw_map_group *groups[MW_MAP_GROUPS];
static unsigned group_count, segments_left, chunks, probes_flushed;
static uint64_t bytes_written;
static struct mw_map_row written; /* of all chunks */

struct mw_map_group *mw_output_segment(struct mw_map_thread *of, uint32_t segment)
{
    assert_ptr_equal(of, &area);
    if (!segments_left)
        return NULL;
    segments_left--;
    uint32_t count = mw_map_segment_groups(segment);
    struct mw_map_group *memory = calloc(count, sizeof *memory);
    for (uint32_t i = 0; i < count; i++)
        groups[group_count++] = &memory[i];
    return memory;
}

static void row_take(struct mw_reader reader)
{
    struct mw_field field;
    while (mw_field_next(&reader, &field) == MW_OK) {
        written.calls += field.id == MW_F_ROW_calls ? field.value : 0;
        written.time += field.id == MW_F_ROW_time ? field.value : 0;
        written.operations += field.id == MW_F_ROW_operations ? field.value : 0;
        written.bytes += field.id == MW_F_ROW_bytes ? field.value : 0;
    }
}

void mw_output_chunk(unsigned type, const void *payload, size_t size)
{
    struct mw_reader reader = {payload, (const uint8_t *)payload + size};
    struct mw_field field;
    assert_int_equal(type, MW_CHUNK_AGGREGATE);
    while (mw_field_next(&reader, &field) == MW_OK)
        if (field.id == MW_F_AGGREGATE_row)
            row_take((struct mw_reader){field.data, field.data + field.size});
    assert_ptr_equal(reader.next, reader.end);
    chunks++;
    bytes_written += size;
}

struct mw_listed mw_comms_listed, mw_objects_listed[MW_OBJECT_CLASSES];
static int sites_closed;
void mw_sites_close(void)
{
    sites_closed = 1;
}

static uint64_t bytes_waiting;
uint64_t mw_output_waiting(void)
{
    return bytes_waiting;
}

uint64_t mw_output_bytes(void)
{
    return bytes_written;
}

void mw_probes_flush(void)
{
    probes_flushed++;
}

struct mw_thread_state *mw_threads_first(void)
{
    return &thread;
}

void mw_health(const char *code, const char *message)
{
    assert_true(strcmp(code, "sums") == 0 || strcmp(code, "unlisted") == 0);
    (void)message;
}

static int begin(void **state)
{
    (void)state;
    memset(&thread, 0, sizeof thread);
    memset(&area, 0, sizeof area);
    memset(&written, 0, sizeof written);
    thread.area = &area;
    group_count = chunks = probes_flushed = 0;
    segments_left = MW_MAP_SEGMENTS;
    bytes_written = 0;
    mw_recorder.config.budget = 0;
    atomic_store(&mw_recorder.reduced, 0);
    return 0;
}

/* A call that took 10 ticks from `start` on. */
static struct mw_call call_at(uint64_t start, enum mw_function function)
{
    struct mw_call call = {.thread = &thread,
                           .function = (uint16_t)function,
                           .site = SITE,
                           .comm = COMM,
                           .start = start,
                           .end = start + 10};
    assert_true(mw_aggregate_begin(&call, MW_REDUCED_SUMMARY));
    return call;
}

static struct mw_raw_event message(int32_t peer, uint64_t bytes, uint64_t bytes_in)
{
    return (struct mw_raw_event){.comm = COMM, .peer = peer, .bytes = bytes, .bytes_in = bytes_in};
}

/* The row of these; NULL where there is none. */
static const struct mw_map_row *row(enum mw_function function, int kind, uint32_t flags,
                                    int32_t peer, unsigned size_class)
{
    for (unsigned g = 0; g < group_count; g++)
        for (unsigned i = 0; i < groups[g]->used; i++) {
            const struct mw_map_key *key = &groups[g]->row[i].key;
            if (key->function == function && key->kind == kind && key->flags == flags &&
                key->peer == peer && key->size_class == size_class && key->site == SITE)
                return &groups[g]->row[i];
        }
    return NULL;
}

static unsigned rows(void)
{
    unsigned count = 0;
    for (unsigned g = 0; g < group_count; g++)
        count += groups[g]->used;
    return count;
}

static void check_row(const struct mw_map_row *of, uint64_t calls, uint64_t operations,
                      uint64_t bytes, uint64_t bytes_in)
{
    assert_non_null(of);
    assert_int_equal(of->calls, calls);
    assert_int_equal(of->time, 10 * calls);
    assert_int_equal(of->operations, operations);
    assert_int_equal(of->bytes, bytes);
    assert_int_equal(of->bytes_in, bytes_in);
}

static void blocking(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct mw_call call = call_at(100, MW_FN_Send);
        struct mw_raw_event detail = message(2, i < 3 ? 8 : 9, 0);
        detail.tag = i; /* tags do not tell rows apart */
        mw_aggregate_event(&call, call.end, MW_EVENT_SEND, MW_EVENT_COUNTED, &detail);
    }
    assert_int_equal(rows(), 1);
    check_row(row(MW_FN_Send, MW_EVENT_SEND, 0, 2, 4), 5, 5, 42, 0);
    assert_int_equal(area.last_function, MW_FN_Send);
    assert_int_equal(area.last_end, 110);
    struct mw_call call = call_at(200, MW_FN_Recv);
    struct mw_raw_event detail = message(1, 0, 100);
    mw_aggregate_event(&call, call.end, MW_EVENT_RECV, MW_EVENT_STATUS, &detail);
    check_row(row(MW_FN_Recv, MW_EVENT_RECV, MW_EVENT_STATUS, 1, 7), 1, 1, 0, 100);
    call = call_at(300, MW_FN_Recv); /* truncated: the call counts, the message does not */
    detail.bytes = 15;
    mw_aggregate_event(&call, call.end, MW_EVENT_RECV, MW_EVENT_ERROR | MW_EVENT_COUNTED, &detail);
    check_row(row(MW_FN_Recv, MW_EVENT_RECV, MW_EVENT_ERROR, 1, 0), 1, 0, 0, 0);
    assert_int_equal(row(MW_FN_Recv, MW_EVENT_RECV, MW_EVENT_ERROR, 1, 0)->errors, 1);
    call = call_at(400, MW_FN_Get_count);
    call.nested = 1;
    detail = message(5, 0, 0);
    mw_aggregate_event(&call, call.end, MW_EVENT_CALL, 0, &detail);
    check_row(row(MW_FN_Get_count, MW_EVENT_CALL, MW_EVENT_NESTED, MW_PEER_NONE, 0), 1, 0, 0, 0);
    assert_int_equal(area.last_function, MW_FN_Recv); /* not that of a callback */
}

static struct mw_request request_of(int kind, enum mw_function function, int32_t peer,
                                    uint64_t bytes, uint64_t bytes_in)
{
    return (struct mw_request){.kind = (uint8_t)kind,
                               .function = (uint16_t)function,
                               .site = SITE,
                               .comm = COMM,
                               .peer = peer,
                               .bytes = bytes,
                               .bytes_in = bytes_in};
}

static void requests(void **state)
{
    struct mw_raw_event detail = message(1, 0, 40);
    struct mw_request receive = request_of(MW_EVENT_RECV, MW_FN_Irecv, 1, 0, 1000);
    (void)state;
    struct mw_call call = call_at(0, MW_FN_Irecv);
    mw_aggregate_event(&call, call.end, MW_EVENT_RECV, MW_EVENT_REQUEST, &detail);
    call = call_at(20, MW_FN_Wait); /* a wildcard's match is the peer */
    detail.peer = 6;
    mw_aggregate_done(&call, call.end, &receive,
                      MW_EVENT_REQUEST | MW_EVENT_STATUS | MW_EVENT_MATCHED, &detail);
    check_row(row(MW_FN_Irecv, MW_EVENT_RECV, 0, 1, 0), 1, 0, 0, 0);
    check_row(row(MW_FN_Irecv, MW_EVENT_RECV, MW_EVENT_STATUS, 6, 6), 0, 1, 0, 40);
    check_row(row(MW_FN_Wait, MW_EVENT_RECV, 0, 6, 0), 1, 0, 0, 0);
    call = call_at(40, MW_FN_Wait); /* how much came is not known */
    mw_aggregate_done(&call, call.end, &receive, MW_EVENT_REQUEST, &detail);
    check_row(row(MW_FN_Irecv, MW_EVENT_RECV, 0, 1, 10), 0, 1, 0, 1000);
    call = call_at(60, MW_FN_Wait); /* nothing came */
    mw_aggregate_done(&call, call.end, &receive, MW_EVENT_REQUEST | MW_EVENT_CANCELLED, &detail);
    check_row(row(MW_FN_Irecv, MW_EVENT_RECV, MW_EVENT_CANCELLED, 1, 0), 0, 1, 0, 0);
    struct mw_request send = request_of(MW_EVENT_SEND, MW_FN_Isend, 2, 64, 0);
    call = call_at(80, MW_FN_Wait); /* taken back */
    mw_aggregate_done(&call, call.end, &send, MW_EVENT_REQUEST | MW_EVENT_CANCELLED, &detail);
    check_row(row(MW_FN_Isend, MW_EVENT_SEND, MW_EVENT_CANCELLED, 2, 7), 0, 1, 64, 0);
    call = call_at(100, MW_FN_Request_free); /* when it completed is not known */
    mw_aggregate_done(&call, call.end, &receive, MW_EVENT_REQUEST | MW_EVENT_FREED, &detail);
    check_row(row(MW_FN_Request_free, MW_EVENT_RECV, 0, 1, 0), 1, 0, 0, 0);
    struct mw_request none = request_of(MW_EVENT_SEND, MW_FN_Start, MW_PEER_NONE, 64, 0);
    call = call_at(120, MW_FN_Wait); /* persistent, to MPI_PROC_NULL */
    mw_aggregate_done(&call, call.end, &none, MW_EVENT_REQUEST | MW_EVENT_PERSISTENT, &detail);
    check_row(row(MW_FN_Wait, MW_EVENT_CALL, 0, MW_PEER_NONE, 0), 1, 0, 0, 0);
}

/* A Waitall on these; returns the kind and peer that its time belongs to. */
static struct mw_map_key waited(unsigned count, const struct mw_request *of)
{
    struct mw_raw_event detail = {0}, none = {.peer = MW_PEER_NONE};
    struct mw_call call = call_at(0, MW_FN_Waitall);
    call.site = SITE + 1; /* a row of its own */
    for (unsigned i = 0; i < count; i++)
        mw_aggregate_done_part(&call, &of[i], MW_EVENT_REQUEST, &detail);
    mw_aggregate_event(&call, call.end, MW_EVENT_CALL, 0, &none);
    for (unsigned g = 0; g < group_count; g++)
        for (unsigned i = 0; i < groups[g]->used; i++) {
            struct mw_map_row *at = &groups[g]->row[i];
            if (at->key.function == MW_FN_Waitall && at->key.site == SITE + 1 && at->calls) {
                at->calls = 0;
                return at->key;
            }
        }
    fail();
    return (struct mw_map_key){0};
}

static void several(void **state)
{
    struct mw_request to_1 = request_of(MW_EVENT_SEND, MW_FN_Isend, 1, 8, 0);
    struct mw_request to_2 = request_of(MW_EVENT_SEND, MW_FN_Isend, 2, 8, 0);
    struct mw_request from_1 = request_of(MW_EVENT_RECV, MW_FN_Irecv, 1, 0, 8);
    struct mw_request all = request_of(MW_EVENT_COLL, MW_FN_Ibarrier, -1, 0, 0);
    struct mw_request read = request_of(MW_EVENT_READ, MW_FN_File_iread, MW_PEER_NONE, 8, 0);
    struct mw_request access = request_of(MW_EVENT_RMA, MW_FN_Rput, 1, 8, 0);
    struct mw_map_key key;
    (void)state;
    key = waited(2, (struct mw_request[]){to_1, to_1});
    assert_int_equal(key.kind, MW_EVENT_SEND);
    assert_int_equal(key.peer, 1);
    key = waited(2, (struct mw_request[]){to_1, to_2});
    assert_int_equal(key.kind, MW_EVENT_SEND);
    assert_int_equal(key.peer, MW_PEER_NONE);
    key = waited(2, (struct mw_request[]){to_1, from_1}); /* another direction */
    assert_int_equal(key.peer, MW_PEER_NONE);
    key = waited(2, (struct mw_request[]){all, to_1}); /* messages before collectives */
    assert_int_equal(key.kind, MW_EVENT_SEND);
    assert_int_equal(key.peer, MW_PEER_NONE);
    key = waited(2, (struct mw_request[]){all, all});
    assert_int_equal(key.kind, MW_EVENT_COLL);
    assert_int_equal(key.comm, COMM);
    key = waited(2, (struct mw_request[]){read, all}); /* collectives before files */
    assert_int_equal(key.kind, MW_EVENT_COLL);
    assert_int_equal(key.comm, 0);
    key = waited(2, (struct mw_request[]){read, access});
    assert_int_equal(key.kind, MW_EVENT_RMA);
    assert_int_equal(key.flags, MW_EVENT_REQUEST);
    assert_int_equal(key.object, -1);
    key = waited(0, NULL);
    assert_int_equal(key.kind, MW_EVENT_CALL);
}

/* The row of these messages out of a memory space, or into it. */
static const struct mw_map_row *row_of_space(int kind, uint32_t spaces)
{
    for (unsigned g = 0; g < group_count; g++)
        for (unsigned i = 0; i < groups[g]->used; i++)
            if (groups[g]->row[i].key.kind == kind && groups[g]->row[i].key.spaces == spaces &&
                groups[g]->row[i].operations)
                return &groups[g]->row[i];
    return NULL;
}

/* Messages of one size between the same two count by the memory that they come from and go to, those
 * of requests by what was found when they were started. */
static void memory_spaces(void **state)
{
    struct mw_raw_event send = message(1, 64, 0), none = {0};
    struct mw_request receive = request_of(MW_EVENT_RECV, MW_FN_Irecv, 1, 0, 64);
    struct mw_request sent = request_of(MW_EVENT_SEND, MW_FN_Isend, 1, 64, 0);
    (void)state;
    for (uint32_t space = 0; space < 3; space++)
        for (uint32_t i = 0; i <= space; i++) {
            struct mw_call call = call_at(0, MW_FN_Send);
            mw_aggregate_event(&call, call.end, MW_EVENT_SEND, space << MW_EVENT_SPACE_SEND_SHIFT,
                               &send);
        }
    for (uint32_t space = 0; space < 3; space++)
        assert_int_equal(row_of_space(MW_EVENT_SEND, space)->operations, space + 1);
    receive.flags = 4u << MW_EVENT_SPACE_RECEIVE_SHIFT;
    sent.flags = 2u << MW_EVENT_SPACE_SEND_SHIFT;
    struct mw_call call = call_at(20, MW_FN_Wait);
    mw_aggregate_done(&call, call.end, &receive, MW_EVENT_REQUEST, &none);
    assert_int_equal(row_of_space(MW_EVENT_RECV, 4 << 5)->operations, 1);
    assert_int_equal(row(MW_FN_Wait, MW_EVENT_RECV, 0, 1, 0)->key.spaces, 0); /* a call has none */
    call = call_at(40, MW_FN_Wait); /* taken back where it was counted */
    mw_aggregate_done(&call, call.end, &sent, MW_EVENT_REQUEST | MW_EVENT_CANCELLED, &none);
    assert_int_equal(row(MW_FN_Isend, MW_EVENT_SEND, MW_EVENT_CANCELLED, 1, 7)->key.spaces, 2);
}

static void windows_files_and_collectives(void **state)
{
    struct mw_raw_event detail = message(1, 8, 0);
    (void)state;
    detail.tag = 5; /* the window */
    for (int i = 0; i < 4; i++) {
        struct mw_call call = call_at(0, MW_FN_Get_accumulate);
        detail.bytes = i & 1 ? 8 : 0;
        detail.bytes_in = i & 2 ? 8 : 0;
        mw_aggregate_event(&call, call.end, MW_EVENT_RMA, 0, &detail);
    }
    check_row(row(MW_FN_Get_accumulate, MW_EVENT_RMA, 0, 1, 0), 1, 1, 0, 0);
    check_row(row(MW_FN_Get_accumulate, MW_EVENT_RMA, MW_ROW_SENT, 1, 4), 1, 1, 8, 0);
    check_row(row(MW_FN_Get_accumulate, MW_EVENT_RMA, MW_ROW_RECEIVED, 1, 4), 1, 1, 0, 8);
    check_row(row(MW_FN_Get_accumulate, MW_EVENT_RMA, MW_ROW_SENT | MW_ROW_RECEIVED, 1, 5), 1, 1, 8,
              8);
    assert_int_equal(row(MW_FN_Get_accumulate, MW_EVENT_RMA, 0, 1, 0)->key.object, 5);
    struct mw_call call = call_at(0, MW_FN_Win_post); /* members of its group are no operations */
    mw_aggregate_part(&call, MW_EVENT_EPOCH, 0, &detail);
    mw_aggregate_part(&call, MW_EVENT_EPOCH, 0, &detail);
    detail = (struct mw_raw_event){.comm = COMM, .peer = MW_PEER_NONE, .tag = 5};
    mw_aggregate_event(&call, call.end, MW_EVENT_EPOCH, 0, &detail);
    check_row(row(MW_FN_Win_post, MW_EVENT_EPOCH, 0, MW_PEER_NONE, 0), 1, 1, 0, 0);
    call = call_at(0, MW_FN_File_write_at); /* the offset is no amount */
    detail.bytes = 100;
    detail.bytes_in = UINT64_C(1) << 40;
    mw_aggregate_event(&call, call.end, MW_EVENT_WRITE, MW_EVENT_OFFSET | MW_EVENT_COLLECTIVE,
                       &detail);
    check_row(row(MW_FN_File_write_at, MW_EVENT_WRITE, MW_EVENT_COLLECTIVE, MW_PEER_NONE, 7), 1, 1,
              100, 0);
    struct mw_request read = request_of(MW_EVENT_READ, MW_FN_File_iread_at, MW_PEER_NONE, 100, 0);
    read.tag = 5;
    call = call_at(0, MW_FN_Wait);
    detail.bytes_in = 60;
    mw_aggregate_done(&call, call.end, &read, MW_EVENT_REQUEST | MW_EVENT_STATUS, &detail);
    check_row(row(MW_FN_File_iread_at, MW_EVENT_READ, MW_EVENT_STATUS, MW_PEER_NONE, 6), 0, 1, 60,
              0);
    check_row(row(MW_FN_Wait, MW_EVENT_READ, MW_EVENT_REQUEST, MW_PEER_NONE, 0), 1, 0, 0, 0);
    assert_int_equal(row(MW_FN_Wait, MW_EVENT_READ, MW_EVENT_REQUEST, MW_PEER_NONE, 0)->key.object,
                     5);
    for (uint32_t instance = 0; instance < 3; instance++) {
        call = call_at(0, MW_FN_Start);
        detail = (struct mw_raw_event){.comm = COMM,
                                       .peer = 0,
                                       .tag = MW_FN_Bcast_init,
                                       .bytes = 16,
                                       .ordinal = 40 + instance};
        mw_aggregate_event(&call, call.end, MW_EVENT_COLL,
                           MW_EVENT_PERSISTENT | MW_EVENT_REQUEST | MW_EVENT_COUNTED, &detail);
    }
    const struct mw_map_row *coll =
        row(MW_FN_Start, MW_EVENT_COLL, MW_EVENT_PERSISTENT | MW_ROW_SENT, 0, 5);
    check_row(coll, 3, 3, 48, 0);
    assert_int_equal(coll->next, 43);
    assert_int_equal(coll->key.object, MW_FN_Bcast_init);
}

static void polls_and_regions(void **state)
{
    (void)state;
    for (uint32_t region = 0; region < 2; region++) {
        atomic_store(&mw_region_open, region);
        struct mw_call call = call_at(0, MW_FN_Iprobe);
        mw_aggregate_poll(&call, call.end);
        mw_aggregate_poll(&call, call.end);
    }
    atomic_store(&mw_region_open, 0);
    assert_int_equal(rows(), 2);
    check_row(row(MW_FN_Iprobe, MW_EVENT_POLL, 0, MW_PEER_NONE, 0), 2, 0, 0, 0);
}

static void send_to(int32_t peer, uint32_t reduced)
{
    struct mw_call call = call_at(1000, MW_FN_Send);
    struct mw_raw_event detail = message(peer, 3, 0);
    mw_aggregate_begin(&call, reduced);
    mw_aggregate_event(&call, call.end, MW_EVENT_SEND, 0, &detail);
}

static struct mw_map_row in_memory(void)
{
    struct mw_map_row sum = {0};
    for (unsigned g = 0; g < group_count; g++)
        for (unsigned i = 0; i < groups[g]->used; i++) {
            sum.calls += groups[g]->row[i].calls;
            sum.time += groups[g]->row[i].time;
            sum.operations += groups[g]->row[i].operations;
            sum.bytes += groups[g]->row[i].bytes;
        }
    return sum;
}

static void check_all(uint64_t calls)
{
    struct mw_map_row sum = in_memory();
    assert_int_equal(sum.calls + written.calls, calls);
    assert_int_equal(sum.time + written.time, 10 * calls);
    assert_int_equal(sum.operations + written.operations, calls);
    assert_int_equal(sum.bytes + written.bytes, 3 * calls);
}

/* More different calls than there is room for: some make room, nothing is lost. */
static void room_runs_out(void **state)
{
    uint64_t calls = 0;
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++)
        for (int32_t peer = 0; peer < ROWS + 1000; peer++, calls++)
            send_to(peer, MW_REDUCED_SUMMARY);
    assert_int_equal(group_count, MW_MAP_GROUPS);
    assert_true(chunks > MW_MAP_GROUPS);
    check_all(calls);
    for (unsigned g = 0; g < group_count; g++)
        assert_int_equal(groups[g]->number % MW_MAP_GROUPS, g);
}

/* The same where memory ends early, and none at all. */
static void memory_runs_out(void **state)
{
    (void)state;
    segments_left = 2;
    for (int32_t peer = 0; peer < 1000; peer++)
        send_to(peer, MW_REDUCED_SUMMARY);
    assert_int_equal(group_count, 2);
    check_all(1000);
    begin(state);
    segments_left = 0;
    struct mw_call call = {.thread = &thread};
    assert_false(mw_aggregate_begin(&call, MW_REDUCED_BUDGET));
    assert_int_equal(call.reduced, 0); /* events, then */
    segments_left = 5;
    assert_false(mw_aggregate_begin(&call, MW_REDUCED_BUDGET)); /* not asked for again and again */
}

/* Slices have one reason; the first of several counts. */
static void reasons(void **state)
{
    (void)state;
    send_to(1, MW_REDUCED_PCONTROL);
    send_to(1, MW_REDUCED_PCONTROL);
    assert_int_equal(groups[0]->why, MW_WHY_PCONTROL);
    assert_int_equal(chunks, 0);
    send_to(1, MW_REDUCED_PCONTROL | MW_REDUCED_BUDGET);
    assert_int_equal(groups[0]->why, MW_WHY_BUDGET);
    assert_int_equal(chunks, 1);
    assert_int_equal(written.calls, 2);
    send_to(1, MW_REDUCED_SUMMARY | MW_REDUCED_BUDGET);
    assert_int_equal(groups[0]->why, MW_WHY_SUMMARY);
    assert_int_equal(groups[0]->number, 2 * MW_MAP_GROUPS);
    check_all(4);
    mw_sums_flush(); /* at the end they stay, for whoever is still in a call */
    mw_sums_flush();
    assert_int_equal(written.calls, 5);
    assert_int_equal(groups[0]->number, 2 * MW_MAP_GROUPS);
}

static void budget(void **state)
{
    (void)state;
    bytes_written = 1 << 30;
    mw_budget_check(); /* none */
    assert_int_equal(mw_recorder.reduced, 0);
    mw_recorder.config.budget = 8000;
    bytes_written = 6999;
    mw_budget_check();
    assert_int_equal(mw_recorder.reduced, 0);
    bytes_waiting = 1;
    mw_budget_check();
    bytes_waiting = 0;
    assert_int_equal(mw_recorder.reduced, MW_REDUCED_BUDGET);
    assert_int_equal(sites_closed, 0);
    bytes_written = 8000;
    mw_budget_check();
    assert_int_equal(sites_closed, 1);
    sites_closed = 0;
}

/* What the budget had no room for is added up under no name. */
static void unlisted(void **state)
{
    (void)state;
    struct mw_listed *comms = &mw_comms_listed, *windows = &mw_objects_listed[MW_WINDOWS];
    enum { ALWAYS = MW_LISTED_ALWAYS };
    mw_recorder.config.budget = 8000;
    assert_true(mw_listed_new(comms, 0) && mw_listed_new(comms, ALWAYS + 4) && mw_listed_new(windows, ALWAYS));
    bytes_written = 7000;
    assert_true(mw_listed_new(comms, 0)); /* the first ones always are */
    assert_false(mw_listed_new(comms, ALWAYS + 5));
    assert_false(mw_listed_new(comms, ALWAYS + 6));
    assert_false(mw_listed_new(windows, ALWAYS + 1));
    assert_true(mw_is_listed(comms, ALWAYS + 4) && !mw_is_listed(comms, ALWAYS + 5));
    assert_true(mw_is_listed(windows, ALWAYS) && !mw_is_listed(windows, ALWAYS + 1));
    bytes_written = 0; /* once and for all */
    assert_false(mw_listed_new(comms, ALWAYS + 7));
    for (uint32_t comm = ALWAYS + 3; comm < ALWAYS + 9; comm++) {
        struct mw_call call = {.thread = &thread};
        assert_true(mw_aggregate_begin(&call, MW_REDUCED_BUDGET));
        struct mw_raw_event detail = {.comm = comm + 1, .peer = 1, .tag = (int32_t)comm - 4};
        mw_aggregate_event(&call, 1, MW_EVENT_RMA, 0, &detail);
    }
    assert_int_equal(groups[0]->used, 3); /* two that are listed, and the rest */
    assert_int_equal(groups[0]->row[0].key.comm, ALWAYS + 4);
    assert_int_equal(groups[0]->row[1].key.comm, ALWAYS + 5);
    assert_int_equal(groups[0]->row[1].key.object, ALWAYS);
    assert_int_equal(groups[0]->row[2].key.comm, 0);
    assert_int_equal(groups[0]->row[2].key.object, MW_OBJECT_UNKNOWN);
    assert_int_equal(groups[0]->row[2].calls, 4);
    mw_comms_listed = *windows = (struct mw_listed){0};
}

/* What is due is written, a group in each call, unless the budget has no room for it: then later,
 * and later. */
static void writing(void **state)
{
    (void)state;
    for (int32_t peer = 0; peer < 3 * (int)MW_MAP_ROWS; peer++)
        send_to(peer, MW_REDUCED_BUDGET);
    uint64_t due = mw_now() + UINT64_C(3000000000), calls = 3 * MW_MAP_ROWS;
    assert_int_equal(chunks, 0);
    mw_recorder.config.budget = 100000; /* no room for 384 rows 16 times over */
    mw_sums_work(&thread, due);
    mw_sums_work(&thread, due + 1);
    assert_int_equal(chunks, 0);
    assert_int_equal(probes_flushed, 1);
    mw_recorder.config.budget = 100000000;
    due += UINT64_C(3000000000); /* it was put off by two seconds */
    mw_sums_work(&thread, due);
    assert_int_equal(chunks, 0);
    assert_int_equal(probes_flushed, 2);
    for (unsigned i = 1; i <= 3; i++) {
        mw_sums_work(&thread, due + i);
        assert_int_equal(chunks, i);
    }
    mw_sums_work(&thread, due + 5); /* the fourth group is empty */
    mw_sums_work(&thread, due + 6);
    mw_sums_work(&thread, due + UINT64_C(1000000000));
    assert_int_equal(chunks, 3);
    assert_int_equal(written.calls, calls);
    check_all(calls);
    send_to(5, MW_REDUCED_BUDGET);
    check_all(calls + 1);
}

static void ever_more_rarely(void **state)
{
    struct mw_pace pace;
    (void)state;
    mw_pace_start(&pace, 1000, 10);
    assert_int_equal(pace.due, 1010);
    for (unsigned i = 1; i < MW_PACE_ROUNDS; i++)
        mw_pace_next(&pace, 0, 0);
    assert_int_equal(pace.due, 10);
    mw_pace_next(&pace, 2000, 0);
    assert_int_equal(pace.due, 2020);
    mw_pace_next(&pace, 3000, 1);
    assert_int_equal(pace.due, 3040);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocking, begin),
        cmocka_unit_test_setup(requests, begin),
        cmocka_unit_test_setup(several, begin),
        cmocka_unit_test_setup(memory_spaces, begin),
        cmocka_unit_test_setup(windows_files_and_collectives, begin),
        cmocka_unit_test_setup(polls_and_regions, begin),
        cmocka_unit_test_setup(room_runs_out, begin),
        cmocka_unit_test_setup(memory_runs_out, begin),
        cmocka_unit_test_setup(reasons, begin),
        cmocka_unit_test_setup(budget, begin),
        cmocka_unit_test_setup(unlisted, begin),
        cmocka_unit_test_setup(writing, begin),
        cmocka_unit_test(ever_more_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
