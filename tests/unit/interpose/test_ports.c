/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports probe on made-up trees of /proc and /sys: interfaces, InfiniBand, EFA and Slingshot
 * cards as their drivers lay them out, odd and damaged files, and more ports than a chunk holds.
 */
#include "probe_fixture.h"

#include "tree_fixture.h"

#include "probe/env_store.h"
#include "probe/ports.h"

/* Not under test here: who writes. */
int mw_output_file(void)
{
    return -1;
}

uint64_t mw_output_process(void)
{
    return 1;
}

uint64_t mw_env_first_process(int file)
{
    return 1;
}

enum mw_status mw_env_base_find(int file, void *memory, size_t size, struct mw_env_base *base)
{
    return MW_ERR_NOT_FOUND;
}

int mw_fact_list_find(const struct mw_fact_list *list, const char *section, const char *key,
                      struct mw_fact *fact)
{
    return 0;
}

#define HEADINGS                                                                                   \
    "Inter-|   Receive                                                |  Transmit\n"               \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "     \
    "drop "                                                                                        \
    "fifo colls carrier compressed\n"

/* The port of this name and number in the kept chunks. */
static struct mw_reader port_of(const char *name, uint64_t number)
{
    struct walk walk = {.type = MW_CHUNK_PORTS, .id = MW_F_PORTS_port};
    struct mw_reader record;
    while (record_next(&walk, &record))
        if (text_is(record, MW_F_PORT_name, name) && number_in(record, MW_F_PORT_number) == number)
            return record;
    fail_msg("no port %s", name);
    return record;
}

static unsigned port_count(void)
{
    struct walk walk = {.type = MW_CHUNK_PORTS, .id = MW_F_PORTS_port};
    struct mw_reader record;
    unsigned count = 0;
    while (record_next(&walk, &record))
        count++;
    return count;
}

static void look(void)
{
    forget();
    mw_ports_write(root, MW_WHEN_INIT);
}

static void interfaces(void **state)
{
    file_put("/proc/self/net/dev",
             HEADINGS "    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n"
                      "  eth0:18446744073709551000 5 1 2 4 8 0 99 77 3 16 32 64 128 256 0\n"
                      "eth0:1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n"
                      "veth12: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0");
    file_put("/sys/class/net/eth0/operstate", "up\n");
    file_put("/sys/class/net/eth0/speed", "25000\n");
    file_put("/sys/class/net/lo/operstate", "unknown\n");
    file_put("/sys/class/net/veth12/speed", "-1\n");
    look();
    assert_int_equal(kept_count, 1);
    assert_int_equal(number_in(fields_of(0), MW_F_PORTS_when), MW_WHEN_INIT);
    assert_true(number_in(fields_of(0), MW_F_PORTS_time) > 0);
    assert_int_equal(port_count(), 4);
    struct mw_reader port = port_of("eth0", 0);
    assert_true(text_is(port, MW_F_PORT_kind, "net"));
    assert_true(number_in(port, MW_F_PORT_received) == UINT64_C(18446744073709551000));
    assert_int_equal(number_in(port, MW_F_PORT_sent), 77);
    assert_int_equal(number_in(port, MW_F_PORT_errors), 511);
    assert_true(number_in(port, MW_F_PORT_rate) == UINT64_C(25000000000));
    assert_true(text_is(port, MW_F_PORT_state, "up"));
    assert_true(text_is(port, MW_F_PORT_address, "")); /* no hardware address */
    assert_int_equal(number_in(port_of("lo", 0), MW_F_PORT_sent), 1000);
    assert_int_equal(number_in(port_of("lo", 0), MW_F_PORT_rate), 0);
    assert_int_equal(number_in(port_of("eth0:1", 0), MW_F_PORT_sent), 6);
    assert_int_equal(number_in(port_of("veth12", 0), MW_F_PORT_rate), 0);
}

static void infiniband(void **state)
{
    file_put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/lid", "0x1a\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "3000000000\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "2\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_discards", "5\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "999\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
    file_put("/sys/class/infiniband/mlx5_0/ports/2/rate", "2.5 Gb/sec (1X SDR)\n");
    file_put("/sys/class/infiniband/efa_0/ports/1/hw_counters/rx_bytes", "111\n");
    file_put("/sys/class/infiniband/efa_0/ports/1/hw_counters/tx_bytes", "222\n");
    file_put("/sys/class/infiniband/efa_0/ports/1/hw_counters/rx_drops", "3\n");
    look();
    struct mw_reader port = port_of("mlx5_0", 1);
    assert_true(text_is(port, MW_F_PORT_kind, "infiniband"));
    assert_true(text_is(port, MW_F_PORT_state, "ACTIVE"));
    assert_true(text_is(port, MW_F_PORT_address, "lid 0x1a"));
    assert_true(number_in(port, MW_F_PORT_rate) == UINT64_C(200000000000));
    assert_int_equal(number_in(port, MW_F_PORT_received), 4000); /* words of four bytes */
    assert_true(number_in(port, MW_F_PORT_sent) == UINT64_C(12000000000));
    assert_int_equal(number_in(port, MW_F_PORT_errors), 7);
    port = port_of("mlx5_0", 2);
    assert_true(number_in(port, MW_F_PORT_rate) == UINT64_C(2500000000));
    assert_true(text_is(port, MW_F_PORT_state, "DOWN"));
    assert_int_equal(number_in(port, MW_F_PORT_received), 0);
    port = port_of("efa_0", 1);
    assert_int_equal(number_in(port, MW_F_PORT_received), 111);
    assert_int_equal(number_in(port, MW_F_PORT_sent), 222);
    assert_int_equal(number_in(port, MW_F_PORT_errors), 3);
}

static void slingshot(void **state)
{
    file_put("/sys/class/cxi/cxi0/device/port/link", "up\n");
    file_put("/sys/class/cxi/cxi0/device/port/speed", "BS_200G\n");
    file_put("/sys/class/cxi/cxi0/device/properties/nid", "4711\n");
    file_put("/sys/class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets",
             "12345@1700000000.123456789\n");
    file_put("/sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets",
             "67890@1700000000.123456789\n");
    file_put("/sys/class/cxi/cxi0/device/telemetry/hni_pcs_uncorrected_cw", "9@1700000000.1\n");
    file_put("/sys/class/cxi/cxi1/device/port/0/link/state", "down\n");
    file_put("/sys/class/cxi/cxi1/device/port/0/link/speed", "CK_400G\n");
    look();
    struct mw_reader port = port_of("cxi0", 0);
    assert_true(text_is(port, MW_F_PORT_kind, "cxi"));
    assert_true(text_is(port, MW_F_PORT_state, "up"));
    assert_true(text_is(port, MW_F_PORT_address, "nid 4711"));
    assert_true(number_in(port, MW_F_PORT_rate) == UINT64_C(200000000000));
    assert_int_equal(number_in(port, MW_F_PORT_received), 12345);
    assert_int_equal(number_in(port, MW_F_PORT_sent), 67890);
    assert_int_equal(number_in(port, MW_F_PORT_errors), 9);
    port = port_of("cxi1", 0);
    assert_true(text_is(port, MW_F_PORT_state, "down"));
    assert_true(number_in(port, MW_F_PORT_rate) == UINT64_C(400000000000));
}

static void odd_files_do_no_harm(void **state)
{
    char text[40000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    file_put("/proc/self/net/dev", text);
    file_put("/sys/class/infiniband/bad/ports/1/rate", "very fast\n");
    file_put("/sys/class/infiniband/bad/ports/1/state", text);
    file_put("/sys/class/infiniband/bad/ports/1/counters/port_rcv_data", "N/A\n");
    file_put("/sys/class/infiniband/none/readme", "\n");
    file_put("/sys/class/cxi/cxi7", "not a folder\n");
    look();
    struct mw_reader port = port_of("bad", 1);
    assert_int_equal(number_in(port, MW_F_PORT_rate), 0);
    assert_int_equal(number_in(port, MW_F_PORT_received), 0);
    assert_true(bytes_in(port, MW_F_PORT_state).size < 64);
    assert_int_equal(port_count(), 2);
}

static void an_empty_machine(void **state)
{
    look();
    assert_int_equal(kept_count, 1);
    assert_int_equal(port_count(), 0);
    assert_choice("probe", "ports", "not covered");
}

static void many_ports_are_split_over_chunks(void **state)
{
    static char text[32000];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", HEADINGS);
    for (int i = 0; i < 200; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "veth%08d: 123456789%d 1 0 0 0 0 0 0 22 1 0 0 0 0 0 0\n", i, i);
    file_put("/proc/self/net/dev", text);
    for (int i = 0; i < 200; i++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/class/net/veth%08d/operstate", i);
        file_put(path, "a state that takes as much room in a chunk as it can take, up to here\n");
    }
    look();
    assert_true(kept_count > 1);
    assert_int_equal(port_count(), 200);
    for (unsigned i = 1; i < kept_count; i++)
        assert_int_equal(number_in(fields_of(i), MW_F_PORTS_time),
                         number_in(fields_of(0), MW_F_PORTS_time));
}

static void what_the_time_does_not_allow_is_said(void **state)
{
    file_put("/proc/self/net/dev", HEADINGS "lo: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n"
                                            "eth0: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n");
    forget();
    late_after = 1;
    mw_ports_write(root, MW_WHEN_END);
    assert_int_equal(port_count(), 1);
    assert_choice("probe", "ports", "partly");
}

/* On this machine, whatever it has. */
static void the_real_tree(void **state)
{
    forget();
    mw_ports_write("", MW_WHEN_INIT);
    assert_true(kept_count >= 1);
    if (access("/proc/self/net/dev", R_OK) == 0)
        port_of("lo", 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)
    const struct CMUnitTest tests[] = {
        TEST(interfaces),
        TEST(infiniband),
        TEST(slingshot),
        TEST(odd_files_do_no_harm),
        TEST(an_empty_machine),
        TEST(many_ports_are_split_over_chunks),
        TEST(what_the_time_does_not_allow_is_said),
        TEST(the_real_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
