/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapped functions of UCX over a small UCX of our own (stubs/ucp.c): what is counted, exactly,
 * by whom and for whom; what is passed on; what comes of failures, of many endpoints, and of a
 * library that goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/output.h"
#include "probe/loglines.h"
#include "probe/modules.h"
#include "probe/real.h"
#include "probe/ucx.h"
#include "record/record.h"
#include "trace/fields.h"

/* ---- What the probe finds around it */

struct mw_recorder mw_recorder = {.clock = MW_CLOCK_MONOTONIC, .state = MW_RECORDING};
__thread struct mw_thread_local mw_self;

static void *ucp; /* the library */
static int on = 1, late, notes;
static struct mw_module_entry module = {.id = 7, .path = "/lib/libucp.so.0"};
static char coverage[300];

void mw_lock_slow(struct mw_lock *lock)
{
    const void *expected;
    do {
        expected = NULL;
    } while (!atomic_compare_exchange_weak(&lock->owner, &expected, &mw_self));
}

void *mw_pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int mw_probe_on(const struct mw_probe *probe)
{
    return on && probe == &mw_probe_ucx;
}

int mw_probe_late(void)
{
    return late && --late == 0 ? late = 1 : 0;
}

void mw_choice(const char *what, const char *name, const char *how, const char *source)
{
    if (strcmp(what, "probe") == 0)
        snprintf(coverage, sizeof coverage, "%s %s: %s", name, how, source ? source : "");
}

void mw_health(const char *code, const char *message)
{
    (void)message;
    (void)code;
    notes++;
}

void *mw_real_find(const char *name, const char *version, const void *caller)
{
    (void)caller;
    assert_null(version);
    return ucp ? dlsym(ucp, name) : NULL;
}

/* Of a caller that has no UCX only the one that somebody loaded is to be had. */
void *mw_real_anywhere(const char *name, const char *version)
{
    return mw_real_find(name, version, NULL);
}

unsigned mw_real_module(const void *address)
{
    return address ? 3 : 0;
}

static int find_range(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    if (info->dlpi_addr != (uintptr_t)base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            module.end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    module.start = (uintptr_t)base;
    return 1;
}

/* None but the library: so the test's own calls count as somebody's. */
const struct mw_module_entry *mw_modules_locate(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !strstr(info.dli_fname, "ucp_stub"))
        return NULL;
    dl_iterate_phdr(find_range, info.dli_fbase);
    return &module;
}

unsigned mw_modules_count(void)
{
    return 1;
}

const struct mw_module_entry *mw_modules_at(unsigned index)
{
    return index == 0 ? &module : NULL;
}

void *mw_libmpi_own(struct mw_libmpi *lib, enum mw_function function)
{
    (void)lib;
    (void)function;
    return NULL;
}

void mw_log_lines_finish(void)
{
}

void mw_log_line(const char *library, const char *level, const char *subsystem,
                 const char *provider, const char *function, unsigned line, const char *text)
{
    (void)library, (void)level, (void)subsystem, (void)provider, (void)function, (void)line;
    (void)text;
}

void mw_output_flush(void)
{
}

/* ---- What it writes */

struct peer {
    uint64_t uid, sends, sent, puts, put, gets, got, unsized;
    char lanes[300];
    int has_uid;
};
enum { PEERS = 70000 };
static struct peer *peers; /* of the last ENDPOINT chunks, in their order */
static unsigned peer_count, chunk_count;
static uint64_t endpoint_id, endpoint_uid, unlisted;
static struct {
    int64_t result;
    uint64_t id, end, endpoint, chunks, caller;
    char call[32], words[40], asked[60], offers[200];
} attempt;

static void append(char *out, size_t room, const struct mw_field *field)
{
    size_t used = strlen(out);
    snprintf(out + used, room - used, "%.*s", (int)field->size, (const char *)field->data);
}

static struct mw_reader inside(const struct mw_field *field)
{
    return (struct mw_reader){field->data, field->data + field->size};
}

static void take_words(struct mw_reader reader, char *out, size_t room)
{
    struct mw_field field;
    while (mw_field_next(&reader, &field) == MW_OK) {
        append(out, room, &field);
        snprintf(out + strlen(out), room - strlen(out), " ");
    }
    snprintf(out + strlen(out), room - strlen(out), "| ");
}

static void take_peer(struct mw_reader reader)
{
    struct mw_field field;
    struct peer *peer = &peers[peer_count++];
    assert_true(peer_count <= PEERS);
    memset(peer, 0, sizeof *peer);
    while (mw_field_next(&reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_PEER_address:
            assert_int_equal(field.size, 8);
            memcpy(&peer->uid, field.data, 8);
            peer->has_uid = 1;
            break;
        case MW_F_PEER_sends:
            peer->sends = field.value;
            break;
        case MW_F_PEER_sent:
            peer->sent = field.value;
            break;
        case MW_F_PEER_puts:
            peer->puts = field.value;
            break;
        case MW_F_PEER_put:
            peer->put = field.value;
            break;
        case MW_F_PEER_gets:
            peer->gets = field.value;
            break;
        case MW_F_PEER_got:
            peer->got = field.value;
            break;
        case MW_F_PEER_unsized:
            peer->unsized = field.value;
            break;
        case MW_F_PEER_lane:
            take_words(inside(&field), peer->lanes, sizeof peer->lanes);
            break;
        }
    }
}

static void take_endpoint(struct mw_reader reader)
{
    struct mw_field field;
    unlisted = 0;
    while (mw_field_next(&reader, &field) == MW_OK) {
        if (field.id == MW_F_ENDPOINT_id)
            endpoint_id = field.value;
        else if (field.id == MW_F_ENDPOINT_unlisted)
            unlisted = field.value;
        else if (field.id == MW_F_ENDPOINT_address)
            memcpy(&endpoint_uid, field.data, 8);
        else if (field.id == MW_F_ENDPOINT_peer)
            take_peer(inside(&field));
    }
    assert_ptr_equal(reader.next, reader.end);
}

static void take_attempt(struct mw_reader reader)
{
    struct mw_field field;
    uint64_t chunks = attempt.chunks;
    memset(&attempt, 0, sizeof attempt);
    attempt.chunks = chunks + 1;
    while (mw_field_next(&reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_ATTEMPT_id:
            attempt.id = field.value;
            break;
        case MW_F_ATTEMPT_end:
            attempt.end = field.value;
            break;
        case MW_F_ATTEMPT_caller:
            attempt.caller = field.value;
            break;
        case MW_F_ATTEMPT_endpoint:
            attempt.endpoint = field.value;
            break;
        case MW_F_ATTEMPT_result:
            attempt.result = (int64_t)(field.value >> 1) ^ -(int64_t)(field.value & 1);
            break;
        case MW_F_ATTEMPT_call:
            append(attempt.call, sizeof attempt.call, &field);
            break;
        case MW_F_ATTEMPT_words:
            append(attempt.words, sizeof attempt.words, &field);
            break;
        case MW_F_ATTEMPT_asked:
            append(attempt.asked, sizeof attempt.asked, &field);
            break;
        case MW_F_ATTEMPT_offer:
            take_words(inside(&field), attempt.offers, sizeof attempt.offers);
            break;
        }
    }
}

void mw_output_chunk(unsigned type, const void *payload, size_t size)
{
    struct mw_reader reader = {payload, (const uint8_t *)payload + size};
    chunk_count++;
    if (type == MW_CHUNK_ENDPOINT)
        take_endpoint(reader);
    else if (type == MW_CHUNK_ATTEMPT)
        take_attempt(reader);
}

static void finish(enum mw_end_reason reason)
{
    peer_count = 0;
    mw_probe_ucx.finish(reason);
}

static struct peer *peer_with(uint64_t uid)
{
    for (unsigned i = 0; i < peer_count; i++)
        if (peers[i].has_uid && peers[i].uid == uid)
            return &peers[i];
    fail_msg("no peer %llx", (unsigned long long)uid);
    return NULL;
}

/* ---- The exported functions, as a caller knows them */

typedef mw_ucp_object p;
typedef const void *cp;
typedef uint64_t u;
mw_ucs_status ucp_init_version(unsigned, unsigned, cp, cp, p *);
mw_ucs_status ucp_worker_create(p, cp, p *);
void ucp_worker_destroy(p);
mw_ucs_status ucp_ep_create(p, cp, p *);
void *ucp_ep_close_nb(p, unsigned);
void ucp_ep_destroy(p);
void *ucp_disconnect_nb(p);
void *ucp_tag_send_nbx(p, cp, size_t, u, cp);
void *ucp_tag_send_sync_nbx(p, cp, size_t, u, cp);
void *ucp_tag_send_nb(p, cp, size_t, u, u, p);
void *ucp_tag_send_sync_nb(p, cp, size_t, u, u, p);
mw_ucs_status ucp_tag_send_nbr(p, cp, size_t, u, u, p);
void *ucp_am_send_nb(p, uint16_t, cp, size_t, u, p, unsigned);
void *ucp_am_send_nbx(p, unsigned, cp, size_t, cp, size_t, cp);
void *ucp_stream_send_nb(p, cp, size_t, u, p, unsigned);
void *ucp_stream_send_nbx(p, cp, size_t, cp);
mw_ucs_status ucp_put(p, cp, size_t, u, p);
void *ucp_put_nb(p, cp, size_t, u, p, p);
mw_ucs_status ucp_put_nbi(p, cp, size_t, u, p);
void *ucp_put_nbx(p, cp, size_t, u, p, cp);
mw_ucs_status ucp_get(p, p, size_t, u, p);
void *ucp_get_nb(p, p, size_t, u, p, p);
mw_ucs_status ucp_get_nbi(p, p, size_t, u, p);
void *ucp_get_nbx(p, p, size_t, u, p, cp);
mw_ucs_status ucp_atomic_post(p, int, u, size_t, u, p);
void *ucp_atomic_fetch_nb(p, int, u, p, size_t, u, p, p);
void *ucp_atomic_op_nbx(p, int, cp, size_t, u, p, cp);
mw_ucs_status ucp_atomic_add64(p, u, u, p);
mw_ucs_status ucp_atomic_cswap32(p, uint32_t, uint32_t, u, p, uint32_t *);
mw_ucs_status ucp_atomic_swap64(p, u, u, p, u *);

#define FAKE(type, name) (*(type *)dlsym(ucp, #name))

static p make_worker(uintptr_t handle, int mode, uint64_t uid)
{
    struct mw_ucp_worker_params params = {MW_UCP_WORKER_PARAM_FIELD_THREAD_MODE, mode};
    p worker = NULL;
    FAKE(uintptr_t, fake_next) = handle;
    FAKE(uint64_t, fake_uid) = uid;
    FAKE(mw_ucs_status, fake_status) = 0;
    assert_int_equal(ucp_worker_create((p)0x1000, &params, &worker), 0);
    assert_int_equal(worker, handle);
    return worker;
}

static p make_ep(p worker, uintptr_t handle, uint64_t uid)
{
    struct mw_ucp_ep_params params = {uid ? MW_UCP_EP_PARAM_FIELD_REMOTE_ADDRESS : 0, &uid};
    p ep = NULL;
    FAKE(uintptr_t, fake_next) = handle;
    FAKE(mw_ucs_status, fake_status) = 0;
    assert_int_equal(ucp_ep_create(worker, &params, &ep), 0);
    assert_int_equal(ep, handle);
    return ep;
}

/* Where the wrappers lie: a call from there is UCX's own, that it made by a jump. In a job that is
 * the whole library; here the test's own calls must count. */
static void set_own_range(void)
{
    const uintptr_t all[] = {
        (uintptr_t)ucp_tag_send_nbx, (uintptr_t)ucp_tag_send_nb, (uintptr_t)ucp_put_nbx,
        (uintptr_t)ucp_put_nb,       (uintptr_t)ucp_put,         (uintptr_t)ucp_tag_send_nbr,
    };
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        low = all[i] < low ? all[i] : low;
        high = all[i] > high ? all[i] : high;
    }
    assert_true(high - low < 65536);
    assert_false((uintptr_t)set_own_range >= low && (uintptr_t)set_own_range < high + 1024);
    mw_ucx.ours = low;
    mw_ucx.ours_size = high + 1024 - low;
}

/* ---- The tests; the probe's tables live on from one to the next. */

static p worker;

static void opening_is_told(void **state)
{
    struct mw_ucp_params params = {MW_UCP_PARAM_FIELD_FEATURES,
                                   MW_UCP_FEATURE_TAG | MW_UCP_FEATURE_AM};
    p context;
    (void)state;
    FAKE(mw_ucs_status, fake_status) = -14;
    assert_int_equal(ucp_init_version(1, 13, &params, NULL, &context), -14);
    set_own_range();
    assert_int_equal(attempt.chunks, 2); /* before and after */
    assert_string_equal(attempt.call, "ucp_init");
    assert_string_equal(attempt.words, "No such thing");
    assert_string_equal(attempt.asked, "tag am");
    assert_int_equal(attempt.result, -14);
    assert_int_equal(attempt.id, 1);
    assert_int_equal(attempt.caller, 3);
    assert_true(attempt.end > 0);
    assert_string_equal(attempt.offers, "");
    FAKE(mw_ucs_status, fake_status) = 0;
    assert_int_equal(ucp_init_version(1, 13, NULL, NULL, &context), 0);
    assert_int_equal(context, 0x1000);
    assert_string_equal(attempt.offers, "self memory | ib mlx5_0:1 | ");
    assert_string_equal(attempt.words, "");
    assert_int_equal(attempt.id, 2);
    worker = make_worker(0x2000, MW_UCS_THREAD_MODE_SINGLE, 0x1122334455667788);
    assert_string_equal(attempt.call, "ucp_worker_create");
    assert_int_equal(attempt.endpoint, 1);
    assert_int_equal(endpoint_id, 1);
    assert_int_equal(endpoint_uid, 0x1122334455667788);
    FAKE(mw_ucs_status, fake_status) = -14;
    struct mw_ucp_ep_params to = {0, NULL};
    p ep;
    assert_int_equal(ucp_ep_create(worker, &to, &ep), -14);
    assert_string_equal(attempt.call, "ucp_ep_create");
    assert_string_equal(attempt.words, "No such thing");
    assert_int_equal(attempt.endpoint, 1);
}

static void every_function_counts_once(void **state)
{
    p ep = make_ep(worker, 0x3000, 0xa1);
    struct mw_ucp_request_param plain = {0}, typed = {.op_attr_mask = MW_UCP_OP_FIELD_DATATYPE};
    u four = 4 << MW_UCP_TYPE_SHIFT;
    char b[64];
    uint32_t answer;
    u long_answer;
    (void)state;
    typed.datatype = four;
    FAKE(unsigned, fake_calls) = 0;
    ucp_tag_send_nbx(ep, b, 1, 0, &plain);
    ucp_tag_send_sync_nbx(ep, b, 10, 0, &typed);
    ucp_tag_send_nb(ep, b, 100, 1 << 3, 0, NULL); /* calls ucp_tag_send_nbx */
    ucp_tag_send_sync_nb(ep, b, 1000, 1 << 3, 0, NULL);
    ucp_tag_send_nbr(ep, b, 10000, 1 << 3, 0, NULL);
    ucp_am_send_nb(ep, 1, b, 100000, 1 << 3, NULL, 0);
    ucp_am_send_nbx(ep, 1, b, 3, b, 1000000, &plain);
    ucp_stream_send_nb(ep, b, 2, four, NULL, 0);
    ucp_stream_send_nbx(ep, b, 7, &plain);
    ucp_put(ep, b, 1, 0, NULL); /* calls ucp_put_nbx, twice removed from here */
    ucp_put_nb(ep, b, 20, 0, NULL, NULL);
    ucp_put_nbi(ep, b, 300, 0, NULL);
    ucp_put_nbx(ep, b, 1000, 0, NULL, &typed);
    ucp_atomic_post(ep, 1, 1, 8, 0, NULL);
    ucp_atomic_op_nbx(ep, 1, b, 1, 0, NULL, &typed);
    ucp_atomic_add64(ep, 1, 0, NULL);
    ucp_get(ep, b, 1, 0, NULL);
    ucp_get_nb(ep, b, 20, 0, NULL, NULL);
    ucp_get_nbi(ep, b, 300, 0, NULL);
    ucp_get_nbx(ep, b, 1000, 0, NULL, &typed);
    ucp_atomic_fetch_nb(ep, 1, 1, b, 8, 0, NULL, NULL);
    typed.op_attr_mask |= MW_UCP_OP_FIELD_REPLY_BUFFER;
    ucp_atomic_op_nbx(ep, 1, b, 1, 0, NULL, &typed);
    ucp_atomic_cswap32(ep, 1, 2, 0, NULL, &answer);
    assert_int_equal(FAKE(unsigned, fake_calls), 23);
    assert_int_equal(notes, 0);
    assert_int_equal(ucp_atomic_swap64(ep, 1, 0, NULL, &long_answer), MW_UCS_ERR_UNSUPPORTED);
    assert_int_equal((intptr_t)ucp_disconnect_nb(ep),
                     MW_UCS_ERR_UNSUPPORTED); /* that UCX has neither */
    assert_int_equal(notes, 2);
    finish(MW_END_EXIT);
    struct peer *peer = peer_with(0xa1);
    assert_int_equal(peer->sends, 9);
    assert_int_equal(peer->sent, 1 + 40 + 100 + 1000 + 10000 + 100000 + 1000003 + 8 + 7);
    assert_int_equal(peer->puts, 7);
    assert_int_equal(peer->put, 1 + 20 + 300 + 4000 + 8 + 4 + 8);
    assert_int_equal(peer->gets, 7);
    assert_int_equal(peer->got, 1 + 20 + 300 + 4000 + 8 + 4 + 4);
    assert_int_equal(peer->unsized, 0);
}

static void arguments_and_results_pass(void **state)
{
    p ep = make_ep(worker, 0x3000, 0xa1);
    struct mw_ucp_request_param plain = {0};
    cp *given = (cp *)dlsym(ucp, "fake_arguments");
    (void)state;
    FAKE(void *, fake_result) = (void *)0x7777;
    assert_ptr_equal(ucp_am_send_nbx(ep, 2, (cp)3, 4, (cp)5, 6, &plain), (void *)0x7777);
    cp expected[] = {ep, (cp)2, (cp)3, (cp)4, (cp)5, (cp)6, &plain, NULL};
    assert_memory_equal(given, expected, sizeof expected);
    assert_ptr_equal(ucp_atomic_fetch_nb(ep, 2, 3, (p)4, 5, 6, (p)7, (p)8), (void *)0x7777);
    cp all[] = {ep, (cp)2, (cp)3, (cp)4, (cp)5, (cp)6, (cp)7, (cp)8};
    assert_memory_equal(given, all, sizeof all);
    FAKE(void *, fake_result) = NULL;
}

static void what_is_refused_is_not_counted(void **state)
{
    p ep = make_ep(worker, 0x3100, 0xa2);
    struct mw_ucp_request_param plain = {0};
    (void)state;
    for (int error = -1; error >= -100; error--) {
        FAKE(void *, fake_result) = (void *)(intptr_t)error;
        assert_int_equal((intptr_t)ucp_tag_send_nbx(ep, NULL, 8, 0, &plain), error);
        FAKE(mw_ucs_status, fake_status) = (mw_ucs_status)error;
        assert_int_equal(ucp_put_nbi(ep, NULL, 8, 0, NULL), error);
    }
    FAKE(void *, fake_result) = NULL;
    FAKE(mw_ucs_status, fake_status) = 1; /* in progress */
    assert_int_equal(ucp_put_nbi(ep, NULL, 8, 0, NULL), 1);
    FAKE(void *, fake_result) = (void *)0x5000; /* a request */
    ucp_tag_send_nbx(ep, NULL, 8, 0, &plain);
    FAKE(void *, fake_result) = NULL;
    FAKE(mw_ucs_status, fake_status) = 0;
    finish(MW_END_EXIT);
    assert_int_equal(peer_with(0xa2)->puts, 1);
    assert_int_equal(peer_with(0xa2)->put, 8);
    assert_int_equal(peer_with(0xa2)->sends, 1);
    assert_int_equal(peer_with(0xa2)->sent, 8);
}

static void types_have_their_sizes(void **state)
{
    p ep = make_ep(worker, 0x3200, 0xa3);
    struct mw_ucp_iov list[] = {{NULL, 5}, {NULL, 0}, {NULL, 70}};
    struct mw_ucp_request_param typed = {.op_attr_mask = MW_UCP_OP_FIELD_DATATYPE};
    (void)state;
    ucp_tag_send_nb(ep, list, 3, MW_UCP_TYPE_IOV, 0, NULL);
    typed.datatype = MW_UCP_TYPE_IOV;
    ucp_tag_send_nbx(ep, list, 3, 0, &typed);
    ucp_tag_send_nbx(ep, NULL, 0, 0, &typed);
    typed.datatype = 0xabcdef0 | 7; /* generic */
    ucp_tag_send_nbx(ep, list, 1, 0, &typed);
    typed.datatype = 1; /* strided */
    ucp_am_send_nbx(ep, 1, NULL, 9, list, 1, &typed);
    finish(MW_END_EXIT);
    assert_int_equal(peer_with(0xa3)->sends, 5);
    assert_int_equal(peer_with(0xa3)->sent, 150);
    assert_int_equal(peer_with(0xa3)->unsized, 2);
}

static void endpoints_come_and_go(void **state)
{
    struct mw_ucp_request_param plain = {0};
    (void)state;
    p first = make_ep(worker, 0x3300, 0xb1);
    ucp_tag_send_nbx(first, NULL, 1, 0, &plain);
    ucp_ep_destroy(first);                    /* closes by its other name */
    p second = make_ep(worker, 0x3300, 0xb2); /* the same memory, another peer */
    ucp_tag_send_nbx(second, NULL, 10, 0, &plain);
    ucp_ep_close_nb(second, 0);
    p third = make_ep(worker, 0x3400, 0xb1); /* the first peer again */
    ucp_tag_send_nbx(third, NULL, 100, 0, &plain);
    p unknown = make_ep(worker, 0x3500, 0);
    ucp_tag_send_nbx(unknown, NULL, 1000, 0, &plain);
    p other = make_ep(worker, 0x3600, 0);
    ucp_tag_send_nbx(other, NULL, 1000, 0, &plain);
    finish(MW_END_EXIT);
    assert_int_equal(peer_with(0xb1)->sent, 101);
    assert_int_equal(peer_with(0xb2)->sent, 10);
    unsigned nameless = 0;
    for (unsigned i = 0; i < peer_count; i++) {
        if (!peers[i].has_uid) {
            nameless++;
            assert_int_equal(peers[i].sent, 2000);
        }
    }
    assert_int_equal(nameless, 1);
    assert_int_equal(mw_ucx_strays, 0);
    ucp_tag_send_nbx((p)0x666000, NULL, 1, 0, &plain);
    assert_int_equal(mw_ucx_strays, 1);
    mw_ucx_strays = 0;
}

static void two_workers_are_two(void **state)
{
    struct mw_ucp_request_param plain = {0};
    p other = make_worker(0x2100, MW_UCS_THREAD_MODE_SERIALIZED, 0xdd);
    (void)state;
    p ep = make_ep(other, 0x3700, 0xb1);
    ucp_tag_send_nbx(ep, NULL, 5, 0, &plain);
    peer_count = 0;
    assert_true(mw_ucx_worker_write(mw_ucx_worker_of(other), 1) > 0);
    assert_int_equal(endpoint_uid, 0xdd);
    assert_int_equal(peer_count, 1);
    assert_int_equal(peers[0].sent, 5);
    peer_count = 0; /* no news */
    assert_int_equal(mw_ucx_worker_write(mw_ucx_worker_of(other), 0), 0);
    ucp_tag_send_nbx(ep, NULL, 5, 0, &plain);
    assert_true(mw_ucx_worker_write(mw_ucx_worker_of(other), 0) > 0);
    assert_int_equal(peers[0].sent, 10);
    ucp_worker_destroy(other);
    assert_null(mw_ucx_worker_of(other));
}

static p shared_ep;
static void *add_many(void *argument)
{
    struct mw_ucp_request_param plain = {0};
    for (int i = 0; i < 100000; i++) {
        ucp_tag_send_nbx(shared_ep, NULL, 3, 0, &plain);
        if (i % 1000 == 0) /* meanwhile the table grows */
            make_ep(worker, 0x100000 + 0x40 * ((uintptr_t)argument * 1000 + (uintptr_t)i / 1000),
                    0xc000 + (uintptr_t)argument * 1000 + (uintptr_t)i / 1000);
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    pthread_t threads[4];
    (void)state;
    p multi = make_worker(0x2200, MW_UCS_THREAD_MODE_MULTI, 0xee);
    shared_ep = make_ep(multi, 0x3800, 0xf1);
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    finish(MW_END_EXIT);
    assert_int_equal(peer_with(0xf1)->sends, 400000);
    assert_int_equal(peer_with(0xf1)->sent, 1200000);
}

static void many_endpoints(void **state)
{
    struct mw_ucp_request_param plain = {0};
    enum { MANY = 66000 };
    (void)state;
    p many = make_worker(0x2300, MW_UCS_THREAD_MODE_SINGLE, 0x99);
    for (uintptr_t i = 0; i < MANY; i++) {
        p ep = make_ep(many, 0x10000000 + 0x40 * i, 0x500000 + i);
        ucp_tag_send_nbx(ep, NULL, i, 0, &plain);
    }
    for (uintptr_t i = 0; i < MANY; i++)
        ucp_tag_send_nbx((p)(0x10000000 + 0x40 * i), NULL, 1, 0, &plain);
    peer_count = 0;
    mw_ucx_worker_write(mw_ucx_worker_of(many), 1);
    assert_true(peer_count > 64000);
    uint64_t sum = 0;
    for (unsigned i = 0; i < peer_count; i++) {
        assert_int_equal(peers[i].sends, 2);
        assert_int_equal(peers[i].sent, peers[i].uid - 0x500000 + 1);
        sum += peers[i].sends;
    }
    assert_int_equal(sum + unlisted, 2 * MANY);
    assert_int_equal(mw_ucx_strays, 0);
}

/* No room for more, but an address that comes again is the new peer's. In a child: the table stays
 * full. */
static int in_a_full_table(void)
{
    struct mw_ucp_request_param plain = {0};
    enum { MANY = 300000 };
    p full = make_worker(0x2500, MW_UCS_THREAD_MODE_SINGLE, 0x9a);
    p first = make_ep(full, 0x70000000, 0x600001);
    ucp_tag_send_nbx(first, NULL, 1, 0, &plain);
    for (uintptr_t i = 1; i < MANY; i++)
        mw_ucx_ep_add(mw_ucx_worker_of(full), (p)(0x70000000 + 0x40 * i), 1, 0x600002);
    if (mw_ucx_peer_of((p)(0x70000000 + 0x40 * (uintptr_t)(MANY - 1))))
        return 2;
    ucp_ep_destroy(first);
    make_ep(full, 0x70000000, 0x600002);
    ucp_tag_send_nbx(first, NULL, 10, 0, &plain);
    peer_count = 0;
    mw_ucx_worker_write(mw_ucx_worker_of(full), 1);
    return peer_with(0x600001)->sent != 1 || peer_with(0x600002)->sent != 10;
}

static void a_full_table_has_no_stale_peers(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(in_a_full_table());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void lanes_are_read_in_time(void **state)
{
    struct mw_ucp_request_param plain = {0};
    (void)state;
    p quick = make_worker(0x2400, MW_UCS_THREAD_MODE_SINGLE, 0x77);
    p ep = make_ep(quick, 0x3900, 0x88);
    FAKE(const char *, fake_lanes) =
        "# lane[0]:  0:tcp/eth0.0 md[0]  -> md[0]/tcp/sysdev[255] rma_bw#0 am\n";
    FAKE(unsigned, fake_asked) = 0;
    mw_ucx_lanes_read(mw_ucx_peer_of(ep));
    ucp_tag_send_nbx(ep, NULL, 1, 0, &plain);
    assert_int_equal(FAKE(unsigned, fake_asked), 1);
    peer_count = 0;
    mw_ucx_worker_write(mw_ucx_worker_of(quick), 1);
    assert_string_equal(peers[0].lanes, "rma_bw tcp eth0 | am tcp eth0 | ");
    finish(MW_END_ABORT); /* nobody is asked any more, what is known is told */
    assert_int_equal(FAKE(unsigned, fake_asked), 1);
    assert_string_equal(peer_with(0x88)->lanes, "rma_bw tcp eth0 | am tcp eth0 | ");
    late = 3;
    finish(MW_END_FINALIZE);
    assert_true(FAKE(unsigned, fake_asked) <= 3);
    assert_non_null(strstr(coverage, "ucx partly: the lanes of"));
    late = 0;
}

static void another_library(void **state)
{
    p context;
    (void)state;
    module.gone = 1; /* unloaded; the next one is newer than any we know */
    FAKE(unsigned, fake_minor) = 99;
    FAKE(mw_ucs_status, fake_status) = 0;
    assert_int_equal(ucp_init_version(1, 13, NULL, NULL, &context), 0);
    module.gone = 0;
    assert_int_equal(mw_ucx.version, 1099);
}

static void switched_off(void **state)
{
    struct mw_ucp_request_param plain = {0};
    unsigned before = chunk_count;
    p context, ep = NULL, quiet = NULL;
    (void)state;
    on = 0;
    FAKE(uintptr_t, fake_next) = 0x2500;
    assert_int_equal(ucp_init_version(1, 13, NULL, NULL, &context), 0);
    assert_int_equal(ucp_worker_create(context, NULL, &quiet), 0);
    assert_int_equal(ucp_ep_create(quiet, NULL, &ep), 0);
    FAKE(void *, fake_result) = (void *)0x4242;
    assert_ptr_equal(ucp_tag_send_nbx(ep, NULL, 1, 0, &plain), (void *)0x4242);
    ucp_ep_destroy(ep);
    ucp_worker_destroy(quiet);
    assert_int_equal(chunk_count, before);
    on = 1;
}

static void without_ucx(void **state)
{
    void *kept = ucp;
    p context;
    (void)state;
    ucp = NULL;
    assert_int_equal(ucp_init_version(1, 13, NULL, NULL, &context), MW_UCS_ERR_UNSUPPORTED);
    ucp = kept;
}

int main(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libucp_stub.so", getenv("STUBS"));
    ucp = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    peers = calloc(PEERS, sizeof *peers);
    if (!ucp || !peers) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_is_told),
        cmocka_unit_test(every_function_counts_once),
        cmocka_unit_test(arguments_and_results_pass),
        cmocka_unit_test(what_is_refused_is_not_counted),
        cmocka_unit_test(types_have_their_sizes),
        cmocka_unit_test(endpoints_come_and_go),
        cmocka_unit_test(two_workers_are_two),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(lanes_are_read_in_time),
        cmocka_unit_test(a_full_table_has_no_stale_peers),
        cmocka_unit_test(many_endpoints),
        cmocka_unit_test(another_library),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(without_ucx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
