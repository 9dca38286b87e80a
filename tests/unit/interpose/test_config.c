/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: what is understood, and what is said of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config.h"

#define MIB ((uint64_t)1 << 20)

static struct mw_config with(const char *name, const char *value)
{
    struct mw_config config;
    if (value)
        setenv(name, value, 1);
    mw_config_read(&config);
    unsetenv(name);
    return config;
}

static void budgets(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } right[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"64k", 65536},
        {"64K", 65536},
        {"3m", 3 * MIB},
        {"1M", MIB},
        {"2g", 2048 * MIB},
        {"1G", 1024 * MIB},
        {"18446744073709551615", UINT64_MAX},
        {"17179869183G", (UINT64_MAX >> 30) << 30},
        {"", 256 * MIB},
    };
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct mw_config config = with("MPIWATCH_BUDGET", right[i].text);
        assert_int_equal(config.budget, right[i].bytes);
        assert_null(config.wrong);
    }
    assert_int_equal(with("MPIWATCH_BUDGET", NULL).budget, 256 * MIB);
}

static void no_budgets(void **state)
{
    static const char *const wrong[] = {"-1",          "+1",  " 1",  "1.5M",
                                        "K",           "1KB", "1 K", "0x10",
                                        "ten",         "1T",  "1kk", "18446744073709551616",
                                        "17179869184G"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mw_config config = with("MPIWATCH_BUDGET", wrong[i]);
        assert_int_equal(config.budget, 256 * MIB);
        assert_non_null(config.wrong);
        assert_non_null(strstr(config.wrong, "MPIWATCH_BUDGET"));
    }
}

static void modes(void **state)
{
    (void)state;
    assert_int_equal(with("MPIWATCH_MODE", NULL).summary, 0);
    assert_int_equal(with("MPIWATCH_MODE", "").summary, 0);
    assert_int_equal(with("MPIWATCH_MODE", "full").summary, 0);
    assert_int_equal(with("MPIWATCH_MODE", "summary").summary, 1);
    struct mw_config config = with("MPIWATCH_MODE", "summaries");
    assert_int_equal(config.summary, 0);
    assert_non_null(strstr(config.wrong, "MPIWATCH_MODE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets),
        cmocka_unit_test(no_budgets),
        cmocka_unit_test(modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
