/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of comparisons on digests that are made by hand: which change of a pair's transport is
 * a step down, what is said of sides whose runs differ among themselves, what can be compared.
 * test_compare_speeds.c has those of speeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/regression/compare.h"

static struct mw_digest *run_over(const char *transport)
{
    struct mw_digest *digest = mw_digest_create("run");
    digest->program = mw_text_copy("solver");
    digest->arguments = mw_text_copy("");
    digest->executable_id = mw_text_copy("");
    digest->ranks = digest->recorded_ranks = 2;
    digest->messages = 100;
    mw_digest_put_pair(digest, &(struct mw_digest_pair){.src = 0,
                                                        .dst = 1,
                                                        .distance = "same node",
                                                        .transport = (char *)transport,
                                                        .messages = 100});
    mw_digest_finish(digest);
    return digest;
}

/* Each side is a list of transports, one a run. */
static struct mw_comparison *compare(struct mw_digest **base, size_t base_count,
                                     struct mw_digest **fresh, size_t fresh_count)
{
    struct mw_compare_options options = {
        .threshold = 0.05, .parts = MW_COMPARE_TRANSPORTS, .looks = 1};
    return mw_comparison_create(
        (struct mw_runs){(const struct mw_digest *const *)base, base_count},
        (struct mw_runs){(const struct mw_digest *const *)fresh, fresh_count}, &options);
}

static void assert_step(const char *from, const char *to, enum mw_identity_kind kind, int worse)
{
    struct mw_digest *base = run_over(from), *fresh = run_over(to);
    struct mw_comparison *comparison = compare(&base, 1, &fresh, 1);
    assert_int_equal(comparison->identities.count, 1);
    assert_int_equal(comparison->identities.at[0].kind, kind);
    assert_int_equal(comparison->identities.at[0].worse, worse);
    assert_int_equal(comparison->outcome, worse                   ? MW_OUTCOME_REGRESSION
                                          : strstr(to, "unknown") ? MW_OUTCOME_NOT_SURE
                                                                  : MW_OUTCOME_NO_REGRESSION);
    mw_comparison_free(comparison);
    mw_digest_free(base);
    mw_digest_free(fresh);
}

static void test_steps(void **unused)
{
    static const struct {
        const char *better, *lesser;
    } steps[] = {
        {"cxi (cxi0)", "tcp (eth0)"},
        {"cxi (cxi0)", "tcp;ofi_rxm (eth0)"},
        {"verbs;ofi_rxm (mlx5_0)", "sockets (eth0)"},
        {"rc_mlx5 (mlx5_0:1)", "tcp (eth0)"},
        {"vader, from 4 KiB on cma", "vader"},
        {"vader", "tcp (lo)"},
        {"vader, from 64 KiB on cma", "tcp (lo)"},
        {"vader", "cxi (cxi0)"},
        {"cxi (cxi0)", "cxi (cxi0), from 4 KiB on tcp (eth0)"},
        {"cxi (cxi0); device memory: cxi (cxi0), from 8 KiB on cxi (cxi1)",
         "cxi (cxi0); device memory: tcp (eth0)"},
        {"posix; device memory: rocm_ipc", "posix"},
        {"posix; device memory: cuda_ipc", "posix; device memory: posix"},
        {"rocm_ipc", "rc_mlx5 (mlx5_0:1)"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        assert_step(steps[i].better, steps[i].lesser, MW_IDENTITY_TRANSPORT, 1);
        assert_step(steps[i].lesser, steps[i].better, MW_IDENTITY_TRANSPORT, 0);
    }
}

static void test_no_steps(void **unused)
{
    (void)unused;
    assert_step("tcp (eth0)", "sockets (eth0)", MW_IDENTITY_TRANSPORT, 0);
    assert_step("cxi (cxi0)", "unknown", MW_IDENTITY_TRANSPORT, 0);
    assert_step("cxi (cxi0)", "something new", MW_IDENTITY_TRANSPORT, 0);
    assert_step("vader, from 4 KiB on cma", "vader, from 8 KiB on cma", MW_IDENTITY_TRANSPORT, 0);
    assert_step("cxi (cxi0)", "cxi (cxi1)", MW_IDENTITY_DEVICE, 0);
    assert_step("cxi", "cxi (cxi1)", MW_IDENTITY_DEVICE, 0);
}

/* Three runs a side: what is said of their only pair. */
static void assert_sides(const char *const *was, const char *const *now, const char *said,
                         enum mw_outcome outcome)
{
    struct mw_digest *base[3], *fresh[3];
    for (int i = 0; i < 3; i++) {
        base[i] = run_over(was[i]);
        fresh[i] = run_over(now[i]);
    }
    struct mw_comparison *comparison = compare(base, 3, fresh, 3);
    assert_int_equal(comparison->identities.count, said ? 1 : 0);
    if (said) {
        assert_string_equal(comparison->identities.at[0].fresh, said);
        assert_false(comparison->identities.at[0].steady);
        assert_int_equal(comparison->identities.at[0].worse, outcome == MW_OUTCOME_REGRESSION);
        assert_int_equal(comparison->identities.at[0].doubtful, outcome == MW_OUTCOME_NOT_SURE);
    }
    assert_int_equal(comparison->outcome, outcome);
    mw_comparison_free(comparison);
    for (int i = 0; i < 3; i++) {
        mw_digest_free(base[i]);
        mw_digest_free(fresh[i]);
    }
}

static void test_runs_that_differ_among_themselves(void **unused)
{
    static const char *const fine[] = {"cxi (cxi0)", "cxi (cxi0)", "cxi (cxi0)"};
    static const char *const mostly[] = {"tcp (eth0)", "cxi (cxi0)", "tcp (eth0)"};
    static const char *const once[] = {"cxi (cxi0)", "tcp (eth0)", "cxi (cxi0)"};
    static const char *const better[] = {"cxi (cxi0)", "vader", "cxi (cxi0)"};
    (void)unused;
    assert_sides(fine, mostly, "tcp (eth0)", MW_OUTCOME_REGRESSION);
    assert_sides(fine, once, "tcp (eth0)", MW_OUTCOME_NOT_SURE);
    assert_sides(once, mostly, "tcp (eth0)", MW_OUTCOME_NOT_SURE);
    assert_sides(once, once, NULL, MW_OUTCOME_NO_REGRESSION);
    assert_sides(fine, better, NULL, MW_OUTCOME_NO_REGRESSION);
}

static void test_a_run_given_twice(void **unused)
{
    struct mw_digest *base = run_over("cxi"), *fresh[] = {run_over("cxi"), run_over("cxi")};
    (void)unused;
    fresh[0]->identity = mw_text_copy("4711");
    fresh[1]->identity = mw_text_copy("4711");
    struct mw_comparison *comparison = compare(&base, 1, fresh, 2);
    assert_int_equal(comparison->outcome, MW_OUTCOME_INCOMPARABLE);
    mw_comparison_free(comparison);
    fresh[1]->began = 1; /* another one of a launcher that counts from the beginning */
    comparison = compare(&base, 1, fresh, 2);
    assert_int_equal(comparison->obstacles.count, 0);
    mw_comparison_free(comparison);
    mw_digest_free(base);
    mw_digest_free(fresh[0]);
    mw_digest_free(fresh[1]);
}

static void test_a_crash_is_an_obstacle(void **unused)
{
    struct mw_digest *base = run_over("cxi"), *fresh = run_over("tcp");
    (void)unused;
    fresh->crashed = mw_text_copy("rank 1 died");
    struct mw_comparison *comparison = compare(&base, 1, &fresh, 1);
    assert_int_equal(comparison->outcome, MW_OUTCOME_INCOMPARABLE);
    assert_int_equal(comparison->obstacles.count, 1);
    assert_int_equal(comparison->identities.count, 0);
    mw_comparison_free(comparison);
    mw_digest_free(base);
    mw_digest_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_no_steps),
        cmocka_unit_test(test_runs_that_differ_among_themselves),
        cmocka_unit_test(test_a_crash_is_an_obstacle),
        cmocka_unit_test(test_a_run_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
