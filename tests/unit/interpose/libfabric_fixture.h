/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider of libfabric whose tables are as a test pleases, what the probe finds around it, and
 * what it wrote of peers and attempts. A test includes it once.
 */
#ifndef MW_TEST_LIBFABRIC_FIXTURE_H
#define MW_TEST_LIBFABRIC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "output/output.h"
#include "probe/libfabric.h"
#include "probe/modules.h"
#include "trace/fields.h"
#include "recorder_fixture.h"

/* ---- what the probe finds around it */
__thread int mw_fi_quiet;
const struct mw_probe mw_probe_libfabric = {.name = "libfabric"};
static unsigned gaps, notes;
static struct mw_module_entry module = {.id = 5, .path = "/lib/mca_mtl_ofi.so"};

static size_t pages; /* bytes that were ever taken */

void *mw_pages(size_t size)
{
    pages += size;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int mw_probe_on(const struct mw_probe *probe)
{
    return probe == &mw_probe_libfabric && mw_recording.state == MW_RECORDING;
}

int mw_probe_late(void)
{
    return 0;
}

void mw_health(const char *code, const char *message)
{
    (void)code, (void)message;
    notes++;
}

void mw_fi_gap(enum mw_fi_gap gap)
{
    gaps |= gap;
}

void *mw_fi_library_symbol(const void *real, const char *name, const char *version)
{
    (void)real, (void)name, (void)version;
    return NULL;
}

const struct mw_module_entry *mw_modules_locate(const void *address)
{
    (void)address;
    return &module;
}

void mw_output_flush(void)
{
}

/* ---- what it wrote */
struct seen_peer {
    uint8_t address[64];
    size_t size;
    uint64_t sends, sent, puts, put, gets, got, unsized;
};
static struct seen_peer *peers; /* of the endpoint `watched`, later ones replace earlier ones */
static size_t peer_count;
static uint64_t watched, unlisted, last_endpoint;
static struct {
    char call[32];
    int64_t result;
    uint64_t end;
} attempts[64];
static unsigned attempt_count;

static void forget_written(uint64_t endpoint)
{
    watched = endpoint;
    unlisted = peer_count = 0;
}

static void take_peer(const struct mw_field *record)
{
    struct mw_reader reader = {record->data, record->data + record->size};
    struct mw_field field;
    struct seen_peer peer = {0};
    uint64_t *number[] = {NULL,      NULL,       &peer.sends, &peer.sent,   &peer.puts,
                          &peer.put, &peer.gets, &peer.got,   &peer.unsized};
    while (mw_field_next(&reader, &field) == MW_OK) {
        if (field.id == MW_F_PEER_address) {
            peer.size = field.size;
            memcpy(peer.address, field.data, field.size < 64 ? field.size : 64);
        } else if (field.id <= MW_F_PEER_unsized) {
            *number[field.id] = field.value;
        }
    }
    size_t at = 0;
    while (at < peer_count && (peers[at].size != peer.size ||
                               memcmp(peers[at].address, peer.address, sizeof peer.address) != 0))
        at++;
    peer_count += at == peer_count;
    assert_true(peer_count <= MW_FI_PEERS);
    peers[at] = peer;
}

static void take_endpoint(struct mw_reader reader)
{
    struct mw_field field;
    uint64_t id = 0;
    while (mw_field_next(&reader, &field) == MW_OK) {
        if (field.id == MW_F_ENDPOINT_id)
            id = last_endpoint = field.value;
        if (id != watched)
            continue;
        if (field.id == MW_F_ENDPOINT_peer)
            take_peer(&field);
        if (field.id == MW_F_ENDPOINT_unlisted)
            unlisted = field.value;
    }
}

static void take_attempt(struct mw_reader reader)
{
    struct mw_field field;
    uint64_t id = 0;
    while (mw_field_next(&reader, &field) == MW_OK) {
        if (field.id == MW_F_ATTEMPT_id)
            id = field.value - MW_FI_FIRST_ID;
        if (id >= 64)
            return;
        attempt_count = id + 1 > attempt_count ? (unsigned)id + 1 : attempt_count;
        if (field.id == MW_F_ATTEMPT_call)
            snprintf(attempts[id].call, sizeof attempts[id].call, "%.*s", (int)field.size,
                     (const char *)field.data);
        if (field.id == MW_F_ATTEMPT_result)
            attempts[id].result = mw_unzigzag(field.value);
        if (field.id == MW_F_ATTEMPT_end)
            attempts[id].end = field.value;
    }
}

void mw_output_chunk(unsigned type, const void *payload, size_t size)
{
    struct mw_reader reader = {payload, (const uint8_t *)payload + size};
    if (type == MW_CHUNK_ENDPOINT)
        take_endpoint(reader);
    if (type == MW_CHUNK_ATTEMPT)
        take_attempt(reader);
}

void mw_output_packed(unsigned type, const void *payload, size_t size)
{
    mw_output_chunk(type, payload, size);
}

/* ---- a provider */
struct long_msg { /* with members that nobody knows yet */
    struct mw_fi_ops_msg known;
    int (*newer)(void);
};
static struct mw_fid_fabric fabric;
static struct mw_fid_domain domain;
static struct mw_fid_ep endpoint;
static struct mw_fid_av av;
static int close_result, closes, sends_below;
static ssize_t send_result;

static int newer(void)
{
    return 42;
}

static ssize_t below_send(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                          mw_fi_addr to, void *context)
{
    (void)ep, (void)buffer, (void)length, (void)desc, (void)to, (void)context;
    __atomic_fetch_add(&sends_below, 1, __ATOMIC_RELAXED);
    return send_result;
}

static ssize_t other_send(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                          mw_fi_addr to, void *context)
{
    sends_below += 1000;
    return below_send(ep, buffer, length, desc, to, context);
}

static struct long_msg msg_table = {{.size = sizeof(struct long_msg), .send = below_send}, newer};
static struct mw_fi_ops_msg other_table = {.size = sizeof(struct mw_fi_ops_msg),
                                           .send = other_send};
static struct mw_fi_ops_msg short_table = {.size = 5 * sizeof(void *), .send = below_send};

static int below_close(struct mw_fid *fid)
{
    if (fid == &endpoint.fid) /* a provider may look at its tables now */
        assert_false(mw_fi_is_copy(endpoint.msg));
    assert_false(mw_fi_is_copy(fid->ops));
    closes++;
    return close_result;
}

static int below_bind(struct mw_fid *fid, struct mw_fid *other, uint64_t flags)
{
    (void)fid, (void)other;
    return flags ? -22 : 0;
}

static const void *table_of_enable;

static int below_control(struct mw_fid *fid, int command, void *argument)
{
    (void)argument;
    if (command == MW_FI_ENABLE && table_of_enable)
        ((struct mw_fid_ep *)fid)->msg = table_of_enable;
    if (command == MW_FI_ALIAS)
        memcpy(*((struct mw_fi_alias *)argument)->fid, fid, sizeof(struct mw_fid_ep));
    return command == 99 ? -7 : 0;
}

static struct mw_fi_ops fid_table = {.size = sizeof(struct mw_fi_ops),
                                     .close = below_close,
                                     .bind = below_bind,
                                     .control = below_control};

/* Addresses: fi_addr modulo 100000 as a number of 4 bytes; above 2^40 unknown. */
static int below_lookup(struct mw_fid_av *vector, mw_fi_addr addr, void *address, size_t *length)
{
    uint32_t number = (uint32_t)(addr % 100000);
    (void)vector;
    assert_int_equal(mw_fi_quiet, 1);
    if (addr >> 40)
        return -38;
    memcpy(address, &number, sizeof number);
    *length = sizeof number;
    return 0;
}

static int below_remove(struct mw_fid_av *vector, mw_fi_addr *addr, size_t count, uint64_t flags)
{
    (void)vector, (void)addr, (void)count, (void)flags;
    return 0;
}

static struct mw_fi_ops_av av_table = {
    .size = sizeof(struct mw_fi_ops_av), .lookup = below_lookup, .remove = below_remove};

static int below_av_open(struct mw_fid_domain *in, struct mw_fi_av_attr *attr, void **opened,
                         void *context)
{
    (void)in, (void)attr, (void)context;
    av = (struct mw_fid_av){{MW_FI_CLASS_AV, NULL, &fid_table}, &av_table};
    *opened = &av;
    return 0;
}

static int open_result;
static struct mw_fid_ep *next_endpoint; /* NULL: `endpoint` */
static const void *msg_of_open, *atomic_of_open;

static int below_endpoint(struct mw_fid_domain *in, struct mw_fi_info *info, void **ep,
                          void *context)
{
    (void)in, (void)info, (void)context;
    if (open_result)
        return open_result;
    struct mw_fid_ep *made = next_endpoint ? next_endpoint : &endpoint;
    *made = (struct mw_fid_ep){
        .fid = {3, NULL, &fid_table}, .msg = msg_of_open, .atomic = atomic_of_open};
    *ep = made;
    return 0;
}

static struct mw_fi_ops_domain domain_table = {
    .size = sizeof(struct mw_fi_ops_domain), .av_open = below_av_open, .endpoint = below_endpoint};

static int below_domain(struct mw_fid_fabric *in, struct mw_fi_info *info, void **opened,
                        void *context)
{
    (void)in, (void)info, (void)context;
    domain = (struct mw_fid_domain){{2, NULL, &fid_table}, &domain_table};
    *opened = &domain;
    return 0;
}

static struct mw_fi_ops_fabric fabric_table = {.size = sizeof(struct mw_fi_ops_fabric),
                                               .domain = below_domain};

/* Opens all three; the endpoint is of the kind that the info says. */
static void open_endpoint(int type)
{
    struct mw_fi_ep_attr ep_attr = {type};
    struct mw_fi_info info = {.ep_attr = &ep_attr};
    struct mw_fi_identity identity = {.provider = "ours"};
    void *opened;
    fabric = (struct mw_fid_fabric){{1, NULL, &fid_table}, &fabric_table};
    mw_fi_opened_fabric(&fabric, &identity, mw_fi_serial());
    assert_int_equal(fabric.ops->domain(&fabric, &info, &opened, NULL), 0);
    assert_int_equal(domain.ops->endpoint(&domain, &info, &opened, NULL), 0);
    forget_written(last_endpoint);
}

static void bind_av(int rx_ctx_bits)
{
    struct mw_fi_av_attr attr = {0, rx_ctx_bits};
    void *opened;
    assert_int_equal(domain.ops->av_open(&domain, &attr, &opened, NULL), 0);
    assert_int_equal(endpoint.fid.ops->bind(&endpoint.fid, &av.fid, 0), 0);
}

static ssize_t send_to(mw_fi_addr to, size_t length)
{
    return endpoint.msg->send(&endpoint, NULL, length, NULL, to, NULL);
}

static void close_all(void)
{
    close_result = 0;
    assert_int_equal(endpoint.fid.ops->close(&endpoint.fid), 0);
    assert_int_equal(domain.fid.ops->close(&domain.fid), 0);
    assert_int_equal(fabric.fid.ops->close(&fabric.fid), 0);
}

static int setup(void **state)
{
    (void)state;
    peers = calloc(MW_FI_PEERS, sizeof *peers);
    send_result = open_result = close_result = closes = sends_below = 0;
    table_of_enable = NULL;
    msg_of_open = &msg_table;
    gaps = 0;
    return peers == NULL;
}

static int teardown(void **state)
{
    (void)state;
    free(peers);
    return 0;
}

static struct seen_peer *peer_of(uint32_t address)
{
    for (size_t i = 0; i < peer_count; i++)
        if (peers[i].size == 4 && memcmp(peers[i].address, &address, 4) == 0)
            return &peers[i];
    return NULL;
}

#endif
