/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of libfabric under the probe, over a provider of our own whose tables are as we
 * please: what is replaced, put back, passed on and counted; what comes of short tables, tables
 * that change, layers above and below, fids that come again, many peers and several threads.
 */
#include "libfabric_fixture.h"

static void counts_what_was_accepted(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(send_to(7, 100), 0);
    send_result = -11;
    assert_int_equal(send_to(7, 100), -11);
    assert_int_equal(send_to(8, 100), -11);
    send_result = 0;
    mw_fi_endpoints_write(0);
    assert_int_equal(peer_count, 1);
    assert_int_equal(peer_of(7)->sends, 10);
    assert_int_equal(peer_of(7)->sent, 1000);
    assert_int_equal(sends_below, 12);
    close_all();
    assert_int_equal(closes, 3);
    assert_int_equal(gaps, 0);
}

static void passes_on_what_it_does_not_know(void **state)
{
    (void)state;
    open_endpoint(3);
    assert_true(mw_fi_is_copy(endpoint.msg));
    assert_int_equal(endpoint.msg->size, sizeof(struct long_msg));
    assert_int_equal(((const struct long_msg *)endpoint.msg)->newer(), 42);
    assert_null(endpoint.msg->inject); /* what is not there stays so */
    assert_null(endpoint.tagged);
    assert_int_equal(endpoint.fid.ops->control(&endpoint.fid, 99, NULL), -7);
    assert_int_equal(endpoint.fid.ops->bind(&endpoint.fid, &domain.fid, 1), -22);
    close_all();
    assert_ptr_equal(endpoint.msg, &msg_table);
    assert_ptr_equal(endpoint.fid.ops, &fid_table);
}

static void leaves_short_tables_alone(void **state)
{
    (void)state;
    msg_of_open = &short_table;
    open_endpoint(3);
    assert_ptr_equal(endpoint.msg, &short_table);
    assert_int_equal(gaps, MW_FI_GAP_TABLE);
    close_all();
}

/* What stands where an endpoint without atomic operations ends is the provider's own. */
static void looks_no_further_than_the_endpoint(void **state)
{
    (void)state;
    void *opened;
    struct mw_fi_info info = {.caps = MW_FI_CAP_MSG | MW_FI_CAP_TAGGED};
    open_endpoint(3);
    assert_int_equal(endpoint.fid.ops->close(&endpoint.fid), 0);
    atomic_of_open = (const void *)&msg_table;
    assert_int_equal(domain.ops->endpoint(&domain, &info, &opened, NULL), 0);
    assert_true(mw_fi_is_copy(endpoint.msg));
    assert_ptr_equal(endpoint.atomic, (const void *)&msg_table);
    assert_int_equal(endpoint.fid.ops->control(&endpoint.fid, MW_FI_ENABLE, NULL), 0);
    assert_ptr_equal(endpoint.atomic, (const void *)&msg_table);
    atomic_of_open = NULL;
    close_all();
}

static void a_table_that_changes_when_enabled(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(0);
    table_of_enable = &other_table;
    assert_int_equal(endpoint.fid.ops->control(&endpoint.fid, MW_FI_ENABLE, NULL), 0);
    assert_true(mw_fi_is_copy(endpoint.msg));
    assert_int_equal(send_to(1, 5), 0);
    assert_int_equal(sends_below, 1001);
    mw_fi_endpoints_write(0);
    assert_int_equal(peer_of(1)->sends, 1);
    close_all();
    assert_ptr_equal(endpoint.msg, &other_table);
}

static const struct mw_fi_ops_msg *above_below; /* what the layer above calls */

static ssize_t above_send(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                          mw_fi_addr to, void *context)
{
    return above_below->send(ep, buffer, length, desc, to, context);
}

static void a_layer_above_stays_there(void **state)
{
    (void)state;
    struct mw_fi_ops_msg above;
    open_endpoint(3);
    bind_av(0);
    above = *endpoint.msg;
    above_below = endpoint.msg;
    above.send = above_send;
    endpoint.msg = &above;
    assert_int_equal(endpoint.fid.ops->control(&endpoint.fid, MW_FI_ENABLE, NULL), 0);
    assert_ptr_equal(endpoint.msg, &above);
    assert_int_equal(send_to(1, 5), 0); /* above, ours, below: once each */
    assert_int_equal(sends_below, 1);
    mw_fi_endpoints_write(0);
    assert_int_equal(peer_of(1)->sends, 1);
    endpoint.msg = above_below;
    close_all();
}

static void a_close_that_is_refused(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(0);
    send_to(1, 5);
    close_result = -16;
    assert_int_equal(endpoint.fid.ops->close(&endpoint.fid), -16);
    assert_true(mw_fi_is_copy(endpoint.msg));
    send_to(1, 5);
    close_all();
    assert_int_equal(peer_of(1)->sends, 2);
}

static void a_fid_that_comes_again_unseen(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(0);
    send_to(1, 5);
    uint64_t first = watched;
    open_endpoint(3); /* its memory is that of one that went without fi_close */
    bind_av(0);
    send_to(1, 5);
    assert_true(watched != first);
    close_all();
    assert_int_equal(peer_of(1)->sends, 1);
}

static void an_alias_is_the_same_endpoint(void **state)
{
    (void)state;
    static struct mw_fid_ep second;
    struct mw_fid *fid = &second.fid;
    struct mw_fi_alias alias = {&fid, 0};
    open_endpoint(3);
    bind_av(0);
    assert_int_equal(endpoint.fid.ops->control(&endpoint.fid, MW_FI_ALIAS, &alias), 0);
    assert_int_equal(second.msg->send(&second, NULL, 3, NULL, 1, NULL), 0);
    send_to(1, 5);
    close_all();
    assert_int_equal(peer_of(1)->sent, 8);
    /* Its endpoint has gone: it still reaches the provider. */
    assert_int_equal(second.msg->send(&second, NULL, 3, NULL, 1, NULL), 0);
    assert_int_equal(sends_below, 3);
}

static void a_connected_endpoint_has_one_peer(void **state)
{
    (void)state;
    open_endpoint(MW_FI_EP_MSG);
    for (unsigned i = 0; i < 5; i++)
        send_to(i, 10);
    mw_fi_endpoints_write(0);
    assert_int_equal(peer_count, 1);
    assert_int_equal(peers[0].size, 0); /* no cm table to ask */
    assert_int_equal(peers[0].sent, 50);
    close_all();
}

static void more_peers_than_there_is_room_for(void **state)
{
    (void)state;
    enum { MANY = 40000 };
    uint64_t listed = 0;
    open_endpoint(3);
    bind_av(0);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < MANY; i++)
            assert_int_equal(send_to(i, 1), 0);
    mw_fi_endpoints_write(1);
    for (size_t i = 0; i < peer_count; i++)
        listed += peers[i].sends;
    assert_int_equal(listed + unlisted, 2 * MANY);
    assert_int_equal(peer_count, MW_FI_PEERS);
    assert_int_equal(peer_of(5)->sends, 2);
    close_all();
}

/* Pointers, as address vectors of type MAP give; two of one address; some that nobody knows. */
static void peers_by_their_address(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(0);
    for (unsigned i = 0; i < 1000; i++)
        send_to(0x7f1000 + 4096 * (uint64_t)i, 1);
    send_to(77, 1);
    send_to(100077, 2);
    send_to(1ull << 41, 3);
    send_to(1ull << 42, 4);
    send_to(MW_FI_ADDR_UNSPEC, 5);
    mw_fi_endpoints_write(1);
    assert_int_equal(peer_of(77)->sent, 3);
    uint64_t unknown = 0, all = 0;
    for (size_t i = 0; i < peer_count; i++) {
        all += peers[i].sends;
        if (!peers[i].size)
            unknown += peers[i].sent;
    }
    assert_int_equal(unknown, 12);
    assert_int_equal(all, 1005);
    assert_int_equal(unlisted, 0);
    close_all();
}

/* Opens them all, sends on each, and closes them. */
static void use_many(struct mw_fid_ep *many, unsigned count)
{
    struct mw_fi_ep_attr ep_attr = {3};
    struct mw_fi_info info = {.ep_attr = &ep_attr};
    void *opened;
    int before = sends_below, closed = closes;
    for (unsigned i = 0; i < count; i++) {
        next_endpoint = &many[i];
        assert_int_equal(domain.ops->endpoint(&domain, &info, &opened, NULL), 0);
        assert_ptr_equal(opened, &many[i]);
        assert_int_equal(many[i].msg->send(&many[i], NULL, 8, NULL, i, NULL), 0);
    }
    assert_int_equal(sends_below - before, count);
    mw_fi_endpoints_write(1);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(many[i].fid.ops->close(&many[i].fid), 0);
        assert_ptr_equal(many[i].msg, &msg_table);
        assert_ptr_equal(many[i].fid.ops, &fid_table);
    }
    assert_int_equal(closes - closed, count);
    next_endpoint = NULL;
}

/* Those beyond what there is room for are not counted; they work, and what they took is used again.
 */
static void endpoints_by_the_thousand(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    struct mw_fid_ep *many = calloc(2 * MANY, sizeof *many);
    assert_non_null(many);
    open_endpoint(3);
    use_many(many, MANY);
    assert_int_equal(gaps, MW_FI_GAP_ROOM);
    size_t taken = pages;
    assert_true(taken < 512u << 20); /* virtual memory, until it is used */
    gaps = 0;
    use_many(many + MANY, 1000); /* at other addresses */
    use_many(many, 2000);
    assert_int_equal(gaps, 0);
    assert_int_equal(pages, taken);
    close_all();
    free(many);
}

static void receive_contexts_are_not_peers(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(8);
    send_to(5, 1);
    send_to((uint64_t)3 << 56 | 5, 1);
    mw_fi_endpoints_write(1);
    assert_int_equal(peer_count, 1);
    assert_int_equal(peer_of(5)->sends, 2);
    close_all();
}

static void an_address_that_is_given_away(void **state)
{
    (void)state;
    mw_fi_addr five = 5;
    open_endpoint(3);
    bind_av(0);
    send_to(5, 1);
    assert_int_equal(av.ops->remove(&av, &five, 1, 0), 0);
    send_to(5, 1); /* of the same raw address here: both count for it */
    send_to(5, 1);
    mw_fi_endpoints_write(1);
    assert_int_equal(peer_count, 1);
    assert_int_equal(peer_of(5)->sends, 3);
    close_all();
}

static void *send_many(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 100000; i++)
        send_to(i % 7, 3);
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    pthread_t thread[4];
    uint64_t sent = 0;
    open_endpoint(3);
    bind_av(0);
    for (unsigned i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, send_many, NULL);
    for (unsigned i = 0; i < 100; i++)
        mw_fi_endpoints_write(0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    mw_fi_endpoints_write(0);
    assert_int_equal(peer_count, 7);
    for (size_t i = 0; i < peer_count; i++)
        sent += peers[i].sent;
    assert_int_equal(sent, 4 * 100000 * 3);
    close_all();
}

static void attempts_are_written_before_and_after(void **state)
{
    (void)state;
    unsigned before = attempt_count;
    void *opened;
    open_endpoint(3);
    open_result = -28;
    assert_int_equal(domain.ops->endpoint(&domain, NULL, &opened, NULL), -28);
    assert_string_equal(attempts[before].call, "fi_domain");
    assert_string_equal(attempts[before + 1].call, "fi_endpoint");
    assert_string_equal(attempts[before + 2].call, "fi_endpoint");
    assert_int_equal(attempts[before + 2].result, -28);
    assert_true(attempts[before + 2].end != 0);
    close_all();
}

static void nothing_is_recorded_after_the_end(void **state)
{
    (void)state;
    open_endpoint(3);
    bind_av(0);
    send_to(1, 5);
    mw_recording.state = MW_OVER;
    unsigned attempts_before = attempt_count;
    send_to(1, 5);
    table_of_enable = &other_table;
    assert_int_equal(endpoint.fid.ops->control(&endpoint.fid, MW_FI_ENABLE, NULL), 0);
    send_to(1, 5);
    close_all();
    assert_int_equal(attempt_count, attempts_before);
    assert_int_equal(peer_count, 0);
    assert_int_equal(closes, 3);
    mw_recording.state = MW_RECORDING;
}

/* The last one, as it uses up the numbers of attempts. */
static void attempts_are_bounded(void **state)
{
    (void)state;
    void *opened;
    open_endpoint(3);
    open_result = -28;
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(domain.ops->endpoint(&domain, NULL, &opened, NULL), -28);
    mw_fi_attempts_finish();
    assert_int_equal(notes, 1);
    close_all();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(counts_what_was_accepted),
        TEST(passes_on_what_it_does_not_know),
        TEST(leaves_short_tables_alone),
        TEST(looks_no_further_than_the_endpoint),
        TEST(a_table_that_changes_when_enabled),
        TEST(a_layer_above_stays_there),
        TEST(a_close_that_is_refused),
        TEST(a_fid_that_comes_again_unseen),
        TEST(an_alias_is_the_same_endpoint),
        TEST(a_connected_endpoint_has_one_peer),
        TEST(more_peers_than_there_is_room_for),
        TEST(peers_by_their_address),
        TEST(receive_contexts_are_not_peers),
        TEST(an_address_that_is_given_away),
        TEST(threads_lose_nothing),
        TEST(attempts_are_written_before_and_after),
        TEST(nothing_is_recorded_after_the_end),
        TEST(attempts_are_bounded),
        TEST(endpoints_by_the_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
