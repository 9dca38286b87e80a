/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapped functions of UCX over a small UCX of our own (stubs/ucp.c): what is counted, exactly,
 * by whom and for whom; what is passed on; what comes of failures, of many endpoints, and of a
 * library that goes.
 */
#include "ucx_fixture.h"

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
