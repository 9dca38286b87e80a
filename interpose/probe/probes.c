/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the probes, each within its time, and keeps what they say of MPI's choices; see probe.h.
 * The steps run on the thread that makes the call of MPI.
 */
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "output/output.h"
#include "probe/timelimit.h"
#include "record/record.h"
#include "trace/fields.h"

static const struct mw_probe *const probes[] = {
    &mw_probe_libfabric, &mw_probe_ucx, &mw_probe_openmpi,   &mw_probe_mpich,
    &mw_probe_sockets,   &mw_probe_cma, &mw_probe_openfiles, &mw_probe_ports,
    &mw_probe_placement, &mw_probe_topology, &mw_probe_gpu,
};
#define PROBES (sizeof probes / sizeof *probes)

static _Atomic uint32_t enabled; /* a bit a probe, set from start to the end of the recording */
static uint32_t slow;            /* their flush took too long once */
static _Atomic int busy;         /* a step is in progress */
static struct mw_time_limit limit; /* of the step in progress */
static int limited;               /* there is one */
static _Atomic uint64_t last_flush;
static _Atomic int finished;

static int is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && strncmp(text, word, size) == 0;
}

static int known(const char *text, size_t size)
{
    for (size_t i = 0; i < PROBES; i++)
        if (is_word(text, size, probes[i]->name))
            return 1;
    return is_word(text, size, "all") || is_word(text, size, "none");
}

/* A word of the setting, between blanks and commas; 0 at the end. */
struct word {
    const char *text;
    size_t size;
    int minus;
};

static int word_next(const char **at, struct word *word)
{
    *at += strspn(*at, ", \t\n");
    word->minus = **at == '-' || **at == '^';
    word->text = *at + word->minus;
    word->size = strcspn(word->text, ", \t\n");
    *at = word->text + word->size;
    return word->size > 0 || word->minus;
}

/* What the setting says about a probe: names switch on these alone, names with a minus switch
 * off, the last word that concerns it counts. "all" and "none" stand for every probe. A word that
 * is none of them changes nothing: it must not switch off all the others. */
int mw_probes_wanted(const char *list, const char *name)
{
    struct word word;
    int positive = 0, on = -1;
    while (list && word_next(&list, &word)) {
        if (!known(word.text, word.size))
            continue;
        positive |= !word.minus;
        if (is_word(word.text, word.size, "none"))
            on = word.minus;
        else if (is_word(word.text, word.size, "all") || is_word(word.text, word.size, name))
            on = !word.minus;
    }
    return on >= 0 ? on : !positive;
}

/* Health notes live as long as the process. */
static const char *names_wrong(void)
{
    static char text[256];
    int used = snprintf(text, sizeof text,
                        "MPIWATCH_PROBES names a probe that does not exist; "
                        "these do:");
    for (size_t i = 0; i < PROBES && (size_t)used < sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %s", i ? "," : "",
                         probes[i]->name);
    return text;
}

static void check_names(const char *list)
{
    struct word word;
    while (list && word_next(&list, &word))
        if (!known(word.text, word.size)) {
            mw_health("settings", names_wrong());
            return;
        }
}

int mw_probe_on(const struct mw_probe *probe)
{
    uint32_t bits = atomic_load_explicit(&enabled, memory_order_relaxed);
    if (__builtin_expect(!bits, 1) ||
        atomic_load_explicit(&mw_recording.state, memory_order_relaxed) != MW_RECORDING)
        return 0;
    for (size_t i = 0; i < PROBES; i++)
        if (probes[i] == probe)
            return bits >> i & 1;
    return 0;
}

int mw_probe_late(void)
{
    return limited && mw_time_limit_reached(&limit);
}

static void item_put(struct mw_buffer *buffer, const char *what, const char *name, const char *how,
                     const char *source)
{
    size_t mark = mw_put_begin(buffer, MW_F_CHOICE_item);
    mw_put_text(buffer, MW_F_CHOICEITEM_what, what);
    mw_put_text(buffer, MW_F_CHOICEITEM_name, name);
    mw_put_text(buffer, MW_F_CHOICEITEM_how, how);
    mw_put_text(buffer, MW_F_CHOICEITEM_source, source);
    mw_put_end(buffer, mark);
}

void mw_choice(const char *what, const char *name, const char *how, const char *source)
{
    uint8_t memory[2048];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    item_put(&buffer, what, name, how, source);
    if (!buffer.overflow)
        mw_output_chunk(MW_CHUNK_CHOICE, buffer.data, buffer.size);
}

/* Begins a step of one probe; 0 when another one is in progress (a signal handler, another
 * thread). */
static int step_begin(void)
{
    int idle = 0;
    return atomic_compare_exchange_strong(&busy, &idle, 1);
}

static void step_end(void)
{
    limited = 0;
    atomic_store(&busy, 0);
}

static int is_on(size_t i)
{
    return atomic_load_explicit(&enabled, memory_order_relaxed) >> i & 1;
}

static void limit_begin(size_t i)
{
    limit = mw_time_limit_begin(probes[i]->limit_us * UINT64_C(1000));
    limited = 1;
}

/* Which are on, in one chunk; a probe that finds more to say says it later. */
static uint32_t choose(const char *list)
{
    uint8_t memory[1024];
    struct mw_buffer buffer;
    uint32_t bits = 0;
    mw_buffer_init(&buffer, memory, sizeof memory);
    for (size_t i = 0; i < PROBES; i++) {
        int on = mw_probes_wanted(list, probes[i]->name);
        bits |= (uint32_t)on << i;
        item_put(&buffer, "probe", probes[i]->name, on ? "on" : "off", on ? "" : "MPIWATCH_PROBES");
    }
    mw_output_chunk(MW_CHUNK_CHOICE, buffer.data, buffer.size);
    return bits;
}

void mw_probes_start(void)
{
    check_names(mw_recorder.config.probes);
    atomic_store(&enabled, choose(mw_recorder.config.probes));
    last_flush = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    if (!step_begin())
        return;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->start)
            continue;
        limit_begin(i);
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
        limit_begin(i);
        probes[i]->ready();
    }
    step_end();
}

void mw_probes_flush(void)
{
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    if (now < last_flush + MW_PROBES_EVERY_MS * UINT64_C(1000000) || !step_begin())
        return;
    last_flush = now;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->flush || slow >> i & 1)
            continue;
        limit_begin(i);
        uint64_t began = mw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        probes[i]->flush();
        if (mw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began >
            2 * probes[i]->limit_us * UINT64_C(1000)) {
            slow |= 1u << i;
            mw_choice("probe", probes[i]->name, "partly",
                      "a look in between took too long: it was the last");
        }
    }
    step_end();
}

/* The last step waits for a flush on another thread, as long as that may take; where it is this
 * very thread's, under a signal handler that called exit(), the wait is for nothing. */
static int step_wait(void)
{
    enum { TRIES = 50 };
    static const struct timespec pause = {.tv_nsec = 1000000};
    int begun = step_begin();
    for (int i = 0; i < TRIES && !begun; i++) {
        nanosleep(&pause, NULL);
        begun = step_begin();
    }
    return begun;
}

void mw_probes_again(void)
{
    for (size_t i = 0; i < PROBES; i++)
        if (is_on(i) && probes[i]->again)
            probes[i]->again();
    atomic_store(&finished, 0);
}

void mw_probes_finish(enum mw_end_reason reason)
{
    if (atomic_exchange(&finished, 1))
        return;
    if (!step_wait())
        return;
    for (size_t i = 0; i < PROBES; i++) {
        if (!is_on(i) || !probes[i]->finish)
            continue;
        limit_begin(i);
        probes[i]->finish(reason);
    }
    step_end();
}
