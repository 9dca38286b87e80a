/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small UCX (stubs/ucp.c) under the probe, its wrapped functions as a caller knows them, what the
 * probe finds around it, and what it wrote. A test includes it once.
 */
#ifndef MW_TEST_UCX_FIXTURE_H
#define MW_TEST_UCX_FIXTURE_H

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
#include "trace/fields.h"
#include "recorder_fixture.h"

/* ---- What the probe finds around it */

static void *ucp; /* the library */
static int on = 1, late, notes;
static struct mw_module_entry module = {.id = 7, .path = "/lib/libucp.so.0"};
static char coverage[300];

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

#endif
