/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: where they begin and end, how long they were, and which pointers lead to a name. */
#include "probe_fixture.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/shared.h"
#include "record/regions.h"

__thread struct mw_thread_local mw_self;

static struct mw_map_header *map;
static const char *noted;

struct mw_map_header *mw_shared_header(void)
{
    return map;
}

static struct mw_map_region *region(unsigned id)
{
    return &map->region[id - 1];
}

static int begin(void **state)
{
    (void)state;
    map = calloc(1, sizeof *map);
    atomic_store(&mw_region_open, 0);
    noted = NULL;
    kept_count = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(map);
    map = NULL;
    return 0;
}

static void levels(void **state)
{
    (void)state;
    mw_region_mark(2, "solve", 100);
    assert_int_equal(mw_region_current(), 1);
    mw_region_mark(3, "inner", 110);
    assert_int_equal(mw_region_current(), 2);
    assert_int_equal(region(2)->parent, 1);
    mw_region_mark(3, "other", 130); /* ends the one of its level */
    assert_int_equal(region(2)->time, 20);
    assert_int_equal(region(2)->since, 0);
    assert_int_equal(region(3)->parent, 1);
    mw_region_mark(-2, NULL, 150); /* with what is within */
    assert_int_equal(mw_region_current(), 0);
    assert_int_equal(region(3)->time, 20);
    assert_int_equal(region(1)->time, 50);
    mw_region_mark(2, "solve", 200);
    mw_region_mark(3, "inner", 210);
    mw_region_mark(-1, NULL, 215); /* the innermost */
    assert_int_equal(mw_region_current(), 1);
    assert_int_equal(region(2)->entries, 2);
    assert_int_equal(region(2)->time, 25);
    mw_region_mark(3, "solve", 220); /* another place, another region */
    assert_int_equal(mw_region_current(), 4);
    mw_regions_end(230);
    assert_int_equal(mw_region_current(), 0);
    assert_int_equal(region(1)->entries, 2);
    assert_int_equal(region(1)->time, 80);
    assert_int_equal(map->region_count, 4);
    mw_region_mark(-1, NULL, 240); /* nothing is open */
    mw_region_mark(-2, NULL, 240);
    assert_int_equal(mw_region_current(), 0);
}

static void marks_that_are_none(void **state)
{
    (void)state;
    mw_region_mark(0, "x", 1);
    mw_region_mark(1, "x", 1);
    mw_region_mark(2, NULL, 1);
    mw_region_mark(INT32_MIN, NULL, 1);
    assert_int_equal(map->region_count, 0);
    mw_region_mark(INT32_MAX, "deep", 1);
    mw_region_mark(-INT32_MAX, NULL, 2);
    assert_int_equal(region(1)->time, 1);
    struct mw_map_header *real = map;
    map = NULL; /* no mapping yet */
    mw_region_mark(2, "x", 1);
    mw_regions_end(1);
    mw_regions_write();
    map = real;
    assert_int_equal(kept_count, 0);
}

static void no_more_room(void **state)
{
    char name[MW_MAP_REGION];
    (void)state;
    for (unsigned i = 0; i < MW_MAP_REGIONS + 5; i++) {
        snprintf(name, sizeof name, "region %u", i);
        mw_region_mark(2, name, 10 * i);
        assert_int_equal(noted != NULL, i >= MW_MAP_REGIONS);
        mw_region_mark(-2, NULL, 10 * i + 1);
    }
    assert_int_equal(map->region_count, MW_MAP_REGIONS);
    mw_region_mark(2, "region 7", 5000); /* those that have a place go on */
    assert_int_equal(region(8)->entries, 2);
    mw_regions_write();
    assert_int_equal(kept_count, MW_MAP_REGIONS);
    struct mw_reader reader = fields_of(7);
    assert_int_equal(number_in(reader, MW_F_REGION_id), 8);
    assert_int_equal(number_in(reader, MW_F_REGION_entries), 2);
    assert_int_equal(number_in(reader, MW_F_REGION_since), 5000);
}

static void names(void **state)
{
    static const char *const right[] = {
        "a",
        "Solve 2",
        "_x",
        "7",
        "f\xc3\xbcr",
        "\xe4\xb8\xad",
        "\xf0\x9f\x9a\x80",
        "012345678901234567890123456789012345678901234567890123456789012"};
    static const char *const wrong[] = {
        "",         " a",      "-",
        "a\n",      "a\x1b[m", "a\x7f",
        "a\xff",    "\xc3",    "a\xc2\x80",
        "\xe4\xb8", "a\xed",   "0123456789012345678901234567890123456789012345678901234567890123"};
    char name[MW_MAP_REGION];
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_true(mw_region_name(right[i], name));
        assert_string_equal(name, right[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mw_region_name(wrong[i], name));
}

/* Whatever stands in the register where a name might: never a fault. */
static void pointers(void **state)
{
    long page = sysconf(_SC_PAGESIZE);
    char *two =
        mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[MW_MAP_REGION];
    (void)state;
    assert_int_equal(mprotect(two + page, (size_t)page, PROT_NONE), 0);
    memcpy(two + page - 6, "solve", 6); /* ends with the page */
    assert_true(mw_region_name(two + page - 6, name));
    assert_string_equal(name, "solve");
    memset(two, 'a', (size_t)page); /* runs into what cannot be read */
    assert_false(mw_region_name(two + page - 6, name));
    assert_false(mw_region_name(two + page, name));
    assert_false(mw_region_name(NULL, name));
    assert_false(mw_region_name((void *)1, name));
    assert_false(mw_region_name((void *)UINTPTR_MAX, name));
    assert_false(mw_region_name((void *)(UINTPTR_MAX - 8), name));
    assert_false(mw_region_name((void *)((uintptr_t)1 << 63), name));
    munmap(two, 2 * (size_t)page);
    assert_false(mw_region_name(two, name));
}

void mw_health(const char *code, const char *message)
{
    assert_string_equal(code, "regions");
    noted = message;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels, begin, end),
        cmocka_unit_test_setup_teardown(marks_that_are_none, begin, end),
        cmocka_unit_test_setup_teardown(no_more_room, begin, end),
        cmocka_unit_test(names),
        cmocka_unit_test(pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
