/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probes.c: what MPIWATCH_PROBES switches, which steps run when, their time limits, and what the
 * trace says of it. The probes are played by this file.
 */
#define WITH_PROBES
#include "probe_fixture.h"

#include <time.h>

static const char *health;

void mw_health(const char *code, const char *message)
{
    health = message;
}

/* Time as the code under test sees it. */
static uint64_t now_ns = 1000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    time->tv_sec = (time_t)(now_ns / 1000000000);
    time->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

static unsigned starts[8], readies[8], flushes[8], finishes[8];
static uint64_t flush_takes[8];
static int was_late;

#define PART(i, id, word)                                                                          \
    static void start_##i(void)                                                                    \
    {                                                                                              \
        starts[i]++;                                                                               \
    }                                                                                              \
    static void ready_##i(void)                                                                    \
    {                                                                                              \
        readies[i]++;                                                                              \
        mw_probes_ready();                                                                         \
    }                                                                                              \
    static void flush_##i(void)                                                                    \
    {                                                                                              \
        flushes[i]++;                                                                              \
        now_ns += flush_takes[i];                                                                  \
        was_late = mw_probe_late();                                                                \
    }                                                                                              \
    static void finish_##i(enum mw_end_reason reason)                                              \
    {                                                                                              \
        finishes[i] += reason;                                                                     \
    }                                                                                              \
    const struct mw_probe mw_probe_##id = {word,      100,         start_##i, ready_##i,           \
                                           flush_##i, finish_##i, NULL};

/* clang-format off */
PART(0, libfabric, "libfabric")
PART(1, ucx, "ucx")
PART(2, openmpi, "openmpi")
PART(3, mpich, "mpich")
PART(4, sockets, "sockets")
PART(5, cma, "cma")
PART(6, openfiles, "openfiles")
/* clang-format on */
/* a probe without steps */
const struct mw_probe mw_probe_ports = {.name = "ports", .limit_us = 100};
const struct mw_probe mw_probe_placement = {.name = "placement", .limit_us = 100};
const struct mw_probe mw_probe_topology = {.name = "topology", .limit_us = 100};
const struct mw_probe mw_probe_gpu = {.name = "gpu", .limit_us = 100};

static void the_setting(void **state)
{
    static const struct {
        const char *list, *name;
        int on;
    } cases[] = {
        {NULL, "ucx", 1},
        {"", "ucx", 1},
        {"-ucx", "ucx", 0},
        {"^ucx", "ucx", 0},
        {"-ucx", "libfabric", 1},
        {"-ucx,-sockets", "sockets", 0},
        {"-ucx -sockets", "sockets", 0},
        {" , -ucx ,, -sockets , ", "sockets", 0},
        {"-ucx,-sockets", "cma", 1},
        {"libfabric", "libfabric", 1},
        {"libfabric", "ucx", 0},
        {"libfabric,ucx", "ucx", 1},
        {"libfabric,ucx", "cma", 0},
        {"libfabric,-ucx", "cma", 0},
        {"all", "cma", 1},
        {"none", "cma", 0},
        {"-none", "cma", 1},
        {"-all", "cma", 0},
        {"all,-cma", "cma", 0},
        {"all,-cma", "ucx", 1},
        {"-cma,all", "cma", 1}, /* the last word counts */
        {"none,cma", "cma", 1},
        {"none,cma", "ucx", 0},
        {"cma,-cma", "cma", 0},
        {"uc", "ucx", 1}, /* no probe of that name: changes nothing */
        {"ucxx", "ucx", 1},
        {"-ucxx", "ucx", 1},
        {"ucxx,cma", "ucx", 0},
        {"-", "ucx", 1},
        {"--ucx", "ucx", 1},
        {",", "ucx", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mw_probes_wanted(cases[i].list, cases[i].name) != cases[i].on)
            fail_msg("'%s' should leave %s %s", cases[i].list ? cases[i].list : "(unset)",
                     cases[i].name, cases[i].on ? "on" : "off");
}

/* How the trace has a probe, by its last item. */
static int how_is(const char *name, const char *how)
{
    struct walk walk = {.type = MW_CHUNK_CHOICE, .id = MW_F_CHOICE_item};
    struct mw_reader record;
    int is = 0;
    while (record_next(&walk, &record))
        if (text_is(record, MW_F_CHOICEITEM_what, "probe") &&
            text_is(record, MW_F_CHOICEITEM_name, name))
            is = text_is(record, MW_F_CHOICEITEM_how, how);
    return is;
}

/* The life of a process, in order: the state is the file's. */
static void a_life(void **state)
{
    mw_recorder.config.probes = "-sockets,-mpichh";
    assert_false(mw_probe_on(&mw_probe_cma));
    mw_probes_start();
    assert_non_null(health);
    assert_non_null(strstr(health, "MPIWATCH_PROBES"));
    assert_int_equal(kept_count, 1); /* one chunk for all */
    assert_true(how_is("sockets", "off") && how_is("ucx", "on") && how_is("ports", "on"));
    assert_true(starts[0] == 1 && starts[6] == 1 && starts[4] == 0);
    assert_true(mw_probe_on(&mw_probe_cma) && mw_probe_on(&mw_probe_ports));
    assert_false(mw_probe_on(&mw_probe_sockets));
    mw_recording.state = MW_OVER;
    assert_false(mw_probe_on(&mw_probe_cma));
    mw_recording.state = MW_RECORDING;

    mw_probes_ready(); /* a probe's step calls it again: never two steps at once */
    assert_true(readies[0] == 1 && readies[3] == 1 && readies[4] == 0);

    mw_probes_flush();
    assert_int_equal(flushes[0], 0); /* too early */
    now_ns += MW_PROBES_EVERY_MS * UINT64_C(1000000);
    mw_probes_flush();
    mw_probes_flush();
    assert_true(flushes[0] == 1 && flushes[4] == 0 && flushes[5] == 1);
    assert_int_equal(was_late, 0);

    flush_takes[1] = 150000; /* over its time, but not by far */
    flush_takes[2] = 250000;
    now_ns += MW_PROBES_EVERY_MS * UINT64_C(1000000);
    mw_probes_flush();
    now_ns += MW_PROBES_EVERY_MS * UINT64_C(1000000);
    mw_probes_flush();
    assert_int_equal(flushes[0], 3);
    assert_int_equal(flushes[1], 3);
    assert_int_equal(flushes[2], 2); /* that was the last one */
    assert_true(how_is("openmpi", "partly") && how_is("ucx", "on"));
    assert_false(mw_probe_late()); /* outside a step nothing is late */

    mw_probes_finish(MW_END_FINALIZE);
    mw_probes_finish(MW_END_EXIT);
    assert_true(finishes[0] == MW_END_FINALIZE && finishes[4] == 0 &&
                finishes[2] == MW_END_FINALIZE);
}

static void lateness(void **state)
{
    flush_takes[6] = 101000;
    now_ns += MW_PROBES_EVERY_MS * UINT64_C(1000000);
    mw_probes_flush();
    assert_int_equal(was_late, 1);
}

static void a_text_that_is_too_long_is_left_out(void **state)
{
    static char text[5000];
    memset(text, 'x', sizeof text - 1);
    forget();
    mw_choice("device", text, "open", "");
    assert_int_equal(kept_count, 0);
    mw_choice("device", "/dev/x", "open", NULL);
    assert_int_equal(kept_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_setting),
        cmocka_unit_test(a_life),
        cmocka_unit_test(lateness),
        cmocka_unit_test(a_text_that_is_too_long_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
