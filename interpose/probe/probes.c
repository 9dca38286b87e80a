/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the probes, each within its time, and keeps what they say of MPI's choices; see probe.h. The steps
 * run on the thread that makes the call of MPI.
 */
#include "probe/probe.h"

#include <string.h>

#include "output/output.h"
#include "record/record.h"
#include "trace/fields.h"

static const struct mw_probe *const probes[] = {
    &mw_probe_libfabric, &mw_probe_ucx, &mw_probe_openmpi,   &mw_probe_mpich,
    &mw_probe_sockets,   &mw_probe_cma, &mw_probe_openfiles, &mw_probe_ports,
};
#define PROBES (sizeof probes / sizeof *probes)

static _Atomic uint32_t enabled; /* a bit a probe, set from start to the end of the recording */
static uint32_t slow;            /* their flush took too long once */
static _Atomic int busy;         /* a step is in progress */
static uint64_t deadline;        /* of the step in progress, CLOCK_MONOTONIC_RAW ns */
static uint64_t last_flush;
static _Atomic int finished;

/* Whether a list such as "-ucx,-sockets" or "libfabric" leaves this probe on: names switch on these
 * alone, names with a minus switch off. "all" and "none" are words for every probe. */
static int wanted(const char *list, const char *name)
{
    int positive = 0, on = -1;
    size_t length = strlen(name);
    for (const char *at = list; at && *at;) {
        size_t size = strcspn(at, ", ");
        int minus = *at == '-' || *at == '^';
        const char *word = at + minus;
        size_t word_size = size - (size_t)minus;
        int all = (word_size == 3 && strncmp(word, "all", 3) == 0);
        int none = (word_size == 4 && strncmp(word, "none", 4) == 0);
        if (size) {
            positive |= !minus;
            if (all || none || (word_size == length && strncmp(word, name, length) == 0))
                on = none ? minus : !minus;
        }
        at += size + (at[size] != '\0');
    }
    return on >= 0 ? on : !positive;
}

static int known(const char *word, size_t size)
{
    if ((size == 3 && !strncmp(word, "all", 3)) || (size == 4 && !strncmp(word, "none", 4)))
        return 1;
    for (size_t i = 0; i < PROBES; i++)
        if (strlen(probes[i]->name) == size && strncmp(probes[i]->name, word, size) == 0)
            return 1;
    return 0;
}

static void check_names(const char *list)
{
    for (const char *at = list; at && *at;) {
        size_t size = strcspn(at, ", ");
        size_t minus = *at == '-' || *at == '^';
        if (size > minus && !known(at + minus, size - minus))
            mw_health("settings", "MPIWATCH_PROBES names a probe that does not exist: libfabric, ucx, openmpi, mpich, "
                                  "sockets, cma, openfiles and ports do");
        at += size + (at[size] != '\0');
    }
}

int mw_probe_on(const struct mw_probe *probe)
{
    uint32_t bits = atomic_load_explicit(&enabled, memory_order_relaxed);
    if (__builtin_expect(!bits, 1) ||
        atomic_load_explicit(&mw_recorder.state, memory_order_relaxed) != MW_RECORDING)
        return 0;
    for (size_t i = 0; i < PROBES; i++)
        if (probes[i] == probe)
            return bits >> i & 1;
    return 0;
}

int mw_probe_late(void)
{
    return deadline && mw_clock_ns(CLOCK_MONOTONIC_RAW) > deadline;
}

void mw_choice(const char *what, const char *name, const char *how, const char *source)
{
    uint8_t memory[2048];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    size_t mark = mw_put_begin(&buffer, MW_F_CHOICE_item);
    mw_put_text(&buffer, MW_F_CHOICEITEM_what, what);
    mw_put_text(&buffer, MW_F_CHOICEITEM_name, name);
    mw_put_text(&buffer, MW_F_CHOICEITEM_how, how);
    mw_put_text(&buffer, MW_F_CHOICEITEM_source, source);
    mw_put_end(&buffer, mark);
    if (!buffer.overflow)
        mw_output_chunk(MW_CHUNK_CHOICE, buffer.data, buffer.size);
}

/* Begins a step of one probe; 0 when another one is in progress (a signal handler, another thread). */
static int step_begin(void)
{
    int idle = 0;
    return atomic_compare_exchange_strong(&busy, &idle, 1);
}

static void step_end(void)
{
    deadline = 0;
    atomic_store(&busy, 0);
}

static int is_on(size_t i)
{
    return atomic_load_explicit(&enabled, memory_order_relaxed) >> i & 1;
}

static uint64_t limit(size_t i)
{
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    deadline = now + probes[i]->limit_us * UINT64_C(1000);
    return now;
}

void mw_probes_start(void)
{
    const char *list = mw_recorder.config.probes;
    uint32_t bits = 0;
    check_names(list);
    for (size_t i = 0; i < PROBES; i++) {
        if (wanted(list, probes[i]->name))
            bits |= 1u << i;
        else
            mw_choice("probe", probes[i]->name, "off", "MPIWATCH_PROBES");
    }
    atomic_store(&enabled, bits);
    last_flush = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    if (!step_begin())
        return;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->start)
            continue;
        limit(i);
        probes[i]->start();
    }
    step_end();
}

void mw_probes_ready(void)
{
    if (!step_begin())
        return;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->ready)
            continue;
        limit(i);
        probes[i]->ready();
    }
    step_end();
}

void mw_probes_flush(void)
{
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    if (now - last_flush < MW_PROBES_EVERY_MS * UINT64_C(1000000) || !step_begin())
        return;
    last_flush = now;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->flush || slow >> i & 1)
            continue;
        uint64_t began = limit(i);
        probes[i]->flush();
        if (mw_clock_ns(CLOCK_MONOTONIC_RAW) - began > 2 * probes[i]->limit_us * UINT64_C(1000))
            slow |= 1u << i;
    }
    step_end();
}

void mw_probes_finish(enum mw_end_reason reason)
{
    if (atomic_exchange(&finished, 1))
        return;
    if (!step_begin())
        return;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->finish)
            continue;
        limit(i);
        probes[i]->finish(reason);
    }
    step_end();
}
