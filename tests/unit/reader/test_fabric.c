/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reader makes of ATTEMPT, ENDPOINT, LOG, SOCKETS, PORTS, CMA and CHOICE: what adds up,
 * what replaces, in which order it comes, and how little memory repetition needs. */
#include "reader_fixture.h"

#include <sys/resource.h>

static struct place place;
static struct bytes file;

static int setup(void **state)
{
    place_make(&place);
    memset(&file, 0, sizeof file);
    return 0;
}

static int teardown(void **state)
{
    bytes_free(&file);
    place_remove(&place);
    return 0;
}

static const struct mw_process *only_process(const mw_trace *trace)
{
    assert_int_equal(mw_trace_damage_count(trace), 0);
    assert_int_equal(mw_trace_process_count(trace), 1);
    return mw_trace_process(trace, 0);
}

static void add_attempt(uint64_t id, const char *call, int64_t result, uint64_t end,
                        unsigned offers)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_ATTEMPT_id, id);
    mw_put_text(&b, MW_F_ATTEMPT_call, call);
    mw_put_i64(&b, MW_F_ATTEMPT_result, result);
    mw_put_u64(&b, MW_F_ATTEMPT_start, id * 10);
    mw_put_u64(&b, MW_F_ATTEMPT_end, end);
    for (unsigned i = 0; i < offers; i++) {
        size_t mark = mw_put_begin(&b, MW_F_ATTEMPT_offer);
        mw_put_text(&b, MW_F_OFFER_provider, i ? "tcp" : "cxi");
        mw_put_u64(&b, MW_F_OFFER_speed, 1000 + i);
        mw_put_end(&b, mark);
    }
    add_chunk(&file, MW_CHUNK_ATTEMPT, 1, &b);
}

static void test_an_attempt_is_replaced_when_it_returned(void **state)
{
    add_attempt(2, "fi_enable", 0, 0, 0);
    add_attempt(1, "fi_getinfo", 0, 15, 2);
    add_attempt(2, "fi_enable", -262, 25, 0);
    add_attempt(3, "fi_domain", 0, 0, 0);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->attempt_count, 3);
    const struct mw_attempt *attempts = process->attempts;
    assert_string_equal(attempts[0].call, "fi_getinfo");
    assert_int_equal(attempts[0].offer_count, 2);
    assert_string_equal(attempts[0].offers[0].provider, "cxi");
    assert_string_equal(attempts[0].offers[1].provider, "tcp");
    assert_string_equal(attempts[0].offers[1].state, "");
    assert_int_equal(attempts[0].offers[1].speed, 1001);
    assert_int_equal(attempts[1].id, 2);
    assert_int_equal(attempts[1].result, -262);
    assert_int_equal(attempts[1].end, 25);
    assert_int_equal(attempts[2].end, 0);
    assert_string_equal(attempts[2].words, "");
    mw_trace_close(trace);
}

struct peer {
    const char *address;
    uint64_t sends;
    const char *transport; /* of a lane; NULL none */
};

static void add_endpoint(uint64_t key, uint64_t id, const char *provider, uint64_t time,
                         const struct peer *peers, size_t count)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_ENDPOINT_id, id);
    mw_put_text(&b, MW_F_ENDPOINT_provider, provider);
    mw_put_u64(&b, MW_F_ENDPOINT_time, time);
    for (size_t i = 0; i < count; i++) {
        size_t mark = mw_put_begin(&b, MW_F_ENDPOINT_peer);
        mw_put_bytes(&b, MW_F_PEER_address, peers[i].address, strlen(peers[i].address));
        mw_put_u64(&b, MW_F_PEER_sends, peers[i].sends);
        if (peers[i].transport) {
            size_t lane = mw_put_begin(&b, MW_F_PEER_lane);
            mw_put_text(&b, MW_F_LANE_transport, peers[i].transport);
            mw_put_end(&b, lane);
        }
        mw_put_end(&b, mark);
    }
    add_chunk(&file, MW_CHUNK_ENDPOINT, key, &b);
}

static void expect_peer(const struct mw_peer *peer, const char *address, uint64_t sends,
                        size_t lanes)
{
    assert_int_equal(peer->address_size, strlen(address));
    assert_memory_equal(peer->address, address, strlen(address));
    assert_int_equal(peer->sends, sends);
    assert_int_equal(peer->lane_count, lanes);
}

static void test_endpoints_add_up(void **state)
{
    add_endpoint(1, 7, "cxi", 10, (struct peer[]){{"b", 1, "rc"}, {"a", 2, NULL}}, 2);
    add_endpoint(1, 3, "tcp", 11, NULL, 0);
    add_endpoint(1, 7, NULL, 20, (struct peer[]){{"ab", 5, NULL}, {"b", 9, NULL}}, 2);
    add_endpoint(1, 7, NULL, 0, (struct peer[]){{"", 4, NULL}}, 1);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->endpoint_count, 2);
    assert_int_equal(process->endpoints[0].id, 3);
    assert_int_equal(process->endpoints[0].peer_count, 0);
    const struct mw_endpoint *seven = &process->endpoints[1];
    assert_string_equal(seven->provider, "cxi");
    assert_int_equal(seven->time, 20);
    assert_int_equal(seven->peer_count, 4);
    expect_peer(&seven->peers[0], "", 4, 0);
    expect_peer(&seven->peers[1], "a", 2, 0);
    expect_peer(&seven->peers[2], "ab", 5, 0);
    expect_peer(&seven->peers[3], "b", 9, 0); /* replaced, lane and all */
    mw_trace_close(trace);
}

/* A crash can make chunks appear twice, in the order in which they were written. */
static void test_repeated_chunks_change_nothing(void **state)
{
    struct bytes twice = {0};
    add_attempt(1, "fi_getinfo", 0, 15, 2);
    add_endpoint(1, 1, "cxi", 10, (struct peer[]){{"b", 1, "rc"}}, 1);
    add_endpoint(1, 1, NULL, 20, (struct peer[]){{"b", 2, "rc"}, {"c", 1, NULL}}, 2);
    bytes_add(&twice, file.data, file.size);
    bytes_add(&twice, file.data, file.size);
    mw_trace *trace = open_bytes(&place, &twice);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->attempt_count, 1);
    assert_int_equal(process->attempts[0].offer_count, 2);
    assert_int_equal(process->endpoint_count, 1);
    assert_int_equal(process->endpoints[0].time, 20);
    assert_int_equal(process->endpoints[0].peer_count, 2);
    expect_peer(&process->endpoints[0].peers[0], "b", 2, 1);
    mw_trace_close(trace);
    bytes_free(&twice);
}

static void test_equal_lists_are_there_once(void **state)
{
    for (uint64_t key = 1; key <= 3; key++)
        add_endpoint(key, 1, "ucx", key, (struct peer[]){{"same", key, "rc"}, {"other", key, "rc"}},
                     2);
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(mw_trace_process_count(trace), 3);
    const struct mw_peer *first = mw_trace_process(trace, 0)->endpoints[0].peers;
    for (size_t i = 0; i < 3; i++) {
        const struct mw_peer *peers = mw_trace_process(trace, i)->endpoints[0].peers;
        assert_ptr_equal(peers[1].address, first[1].address);
        assert_ptr_equal(peers[0].lanes, first[1].lanes);
        assert_string_equal(peers[0].lanes[0].transport, "rc");
    }
    mw_trace_close(trace);
}

static void add_log(uint64_t id, const char *text, uint64_t count)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_LOG_id, id);
    mw_put_text(&b, MW_F_LOG_text, text);
    mw_put_u64(&b, MW_F_LOG_count, count);
    add_chunk(&file, MW_CHUNK_LOG, 1, &b);
}

static void test_log_lines(void **state)
{
    add_log(2, "second", 1);
    add_log(0, "", 3);
    add_log(1, "first", 1);
    add_log(2, "second", 40);
    add_log(0, "", 9);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->log_count, 2);
    assert_string_equal(process->log[0].text, "first");
    assert_int_equal(process->log[1].count, 40);
    assert_string_equal(process->log[1].function, "");
    assert_int_equal(process->log_lost, 9);
    mw_trace_close(trace);
}

static void put_connection(struct mw_buffer *b, uint64_t fd, uint64_t cookie, size_t address,
                           uint64_t sent)
{
    static const uint8_t bytes[18] = {10, 0, 0, 1, 0x12, 0x34};
    size_t mark = mw_put_begin(b, MW_F_SOCKETS_connection);
    mw_put_u64(b, MW_F_CONNECTION_fd, fd);
    mw_put_u64(b, MW_F_CONNECTION_cookie, cookie);
    mw_put_bytes(b, MW_F_CONNECTION_local, bytes, address);
    mw_put_u64(b, MW_F_CONNECTION_sent, sent);
    mw_put_end(b, mark);
}

static void begin_look(struct mw_buffer *b, enum mw_when when, uint64_t time, uint64_t unseen)
{
    mw_put_u64(b, MW_F_SOCKETS_when, when);
    mw_put_u64(b, MW_F_SOCKETS_time, time);
    mw_put_u64(b, MW_F_SOCKETS_unseen, unseen);
}

/* One look may need several chunks; another look is another, also at the same connections. */
static void test_looks_at_sockets(void **state)
{
    BUFFER(a);
    begin_look(&a, MW_WHEN_END, 900, 0);
    put_connection(&a, 8, 1, 6, 80);
    put_connection(&a, 5, 2, 18, 50);
    add_chunk(&file, MW_CHUNK_SOCKETS, 1, &a);
    BUFFER(b);
    begin_look(&b, MW_WHEN_INIT, 100, 4);
    put_connection(&b, 5, 2, 6, 1);
    add_chunk(&file, MW_CHUNK_SOCKETS, 1, &b);
    BUFFER(c);
    begin_look(&c, MW_WHEN_END, 900, 3);
    put_connection(&c, 5, 3, 7, 55); /* the descriptor was used again; no such address */
    put_connection(&c, 8, 1, 6, 81);
    add_chunk(&file, MW_CHUNK_SOCKETS, 1, &c);
    BUFFER(d);
    begin_look(&d, MW_WHEN_DURING, 900, 0);
    add_chunk(&file, MW_CHUNK_SOCKETS, 1, &d);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->sockets_count, 3);
    assert_int_equal(process->sockets[0].when, MW_WHEN_INIT);
    assert_int_equal(process->sockets[0].unseen, 4);
    assert_int_equal(process->sockets[0].connection_count, 1);
    assert_int_equal(process->sockets[1].when, MW_WHEN_DURING);
    assert_int_equal(process->sockets[1].connection_count, 0);
    const struct mw_sockets *end = &process->sockets[2];
    assert_int_equal(end->unseen, 3);
    assert_int_equal(end->connection_count, 3);
    static const uint64_t expected[3][4] = {{5, 2, 18, 50}, {5, 3, 0, 55}, {8, 1, 6, 81}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(end->connections[i].fd, expected[i][0]);
        assert_int_equal(end->connections[i].cookie, expected[i][1]);
        assert_int_equal(end->connections[i].local_size, expected[i][2]);
        assert_int_equal(end->connections[i].sent, expected[i][3]);
        assert_int_equal(end->connections[i].remote_size, 0);
        assert_non_null(end->connections[i].remote);
    }
    mw_trace_close(trace);
}

static void put_port(struct mw_buffer *b, const char *kind, const char *name, uint64_t number,
                     uint64_t sent)
{
    size_t mark = mw_put_begin(b, MW_F_PORTS_port);
    mw_put_text(b, MW_F_PORT_kind, kind);
    mw_put_text(b, MW_F_PORT_name, name);
    mw_put_u64(b, MW_F_PORT_number, number);
    mw_put_u64(b, MW_F_PORT_sent, sent);
    mw_put_end(b, mark);
}

static void test_looks_at_ports(void **state)
{
    BUFFER(a);
    mw_put_u64(&a, MW_F_PORTS_when, MW_WHEN_INIT);
    mw_put_u64(&a, MW_F_PORTS_time, 5);
    put_port(&a, "net", "lo", 0, 1);
    put_port(&a, "infiniband", "mlx5_0", 2, 2);
    put_port(&a, "infiniband", "mlx5_0", 1, 3);
    add_chunk(&file, MW_CHUNK_PORTS, 1, &a);
    BUFFER(b);
    mw_put_u64(&b, MW_F_PORTS_when, MW_WHEN_INIT);
    mw_put_u64(&b, MW_F_PORTS_time, 5);
    put_port(&b, "net", "eth0", 0, 4);
    put_port(&b, "net", "lo", 0, 5);
    add_chunk(&file, MW_CHUNK_PORTS, 1, &b);
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->ports_count, 1);
    assert_int_equal(process->ports[0].port_count, 4);
    static const uint64_t sent[] = {3, 2, 4, 5};
    static const char *const names[] = {"mlx5_0", "mlx5_0", "eth0", "lo"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(process->ports[0].ports[i].sent, sent[i]);
        assert_string_equal(process->ports[0].ports[i].name, names[i]);
    }
    mw_trace_close(trace);
}

static void add_cma(uint64_t pid, uint64_t reads, uint64_t time)
{
    BUFFER(b);
    size_t mark = mw_put_begin(&b, MW_F_CMA_peer);
    mw_put_u64(&b, MW_F_CMAPEER_pid, pid);
    mw_put_u64(&b, MW_F_CMAPEER_reads, reads);
    mw_put_end(&b, mark);
    mw_put_u64(&b, MW_F_CMA_time, time);
    add_chunk(&file, MW_CHUNK_CMA, 1, &b);
}

static void add_choice(const char *what, const char *name, const char *how)
{
    BUFFER(b);
    size_t mark = mw_put_begin(&b, MW_F_CHOICE_item);
    mw_put_text(&b, MW_F_CHOICEITEM_what, what);
    mw_put_text(&b, MW_F_CHOICEITEM_name, name);
    mw_put_text(&b, MW_F_CHOICEITEM_how, how);
    mw_put_end(&b, mark);
    add_chunk(&file, MW_CHUNK_CHOICE, 1, &b);
}

static void test_cma_and_choices(void **state)
{
    add_cma(9, 1, 100);
    add_cma(4, 2, 200);
    add_cma(9, 5, 0);
    add_choice("probe", "ucx", "absent");
    add_choice("btl", "vader", "loaded");
    add_choice("btl", "tcp", "loaded");
    add_choice("probe", "ucx", "on");
    mw_trace *trace = open_bytes(&place, &file);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->cma_count, 2);
    assert_int_equal(process->cma[0].pid, 4);
    assert_int_equal(process->cma[1].reads, 5);
    assert_int_equal(process->cma_time, 200);
    assert_int_equal(process->choice_count, 3);
    assert_string_equal(process->choices[0].name, "tcp");
    assert_string_equal(process->choices[1].name, "vader");
    assert_string_equal(process->choices[2].how, "on");
    assert_string_equal(process->choices[2].source, "");
    mw_trace_close(trace);
}

/* A malformed record, however deep, and nothing of the chunk is used. */
static void test_all_or_nothing(void **state)
{
    BUFFER(b);
    mw_put_u64(&b, MW_F_ENDPOINT_id, 1);
    size_t mark = mw_put_begin(&b, MW_F_ENDPOINT_peer);
    mw_put_bytes(&b, MW_F_PEER_lane, "\x80", 1);
    mw_put_end(&b, mark);
    add_chunk(&file, MW_CHUNK_ENDPOINT, 1, &b);
    add_endpoint(1, 2, "tcp", 1, NULL, 0);
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(mw_trace_damage_count(trace), 1);
    assert_int_equal(mw_trace_damage(trace, 0)->status, MW_ERR_CORRUPT);
    assert_int_equal(mw_trace_process(trace, 0)->endpoint_count, 1);
    assert_int_equal(mw_trace_process(trace, 0)->endpoints[0].id, 2);
    mw_trace_close(trace);
}

/* 20,000 flushes of 40 peers each: 800,000 rows would need over 100 MB. */
static void test_a_long_job_needs_no_memory(void **state)
{
    enum { FLUSHES = 20000, PEERS = 40 };
    char names[PEERS][8];
    struct peer peers[PEERS];
    for (size_t i = 0; i < PEERS; i++) {
        snprintf(names[i], sizeof names[i], "p%02zu", i);
        peers[i] = (struct peer){names[i], 0, "rc"};
    }
    for (uint64_t flush = 1; flush <= FLUSHES; flush++) {
        for (size_t i = 0; i < PEERS; i++)
            peers[i].sends = flush * 100 + i;
        add_endpoint(1, 1, "cxi", flush, peers, PEERS);
    }
    place_write(&place, "long.mpiw", &file);
    bytes_free(&file);
    struct rusage before, after;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    mw_trace *trace = open_one(place_file(&place, "long.mpiw"));
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    const struct mw_process *process = only_process(trace);
    assert_int_equal(process->endpoints[0].peer_count, PEERS);
    for (size_t i = 0; i < PEERS; i++)
        expect_peer(&process->endpoints[0].peers[i], names[i], FLUSHES * 100 + i, 1);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
    assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);
#endif
    mw_trace_close(trace);
}

/* Two bytes of each empty record would become some fifty in memory. */
static void test_hostile_lists_are_bounded(void **state)
{
    enum { SIZE = 16 << 20 };
    static const struct {
        unsigned type, field;
    } lists[] = {
        {MW_CHUNK_ATTEMPT, MW_F_ATTEMPT_offer},
        {MW_CHUNK_SOCKETS, MW_F_SOCKETS_connection},
        {MW_CHUNK_CHOICE, MW_F_CHOICE_item},
        {MW_CHUNK_TOPOLOGY, MW_F_TOPOLOGY_pci},
        {MW_CHUNK_PLACEMENT, MW_F_PLACEMENT_thread},
        {MW_CHUNK_PLACEMENT, MW_F_PLACEMENT_foreign},
        {MW_CHUNK_DEVICE, MW_F_DEVICE_device},
        {MW_CHUNK_BUFFER, MW_F_BUFFER_space},
    };
    uint8_t *payload = malloc(SIZE);
    assert_non_null(payload);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t at = 0; at < SIZE; at += 2) {
            payload[at] = (uint8_t)(lists[i].field * 2 + 1);
            payload[at + 1] = 0;
        }
        bytes_free(&file);
        add_chunk_zstd(&file, lists[i].type, 1, payload, SIZE);
        mw_trace *trace = open_bytes(&place, &file);
        const struct mw_process *process = mw_trace_process(trace, 0);
        if (lists[i].type == MW_CHUNK_ATTEMPT) { /* there is no such list: it is not used */
            assert_int_equal(mw_trace_damage_count(trace), 1);
            assert_int_equal(mw_trace_damage(trace, 0)->status, MW_ERR_LIMIT);
            assert_int_equal(process->attempt_count, 0);
        } else { /* equal rows are one, long before they are many */
            assert_int_equal(mw_trace_damage_count(trace), 0);
            assert_int_equal(process->sockets_count + process->choice_count +
                                 process->placement_count + process->device_count +
                                 process->space_count +
                                 (process->topology ? process->topology->pci_count : 0),
                             1);
        }
        mw_trace_close(trace);
    }
    free(payload);
}

/* A byte of a packed field becomes a number of eight; a frame of zeros is hardly any bytes. */
static void test_hostile_masks_are_bounded(void **state)
{
    enum { SIZE = 48 << 20, HEAD = 5 };
    uint8_t *payload = calloc(1, SIZE);
    assert_non_null(payload);
    payload[0] = MW_F_PLACEMENT_cpus * 2 + 1;
    for (unsigned i = 0, length = SIZE - HEAD; i < HEAD - 1; i++, length >>= 7)
        payload[1 + i] = (uint8_t)((length & 0x7f) | (i < HEAD - 2 ? 0x80 : 0));
    payload[HEAD] = 1; /* SIZE - HEAD is odd: no pairs */
    add_chunk_zstd(&file, MW_CHUNK_PLACEMENT, 1, payload, SIZE);
    payload[1]--; /* and now they are */
    add_chunk_zstd(&file, MW_CHUNK_PLACEMENT, 1, payload, SIZE - 1);
    mw_trace *trace = open_bytes(&place, &file);
    assert_int_equal(mw_trace_damage_count(trace), 2);
    assert_int_equal(mw_trace_damage(trace, 0)->status, MW_ERR_CORRUPT);
    assert_int_equal(mw_trace_damage(trace, 1)->status, MW_ERR_LIMIT);
    assert_int_equal(mw_trace_process(trace, 0)->placement_count, 0);
    mw_trace_close(trace);
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_attempt_is_replaced_when_it_returned, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_endpoints_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_repeated_chunks_change_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal_lists_are_there_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_log_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_looks_at_sockets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_looks_at_ports, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cma_and_choices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_or_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_long_job_needs_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_lists_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_masks_are_bounded, setup, teardown),
    };
    return cmocka_run_group_tests_name("reader: fabric", tests, NULL, NULL);
}
