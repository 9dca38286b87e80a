/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings of the clocks, their chunk, and the names of functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "mpi_functions.h"
#include "trace/clock.h"
#include "trace/names.h"

static const uint32_t kinds[] = {MW_CLOCK_TSC, MW_CLOCK_CNTVCT, MW_CLOCK_MONOTONIC};

static void readable_clocks_run(void **state)
{
    int readable = 0;
    for (size_t i = 0; i < 3; i++) {
        if (!mw_clock_readable(kinds[i]))
            continue;
        readable++;
        uint64_t before = mw_clock_read(kinds[i]);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        assert_true(mw_clock_read(kinds[i]) > before);
    }
    assert_in_range(readable, 1, 2);
    assert_true(mw_clock_readable(MW_CLOCK_MONOTONIC));
    assert_false(mw_clock_readable(0));
}

/* All readings of a sample lie between what was read before and after it. */
static void samples_are_of_one_moment(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        if (!mw_clock_readable(kinds[i]))
            continue;
        uint64_t time = mw_clock_read(kinds[i]), raw = mw_clock_ns(CLOCK_MONOTONIC_RAW),
                 mono = mw_clock_ns(CLOCK_MONOTONIC), real = mw_clock_ns(CLOCK_REALTIME);
        struct mw_clock_sample sample = mw_clock_sample_take(kinds[i]);
        assert_in_range(sample.time, time, mw_clock_read(kinds[i]));
        assert_in_range(sample.raw, raw, mw_clock_ns(CLOCK_MONOTONIC_RAW));
        assert_in_range(sample.mono, mono, mw_clock_ns(CLOCK_MONOTONIC));
        assert_in_range(sample.real, real, mw_clock_ns(CLOCK_REALTIME));
        assert_true(sample.width < mw_clock_read(kinds[i]) - time);
    }
}

static void a_sample_becomes_a_chunks_fields(void **state)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    const struct mw_clock_sample sample = {.time = 1, .raw = 2, .real = 3, .mono = 4, .width = 5};
    static const uint8_t expected[] = {0x02, 1, 0x04, 2, 0x06, 3, 0x08, 4, 0x0a, 5};
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_clock_sample_put(&buffer, &sample);
    assert_int_equal(buffer.size, sizeof expected);
    assert_memory_equal(memory, expected, sizeof expected);
}

static void functions_have_names(void **state)
{
    assert_string_equal(mw_function_name(MW_FN_Send), "MPI_Send");
    assert_string_equal(mw_function_name(MW_FN_T_init_thread), "MPI_T_init_thread");
    assert_null(mw_function_name(0));
    assert_null(mw_function_name(MW_FN_COUNT_));
    assert_null(mw_function_name(UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readable_clocks_run),
        cmocka_unit_test(samples_are_of_one_moment),
        cmocka_unit_test(a_sample_becomes_a_chunks_fields),
        cmocka_unit_test(functions_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
