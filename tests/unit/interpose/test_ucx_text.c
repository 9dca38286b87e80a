/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking apart what UCX prints. The samples follow the print functions of each version (1.13 and 1.18: as they
 * were printed on a machine with them), with devices of machines that have some.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/ucx.h"

/* "use transport/device, ..." of a print-out. */
static const char *lanes(unsigned version, const char *text)
{
    static char told[4096];
    struct mw_ucx_lane_walk walk = {.at = text, .version = version};
    struct mw_ucx_lane lane;
    size_t used = 0;
    told[0] = '\0';
    while (mw_ucx_lane_next(&walk, &lane)) {
        used += (size_t)snprintf(told + used, sizeof told - used, "%s%.*s %.*s/%.*s", used ? ", " : "",
                                 (int)lane.use.size, lane.use.text, (int)lane.transport.size,
                                 lane.transport.text, (int)lane.device.size, lane.device.text);
        assert_true(used < sizeof told);
    }
    return told;
}

#define HEAD "#\n# UCP endpoint\n#\n#               peer: node1:4711\n"

static void version_1_8(void **state)
{
    (void)state;
    assert_string_equal(
        lanes(1008, HEAD
              "#                 lane[0]:  5:rc_mlx5/mlx5_0:1 md[4]        -> md[4]/ib       rma#0 rma_bw#0 amo#0 am am_bw#0\n"
              "#                 lane[1]: 12:cma/cma md[9] <proxy>          -> md[9]/cma      rma_bw#1\n"
              "#                 lane[2]: proxy to lane[0]              -> md[4]/ib       wireup\n"
              "#                 lane[3]:  7:tcp/eth0.100 md[2]            -> md[2]/tcp      wireup{ud_mlx5/mlx5_0:1}\n"
              "#\n#                tag_send: 0..<egr/short>..93..<rndv>..(inf)\n"),
        "rma rc_mlx5/mlx5_0:1, rma_bw rc_mlx5/mlx5_0:1, amo rc_mlx5/mlx5_0:1, am rc_mlx5/mlx5_0:1, "
        "am_bw rc_mlx5/mlx5_0:1, rma_bw cma/cma, wireup tcp/eth0.100");
}

static void version_1_10(void **state)
{
    (void)state;
    assert_string_equal(
        lanes(1010, HEAD
              "#                 lane[0]:  1:posix/memory.0 md[1]           -> md[1]/posix/sysdev[255] rma#0 am am_bw#0\n"
              "#                 lane[1]:  6:rc_mlx5/mlx5_1:1.3 md[4]       -> addr[0].md[4]/ib/sysdev[2] rma_bw#0 rkey_ptr\n"
              "#\n#                  put[0]: 0..<short>..4294967296..<bcopy>..(inf)\n"),
        "rma posix/memory, am posix/memory, am_bw posix/memory, rma_bw rc_mlx5/mlx5_1:1, "
        "rkey_ptr rc_mlx5/mlx5_1:1");
}

static void version_1_13(void **state)
{
    (void)state;
    assert_string_equal(
        lanes(1013,
              "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n"
              "#                 lane[0]:  0:self/memory0.0 md[0]          -> md[0]/self/sysdev[255] am am_bw#0\n"
              "#                 lane[1]:  3:sysv/memory.0 md[2]           -> md[2]/sysv/sysdev[255]\n"
              "#                 lane[2]:  4:posix/memory.0 md[3]          -> md[3]/posix/sysdev[255]\n"
              "#                 lane[3]:  5:cma/memory.0 md[4]            -> md[4]/cma/sysdev[255] rma_bw#0\n"
              "#\n"
              "#                tag_send: 0..<egr/short>..8185..<egr/bcopy>..8192..<rndv>..(inf)\n"
              "#                  put[0]: 0..<short>..4294967296..<bcopy>..(inf)\n"
              "#                  get[0]: 0..<bcopy>..(inf)\n"
              "#                  put[1]: 0..<short>..4294967296..<bcopy>..(inf)\n"
              "#                  put[2]: 0..<short>..4294967296..<bcopy>..(inf)\n"
              "#\n#                  rma_bw: mds rndv_rkey_size 9\n#\n"),
        "am self/memory0, am_bw self/memory0, rma self/memory0, rma sysv/memory, "
        "rma posix/memory, rma_bw cma/memory");
    assert_string_equal(
        lanes(1013,
              "#                 lane[0]:  1:tcp/lo.0 md[0]                -> md[0]/tcp/sysdev[255] rma_bw#0 am am_bw#0\n"
              "#                 lane[1]:  0:tcp/eth0.0 md[0]              -> md[0]/tcp/sysdev[255] rma_bw#1 wireup\n"),
        "rma_bw tcp/lo, am tcp/lo, am_bw tcp/lo, rma_bw tcp/eth0, wireup tcp/eth0");
}

static void version_1_18(void **state)
{
    (void)state;
    assert_string_equal(
        lanes(1018,
              "# UCP endpoint \n#\n#               peer: <no debug data>\n"
              "#                 lane[0]:  0:self/memory.0 md[0]           -> md[0]/self/sysdev[255] seg 4294967295 am rkey_ptr am_bw#0\n"
              "#                 lane[1]:  5:cma/memory.0 md[4]            -> md[4]/cma/sysdev[255] seg 4294967295 rma_bw#0 keepalive\n"
              "#                 lane[2]:  4:posix/memory.0 md[3]          -> md[3]/posix/sysdev[255] seg 8256\n"
              "#\n# +-----+\n# | ucp_context_0 self cfg#0 | tagged message by ucp_tag_send* from host memory |\n"
              "# |  0..2312 | eager short  | self/memory |\n"),
        "am self/memory, rkey_ptr self/memory, am_bw self/memory, rma_bw cma/memory, "
        "keepalive cma/memory, rma posix/memory");
    assert_string_equal(
        lanes(1020, "# lane[0]:  7:gdr_copy/cuda.0 md[11] -> md[11]/gdr_copy/sysdev[3] seg 1 device am\n"),
        "device gdr_copy/cuda, am gdr_copy/cuda");
}

static void what_is_not_understood_is_left_out(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n\n",
        "#\n# UCP endpoint\n",
        "# lane[0]: cm rdmacm\n",
        "# lane[0]: 5:tcp\n",
        "# lane[0]: 5:/eth0 md[0] -> x am\n",
        "# lane[0]: 5:tcp/ md[0] -> x am\n",
        "# lane[0]:",
        "# lane[",
        "lane[0]: 5: tcp/eth0 -> am",
        "# lane[0]: 5",
        "# no lane here\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(lanes(1013, texts[i]), "");
    /* cut in the middle, without the arrow, in a later form */
    assert_string_equal(lanes(1008, "# lane[0]: 5:tcp/eth0 md[0"), " tcp/eth0");
    assert_string_equal(lanes(1099, "# lane[0]: 5:tcp/eth0.7 md[0] -> am#1 Am am+2 9 am_bw"),
                        "am tcp/eth0, am_bw tcp/eth0");
}

/* Never reads beyond its text: every beginning of a sample, in memory of exactly that size. */
static void any_beginning_will_do(void **state)
{
    static const char sample[] =
        "#                 lane[0]:  0:self/memory0.0 md[0]   -> md[0]/self/sysdev[255] seg 1 am wireup{tcp/lo}\n"
        "#                 lane[12]:  3:sysv/memory.0 md[2]  -> md[2]/sysv/sysdev[255]\n"
        "#                  put[12]: 0..(inf)\n"
        "#      resource 5  :  md 4  dev 3  flags -- cma/memory\n";
    (void)state;
    for (size_t size = 0; size < sizeof sample; size++) {
        char *text = malloc(size + 1);
        const char *at = text;
        struct mw_ucx_word transport, device;
        memcpy(text, sample, size);
        text[size] = '\0';
        lanes(1013, text);
        while (mw_ucx_resource_next(&at, &transport, &device))
            ;
        free(text);
    }
}

static void resources(void **state)
{
    const char *at = "#\n# UCP context\n#\n#     component 0  :  self\n#     component 1  :  tcp\n#\n"
                     "#            md 0  :  component 0  self \n#\n"
                     "#      resource 0  :  md 0  dev 0  flags -- self/memory0\n"
                     "#      resource 1  :  md 1  dev 1  flags a- ud_mlx5/mlx5_0:1 \n"
                     "#      resource 2  :  md 3  dev 2  flags -s rdmacm/sockaddr\n"
                     "#      resource 3  :  what is this\n#\n";
    struct mw_ucx_word transport, device;
    static const char *const expected[] = {"self/memory0", "ud_mlx5/mlx5_0:1", "rdmacm/sockaddr"};
    char told[80];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(mw_ucx_resource_next(&at, &transport, &device), 1);
        snprintf(told, sizeof told, "%.*s/%.*s", (int)transport.size, transport.text,
                 (int)device.size, device.text);
        assert_string_equal(told, expected[i]);
    }
    assert_int_equal(mw_ucx_resource_next(&at, &transport, &device), 0);
    assert_int_equal(mw_ucx_resource_next(&at, &transport, &device), 0);
}

static void features(void **state)
{
    char text[96];
    (void)state;
    mw_ucx_features_text(0, text, sizeof text);
    assert_string_equal(text, "");
    mw_ucx_features_text(0x43, text, sizeof text);
    assert_string_equal(text, "tag rma am");
    mw_ucx_features_text(UINT64_MAX, text, sizeof text);
    assert_string_equal(text, "tag rma amo32 amo64 wakeup stream am exported_memh device");
    mw_ucx_features_text(UINT64_MAX, text, 10);
    assert_string_equal(text, "tag rma a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_8),
        cmocka_unit_test(version_1_10),
        cmocka_unit_test(version_1_13),
        cmocka_unit_test(version_1_18),
        cmocka_unit_test(what_is_not_understood_is_left_out),
        cmocka_unit_test(any_beginning_will_do),
        cmocka_unit_test(resources),
        cmocka_unit_test(features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
